"""How long a model and the transforms take here, as a trial measures it."""

import pytest

from probe.analysis.pace import TransformPace, asking, trial
from probe.models.classifier import Classifier
from probe.transforms import Options
from tests.support.models.tiny_bert import tiny_pairs

NAMES = ("sort", "negation", "drop")
PACE = TransformPace(1.0, 5.0, {"sort": 0.1, "drop": 0.2, "repeat": 0.3})


def test_the_model_is_asked_once_for_all_transforms_that_ask() -> None:
    asks = ("drop", "repeat")
    assert PACE.seconds(10, ("sort",), asks) == pytest.approx(10 * (1 + 0.1))
    assert PACE.seconds(10, ("drop", "repeat"), asks) == pytest.approx(10 * (1 + 5 + 0.2 + 0.3))
    assert PACE.seconds(10, (), ("drop",)) == 0
    assert asking(NAMES) == ("drop",)


def test_the_model_is_asked_apart_from_the_transforms_however_many_ask(
    classifier: Classifier,
) -> None:
    pace, passes = trial(NAMES, Options(), tiny_pairs(12), classifier), 0
    assert {*pace.own} == {*NAMES} and min(pace.answer, pace.ask, *pace.own.values()) > 0

    def count(*_: object) -> None:
        nonlocal passes
        passes += 1

    def passes_of(*names: str) -> int:
        before = passes
        trial(names, Options(), tiny_pairs(12), classifier)
        return passes - before

    classifier.model.register_forward_hook(count)
    assert passes_of("drop") == passes_of("drop", "repeat", "replace") > passes_of("sort")
