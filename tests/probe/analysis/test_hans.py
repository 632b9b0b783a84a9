"""The profile by heuristic, gold label and sub-case, and what it means."""

import json

import pytest

from probe.analysis.hans import REPORTED, Profiled, hans_json, in_heuristics, profile, verdicts
from probe.errors import TemplateError
from probe.statistics import FEWEST
from probe.templates import Request, generate, subcases
from probe.templates.generate import HEURISTICS
from tests.support.commands import answer, refusal, run
from tests.support.models.tiny_models import shared

E, X = "entailment", "non-entailment"


def test_every_sub_case_is_a_row_right_as_often_as_a_plain_loop_finds() -> None:
    found = list(profile(shared(), 3, seed=5, precision="fp32"))
    assert [(row.subcase, row.n) for row in found] == [(name, 3) for name in subcases()]
    assert [(row.heuristic, row.gold, row.n) for row in in_heuristics(found)] == [
        (heuristic, gold, 15) for heuristic in HEURISTICS for gold in (E, X)
    ]
    right = {row.subcase: row.correct for row in found}
    assert all(sum(n for _, n in row.templates.values()) == row.n for row in found)
    assert all(sum(hit for hit, _ in row.templates.values()) == row.correct for row in found)
    for subcase in ("ln_passive", "le_passive"):
        pairs = list(generate(Request("hans", subcase=subcase), 3, 5))
        said = [shared().predict([pair])[0].label for pair in pairs]
        entailed = subcase.startswith("le")
        assert right[subcase] == sum((label == E) == entailed for label in said)
    assert list(profile(shared(), 3, 5, "fp32")) == found
    with pytest.raises(TemplateError, match="different"):
        next(profile(shared(), 10**9))


def test_two_accuracies_say_whether_the_profile_is_there() -> None:
    for n, entailed, others, words in (
        (20, 20, 0, "the published profile"),
        (20, 18, 2, "the published profile"),
        (20, 20, 20, "not the profile: it tells the two apart"),
        (20, 20, 10, "the profile in part"),
        (20, 0, 20, "no skill either"),
        (20, 10, 10, "no skill either"),
        (20, 11, 10, "no skill either"),
        (20, 14, 14, "it misses entailments too"),
        (FEWEST - 1, 0, 0, "are too few to tell"),
        (20, 18, 4, "says entailment of 90 % of the entailed pairs and of 80 % of the others"),
    ):
        # the other label is right where entailment is not said
        halves = (("b", others - others // 2), ("c", others // 2))
        made = [("a", E, entailed, n)]
        made += [(name, X, it, n - n // 2 if name == "b" else n // 2) for name, it in halves]
        rows = [
            Profiled("subsequence", name, gold, n, right, {f"{name}_1": (right, n)})
            for name, gold, right, n in made
        ]
        assert words in verdicts(rows)["subsequence"], (entailed, others)
    together = in_heuristics(rows)[1]  # added up
    templates = {"b_1": (2, 10), "c_1": (2, 10)}
    assert together == Profiled("subsequence", "", X, 20, 4, templates)
    # all of one template right and none of the other: nothing is known of further ones
    apart = Profiled("subsequence", "", X, 200, 100, {"b_1": (100, 100), "c_1": (0, 100)})
    assert (apart.estimate.low, apart.estimate.high) == (0, 1)
    shares = {(one.model, one.gold): one.correct / one.n for one in REPORTED}
    assert shares["Decomposable Attention", X] == pytest.approx(0.0274)
    assert shares["ESIM", E] == pytest.approx(0.9859, abs=1e-4)


def test_the_command_prints_a_table_or_json_and_refuses_what_it_does_not_know(model: str) -> None:
    shape = hans_json({"tiny": list(profile(shared(), 1, precision="fp32"))}, 1, 0, "fp32")
    counts = {name: len(rows) for name, rows in shape["models"]["tiny"].items()}
    assert counts == {"subcases": 30, "heuristics": 6, "verdicts": 3}
    assert len(shape["reported_on_hans"]) == 4
    assert json.loads(json.dumps(shape, allow_nan=False)) == shape
    words = ["hans", "--model", model, "--n", "1"]
    told = run(*words).stdout
    assert "ln_subject/object_swap" in told and "411 of 15,000" in told
    assert list(answer(*words)["models"]) == [model]
    assert "there is no model or folder called 'nosuch'" in refusal("hans", "--model", "nosuch")
