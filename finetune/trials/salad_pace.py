"""How long it takes here to make word salad of a text: a short trial of each transform."""

from threading import Lock

from finetune.trials.datasets import Examples
from finetune.trials.word_salad import OPTIONS, salad_names
from probe.analysis.pace import TransformPace, trial
from probe.models.classifier import Classifier

_PACES: dict[str, TransformPace] = {}
_LOCK = Lock()


def salad_pace_of(model: str, examples: Examples, classifier: Classifier) -> TransformPace:
    """Return the pace with a model by name; the first question about it costs a trial."""
    with _LOCK:
        if model not in _PACES:
            _PACES[model] = trial(salad_names(classifier.task), OPTIONS, examples, classifier)
        return _PACES[model]
