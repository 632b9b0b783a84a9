"""The profile by heuristic, gold label and sub-case, and what it means."""

import json
from collections.abc import Mapping

import pytest
from typer.testing import CliRunner

from probe.analysis.hans import (
    REPORTED,
    Profiled,
    hans_json,
    in_heuristics,
    profile,
    verdicts,
)
from probe.cli.main import app
from probe.errors import TemplateError
from probe.statistics import FEWEST
from probe.templates import Request, generate, subcases
from probe.templates.request import HEURISTICS
from tests.support.models.tiny_bert import tiny_bert
from tests.support.models.tiny_models import shared

E, X = "entailment", "non-entailment"


def rows(correct: Mapping[tuple[str, str], int]) -> list[Profiled]:
    """Two sub-cases of ten pairs for each heuristic and gold label, equally right."""
    return [
        Profiled(heuristic, f"{heuristic}-{gold}-{half}", gold, 10, hits // 2)
        for (heuristic, gold), hits in correct.items()
        for half in ("a", "b")
        if gold in (E, X)
    ]


def test_every_sub_case_is_a_row_in_the_templates_order() -> None:
    found = list(profile(shared(), 2, precision="fp32"))
    assert [row.subcase for row in found] == subcases()
    assert all(row.n == 2 for row in found)


def test_heuristics_and_labels_are_five_sub_cases_each() -> None:
    found = in_heuristics(profile(shared(), 2, precision="fp32"))
    assert [(row.heuristic, row.gold, row.n) for row in found] == [
        (heuristic, gold, 10) for heuristic in HEURISTICS for gold in (E, X)
    ]


def test_a_sub_case_is_right_as_often_as_a_plain_loop_finds() -> None:
    found = {row.subcase: row.correct for row in profile(shared(), 3, seed=5, precision="fp32")}
    for subcase in ("ln_passive", "le_passive"):
        pairs = list(generate(Request("hans", subcase=subcase), 3, 5))
        said = [shared().predict([pair])[0].label for pair in pairs]
        entailed = subcase.startswith("le")
        assert found[subcase] == sum((label == E) == entailed for label in said)


def test_the_same_seed_gives_the_same_profile() -> None:
    assert list(profile(shared(), 2, 1, "fp32")) == list(profile(shared(), 2, 1, "fp32"))


def test_sub_cases_are_added_up() -> None:
    found = in_heuristics(
        [
            Profiled("subsequence", "sn_NP/S", X, 10, 1),
            Profiled("subsequence", "sn_NP/Z", X, 30, 4),
        ]
    )
    assert found == [Profiled("subsequence", "", X, 40, 5)]
    assert found[0].accuracy == 5 / 40


def test_an_accuracy_has_wilsons_interval() -> None:
    row = Profiled("subsequence", "", E, 10, 10)
    square = 1.959963984540054**2
    assert (row.low, row.high) == pytest.approx((10 / (10 + square), 1.0))


@pytest.mark.parametrize(
    ("entailed", "others", "words"),
    [
        (20, 0, "the published profile"),
        (18, 2, "the published profile"),
        (20, 20, "not the profile: it tells the two apart"),
        (20, 10, "the profile in part"),
        (0, 20, "no skill either"),
        (10, 10, "no skill either"),
        (14, 14, "it misses entailments too"),
    ],
)
def test_two_accuracies_say_whether_the_profile_is_there(
    entailed: int, others: int, words: str
) -> None:
    found = verdicts(rows({("lexical_overlap", E): entailed, ("lexical_overlap", X): others}))
    assert list(found) == ["lexical_overlap"]
    assert words in found["lexical_overlap"]


def test_a_few_pairs_have_no_verdict() -> None:
    few = [Profiled("subsequence", "", gold, FEWEST - 1, 0) for gold in (E, X)]
    assert "are too few to tell" in verdicts(few)["subsequence"]


def test_a_verdict_gives_how_often_entailment_is_said() -> None:
    found = verdicts(rows({("subsequence", E): 18, ("subsequence", X): 4}))
    assert found["subsequence"].startswith(
        "says entailment of 90 % of the entailed pairs and of 80 % of the others"
    )


def test_the_published_counts_are_shares_of_half_of_hans() -> None:
    assert {one.n for one in REPORTED} == {15000}
    shares = {(one.model, one.gold): one.correct / one.n for one in REPORTED}
    assert shares["Decomposable Attention", X] == pytest.approx(0.0274)
    assert shares["ESIM", E] == pytest.approx(0.9859, abs=1e-4)


def test_more_pairs_than_there_are_is_refused_by_a_sentence() -> None:
    with pytest.raises(TemplateError, match="different"):
        next(profile(shared(), 10**9))


def test_the_json_has_sub_cases_heuristics_and_what_others_report() -> None:
    found = {"tiny": list(profile(shared(), 1, precision="fp32"))}
    shape = hans_json(found, 1, 0, "fp32")
    assert len(shape["models"]["tiny"]["subcases"]) == 30
    assert len(shape["models"]["tiny"]["heuristics"]) == 6
    assert len(shape["reported_on_hans"]) == 4
    assert json.loads(json.dumps(shape, allow_nan=False)) == shape


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny_bert(tmp_path_factory.mktemp("tiny")))


def test_the_command_prints_a_table_and_the_published_counts(folder: str) -> None:
    ended = CliRunner().invoke(app, ["hans", "--model", folder, "--n", "1"])
    assert ended.exit_code == 0, ended.output
    assert "ln_subject/object_swap" in ended.stdout
    assert "411 of 15,000" in ended.stdout


def test_the_command_prints_json(folder: str) -> None:
    ended = CliRunner().invoke(app, ["hans", "--model", folder, "--n", "1", "--json"])
    assert list(json.loads(ended.stdout)["models"]) == [folder]


def test_an_unknown_model_is_refused_by_a_sentence() -> None:
    ended = CliRunner().invoke(app, ["hans", "--model", "nosuch"])
    assert ended.exit_code == 2
    assert "error: there is no model or folder called 'nosuch'" in ended.stderr
