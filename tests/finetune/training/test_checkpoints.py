"""Checkpoints: what they hold, whose they are, and what a crash leaves."""

import json
from pathlib import Path

import pytest
import torch

from benchmarks.architectures import KINDS, save
from finetune.training.checkpoints import (
    averages_and_scores,
    load_checkpoint,
    save_checkpoint,
    save_model,
)
from finetune.training.loop import Trainer, make_optimiser, take_step, trainable
from finetune.training.losses import admissible
from probe.errors import TrainingError
from probe.models.classifier import Classifier
from probe.models.library import load
from probe.tasks.nli import LABELS
from tests.support.cases import each
from tests.support.models.tiny_bert import tiny_pairs

OPTIONS = {"lr": 1e-3, "seed": 0}


def trainer(classifier: Classifier) -> Trainer[Classifier]:
    recipe = classifier.architecture.recipe
    return Trainer(classifier, recipe, make_optimiser(recipe, trainable(classifier), 1e-3))


def step(trainer: Trainer, seed: int) -> float:
    pairs, classifier = tiny_pairs(4), trainer.classifier
    return take_step(trainer, classifier.encode(pairs), admissible(pairs, classifier.task), seed)


@each("kind", ["bert", "t5"])  # T5 reads one table of words in two places
def test_a_loaded_checkpoint_takes_the_same_next_step(kind: str, tmp_path: Path) -> None:
    save(KINDS[kind], kind, tmp_path / "model")
    one, other = (trainer(load(str(tmp_path / "model"), LABELS)) for _ in range(2))
    step(one, 1)
    save_checkpoint(one.classifier, one.optimiser, OPTIONS, 1, tmp_path)
    assert load_checkpoint(other.classifier, other.optimiser, OPTIONS, tmp_path) == 1
    assert step(one, 2) == step(other, 2)
    for here, there in zip(trainable(one.classifier), trainable(other.classifier), strict=True):
        assert torch.equal(here, there)


def test_a_half_written_checkpoint_leaves_the_one_before(
    classifier: Classifier, tmp_path: Path
) -> None:
    one = trainer(classifier)
    save_checkpoint(one.classifier, one.optimiser, OPTIONS, 3, tmp_path)
    (tmp_path / "checkpoint.new").mkdir()
    (tmp_path / "checkpoint.new" / "weights.safetensors").write_bytes(b"half")
    assert load_checkpoint(one.classifier, one.optimiser, OPTIONS, tmp_path) == 3
    save_checkpoint(one.classifier, one.optimiser, OPTIONS, 4, tmp_path)
    assert load_checkpoint(one.classifier, one.optimiser, OPTIONS, tmp_path) == 4


def test_a_crash_while_the_new_takes_the_place_of_the_old_leaves_one_of_them(
    classifier: Classifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = trainer(classifier)
    save_checkpoint(one.classifier, one.optimiser, OPTIONS, 3, tmp_path)
    rename = Path.rename

    def crash(path: Path, target: Path) -> Path:
        if path.name == "checkpoint.new":
            raise KeyboardInterrupt
        return rename(path, target)

    with monkeypatch.context() as crashing, pytest.raises(KeyboardInterrupt):
        crashing.setattr(Path, "rename", crash)
        save_checkpoint(one.classifier, one.optimiser, OPTIONS, 4, tmp_path)
    assert load_checkpoint(one.classifier, one.optimiser, OPTIONS, tmp_path) == 3
    assert averages_and_scores(tmp_path) == ({}, [])
    save_checkpoint(one.classifier, one.optimiser, OPTIONS, 5, tmp_path)
    assert load_checkpoint(one.classifier, one.optimiser, OPTIONS, tmp_path) == 5
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint"]


def test_a_folder_without_its_state_is_no_checkpoint(
    classifier: Classifier, tmp_path: Path
) -> None:
    (tmp_path / "checkpoint").mkdir()
    new = trainer(classifier)
    assert load_checkpoint(new.classifier, new.optimiser, OPTIONS, tmp_path) == 0
    assert averages_and_scores(tmp_path) == ({}, [])


def test_other_options_are_refused(classifier: Classifier, tmp_path: Path) -> None:
    one = trainer(classifier)
    save_checkpoint(one.classifier, one.optimiser, OPTIONS, 3, tmp_path)
    with pytest.raises(
        TrainingError, match=r"begun with another --seed \(0, now 1\); name another"
    ):
        load_checkpoint(one.classifier, one.optimiser, {**OPTIONS, "seed": 1}, tmp_path)


def test_a_saved_model_names_its_labels_and_its_task(
    classifier: Classifier, tmp_path: Path
) -> None:
    classifier.model.config.architectures = ["BertModel"]  # of the encoder that it began as
    save_model(classifier, tmp_path)
    saved = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    assert saved["architectures"] == [type(classifier.model).__name__]
    stored = load(str(tmp_path))
    assert (stored.order, stored.task) == (LABELS, classifier.task)
    # half precision keeps three decimals
    pairs = tiny_pairs(6)
    assert stored.probabilities(pairs) == pytest.approx(classifier.probabilities(pairs), abs=1e-3)
