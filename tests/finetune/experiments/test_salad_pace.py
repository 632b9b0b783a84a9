"""How long word salad takes here, as a trial measures it."""

from finetune.trials.salad_pace import salad_pace_of
from finetune.trials.word_salad import salad_names
from probe.models.classifier import Classifier
from probe.tasks.nli import NLI
from tests.support.runs.clean_source import clean_source

TEXTS = clean_source().test


def test_a_trial_is_made_once_for_a_model(classifier: Classifier) -> None:
    seen: list[int] = []
    classifier.model.register_forward_hook(lambda *_: seen.append(1))
    first = salad_pace_of("salad tried once", TEXTS, classifier)
    assert set(first.own) == set(salad_names(NLI))
    passes = len(seen)
    assert salad_pace_of("salad tried once", TEXTS, classifier) is first
    assert len(seen) == passes > 0
