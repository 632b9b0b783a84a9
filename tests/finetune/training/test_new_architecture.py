"""A model family costs one row of ARCHITECTURES, and its class where transformers has none."""

import json
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner, Result

import finetune.cli.main
import probe.cli.main
from finetune.training.frozen_layers import encode, lower_states, upper_part
from finetune.training.recipes import default_rate
from finetune.trials.datasets import Sets
from finetune.trials.inoculation import Cell, Plan, Point
from finetune.trials.trial import run_cell
from probe.analysis.importance import attribute
from probe.errors import ExperimentError
from probe.models.architectures import ARCHITECTURES, Architecture, EncoderLayers, Recipe
from probe.models.library import load
from probe.tasks.nli import LABELS
from probe.ui.panels import own_model
from tests.support.models.made_up_family import made_up_model
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.pages.visitors import ME, page_models

PAIRS = tiny_pairs(9)
ROW = Architecture(
    frozen=EncoderLayers("tower.blocks", first_token=None),
    recipe=Recipe("adagrad", lr=0.05, fast_lr=0.2, batch=4, clip_norm=None, clip_value=5.0),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(made_up_model(tmp_path_factory.mktemp("made-up")))


@pytest.fixture(autouse=True)
def row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ARCHITECTURES, "made-up", ROW)


def call(app: object, *words: object) -> Result:
    result = CliRunner().invoke(app, [str(word) for word in words])  # type: ignore[arg-type]
    assert result.exit_code == 0, result.output
    return result


def test_its_importance_is_that_of_plain_autograd(folder: str) -> None:
    classifier, pair = load(folder), PAIRS[0]
    inputs = dict(classifier.encode([pair]))
    ids = inputs.pop("input_ids")
    vectors = classifier.model.get_input_embeddings()(ids).detach().requires_grad_()
    classifier.logits(inputs | {"inputs_embeds": vectors}).log_softmax(-1)[0, 1].backward()
    assert vectors.grad is not None
    expected = (vectors * vectors.grad)[0].sum(-1).tolist()
    importance = attribute(classifier, [pair], ["neutral"])[0]
    sides = classifier.encode([pair]).sequence_ids(0)
    fields = (importance.tokens(field) for field in classifier.task.fields)
    scores = [token.score for tokens in fields for token in tokens]
    by_hand = [score for score, side in zip(expected, sides, strict=True) if side is not None]
    assert scores == pytest.approx(by_hand, abs=1e-5)
    assert max(map(abs, scores)) > 1e-3


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


def test_the_page_opens_it(folder: str) -> None:
    described, *_ = own_model.show(page_models(), ME, folder, "")
    assert f"{folder} is a made-up model of" in described


def test_the_command_line_probes_scores_and_inoculates_it(
    folder: str, sets: Sets, home: Path
) -> None:
    words = ("--premise", "A man walks.", "--hypothesis", "He moves.", "--transform", "sort")
    answer = call(probe.cli.main.app, "pair", "--model", folder, *words, "--json").stdout
    assert json.loads(answer)["original"]["label"] in LABELS
    files: list[object] = []
    for name, pairs in sets.examples.items():
        file = home / f"{name}.csv"
        rows = [f"{pair.premise},{pair.hypothesis},{pair.gold}" for pair in pairs]
        file.write_text("\n".join(["premise,hypothesis,label", *rows]))
        files += [f"--{name.replace('_', '-')}", file] if pairs else []
    scored = home / "scored.csv"
    test_file = home / "original_test.csv"
    call(probe.cli.main.app, "batch", test_file, "--model", folder, "--out", scored)
    assert len(scored.read_text().splitlines()) == 13
    out = home / "out"
    plan = ("--challenge", "mine", "--sizes", "6", "--mode", "fast", "--max-epochs", 2)
    # a worker process does not know a class of a test
    inoculate = ("inoculate", "--in-process", "--model", folder, "--out", out)
    call(finetune.cli.main.app, *inoculate, *plan, *files)
    summary = json.loads((out / "summary.json").read_text())
    assert summary["plan"]["lrs"] == [default_rate(folder, "fast")] == [0.2]
    assert len((out / "points.csv").read_text().splitlines()) == 3
