"""`python -m probe checkup`: through store and engine to a report, and on with what was begun."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from probe.checkup.experiment import KIND
from probe.checkup.measuring import Asked, new_plan
from probe.checkup.report import command, figures_of, read_report
from probe.runs.engine import Engine
from probe.runs.store import Store
from probe.tasks.nli import NLI
from tests.support.commands import refusal, run
from tests.support.models.tiny_bert import tiny_pairs


@pytest.fixture
def words(home: Path, model: str) -> list[str]:
    """A call on the tiny model and a file of its own, but for its --out."""
    rows = [
        {"premise": each.premise, "claim": each.hypothesis, "label": f"my {each.gold}"}
        for each in tiny_pairs(24)
    ]
    file = home / "mine.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    labels = sorted({row["label"] for row in rows})
    values = [word for label in labels for word in ("--label-value", f"{label}={label[3:]}")]
    columns = ["--column", "hypothesis=claim"]
    small = ["--n", "3", "--per-subcase", "1", "--precision", "fp32", "--in-process"]
    return ["checkup", model, str(file), *columns, *values, *small]


def test_the_command_writes_a_report_and_holds_to_limits(words: list[str], home: Path) -> None:
    first = run(*words, "--out", str(home / "one"), "--fail-under", "0", "--fail-under", "Sort=1")
    assert first.exit_code == 0, first.output
    report = read_report(home / "one" / "report.json")
    assert (report["data"]["n"], report["data"]["name"]) == (24, "mine.jsonl")
    assert "accuracy" in figures_of(report)
    assert report["missing"] == []
    for word in ("mine.jsonl", "--column hypothesis=claim", "--precision fp32", "--seed 0"):
        assert word in report["command"]
    older = ["--against", str(home / "one" / "report.json")]
    second = run(*words, "--out", str(home / "two"), *older, "--fail-under", "1")
    assert second.exit_code == 1
    assert "Nothing changed that can be measured." in second.output
    assert "failed: Accuracy is" in second.output
    assert "(from an earlier call)" not in second.output  # that ended well: measured anew
    assert "<title>Check-up of" in (home / "two" / "report.html").read_text()


def test_a_report_names_model_data_seeds_and_versions(words: list[str], home: Path) -> None:
    assert run(*words, "--out", str(home)).exit_code == 0
    report = read_report(home / "report.json")
    assert len(report["model"]["sha256"]) == len(report["data"]["sha256"]) == 64
    assert report["asked"] == {
        "n": 3,
        "per_subcase": 1,
        "seed": 0,
        "precision": "fp32",
        "long": "cut",
    }
    assert {"python", "torch", "transformers", "captum", "nltk"} <= set(report["environment"])
    page = (home / "report.html").read_text()
    for fact in (report["model"]["sha256"], report["data"]["sha256"], report["made"], "captum"):
        assert fact in page


def test_a_call_goes_on_with_what_an_interrupted_one_has_measured(
    words: list[str], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        submit = Engine.submit

        def interrupted(engine: Engine, run_id: str) -> None:
            submit(engine, run_id)
            while not Store().get(run_id).results:
                pass
            raise KeyboardInterrupt

        patch.setattr(Engine, "submit", interrupted)
        assert run(*words, "--out", str(home / "out")).exit_code != 0
    (begun,) = Store().runs(kind=KIND)
    assert begun.state == "cancelled"
    again = run(*words, "--out", str(home / "out"))
    assert again.exit_code == 0, again.output
    assert again.output.count("(from an earlier call)") == len(begun.results) >= 1
    whole = Store().runs(kind=KIND)[0]
    assert (whole.state, whole.results[0]) == ("done", begun.results[0])  # seconds too


def test_a_wrong_limit_is_refused_before_anything_is_measured(words: list[str], home: Path) -> None:
    for limit, sentence in [
        ("much", "--fail-under 'much' is neither a share from 0 to 1"),
        ("70", "--fail-under '70' is neither a share from 0 to 1"),
        ("sort=-1", "--fail-under 'sort=-1' is neither a share from 0 to 1"),
        ("nan", "--fail-under 'nan' is neither a share from 0 to 1"),
        ("srot=0.5", "a check-up of natural language inference has no figure 'srot'; it has: "),
    ]:
        said = refusal(*words, "--out", str(home / "out"), "--fail-under", limit)
        assert said.startswith(sentence), (limit, sentence)
        assert not (home / "out").exists(), (limit, sentence)


def test_a_missing_model_is_answered_by_a_sentence(tmp_path: Path) -> None:
    assert "'nobody'" in refusal("checkup", "nobody", "--out", str(tmp_path / "out"))


def test_a_label_that_is_not_known_is_asked_about(words: list[str], home: Path) -> None:
    plain = [word for word in words if word != "--label-value" and "my " not in word]
    result = run(*plain, "--out", str(home / "out"))
    assert result.exit_code == 2
    assert "say it with --label-value " in result.output


def test_a_check_up_in_windows_is_asked_for_again_by_its_command() -> None:
    asked = Asked(n=3, precision="fp32", long="windows")
    plan = new_plan("minilm", NLI, asked)
    assert plan.asked == asked
    assert "--long windows" in command(plan)
    assert "--long" not in command(replace(plan, asked=replace(asked, long="cut")))
