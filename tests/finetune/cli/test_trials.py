"""The commands that run trials: what they leave, take over, refuse, and list."""

import csv
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import nli_clinic
from finetune.trials import calibration
from finetune.trials.base import row_json
from finetune.trials.datasets import Sets
from finetune.trials.inoculation import Plan, run_request
from probe.models.library import load
from probe.runs.gallery import read
from probe.runs.store import Store
from probe.tasks.nli import Pair
from probe.tasks.task import INVALID
from tests.support.cases import failures
from tests.support.commands import call, one_sentence
from tests.support.files.pair_files import row, write
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.runs.clean_source import clean_source, write_clean
from tests.support.runs.points import make_point

Asked = Callable[[str], list[object]]

SMALL = "--sizes 12 --seeds 0 --tests 3 --epochs 1 "
OWN = {
    "inoculate": "--challenge mine --sizes 6,12 --lrs 1e-3 --max-epochs 2",
    "generalise": "--phenomenon dative --sizes 8,16 --lrs 1e-3 --seeds 0 --tests 12 --max-epochs 2",
    "transfer": "--transforms sort,drop",
    "debias": "--challenges templates_hans,negation",
}


@pytest.fixture
def asked(home: Path, model: str, sets: Sets) -> Asked:
    """Calls that take seconds: each kind with the tiny model on files of its own."""

    def file(name: str, pairs: Iterable[Pair]) -> object:
        return write(home / f"{name}.jsonl", [row(pair) for pair in pairs])

    def own(verb: str) -> list[object]:
        if verb == "inoculate":
            parts = {name: part for name, part in sets.examples.items() if part}
            files = [f"--{name.replace('_', '-')}={file(name, parts[name])}" for name in parts]
            return [*OWN[verb].split(), *files]
        if verb == "generalise":
            return [*OWN[verb].split(), "--original", file("original", tiny_pairs(12))]
        return [*(SMALL + OWN.get(verb, "")).split(), *write_clean(clean_source(), home)]

    common = ("--model", model, "--out", home / "out", "--in-process")
    return lambda verb: [verb, *common, *own(verb)]


def done(*words: object) -> str:
    """Return what a command prints that ends well."""
    result = call(*words)
    assert result.exit_code == 0, result.output
    return result.output


def left(home: Path) -> tuple[list[dict[str, str]], dict[str, Any]]:  # Any: what JSON holds
    """Return the points and the summary that a call has left beside its figures."""
    drawn = [path.read_text() for path in (home / "out").glob("*.svg")]
    assert drawn and all(each.startswith("<svg") for each in drawn)
    with (home / "out" / "points.csv").open() as file:
        return list(csv.DictReader(file)), json.loads((home / "out" / "summary.json").read_text())


def kept(words: list[object], home: Path, name: str, results: int) -> str:
    """Run a call whose run the gallery keeps, without a sentence; return what it prints."""
    output = done(*words, "--gallery", home / "gallery")
    (path,) = (home / "gallery").glob("*.json")
    run, text = read(path), path.read_text(encoding="utf-8")
    assert path.stem == f"{Path(str(words[2])).name}-{name}"
    assert len(run.results) == results
    assert run.verdict == Store().runs()[0].verdict != {}
    assert not any(pair.premise in text for pair in (tiny_pairs(1)[0], clean_source().test[0]))
    return output


def again(words: list[object], *more: object) -> int:
    """Return how many trials a repeated call takes over."""
    return done(*words, *more).count("(from an earlier call)")


