"""`python -m probe compare --curve`: accuracy over the checkpoints of a training."""

import re
import shutil
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from probe.models.library import load
from probe.tasks.nli import Pair
from tests.support.commands import answer, refusal, run
from tests.support.models.tiny_bert import tiny_pairs


@pytest.fixture
def training(model: str, tmp_path: Path) -> Path:
    """A folder with two checkpoints, of which the second answers with its outputs turned round."""
    for step in (5, 10):
        shutil.copytree(model, tmp_path / "results" / f"checkpoint-{step}")
    weights = tmp_path / "results" / "checkpoint-10" / "model.safetensors"
    turned = load_file(weights)
    for name in ("classifier.weight", "classifier.bias"):
        turned[name] = turned[name].flip(0).contiguous()
    save_file(turned, weights, metadata={"format": "pt"})
    return tmp_path / "results"


def written(path: Path, pairs: tuple[Pair, ...]) -> str:
    """Write pairs as a table and return its name."""
    lines = [f"{each.premise},{each.hypothesis},{each.gold}" for each in pairs]
    path.write_text("\n".join(["premise,hypothesis,label", *lines]) + "\n")
    return str(path)


def test_each_checkpoint_is_measured_on_each_file_and_none_twice(
    training: Path, tmp_path: Path
) -> None:
    pairs, out = tiny_pairs(30), tmp_path / "out"
    files = [written(tmp_path / f"{name}.csv", each)
             for name, each in (("dev", pairs[:12]), ("hard.set", pairs[12:]))]  # fmt: skip
    words = ["compare", "--curve", str(training), "--out", str(out)]
    (first,) = answer(*words, files[0])[:1]
    before = {path.name: path.stat().st_mtime_ns for path in (out / "scored").glob("*.jsonl")}
    rows = answer(*words, *files)
    assert rows[0] == first
    assert {name: (out / "scored" / name).stat().st_mtime_ns for name in before} == before
    assert [(row["step"], row["set"], row["n"]) for row in rows] == [
        (5, "dev", 12), (5, "hard", 18), (10, "dev", 12), (10, "hard", 18),
    ]  # fmt: skip
    for row, part in zip(rows, [pairs[:12], pairs[12:]] * 2, strict=True):
        answers = load(str(training / row["checkpoint"])).predict(part)
        right = sum(one.label == pair.gold for one, pair in zip(answers, part, strict=True))
        assert row["value"] == pytest.approx(right / len(part))
        assert row["low"] < row["value"] < row["high"] or right in (0, len(part))
    drawn = (out / "curve.svg").read_text()
    assert drawn.count("<title>dev, checkpoint-") == drawn.count("<title>hard, checkpoint-") == 2
    steps = re.findall(r'text-anchor="middle"[^>]*>(\d+)<', drawn)
    assert steps == ["5", "10"]  # and no 0, at which nothing was measured
    assert len((out / "curve.csv").read_text().splitlines()) == 5


def test_what_a_curve_cannot_be_drawn_of_is_refused(training: Path, tmp_path: Path) -> None:
    file, out = written(tmp_path / "dev.csv", tiny_pairs(3)), str(tmp_path / "out")
    bare = tmp_path / "bare.csv"
    bare.write_text("premise,hypothesis\nA man walks.,He walks.\n")
    draw = ["compare", "--curve", str(training)]
    for words, sentence in (
        (["compare", "--curve", str(tmp_path), file, "--out", out], "holds no checkpoint-STEP"),
        ([*draw, file], "and a folder --out"),
        ([*draw, "--out", out], "a FILE or more"),
        ([*draw, file, "--out", out, "--model", "minilm"], "leave out --model"),
        ([*draw, file, "--out", out, "--labels", "minilm=neutral"], f"is {training}=LABELS"),
        ([*draw, str(bare), "--out", out], "bare.csv has no gold labels"),
    ):
        assert sentence in refusal(*words)
    assert run(*draw, file, "--out", out).exit_code == 0
