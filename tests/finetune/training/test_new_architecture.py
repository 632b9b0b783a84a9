"""A model family costs one row of ARCHITECTURES, and its class where transformers has none."""

import json
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

import finetune.cli.main
import probe.cli.main
from finetune.training.frozen_layers import encode, lower_states, upper_part
from finetune.training.recipes import default_rate
from finetune.trials.datasets import Sets
from finetune.trials.inoculation import Cell, Plan, Point
from finetune.trials.trial import run_cell
from probe.errors import ExperimentError
from probe.models.architectures import ARCHITECTURES, Architecture, EncoderLayers, Recipe
from probe.models.library import load
from probe.tasks.nli import LABELS
from probe.ui.tabs import mine
from tests.support.files.pair_files import row, write
from tests.support.models.made_up_family import made_up_model
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.pages.visitors import ME, page_models

PAIRS = tiny_pairs(9)
ROW = Architecture(
    frozen=EncoderLayers("tower.blocks", first_token=None),
    recipe=Recipe("adagrad", lr=0.05, fast_lr=0.2, batch=4, clip_norm=None, clip_value=5.0),
)


PLAN = "inoculate --in-process --challenge mine --sizes 6 --mode fast --max-epochs 2"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(made_up_model(tmp_path_factory.mktemp("made-up")))


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ARCHITECTURES, "made-up", ROW)


def call(app: object, *words: object) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])  # type: ignore[arg-type]
    assert result.exit_code == 0, result.output
    return result.stdout


def test_its_upper_block_alone_is_trained(
    folder: str, sets: Sets, monkeypatch: pytest.MonkeyPatch
) -> None:
    classifier = load(folder)
    data = encode(classifier, PAIRS, 64, classifier.device)
    states = lower_states(classifier, data, "fp32")
    with torch.no_grad():
        whole = classifier.logits(data.batch(range(9))[0])
        parts = upper_part(classifier).logits(states.batch(range(9))[0])
    torch.testing.assert_close(parts, whole, atol=1e-5, rtol=1e-5)
    before = {name: it.clone() for name, it in classifier.model.state_dict().items()}
    plan = Plan(folder, "negation", (12,), (0.2,), (0,), "fast", max_epochs=2, precision="fp32")
    *_, point = run_cell(plan, sets, Cell(12, 0.2, 0), classifier)
    assert isinstance(point, Point)
    after = classifier.model.state_dict()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    block = "backbone.tower.blocks.2.mix"
    assert changed == {f"{block}.weight", f"{block}.bias", "outputs.weight", "outputs.bias"}
    monkeypatch.delitem(ARCHITECTURES, "made-up")
    with pytest.raises(ExperimentError, match=r"kind is made-up.*--mode full"):
        upper_part(load(folder))


def test_the_page_opens_it_and_the_command_line_probes_scores_and_inoculates_it(
    folder: str, sets: Sets, home: Path
) -> None:
    described, *_ = mine.bring(page_models(), ME, folder, "")
    assert f"{folder} is a made-up model of" in described
    words = ("--premise", "A man walks.", "--hypothesis", "He moves.", "--json")
    answer = json.loads(call(probe.cli.main.app, "pair", "--model", folder, *words))
    assert answer["original"]["label"] in LABELS
    files = {
        name: write(home / f"{name}.jsonl", [row(pair) for pair in pairs])
        for name, pairs in sets.examples.items()
        if pairs
    }
    scored, out = home / "scored.csv", home / "out"
    tested = files["original_test"]
    call(probe.cli.main.app, "batch", tested, "--model", folder, "--out", scored)
    assert len(scored.read_text().splitlines()) == 13
    # a worker process does not know a class of a test
    own = [f"--{name.replace('_', '-')}={path}" for name, path in files.items()]
    call(finetune.cli.main.app, *PLAN.split(), "--model", folder, "--out", out, *own)
    summary = json.loads((out / "summary.json").read_text())
    assert summary["plan"]["lrs"] == [default_rate(folder, "fast")] == [0.2]
    assert len((out / "points.csv").read_text().splitlines()) == 3
