"""`python -m probe checkup`: through store and engine to a report, and on with what was begun."""

from dataclasses import replace
from pathlib import Path

import pytest

from probe.checkup.experiment import KIND
from probe.checkup.measuring import Asked, new_plan
from probe.checkup.report import command, figures_of, read_report
from probe.runs.engine import Engine
from probe.runs.store import Store
from probe.tasks.nli import NLI
from tests.support.commands import run
from tests.support.files.pair_files import PAIRS, write

GOLDS = sorted({str(each.gold) for each in PAIRS[:24]})
VALUES = [word for gold in GOLDS for word in ("--label-value", f"my {gold}={gold}")]


@pytest.fixture
def words(home: Path, model: str) -> list[str]:
    """A call on the tiny model and a file of its own, but for its --out."""
    rows = [
        {"premise": each.premise, "claim": each.hypothesis, "label": f"my {each.gold}"}
        for each in PAIRS[:24]
    ]
    file = write(home / "mine.jsonl", rows)
    small = ["--n", "3", "--per-subcase", "1", "--precision", "fp32", "--in-process"]
    return ["checkup", model, str(file), "--column", "hypothesis=claim", *VALUES, *small]


def test_the_command_writes_a_report_and_holds_to_limits(words: list[str], home: Path) -> None:
    first = run(*words, "--out", str(home / "one"), "--fail-under", "0", "--fail-under", "Sort=1")
    assert first.exit_code == 0, first.output
    report = read_report(home / "one" / "report.json")
    assert (report["data"]["n"], report["data"]["name"]) == (24, "mine.jsonl")
    assert "accuracy" in figures_of(report)
    assert report["missing"] == []
    for word in ("mine.jsonl", "--column hypothesis=claim", "--precision fp32", "--seed 0"):
        assert word in report["command"]
    numbers = {"n": 3, "per_subcase": 1, "seed": 0}
    published = {"sign": "gupta", "draws": 5}
    assert report["asked"] == {**numbers, "precision": "fp32", "long": "cut", **published}
    assert len(report["model"]["sha256"]) == len(report["data"]["sha256"]) == 64
    assert {"python", "torch", "transformers", "captum", "nltk"} <= set(report["environment"])
    page = (home / "one" / "report.html").read_text()
    for fact in (report["model"]["sha256"], report["data"]["sha256"], report["made"], "captum"):
        assert fact in page
    older = ["--against", str(home / "one" / "report.json")]
    second = run(*words, "--out", str(home / "two"), *older, "--fail-under", "1")
    assert second.exit_code == 1
    assert "Nothing changed that can be measured." in second.output
    assert "failed: Accuracy is" in second.output
    assert "(from an earlier call)" not in second.output  # that ended well: measured anew
    assert "<title>Check-up of" in (home / "two" / "report.html").read_text()


def test_a_call_goes_on_with_what_an_interrupted_one_has_measured(
    words: list[str], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit = Engine.submit

    def interrupted(engine: Engine, run_id: str) -> None:
        submit(engine, run_id)
        while not Store().get(run_id).results:
            pass
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Engine, "submit", interrupted)
        assert run(*words, "--out", str(home / "out")).exit_code != 0
    (begun,) = Store().runs(kind=KIND)
    assert begun.state == "cancelled"
    again = run(*words, "--out", str(home / "out"))
    assert again.exit_code == 0, again.output
    assert again.output.count("(from an earlier call)") == len(begun.results) >= 1
    whole = Store().runs(kind=KIND)[0]
    assert (whole.state, whole.results[0]) == ("done", begun.results[0])  # seconds too


def test_a_check_up_in_windows_is_asked_for_again_by_its_command() -> None:
    asked = Asked(n=3, precision="fp32", long="windows")
    plan = new_plan("minilm", NLI, asked)
    assert plan.asked == asked
    assert "--long windows" in command(plan)
    assert "--long" not in command(replace(plan, asked=replace(asked, long="cut")))
