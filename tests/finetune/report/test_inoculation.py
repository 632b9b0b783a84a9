"""Inoculations in words, looked at together, and as a report that needs nothing else."""

import re
from dataclasses import replace

from finetune.report.files import report
from finetune.report.inoculation import (
    SAID,
    baselines_of,
    details,
    frames,
    interval,
    line_names,
    overview,
    panels,
    point_rows,
    status,
    summary,
)
from finetune.trials.inoculation import BASE, OUTCOMES, Cell, InoculationRun
from probe.runs.gallery import OWNER
from tests.support.runs.points import make_point, make_run

POINTS = [make_point(80, 60), make_point(79, 75, cell=Cell(50, 2e-5, 0))]
RUN = make_run(POINTS)
NAMES = ("negation", "spelling", "numerical", "length_mismatch", "word_overlap", "antonym", "own")
AFTER = {
    "1": [(80, 78), (80, 80)],
    "2": [(80, 60), (80, 61)],
    "between": [(80, 66), (80, 70)],
    "3": [(60, 70), (60, 78)],
    "0": [(80, 80), (80, 80)],
    "not_taken_up": [(80, 60), (80, 61)],
    "too_little": [(80, 60), (80, 61)],
}


def run_with(outcome: str, challenge: str, model: str = "minilm") -> InoculationRun:
    """A run that came to an outcome: the original and challenge accuracies of its two sizes."""
    before = (800, 800) if outcome == "0" else (800, 600)
    sizes = (10, 50 if outcome == "too_little" else 100)
    after = [
        make_point(10 * original, 10 * challenge, n=1000, cell=Cell(size, 2e-5, 0))
        for size, (original, challenge) in zip(sizes, AFTER[outcome], strict=True)
    ]
    run = make_run(
        [make_point(*before, n=1000), *after], model, challenge, f"{model}-{challenge}",
        mode="context" if outcome == "not_taken_up" else "full",
    )  # fmt: skip
    assert run.verdict["outcome"] == outcome
    return run


EVERY = [run_with(outcome, name) for outcome, name in zip(OUTCOMES, NAMES, strict=True)]


def test_runs_together_say_which_challenge_came_to_what() -> None:
    rising = {0: 600, 10: 800, 50: 620, 100: 800}  # the size from which on the gap stays closed
    points = [
        make_point(800, right, 1000, Cell(size, 2e-5, 0) if size else BASE)
        for size, right in rising.items()
    ]
    for runs, said in (
        (
            EVERY,
            "MiniLM recovers from “Add a negation” after 10 examples; on “Lengthen the other "
            "text” part of the gap closes; on “Misspell a word” it learns little; on "
            "“Contradict by an antonym” examples in its prompt do little; “Change a number” "
            "costs it part of what it knew; on “Add a tautology” it has no gap; on “own” there "
            "is too little to tell.",
        ),
        ([EVERY[1]], "MiniLM: on “Misspell a word” it learns little."),
        ([make_run(points)], "MiniLM recovers from “Add a negation” after 100 examples."),
        (
            [*EVERY[:2], run_with("3", "negation", "esim")],
            "Gaps closed by examples. MiniLM: 1 closed, 1 not; ESIM: 1 at the cost of the "
            "original set.",
        ),
        ([make_run([], state="queued")], ""),
    ):
        assert overview(runs, "oracle_lr") == said
    assert {*SAID} == {*OUTCOMES}


def test_runs_that_have_not_ended_say_how_far_they_are() -> None:
    one = make_run([make_point(80, 60)])
    for state, said in (
        ("running", "Learning “Add a negation”: 0 of 2 trainings done."),
        ("failed", "It failed after 0 of 2"),
        ("cancelled", "It was stopped after 0 of 2"),
    ):
        assert status([replace(one, state=state)]).startswith(said), state
    assert status([one]) == ""


