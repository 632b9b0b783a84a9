"""What a mitigation shows: what each method finds, its cost, and warnings."""

import re
from dataclasses import replace

import pytest

from finetune.trials.mitigation import Cell
from finetune.ui.html.repair.mitigation import by_transform, found, outcomes_frame, sentence
from finetune.ui.html.repair.mitigation import pictures as shown
from finetune.ui.html.repair.words import estimate
from probe.statistics import share
from probe.ui.html.elements import unbroken
from tests.support.runs.repairs import (
    MITIGATED,
    MITIGATION_PLAN,
    mitigated,
    mitigation_run,
)

RUN = mitigation_run()


def test_the_sentence_says_what_is_found_and_lost() -> None:
    assert sentence(RUN) == (
        "Taught a class “invalid”, MiniLM finds 94 % of the broken texts and loses 0.6 points on "
        "whole ones."
    )


def test_nothing_is_lost_where_accuracy_rises() -> None:
    plan = replace(MITIGATION_PLAN, methods=("threshold",))
    points = (MITIGATED[0], mitigated(Cell("threshold", 0, 0), 380, 50, 30))
    assert sentence(mitigation_run(points, plan)) == (
        "With a threshold, MiniLM finds 20 % of the broken texts and loses nothing on whole ones."
    )


def test_the_forest_has_a_row_for_each_method_with_what_it_costs() -> None:
    picture = found(RUN)
    for words in (
        "20 % found · 74.0 % right",
        "88 % found · 72.0 % right",
        "94 % found · 74.2 % right",
    ):
        assert f'<span class="soft">{words}</span>' in picture
    assert unbroken("74.8 % before. Mean of 2 repeats.") in picture


def test_the_interval_is_that_of_examples_not_of_their_broken_versions() -> None:
    assert estimate(0.94, 200).low == pytest.approx(share([True] * 188 + [False] * 12).low)


def test_the_heat_map_begins_with_whole_texts_that_are_called_invalid() -> None:
    row = by_transform(RUN).partition("Threshold alone</span>")[2].partition("</tr>")[0]
    assert re.findall(r">(\d+)</span>", row) == ["2", "25", "15"]


def test_the_twin_names_collapse_and_shares() -> None:
    frame = outcomes_frame(RUN).set_index("method")
    assert frame.loc["A class “invalid”", "found Sort"] == pytest.approx(0.95)
    assert not frame["collapsed"].any()


def test_a_collapse_is_warned_of() -> None:
    collapsed = mitigated(Cell("invalid", 1000, 0), 180, 200, 200, commonest=0.97)
    page = shown(mitigation_run((*MITIGATED[:3], collapsed, *MITIGATED[4:])))
    assert '<p class="beware">' in page and "the model collapsed" in page
    assert '<p class="beware">' not in shown(RUN)


@pytest.mark.parametrize(
    ("model", "task", "words"),
    [
        ("minilm", "nli", "97 % found · 85.4 % right"),
        ("minilm_qqp", "paraphrase", "95 % found · 90.1 % right"),
        ("minilm_mrpc", "paraphrase", "100 % found · 88.7 % right"),
        ("minilm_sst2", "sentiment", "96 % found · 92.8 % right"),
    ],
)
def test_the_published_figures_are_those_of_the_model_s_data(
    model: str, task: str, words: str
) -> None:
    plan = replace(MITIGATION_PLAN, model=model, task=task)
    assert words in found(mitigation_run(plan=plan)).partition("Gupta et al., table 12")[2]
