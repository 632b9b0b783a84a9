"""Training dynamics: what each row gets in each epoch, where that stands, and what goes on."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import finetune.training.encoder as encoder
import finetune.training.word_models as word_models
from finetune.training.dynamics import Dynamics, subset_of
from finetune.training.encoder import TrainingOptions, train
from finetune.training.recipes import Preset
from finetune.training.word_models import held_out
from finetune.training.word_models import train as train_words
from probe.analysis.cartography import DataMap, dynamics_files, read_dynamics
from probe.analysis.cartography import Dynamics as Read
from probe.errors import FileError, TrainingError
from probe.models.architectures import Recipe
from probe.models.library import load
from probe.tasks.nli import NLI, NON_ENTAILMENT
from tests.support.cases import each
from tests.support.models.tiny_bert import tiny_bert, tiny_pairs
from tests.support.models.tiny_word_models import word_classifier
from tests.support.runs.broken_off import broken_off

OPTIONS = TrainingOptions(lr=1e-3, epochs=2, batch=4, max_tokens=64, precision="fp32")
PAIRS = [replace(pair, id=str(3 * at)) for at, pair in enumerate(tiny_pairs(60))]
Begin = Callable[..., Iterator[Any]]  # Any: rows of a training's own kind


def tuned(model: Path, out: Path, folder: Path | None, **changes: Any) -> Iterator[Any]:
    kept = folder and partial(Dynamics.of, folder)
    how = replace(OPTIONS, **changes)
    return train(load(str(model)), PAIRS[:22], how, out, every=5, dynamics=kept)


def words(model: Path, out: Path, folder: Path | None, **changes: Any) -> Iterator[Any]:
    kept = folder and partial(Dynamics.of, folder)
    recipe = Recipe("adagrad", 0.1, batch=8, clip_norm=None)
    how = Preset({}, recipe, **{"epochs": 3, "patience": 9, **changes})
    return train_words(word_classifier("da"), how, PAIRS, out, every=2, dynamics=kept)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return tiny_bert(tmp_path / "model")


@pytest.fixture(autouse=True)
def often_held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold out so much that few examples do."""
    monkeypatch.setattr(word_models, "HELD_OUT", 3)


def rows_of(folder: Path) -> list[list[dict[str, Any]]]:
    """Return the rows of each epoch as they are written."""
    return [
        [json.loads(line) for line in path.read_text().splitlines()]
        for path in dynamics_files(folder)
    ]


def test_a_row_has_the_logits_by_which_its_step_is_taken(model: Path, tmp_path: Path) -> None:
    merged = replace(PAIRS[3], gold=NON_ENTAILMENT, id="merged")  # no one place of three
    pairs = [*PAIRS[:3], merged]
    told, how = list[str](), replace(OPTIONS, batch=8, epochs=1, loss="focal")
    kept = partial(Dynamics.of, tmp_path)
    list(train(load(str(model)), pairs, how, tmp_path / "out", tell=told.append, dynamics=kept))
    (rows,) = rows_of(tmp_path)
    assert [(row["guid"], row["gold"], row["label"]) for row in rows] == [
        (int(pair.id), NLI.labels.index(pair.gold or ""), pair.gold) for pair in PAIRS[:3]
    ]
    assert "3 rows" in told[0] and "1 without one right label among 3" in told[0]
    one = load(str(model))
    (batch,) = encoder.epoch_batches(one.token_rows(pairs, 64).lengths, 8, 0, 0)
    one.model.train()
    with torch.random.fork_rng():
        torch.manual_seed(0)
        logits = one.logits(one.token_rows(pairs, 64).padded(batch)).tolist()
    for at, row in enumerate(rows):
        assert row["logits_epoch_0"] == pytest.approx(logits[batch.index(at)], abs=1e-5)


@each("begin, saved", [(tuned, 1), (tuned, 3), (words, 1), (words, 4)])
def test_dynamics_of_a_training_that_was_broken_off_are_those_of_a_whole_one(
    begin: Begin, saved: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tiny_bert(tmp_path / "model")
    whole, broken, out = (tmp_path / name for name in ("whole", "broken", "out"))
    list(begin(model, tmp_path / "whole-out", whole))

    with broken_off(monkeypatch, saved):
        list(begin(model, out, broken))
    list(begin(model, out, broken))
    assert rows_of(broken) == rows_of(whole)
    learnt = [pair for pair in PAIRS if begin is tuned or not held_out(pair.premise)]
    ids = [int(pair.id) for pair in (learnt[:22] if begin is tuned else learnt)]
    for epoch, rows in enumerate(rows_of(whole)):
        assert [row["guid"] for row in rows] == ids
        assert np.isfinite([row[f"logits_epoch_{epoch}"] for row in rows]).all()
    assert read_dynamics(dynamics_files(whole), NLI).epochs == (2 if begin is tuned else 3)


@each("begin", [tuned, words])
def test_dynamics_are_kept_from_the_first_step_in_one_folder(begin: Begin, tmp_path: Path) -> None:
    model, out, folder = tiny_bert(tmp_path / "model"), tmp_path / "out", tmp_path / "kept"
    list(begin(model, out, folder))
    for other, sentence in ((None, "another --dynamics"), (tmp_path / "new", "lacks epoch 0")):
        with pytest.raises(TrainingError, match=sentence):
            list(begin(model, out, other))
    with pytest.raises(TrainingError, match="holds the dynamics of another training"):
        list(begin(model, tmp_path / "anew", folder))
    with pytest.raises(FileError, match="cannot be written"):
        next(begin(model, tmp_path / "third", model / "config.json"))
    same = [replace(pair, id="7") for pair in PAIRS]
    with pytest.raises(TrainingError, match="two training files have one name"):
        Dynamics.of(folder, same, load(str(model)))


def test_a_random_subset_is_as_large_as_a_region_and_the_same_again() -> None:
    drawn = DataMap(Read(tuple("abcdefghij"), np.zeros(10, int), np.ones((10, 3, 1))), 0.3)
    assert [len(subset_of(drawn, name, 1)) for name in ("easy", "random")] == [3, 3]
    assert subset_of(drawn, "random", 1) == subset_of(drawn, "random", 1)
    assert len({*map(tuple, (subset_of(drawn, "random", seed) for seed in range(9)))}) > 1
