"""What a prepared model answers, and what of it is right or called invalid."""

from collections.abc import Sequence

from finetune.experiments.inoculation.datasets import Examples
from finetune.experiments.mitigation.point import Found
from finetune.training.prepared.encoded import unscaled_logits
from finetune.training.prepared.tensor_cache import Prepared
from probe.models.answers.prediction import Prediction, as_predictions
from probe.stopping import Stop
from probe.tasks.task import INVALID, Task


def predict(ready: Prepared, examples: Examples, stop: Stop) -> list[Prediction]:
    """Return the answers, with the model's temperature and threshold. Raises Cancelled."""
    whole = ready.whole
    data = ready.encoded(examples, whole.max_tokens, stop)
    logits = unscaled_logits(ready.trained, data, ready.precision, stop)
    values = logits.double().cpu().numpy()
    return as_predictions(values, whole.labels, whole.temperature, whole.invalid_below)


def count_right(task: Task, examples: Examples, answers: Sequence[Prediction]) -> Found:
    """Count the answers that match the gold labels; invalid ones do not."""
    right = [
        task.matches(answer.label, example.gold)
        for answer, example in zip(answers, examples, strict=True)
    ]
    return Found(sum(right), len(right))


def count_invalid(answers: Sequence[Prediction]) -> Found:
    """Count the answers that call a text invalid."""
    return Found(sum(answer.label == INVALID for answer in answers), len(answers))
