"""A trial of a repair: change the model in one way, then measure it on clean and broken texts.

All take the model as it was `before`, and yield each epoch and at last the Point. `stop` is asked
before every batch: they raise Cancelled when it says so, and ExperimentError where the model has no
fast mode.
"""

import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np
import torch

from finetune.training.frozen_layers import Prepared, prepare, upper_part
from finetune.training.invalid_class import fit_temperature, with_invalid_class
from finetune.training.loop import BestEpoch, Schedule
from finetune.training.losses import Loss, balanced_last, cross_entropy, entropic, focal, smoothed
from finetune.trials import calibration, mitigation, transfer
from finetune.trials.base import Epoch, MethodCell, Training
from finetune.trials.calibration import Agreement
from finetune.trials.datasets import Examples, SourceData, drawn
from finetune.trials.inoculation_trial import fine_tune, fresh
from finetune.trials.mitigation import Found, best_threshold, transforms_of
from finetune.trials.word_salad import Salad, agreeing, destroy, gradient_names, salad_names
from probe.models.classifier import Classifier
from probe.models.prediction import INVALID_BELOW, TEMPERATURE, Prediction, as_predictions
from probe.statistics import calibration as calibration_of
from probe.stopping import Stop, never
from probe.tasks.task import INVALID

LOSSES: Mapping[str, Callable[[calibration.Plan], Loss]] = {
    "smoothing": lambda plan: smoothed(plan.epsilon),
    "focal": lambda plan: focal(plan.gamma),
}
WITH_THRESHOLD = ("threshold", "entropic")


@dataclass(frozen=True)
class Repair:
    """A cell under way: `ready` is the copy of the model that it changes."""

    training: Training
    source: SourceData
    cell: MethodCell | transfer.Cell
    ready: Prepared
    stop: Stop

    def train(self, examples: Examples, loss: Loss) -> Generator[Epoch, None, int]:
        """Train in place, yield each epoch and return how many there were."""
        ready, training, stop = self.ready, self.training, self.stop
        data = ready.encoded(examples, min(training.max_tokens, ready.whole.max_tokens), stop)
        dev = ready.scorer(self.source.dev, stop)
        schedule = Schedule(
            range(1, training.epochs + 1),
            training.batch or ready.whole.architecture.recipe.batch,
            self.cell.seed,
            lambda _, __: training.lr,
            patience=training.epochs,
        )
        epochs, _ = yield from fine_tune(
            ready, data, lambda: fmean(dev(False)), schedule, BestEpoch(), self.cell, stop, loss
        )
        return epochs

    def logits(self, examples: Examples) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits before any temperature, and which are right.  # (examples, labels) both"""
        data = self.ready.encoded(examples, self.ready.whole.max_tokens, self.stop)
        values = self.ready.trained.unscaled(data, self.ready.precision, self.stop)
        return values, data.targets

    def predict(self, examples: Examples) -> list[Prediction]:
        """Return the answers, with the model's temperature and threshold."""
        whole = self.ready.whole
        values = self.logits(examples)[0].double().cpu().numpy()
        return as_predictions(values, whole.labels, whole.temperature, whole.invalid_below)

    def fit_temperature(self) -> None:
        """Fit the temperature on dev, and keep it in the model's config."""
        value = fit_temperature(*self.logits(self.source.dev))
        setattr(self.ready.whole.model.config, TEMPERATURE, value)

    def right(self, examples: Examples, answers: Sequence[Prediction]) -> list[bool]:
        """Return which answers match the gold labels; invalid ones do not."""
        pairs = zip(answers, examples, strict=True)
        return [self.source.task.matches(answer.label, example.gold) for answer, example in pairs]

    def found(self, salad: Salad) -> dict[str, Found]:
        """Count by transform the destroyed texts that are called invalid."""
        return {name: count_invalid(self.predict(texts)) for name, texts in salad.items() if texts}


def count_invalid(answers: Sequence[Prediction]) -> Found:
    """Count the answers that call a text invalid."""
    return Found(sum(answer.label == INVALID for answer in answers), len(answers))


def calibrate(
    plan: calibration.Plan,
    source: SourceData,
    cell: MethodCell,
    before: Classifier,
    changed: Classifier,
    stop: Stop = never,
) -> Iterator[Epoch | calibration.Point]:
    """Calibrate `changed` in place, a copy of `before`."""
    began, epochs = time.monotonic(), 0
    salad = destroy(before, source.test[: plan.tests], salad_names(source.task))
    ready = prepare(changed, plan.training.mode, plan.training.precision)
    repair = Repair(plan.training, source, cell, ready, stop)
    if cell.method in LOSSES:
        examples = drawn(source.pool, cell.seed, cell.size)
        epochs = yield from repair.train(examples, LOSSES[cell.method](plan))
    if cell.method == "temperature":
        repair.fit_temperature()
    clean = repair.predict(source.test)
    measured = calibration_of(
        np.array([each.probabilities for each in clean]),
        ready.encoded(source.test, changed.max_tokens, stop).targets.cpu().numpy(),
        np.array([each.labels.index(each.answer) for each in clean]),
    )
    answers = {example.id: each.answer for example, each in zip(source.test, clean, strict=True)}

    def agreement(name: str, texts: Examples) -> Agreement:
        found = repair.predict(texts)
        after = [(text.id, each.answer) for text, each in zip(texts, found, strict=True)]
        confidence = fmean(each.confidence for each in found)
        return Agreement(agreeing(name, source.task, answers, after), len(after), confidence)

    agreements = {name: agreement(name, texts) for name, texts in salad.items() if texts}
    seconds = time.monotonic() - began
    yield calibration.Point(cell, measured, agreements, changed.temperature, epochs, seconds)


