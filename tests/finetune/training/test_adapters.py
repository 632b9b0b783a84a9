"""Low-rank adapters of language models: what learns, what stays, and what is kept."""

import sys
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from finetune.training.adapters import prepare_adapters
from finetune.training.checkpoints import model_files
from finetune.training.recipes import require_mode
from finetune.trials import inoculation
from finetune.trials.base import BASE
from finetune.trials.datasets import Sets
from finetune.trials.inoculation import Cell, Plan, Point
from finetune.trials.trial import prepare_any, trial
from probe.errors import ExperimentError
from probe.models.library import load_any, task_of_model
from probe.models.prompted import Prompted
from probe.models.prompts import Asking, prompts
from probe.stopping import never
from probe.tasks.nli import NLI, Pair
from tests.support.models.tiny_models import tiny_prompted

WORDS = {"entailment": "blue", "neutral": "old", "contradiction": "wet"}
PAIRS = tuple(
    Pair(f"A {thing} stands there.", f"It is {word}.", label, f"{number} {label}")
    for number, thing in enumerate(("house", "dog", "tree", "car", "boat", "man"))
    for label, word in WORDS.items()
)
"""Each label is given away by one word."""
SETS = Sets(PAIRS[:6], PAIRS[:6], PAIRS, PAIRS)


@pytest.fixture
def base(tmp_path: Path) -> Prompted:
    """Return a language model of a folder, asked by “cloze”."""
    model = replace(
        tiny_prompted(), name=f"{tmp_path / 'tiny'}?prompt=cloze", prompt=prompts(NLI)["cloze"]
    )
    for part in (model.model, model.tokenizer):
        part.save_pretrained(tmp_path / "tiny")
    return model


def test_adapters_learn_a_give_away_word_and_are_opened_like_a_model(
    base: Prompted, tmp_path: Path
) -> None:
    plan = Plan(
        base.name, "own", (18,), (1e-2,), (0,), mode="lora", max_epochs=8, patience=8,
        precision="fp32",
    )  # fmt: skip
    before = {name: weight.clone() for name, weight in base.model.state_dict().items()}
    changed, rows = trial(inoculation.KIND, plan, SETS, Cell(18, 1e-2, 0), base, never)
    point = list(rows)[-1]
    assert isinstance(point, Point) and point.dose == 18 and point.challenge == 1
    _, untrained = trial(inoculation.KIND, plan, SETS, BASE, base, never)
    (as_it_was,) = untrained
    assert as_it_was.challenge < 0.7
    after = changed.model.state_dict()
    for name, weight in before.items():  # of the base and of the copy
        assert torch.equal(base.model.state_dict()[name], weight)
        stem, _, last = name.rpartition(".")
        inside = name if name in after else f"{stem}.base_layer.{last}"
        assert torch.equal(after[inside], weight)
    assert all("lora_" in name for name in after if name.replace("base_layer.", "") not in before)

    folder = tmp_path / "kept"
    folder.mkdir()
    for name, content in model_files(changed).items():
        (folder / name).write_bytes(content)
    assert {path.name for path in folder.iterdir()} == {
        "adapter_config.json", "adapter_model.safetensors", "config.json"
    }  # fmt: skip
    opened = load_any(str(folder))
    assert isinstance(opened, Prompted) and task_of_model(str(folder)) is NLI
    assert (opened.prompt, opened.notes) == (
        base.prompt, (f"an adapter, merged into {tmp_path / 'tiny'}",)
    )  # fmt: skip
    np.testing.assert_allclose(opened.scores(PAIRS), changed.scores(PAIRS), atol=1e-4)
    for asked, prompt in (
        ("?task=nli", "cloze"),
        ("?shots=2", "cloze"),
        ("?prompt=question", "question"),
    ):
        other = load_any(f"{folder}{asked}")
        assert isinstance(other, Prompted) and other.prompt.name == prompt
    with pytest.raises(ExperimentError, match="is an adapter already; train its base model"):
        prepare_any(opened, "lora", "fp32")


def test_what_is_trained_on_is_what_is_measured_over_all_orders(base: Prompted) -> None:
    listed = replace(base, prompt=prompts(NLI)["choose"])
    assert len(listed.orders) == 6
    data = prepare_adapters(replace(listed, model=deepcopy(base.model)), "fp32", 0).encoded(
        PAIRS[:3], 64
    )
    inputs, targets = data.batch([0, 2])
    with torch.no_grad():
        logits = data.model.logits(inputs)
    np.testing.assert_allclose(logits, listed.scores([PAIRS[0], PAIRS[2]]), atol=1e-4)
    assert targets.tolist() == [[True, False, False], [False, False, True]]


def test_adapters_are_refused_in_a_sentence(
    base: Prompted, monkeypatch: pytest.MonkeyPatch
) -> None:
    calibrated = replace(base, asking=Asking(calibration="batch"))
    with pytest.raises(ExperimentError, match="without calibration"):
        prepare_any(calibrated, "lora", "fp32")
    with pytest.raises(ExperimentError, match="minilm has no prompt by which adapters learn"):
        require_mode("minilm", False, "lora")
    monkeypatch.setitem(sys.modules, "peft", None)
    with pytest.raises(ExperimentError, match=r"peft is needed: pip install 'nli-clinic\[adapt"):
        require_mode("lm", True, "lora")
