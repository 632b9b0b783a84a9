"""How long word salad takes here, as a trial measures it."""

import pytest

from finetune.experiments.salad_pace import SaladPace, salad_pace_of, trial
from finetune.experiments.word_salad import salad_names
from probe.models.classifier import Classifier
from probe.tasks.nli import NLI
from tests.support.clean_source import clean_source

TEXTS = clean_source().test
PACE = SaladPace(1.0, 5.0, {"sort": 0.1, "drop": 0.2, "repeat": 0.3})


def test_the_model_is_asked_once_for_all_transforms_that_ask() -> None:
    asking = ("drop", "repeat")
    assert PACE.seconds(10, ("sort",), asking) == pytest.approx(10 * (1 + 0.1))
    assert PACE.seconds(10, ("drop", "repeat"), asking) == pytest.approx(10 * (1 + 5 + 0.2 + 0.3))


def test_no_transform_takes_no_time() -> None:
    assert PACE.seconds(10, (), ("drop",)) == 0


def test_a_trial_times_every_transform_of_the_task(classifier: Classifier) -> None:
    pace = trial(TEXTS, classifier)
    assert set(pace.own) == set(salad_names(NLI))
    assert min(pace.answer, pace.ask, *pace.own.values()) > 0


def test_asking_the_model_is_not_counted_with_a_transform(classifier: Classifier) -> None:
    pace = trial(TEXTS, classifier)
    assert pace.own["drop"] < pace.ask


def test_a_trial_is_made_once_for_a_model(classifier: Classifier) -> None:
    seen: list[int] = []
    classifier.model.register_forward_hook(lambda *_: seen.append(1))
    first = salad_pace_of("salad tried once", TEXTS, classifier)
    passes = len(seen)
    assert salad_pace_of("salad tried once", TEXTS, classifier) is first
    assert len(seen) == passes > 0