def changed_copy(learns_invalid: bool, classifier: Classifier) -> Classifier:
    """Return the copy of a classifier that a cell changes, perhaps with one more class."""
    return with_invalid_class(classifier) if learns_invalid else fresh(classifier)


def mitigate(
    plan: mitigation.Plan,
    source: SourceData,
    cell: MethodCell,
    before: Classifier,
    changed: Classifier,
    stop: Stop = never,
) -> Iterator[Epoch | mitigation.Point]:
    """Repair `changed` in place, a copy of `before`."""
    began, epochs = time.monotonic(), 0
    names, config = transforms_of(plan, source.task), changed.model.config
    ready = prepare(changed, plan.training.mode, plan.training.precision)
    repair = Repair(plan.training, source, cell, ready, stop)
    if cell.size:
        clean = drawn(source.pool, cell.seed, cell.size)
        loss: Loss = balanced_last if plan.balance else cross_entropy
        if cell.method == "entropic":
            loss = entropic(plan.weight)
        epochs = yield from repair.train((*clean, *broken(plan, cell, clean, before)), loss)
    if cell.method in WITH_THRESHOLD:  # fitted on dev, as the temperature is
        salad = destroy(before, source.dev[: plan.tests], names)
        repair.fit_temperature()
        setattr(config, INVALID_BELOW, 0.0)
        answers = repair.predict(source.dev)
        doubted = [each for texts in salad.values() if texts for each in repair.predict(texts)]
        best = best_threshold(
            np.array([answer.confidence for answer in answers]),
            np.array(repair.right(source.dev, answers)),
            np.array([answer.confidence for answer in doubted]),
            len(changed.labels),
            plan.tolerance,
        )
        setattr(config, INVALID_BELOW, best.value)
    salad = destroy(before, source.test[: plan.tests], names)
    answers = repair.predict(source.test)

    def commonest(labels: Iterable[str]) -> float:
        ((_, count),) = Counter(labels).most_common(1)
        return count / len(source.test)

    yield mitigation.Point(
        cell,
        Found(sum(repair.right(source.test, answers)), len(answers)),
        count_invalid(answers),
        repair.found(salad),
        commonest(answer.answer for answer in answers),
        commonest(str(example.gold) for example in source.test),
        changed.invalid_below,
        changed.temperature,
        epochs,
        time.monotonic() - began,
    )


def broken(
    plan: mitigation.Plan, cell: MethodCell, clean: Examples, before: Classifier
) -> Examples:
    """Return the word salad of a training: gold `INVALID` for that class, else no gold.

    The first of the examples are destroyed, so many as the shares say.
    """
    task, gold = before.task, INVALID if cell.method == "invalid" else None
    names, asking = transforms_of(plan, task), set(gradient_names(task))
    texts = []
    for share, asks in ((plan.share, False), (plan.gradient_share, True)):
        chosen = tuple(name for name in names if (name in asking) is asks)
        salad = destroy(before, clean[: round(share * len(clean))], chosen)
        texts += [replace(text, gold=gold) for several in salad.values() for text in several]
    return tuple(texts)


def teach(
    plan: transfer.Plan,
    source: SourceData,
    cell: transfer.Cell,
    before: Classifier,
    changed: Classifier,
    stop: Stop = never,
) -> Iterator[Epoch | transfer.Point]:
    """Train `changed`, a copy of `before`, on one kind of broken text, or on one kind only."""
    began = time.monotonic()
    clean = drawn(source.pool, cell.seed, cell.size)
    if cell.lesson == "one":
        texts = destroy(before, clean[: round(plan.share * len(clean))], (cell.transform,))
        examples = (*clean, *(replace(text, gold=INVALID) for text in texts[cell.transform]))
    else:
        begin_anew(changed, cell.seed)
        examples = salad_with_gold(cell, clean, before) if cell.transform else clean
    ready = prepare(changed, plan.training.mode, plan.training.precision)
    repair = Repair(plan.training, source, cell, ready, stop)
    epochs = yield from repair.train(examples, cross_entropy)
    right = repair.right(source.test, repair.predict(source.test))
    tested = plan.transforms if cell.lesson == "one" else ()
    found = repair.found(destroy(before, source.test[: plan.tests], tested))
    clean_right = Found(sum(right), len(right))
    yield transfer.Point(cell, clean_right, found, epochs, time.monotonic() - began)


def salad_with_gold(cell: transfer.Cell, clean: Examples, before: Classifier) -> Examples:
    """Return the examples destroyed, with the labels that they had."""
    golds = {example.id: example.gold for example in clean}
    texts = destroy(before, clean, (cell.transform,))[cell.transform]
    return tuple(replace(text, gold=golds[text.id]) for text in texts)


def begin_anew(classifier: Classifier, seed: int) -> None:
    """Initialise the upper layers at random, in place: those that fast mode trains.

    The paper trains from an encoder that has seen no task; the lower layers here are those of the
    model, which has. Raises ExperimentError where the model cannot be taken apart.
    """
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        for module in upper_part(classifier).model.modules():
            reset = getattr(module, "reset_parameters", None)
            if callable(reset) and all(weight.requires_grad for weight in module.parameters()):
                reset()