def test_an_inoculation_leaves_points_summary_and_curve(asked: Asked, home: Path) -> None:
    words = asked("inoculate")
    lines = done(*words).splitlines()
    assert re.fullmatch("about .* on one core", lines[0])
    sizes = [line[:8].strip() for line in lines if line.startswith("size")]
    assert sizes == ["size 0", *["size 6"] * 3, *["size 12"] * 3]  # two epochs and a point each
    rows, summary = left(home)
    names = "run model challenge mode size lr seed on_original on_challenge"
    assert list(rows[0])[:9] == names.split()
    assert [each["size"] for each in rows] == ["0", "6", "12"]
    before = float(rows[0]["on_original"]) - float(rows[0]["on_challenge"])
    assert summary["gap"] == pytest.approx(before)
    assert {"closed", "drop", "outcome", "oracle_lr", "dev_lr", "warnings"} <= set(summary)
    numbers = {"original_dev": 12, "original_test": 12, "challenge_train": 30, "challenge_test": 12}
    assert summary["n"] == {**numbers, "control": 0}
    # more sizes and other thresholds take over what is there, other settings do not
    output = done(*words, "--sizes", "6,12,18", "--cured", "0.9")
    assert output.count("(from an earlier call)") == 3
    assert output.count("epoch 1  loss") == 1  # size 18
    assert again(words, "--patience", "1") == 0
    done(*words, "--sizes", "6,all", "--lrs", "", "--min-gap", "0.5", "--min-tests", "10")
    _, summary = left(home)
    assert (summary["plan"]["sizes"], summary["plan"]["lrs"]) == ([6, 30], [2e-5])
    assert (summary["thresholds"]["gap"], summary["outcome"]) == (0.5, "0")
    assert "A test set has only" not in " ".join(summary["warnings"])


def test_a_generalisation_leaves_points_summary_and_figure(asked: Asked, home: Path) -> None:
    words = asked("generalise")
    kept(words, home, "dative-complexity", 9)
    rows, summary = left(home)
    conditions = ["simple", "medium", "complex", "all"]
    assert len(rows) == (1 + 4 * 2) * 5
    assert {each["train"] for each in rows} == {"", *conditions}
    assert {each["test"] for each in rows} == {"original", *conditions}
    assert summary["grid"]["rows"] == summary["grid"]["columns"] == conditions
    assert (summary["grid"]["size"], summary["plan"]["mode"]) == (16, "fast")
    assert "Fast mode" in " ".join(summary["verdict"]["warnings"])
    (run,) = Store().runs()
    listed = call("runs").output
    assert run.id in listed and "dative by complexity on " in listed
    refused = one_sentence(call("report", run.id, "--out", home / "report"))
    assert "only inoculations have a report" in refused
    assert again(words, "--sizes", "8,16,20", "--max-loss", "0.2") == 9
    mine = [  # a column of a file becomes the grid
        {**row(replace(pair, premise=f"{pair.premise} {n}")), "size": condition}
        for n, pair in enumerate(tiny_pairs(60))
        for condition in ("big", "small")
    ]
    file = ["--phenomenon", "", "--challenge-file", write(home / "mine.jsonl", mine)]
    done(*words, *file, "--condition", "size", "--sizes", "20", "--lrs", "1e-4,1e-2")
    _, summary = left(home)
    assert summary["grid"]["rows"] == ["big", "small"]
    assert set(summary["grid"]["lr"]) <= {1e-4, 1e-2}
    assert (summary["plan"]["phenomenon"], summary["plan"]["vary"]) == ("mine", "file")


def test_a_calibration_leaves_points_summary_diagrams_and_a_model(asked: Asked, home: Path) -> None:
    words = asked("calibrate")
    output, (rows, summary) = kept(words, home, "calibration", 5), left(home)
    assert [each["method"] for each in rows] == [calibration.BASE.method, *calibration.REPAIRS]
    assert summary["ece_before"] == pytest.approx(float(rows[0]["ece"]))
    assert summary["agreement_before"] == summary["agreement_after"]
    assert "After temperature" in (home / "out" / "reliability.svg").read_text()
    assert summary["explanation"] in output
    assert load(Store().runs()[0].kept).temperature == pytest.approx(summary["temperature"])
    assert again(words, "--seeds", "0,1") == 4  # all but the one whose model is kept
    done(*words, "--methods", "focal")
    assert left(home)[1]["method"] == "focal"