def test_a_verdict_is_said_with_its_intervals() -> None:
    said = summary(RUN.verdict["oracle_lr"])
    for words in ("The gap was 20.0 (", ") points. 75.0 (", ") % of it closed with 50 examples",
                  "the original test lost 1.0 ("):  # fmt: skip
        assert words in said
    for challenge in (60, 59):
        level = make_run([make_point(60, challenge), make_point(60, 60, cell=Cell(50, 2e-5, 0))])
        said = summary(level.verdict["oracle_lr"])
        assert "points, too small for a share of it to close; with 50 examples the original" in said
        assert "closed" not in said
    assert interval({"value": -0.01, "low": -0.02, "high": 0.0}) == "−1.0 (−2.0 to 0.0)"
    for by in ("oracle_lr", "dev_lr"):  # each choice of a rate names the other
        first = details(RUN.verdict, by)[0]
        assert "(as published)" in first and "(peeks at no test)" in first
    control = {"before": 0.6, "after": 0.7}
    verdict = {**RUN.verdict, "baselines": {"lexical_overlap": 0.5}, "control": control}
    said = " ".join(details(verdict, "oracle_lr"))
    assert "lexical overlap 50.0 %" in said and "from 60.0 to 70.0 %" in said
    assert "control set" not in " ".join(details({**verdict, "control": None}, "oracle_lr"))


def test_each_challenge_has_a_panel_with_its_models_named_apart_on_one_axis() -> None:
    alike = [make_run(POINTS, run_id="a"), make_run(POINTS, run_id="b", owner=OWNER)]
    assert line_names(alike) == {"a": "MiniLM (as published, a)", "b": "MiniLM (gallery)"}
    runs = [
        make_run(POINTS, model, challenge, f"{model}-{challenge}")
        for challenge in ("negation", "spelling")
        for model in ("da", "/models/esim")
    ]
    found = frames(runs, "oracle_lr")
    assert [*found] == ["negation", "spelling"]
    for frame in found.values():
        assert list(frame["name"].unique()) == ["Decomposable Attention", "ESIM"]
    assert not panels([make_run([], state="queued")], "oracle_lr", (300, 200))[0]
    low = [make_point(50, 20), make_point(50, 25, cell=Cell(50, 2e-5, 0))]
    both = [RUN, make_run(low, challenge="spelling", run_id="b")]
    _, look = panels(both, "oracle_lr", (300, 200))
    assert (look.low, look.high) == (10, 90)
    run = replace(RUN, verdict={**RUN.verdict, "baselines": {"lexical_overlap": 0.41}})
    assert baselines_of([run]) == {"lexical overlap": 41.0} and baselines_of([run, run]) == {}
    both = [make_run(POINTS, run_id="a"), make_run(POINTS[:1], run_id="b")]
    names = ("run", "size", "lr", "on_challenge", "n_challenge")
    rows = [[row[name] for name in names] for row in point_rows(both)]
    assert rows == [["a", 0, 0.0, 0.6, 100], ["a", 50, 2e-5, 0.75, 100], ["b", 0, 0.0, 0.6, 100]]


def test_the_report_leaves_nothing_out_and_refers_to_nothing_outside_itself() -> None:
    points = [make_point(80, 60), make_point(79, 78, cell=Cell(50, 2e-5, 0))]
    attack = make_run(points, "esim", "<script>alert(1)</script>", "run2")
    text = report([make_run(points, "da"), attack])
    tags = {tag.lower() for tag in re.findall(r"<\s*(\w+)", text)}
    assert not {"script", "link", "img", "iframe", "a", "object"} & tags
    assert not re.search(r"url\(|\b(src|href)\s*=", text, re.IGNORECASE)
    counts = {"<svg ": 2, "<h3>Points</h3>": 2, "<td>0.79</td><td>0.78</td>": 2}
    assert {words: text.count(words) for words in counts} == counts
    said = ("&lt;script&gt;alert(1)", "ab12", "torch", "2.8", "Outcome 1: dataset weakness",
            "--model da", "max_epochs", "A test set has only 100 pairs")  # fmt: skip
    assert [words for words in said if words not in text] == []
    failed = report([replace(make_run([], state="failed"), error="memory is short")])
    assert "memory is short" in failed and "0 of 3 cells are finished" in failed
