"""What a calibration shows: diagrams, figures, and that it does not cure word salad."""

import re
from dataclasses import replace

import pytest

from finetune.ui.html.repair.calibration import figures, figures_frame, pictures, sentence
from probe.statistics import Bin, first_bin
from tests.support.runs.repairs import (
    CALIBRATED,
    CALIBRATION_PLAN,
    bins,
    calibrated,
    calibration_run,
)

RUN = calibration_run()


def test_the_sentence_says_how_far_confidence_is_off_and_that_answers_stay() -> None:
    assert sentence(RUN) == (
        "After temperature 1.7, the confidence of MiniLM is off by 2.0 points (0.0 to 5.4; 0.6 by "
        "chance alone); it was off by 11 (7.7 to 14.4; 0.6 by chance alone). "
        "That is no cure for broken texts, on which its answers stay: 90 %, 90 % before."
    )


def test_answers_that_no_longer_stay_are_said_too() -> None:
    cured = calibrated(CALIBRATED[1].cell, 0.02, stay=100, temperature=2.0)
    said = sentence(calibration_run((CALIBRATED[0], cured, CALIBRATED[2])))
    assert said.endswith("On broken texts fewer answers stay: 50 %, 90 % before.")


def test_the_badges_say_how_far_each_diagram_is_off() -> None:
    shown = pictures(RUN)
    assert '<span class="badge keep">off by 11 points (7.7 to 14.4; 0.6 by chance alone)<' in shown
    assert '<span class="badge good">off by 2.0 points (0.0 to 5.4; 0.6 by chance alone)<' in shown


def test_the_first_method_stands_beside_the_model_as_it_was_and_others_are_folded() -> None:
    in_sight, _, folded = pictures(RUN).partition("the diagrams of the other methods")
    assert "After temperature 1.7" in in_sight and "After label smoothing" not in in_sight
    assert "After label smoothing" in folded


def test_a_line_of_the_table_has_all_figures() -> None:
    ours = figures(RUN).partition("Label smoothing, 1,000 examples</th>")[2].partition("</tr>")[0]
    assert re.findall(r'"num">([\d.]+)<', ours) == ["0.050", "0.300", "0.600", "75.0", "85.0"]


def test_before_and_after_is_a_picture_to_take_away() -> None:
    ours = figures(RUN).partition("published before and after")[0]
    assert 'download="calibration-minilm.svg"' in ours and ">PNG<" in ours
    assert 'download="calibration-minilm.csv"' in ours


def test_the_table_says_where_an_answer_that_is_wholly_sure_falls() -> None:
    assert "15 bins; an answer that is exactly 1.0 sure falls into the last." in figures(RUN)


def test_the_twin_holds_the_figures_as_shares() -> None:
    frame = figures_frame(RUN).set_index("method")
    assert frame.loc["temperature", "ece"] == pytest.approx(0.02)
    assert frame.loc["smoothing", "agreement"] == pytest.approx(0.85)


@pytest.mark.parametrize(("labels", "first"), [(2, 7), (3, 5)])
def test_the_scale_begins_where_answers_can_be(labels: int, first: int) -> None:
    assert first_bin(bins(10, 0.97, 0.8), labels) == first


def test_the_scale_begins_lower_where_answers_are() -> None:
    low = tuple(
        Bin(each.low, each.high, int(at == 3), 0.22, 1.0)
        for at, each in enumerate(bins(10, 0.97, 0.8))
    )
    assert first_bin(low, 3) == 3


def test_the_first_method_alone_is_enough() -> None:
    plan = replace(CALIBRATION_PLAN, methods=("temperature",))
    shown = pictures(calibration_run(CALIBRATED[:2], plan))
    assert "the diagrams of the other methods" not in shown


def test_the_published_figures_stand_behind_a_choice_with_what_stays() -> None:
    theirs = figures(RUN).partition("published before and after")[2]
    cells = theirs.partition("Focal loss</th>")[2].partition("</tr>")[0]
    assert re.findall(r">([\d.]+)<", cells) == ["87.0", "0.05", "80.4", "60.3", "56.5"]
    assert "Gupta et al. 2021, table 9" in theirs and "the first two rows should be equal" in theirs


def test_of_sentiment_the_error_alone_is_published() -> None:
    plan = replace(CALIBRATION_PLAN, model="minilm_sst2", task="sentiment")
    theirs = figures(calibration_run(plan=plan)).partition("published before and after")[2]
    cells = theirs.partition("Temperature scaling</th>")[2].partition("</tr>")[0]
    assert re.findall(r">([\d.]+)<", cells) == ["0.24"]