def test_a_mitigation_leaves_points_summary_heat_map_and_a_model(asked: Asked, home: Path) -> None:
    words = asked("mitigate")
    output, (rows, summary) = kept(words, home, "mitigation", 4), left(home)
    assert [each["method"] for each in rows] == ["baseline", "threshold", "invalid", "entropic"]
    assert summary["method"] == "invalid"
    assert summary["invalid_found"] == pytest.approx(float(rows[2]["invalid_found"]))
    named = re.findall(r"the repaired model is kept as (\S+)", output)
    assert named == [Store().runs()[0].kept]
    assert INVALID in load(named[0]).labels
    assert again(words) == 3
    done(*words, "--methods", "threshold", "--transforms", "sort,drop")
    model, (_, summary) = load(Store().runs()[0].kept), left(home)
    assert INVALID not in model.labels
    assert model.invalid_below == pytest.approx(summary["methods"][1]["threshold"])
    assert set(summary["per_transform"]) == {"sort", "drop"}


def test_a_transfer_leaves_points_summary_and_matrix(asked: Asked, home: Path) -> None:
    words = asked("transfer")
    done(*words, "--no-salad-only")
    assert kept(words, home, "transfer", 4).count("(from an earlier call)") == 2
    rows, summary = left(home)
    assert [each["trained_on"] for each in rows] == ["sort", "drop", "clean only", "salad only"]
    assert summary["rows"] == summary["columns"] == ["sort", "drop"]
    assert summary["matrix"][0][1] == pytest.approx(float(rows[0]["found_drop"]))
    assert summary["salad_only"]["salad"] == pytest.approx(float(rows[3]["clean"]))


def test_a_debiasing_leaves_points_summary_figure_and_model(asked: Asked, home: Path) -> None:
    words = asked("debias")
    output = kept(words, home, "debiasing", 6)
    rows, summary = left(home)
    methods = ["baseline", "poe", "reweight", "regularise", "augment", "plain"]
    assert [each["method"] for each in rows] == [each["method"] for each in summary["methods"]]
    assert [each["method"] for each in rows] == methods
    names = {"original", "negation", "templates_hans entailment", "templates_hans non-entailment"}
    assert set(summary["methods"][1]["right"]) == names
    right = summary["methods"][1]["right"]["original"]
    assert float(rows[1]["right_original"]) == pytest.approx(right["value"])
    assert int(rows[1]["n_original"]) == right["n"] == 12
    assert (
        "the weak model “one text alone” is right on" in output
    )  # of 12 examples it knows nothing
    assert load(Store().runs()[0].kept).labels == load(str(words[2])).labels
    assert again(words) == 5


MISTAKES: dict[str, list[tuple[list[str], str]]] = {
    "inoculate": [
        (["--model", "nobody"], "no model or folder called 'nobody'"),
        (["--sizes", "31"], "has 30 pairs; no size can be larger"),
        (["--sizes", "ten"], "--sizes 'ten' is not a list of numbers"),
        (["--lrs", "0"], "learning rate must be above 0"),
        (["--original-dev", "gone.csv"], "gone.csv cannot be opened"),
        (["--cured", "0.1", "--uncured", "0.9"], "must be at least that for Outcome 2"),
        (["--threads", "0"], "invalid value for '--threads'"),
        (["--precision", "int8"], "is not one of auto, fp32, bf16"),
    ],
    "generalise": [
        (["--condition", "size"], "--condition names a column of --challenge-file"),
        (["--phenomenon", "negation"], "no conditions for 'negation'; there are: dative"),
        (["--vary", "range"], "dative templates cannot vary 'range'"),
        (["--vary", "lexical", "--sizes", "50000"], "pairs to train on besides"),
        (["--max-loss", "0"], "the loss from which it learnt the set must be above 0"),
        (["--challenge-file", "gone.csv"], "gone.csv cannot be opened"),
        (["--mode", "slow"], "is not one of full, fast"),
    ],
    "calibrate": [
        (["--methods", "hope"], "methods are some of"),
        (["--sizes", "25"], "each size must be from 1 to 24"),
        (["--mode", "slow"], "is not one of full, fast"),
    ],
    "mitigate": [
        (["--methods", "hope"], "methods are some of"),
        (["--transforms", "sort,negation"], "transforms are some of sort"),
        (["--share", "0"], "shares that are destroyed"),
    ],
    "debias": [
        (["--weak", "premise"], "is not one of hypothesis, overlap, bag"),
        (["--methods", "threshold"], "methods are some of poe, reweight"),
        (["--augment", "sort"], "there is no challenge 'sort'"),
    ],
    "transfer": [
        (["--transforms", "negation"], "transforms are some of sort"),
        (["--lr", "0"], "learning rate must be above 0"),
    ],
}


