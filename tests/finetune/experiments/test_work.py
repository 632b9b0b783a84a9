"""How long a run's work takes, by hand."""

import pytest

from finetune.training.frozen_layers import TENSOR_CACHE
from finetune.trials.pace import Pace
from finetune.trials.work import (
    Salad,
    Texts,
    Work,
    answering,
    joined,
    made_anew,
    of_model,
    part_of,
    salad_texts,
    seconds_at_pace,
    training,
)
from probe.analysis.pace import TransformPace

DEV, TEST, POOL = Texts("dev", 30), Texts("test", 20), Texts("pool", 100)
SALAD = Salad(TEST, ("sort", "drop"))
NO_SALAD = TransformPace(0, 0, {})


def test_texts_that_two_cells_read_are_prepared_once_but_answered_twice() -> None:
    work = answering(TEST) + answering(TEST)
    assert seconds_at_pace(work, Pace(0.1, 0, 0), NO_SALAD, ()) == pytest.approx(2)
    assert seconds_at_pace(work, Pace(0, 0, 0.1), NO_SALAD, ()) == pytest.approx(4)


def test_texts_that_are_too_many_to_keep_are_prepared_for_each_cell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    work, pace = answering(TEST) + answering(TEST), Pace(0.1, 0, 0, states=100)
    monkeypatch.setattr(TENSOR_CACHE, "limit", lambda: 2000)
    assert seconds_at_pace(work, pace, NO_SALAD, ()) == pytest.approx(2)
    monkeypatch.setattr(TENSOR_CACHE, "limit", lambda: 1999)
    assert seconds_at_pace(work, pace, NO_SALAD, ()) == pytest.approx(4)


def test_a_training_sees_its_texts_and_dev_in_each_epoch() -> None:
    work = training(POOL, DEV, 3)
    assert (work.trained, work.predicted) == (300, 90)
    assert set(work.prepared) == {POOL, DEV}


def test_salad_takes_time_once_while_it_is_kept() -> None:
    pace = TransformPace(0.1, 0.2, {"sort": 0.3, "drop": 0.4})
    work = Work(salads=(SALAD, SALAD))
    assert seconds_at_pace(work, Pace(0, 0, 0), pace, ("drop",)) == pytest.approx(20 * 1.0)
    assert seconds_at_pace(work, Pace(0, 0, 0), pace, ()) == pytest.approx(20 * 0.8)


def test_what_is_asked_for_again_stays_and_what_is_not_goes() -> None:
    others = [Salad(Texts(f"drawn {n}", 1), ("sort",)) for n in range(8)]
    calls = [each for other in others for each in (other, SALAD)]
    assert list(made_anew(calls)).count(SALAD) == 1
    assert list(made_anew([*others, SALAD, others[0], SALAD])) == [*others, SALAD, others[0]]


def test_each_transform_makes_texts_as_long_as_they_were() -> None:
    assert salad_texts(SALAD).length == 40
    assert joined(part_of(POOL, 0.5), salad_texts(SALAD)).length == 90


def test_another_model_shares_no_texts() -> None:
    both = answering(TEST) + of_model("invalid", answering(TEST))
    assert len(set(both.prepared)) == 2
    assert both.predicted == 40
