"""Counter-tests: gains by hand, the sentences, and their way through files and drawings."""

from dataclasses import replace

import pytest

from finetune.report.files import curves as figure
from finetune.report.inoculation import (
    counter_lines,
    curve_frame,
    points_frame,
)
from finetune.trials.base import row_json
from finetune.trials.challenges import counter_sentence, counter_tests
from finetune.trials.inoculation import INOCULATION, judge, verdict_json
from finetune.trials.inoculation_plan import Cell, Plan, Point, merge, point_from
from finetune.ui.html.panels import curves
from finetune.ui.html.run import outcome
from probe.pictures.curves import (
    counter_tests_in,
)
from probe.tasks.reading import READING
from tests.support.runs.points import make_point, make_run

N = 200
LARGE = Cell(50, 2e-5, 0)


def point(challenge: int, first: int, other: int, cell: Cell | None = None) -> Point:
    """Return a point with so many right of 200 on the challenge and on its counter-tests."""
    made = make_point(150, challenge, N, cell) if cell else make_point(150, challenge, N)
    tests = {
        name: tuple(float(row < right) for row in range(N))
        for name, right in (("addsent_first", first), ("addsent_other", other))
    }
    return replace(made, counter_tests=tests)


BEFORE, AFTER = point(60, 50, 60), point(140, 52, 138, LARGE)


def test_a_counter_test_that_gains_less_shows_what_was_learnt_instead() -> None:
    first, other = counter_tests(merge([BEFORE]), merge([AFTER]))
    assert (first.name, first.before, first.after) == ("addsent_first", 0.25, 0.26)
    assert first.gain.value == pytest.approx(0.01)
    assert first.lead.value == pytest.approx(0.40 - 0.01)
    assert first.lead.low < 0.39 < first.lead.high
    assert (first.shows, other.shows) == (True, False)
    assert other.lead.low < 0 < other.lead.high


def test_the_sentences_name_what_was_learnt_instead_or_say_that_nothing_shows() -> None:
    first, other = counter_tests(merge([BEFORE]), merge([AFTER]))
    said = counter_sentence(first, "F1")
    assert said.startswith("Did it learn the position? On “A false look-alike in front” F1 went")
    assert "from 25.0 to 26.0 %" in said
    assert said.endswith(
        "a part of what was learnt is the position, not to see through the sentence."
    )
    assert counter_sentence(other, "F1").endswith("which may be chance: no sign of that.")
    (more,) = counter_tests(merge([BEFORE]), merge([point(80, 180, 60, LARGE)]))[:1]
    assert counter_sentence(more, "F1").endswith("so this test gained more: no sign of that.")


def test_the_verdict_and_its_card_carry_the_sentences() -> None:
    verdict = verdict_json(
        judge(Plan("tiny", "mine", (50,), (1e-3,), (0,)), BEFORE, [AFTER], task=READING)
    )
    lines = counter_lines(verdict)
    assert [line.split("?")[0] for line in lines] == [
        "Did it learn the position", "Did it learn the false answers",
    ]  # fmt: skip
    run = replace(make_run([BEFORE, AFTER]), verdict=verdict)
    assert all(line in str(outcome(run)) for line in lines)
    assert counter_lines(make_run([make_point(8, 6), make_point(8, 7, cell=LARGE)]).verdict) == []


def test_scores_of_counter_tests_are_packed_and_read_back() -> None:
    halves = replace(AFTER, counter_tests={"addsent_first": (0.5, 1.0)})
    counts = {
        "sets": {
            "original_test": {"n": N}, "challenge_test": {"n": N}, "addsent_first": {"n": 2},
        }
    }  # fmt: skip
    read = INOCULATION.unpack(INOCULATION.pack(row_json(halves)), counts)
    key = {"size": 50, "lr": 1e-3, "seed": 0}
    assert point_from(key, read).counter_tests == halves.counter_tests


def test_of_one_model_the_counter_tests_are_drawn_and_of_several_not() -> None:
    run = replace(make_run([BEFORE, AFTER], challenge="addsent"))
    frame = curve_frame([BEFORE, AFTER], task=READING)
    assert counter_tests_in(frame) == ["addsent_first", "addsent_other"]
    assert str(curves([run], "oracle_lr")).count("A false look-alike in front") == 1
    assert "A false look-alike in front · Another false look-alike" in figure([run], "oracle_lr")
    two = [run, replace(make_run([BEFORE, AFTER], "da", "addsent"), id="run2")]
    assert "A false look-alike in front" not in figure(two, "oracle_lr")


def test_the_table_of_points_has_their_means() -> None:
    frame = points_frame([make_run([BEFORE, AFTER])])
    assert frame["on_addsent_first"].tolist() == [0.25, 0.26]