def test_a_mistake_is_one_sentence_and_exit_code_2(asked: Asked, home: Path) -> None:
    def refused(words: list[object], sentence: str) -> None:
        assert sentence in one_sentence(call(*words))

    taken, file = home / "good.csv", write(home / "both.jsonl", [row(p) for p in tiny_pairs(6)])
    taken.touch()
    mine = [*["inoculate", "--out", "out", "--challenge", "mine", "--model"], asked("transfer")[2]]
    other, train = home / "." / "both.jsonl", ["--challenge-train", file]
    both = [*train, "--challenge-test", other]
    cases = [
        *(([*asked(verb), *words], said) for verb, own in MISTAKES.items() for words, said in own),
        ([*mine, "--challenge", "sort"], "there is no challenge 'sort'; there are: "),
        ([*mine, *train], "needs a --challenge-test"),
        ([*mine, *both], "--challenge-train and --challenge-test are one file"),
        ([*asked("calibrate"), "--gallery", taken], f"{taken} cannot be written: File exists"),
    ]
    assert failures(refused, cases) == {}
    assert Store().runs() == ()


def test_the_console_command_has_them_and_challenges_are_listed_by_task() -> None:
    group: Any = get_command(nli_clinic.app)
    assert set(MISTAKES) <= set(group.commands)
    output = call("challenges").output
    assert "word_overlap" in output and "templates_hans" in output
    assert "our extension of" not in output
    rows = json.loads(call("challenges", "--json").output)
    assert {"name", "title", "kind", "family", "summary", "labels", "source"} == set(rows[0])
    sentiment = call("challenges", "--task", "sentiment").output
    (line,) = (one for one in sentiment.splitlines() if one.strip().startswith("spelling_swap"))
    assert line.endswith("(the gold label stays; our extension of Naik et al. 2018, section 3)")
    assert "templates_" not in sentiment and "premise" not in sentiment
    wrong = one_sentence(call("challenges", "--task", "poetry"))
    assert wrong.startswith("there is no task 'poetry'; there are: ")


def test_stored_runs_are_listed_printed_and_reported_once(home: Path, sets: Sets) -> None:
    store, out = Store(), home / "report"
    run = store.create("me", run_request(Plan("tiny", "negation", (6,), (1e-3,), (0,)), sets))
    printed = json.loads(call("run", run.id).output)
    assert (printed["id"], len(printed["cells"])) == (run.id, 2)
    assert call("run", "nobody").output == "error: there is no run 'nobody'\n"
    assert f"{run.id}  " in call("runs").output
    (listed,) = json.loads(call("runs", "--json").output)
    assert (listed["id"], listed["state"], len(listed["cells"])) == (run.id, "queued", 2)
    words = ("report", run.id, run.id, "--out", out)
    assert call(*words).output == "error: no cell of these runs is finished yet\n"
    store.set_result(run.id, 0, row_json(make_point(80, 60)))
    files = ("points.csv", "figure.svg", "figure.pdf", "figure.png", "report.html")
    assert done(*words).split() == [str(out / name) for name in files]
    assert len((out / "points.csv").read_text().splitlines()) == 2  # of a run that is named twice
    assert "negation" in (out / "report.html").read_text()
    assert call(*words, "--selection", "best").exit_code == 2
