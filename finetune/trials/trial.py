"""One cell of each kind of run: a model is trained in place, or repaired, and then measured.

Cells know nothing of each other, so they run in any order and anywhere. Early stopping and the
learning rate follow the original dev set, or held-out pairs of the condition that is trained on,
alone; what is tested is only ever scored. All yield each epoch and at last the Point; `stop` is
asked before every batch. They raise Cancelled when it says so, and ExperimentError where a model
has no fast mode. A repair takes the model as it was `before`, too, which destroys the texts.
"""

import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import fmean
from typing import Any, TypeVar

import numpy as np
import torch

from finetune.training.adapters import PreparedPrompted, prepare_adapters
from finetune.training.encoder import PreparedReader, mean_probabilities
from finetune.training.frozen_layers import Prepared, prepare, upper_part
from finetune.training.invalid_class import fit_temperature, with_invalid_class
from finetune.training.loop import (
    BestEpoch,
    Diverged,
    MovingAverage,
    Schedule,
    Trainer,
    TrainingData,
    average_of,
    averaged,
    copied_weights,
    halving,
    make_optimiser,
    train_epochs,
    trainable,
)
from finetune.training.losses import (
    AGAINST,
    Loss,
    admissible,
    against,
    balanced_last,
    cross_entropy,
    entropic,
    focal,
    smoothed,
)
from finetune.training.recipes import CONTEXT, Mode, require_mode
from finetune.training.weak import weak_probabilities, weak_right
from finetune.trials import (
    calibration,
    debiasing,
    generalisation,
    inoculation,
    mitigation,
    transfer,
)
from finetune.trials.base import CONTROL, Epoch, MethodCell
from finetune.trials.calibration import Agreement
from finetune.trials.datasets import Examples, Sets, SourceData, drawn, worst_variants
from finetune.trials.inoculation import Cell, Plan, Point, nested
from finetune.trials.mitigation import Found, best_threshold, transforms_of
from finetune.trials.word_salad import Salad, agreeing, destroy, gradient_names, salad_names
from probe.errors import ExampleError, ExperimentError
from probe.models.asked import Asked
from probe.models.classifier import Classifier, Precision, predict_each, resolve
from probe.models.library import AnyModel
from probe.models.prediction import (
    INVALID_BELOW,
    TEMPERATURE,
    Prediction,
    as_predictions,
)
from probe.models.prompted import Prompted
from probe.models.reader import Reader
from probe.models.served import Served
from probe.models.text_model import TextModel
from probe.statistics import calibration as calibration_of
from probe.stopping import Cancelled as Cancelled  # who drives cells knows it from here
from probe.stopping import Stop, cancelled_by, never
from probe.tasks.task import INVALID, Label

Trainable = Prepared | PreparedReader | PreparedPrompted


def prepare_any(model: AnyModel, mode: Mode, precision: Precision, seed: int = 0) -> Trainable:
    """Prepare a model for a cell; adapters begin as the `seed` says.

    Raises ExperimentError where it has no such mode.
    """
    require_mode(model.name, isinstance(model, Asked), mode)
    if isinstance(model, Prompted):
        return prepare_adapters(model, precision, seed)
    assert not isinstance(model, Served)  # as required
    if not isinstance(model, Reader):
        return prepare(model, mode, precision)
    if mode == "fast":
        raise ExperimentError("a model that answers with spans has no fast mode; choose full")
    return PreparedReader(model, resolve(precision))


Model = TypeVar("Model", bound=TextModel)


def fresh(model: Model) -> Model:
    """Return the model with a copy of its weights, to be trained."""
    return replace(model, model=deepcopy(model.model))


def fine_tune(
    ready: Trainable,
    data: TrainingData,
    measure: Callable[[], float],
    schedule: Schedule,
    best: BestEpoch,
    cell: object,
    stop: Stop,
    loss: Loss = cross_entropy,
) -> Generator[Epoch, None, tuple[int, MovingAverage | None]]:
    """Yield each epoch; return how many, and the average of the weights where their kind has one.

    `best` is replaced by each epoch whose score, by `measure`, is better. Raises Diverged.
    """
    recipe = ready.recipe
    optimiser = make_optimiser(recipe, trainable(ready.trained), schedule.rate(0, 0))
    average = average_of(recipe, ready.trained.model)
    trainer = Trainer(ready.trained, recipe, optimiser, ready.precision, loss, average)
    for row in train_epochs(trainer, data, measure, schedule, best, stop):
        yield Epoch(cell, row.epoch, row.loss, row.dev, row.lr, row.pairs_per_second)
    return row.epoch, average


def _schedule(plan: Plan | generalisation.Plan, ready: Trainable, lr: float, seed: int) -> Schedule:
    """Halve the rate with each epoch without a gain, and end after `patience` of them in a row."""
    batch = plan.batch or ready.recipe.batch
    return halving(plan.max_epochs, batch, seed, lr, plan.patience)


def run_cell(
    plan: Plan, sets: Sets, cell: Cell, model: AnyModel, stop: Stop = never
) -> Iterator[Epoch | Point]:
    """Inoculate, yield each epoch and at last the point; a training that diverges ends there."""
    if plan.mode == CONTEXT:
        yield in_context(plan, sets, cell, model, stop)
        return
    began, epochs, diverged = time.monotonic(), 0, False
    dose: float | None = None
    ready, scored = prepare_any(model, plan.mode, plan.precision, cell.seed), sets.scored
    dev = ready.scorer(scored.original_dev, stop)
    best = BestEpoch(weights=copied_weights(ready.trained.model))

    def encoded(examples: Examples) -> Any:  # Any: each kind of model has data of its own
        drawn = nested(examples, cell.seed, max(cell.size, *plan.sizes), sets.task)
        longest = min(plan.max_tokens, ready.whole.max_tokens)
        return ready.encoded(drawn, longest, stop).first(cell.size)

    if cell.size == 0 or plan.include_epoch0:
        best.dev = fmean(dev(True))
    if cell.size:
        data = encoded(sets.challenge_train)
        schedule = _schedule(plan, ready, cell.lr, cell.seed)
        try:
            rows = fine_tune(ready, data, lambda: fmean(dev(False)), schedule, best, cell, stop)
            epochs, average = yield from rows
            with averaged(ready.trained.model, average):
                dose = sum(ready.learnt(encoded(sets.scored.challenge_train), stop))
        except Diverged:
            epochs, dose, diverged = best.epoch, 0.0, True
            best.dev = max(best.dev, 0.0)
    ready.trained.model.load_state_dict(best.weights)

    def score(examples: Examples) -> tuple[float, ...]:
        return ready.scorer(examples, stop)(best.epoch == 0)

    original = score(scored.original_test)
    challenge = worst_variants(sets.task, scored.challenge_test, score(scored.challenge_test))
    control = score(scored.control) if scored.control else None
    counter_tests = {name: score(examples) for name, examples in scored.counter_tests.items()}
    yield Point(
        cell,
        fmean(original),
        fmean(challenge),
        best.dev,
        epochs,
        best.epoch,
        time.monotonic() - began,
        ready.precision,
        original,
        challenge,
        fmean(control) if control else None,
        counter_tests,
        dose,
        diverged,
    )


def in_context(plan: Plan, sets: Sets, cell: Cell, model: AnyModel, stop: Stop = never) -> Point:
    """Measure a language model with examples of the challenge in its prompt: nothing is trained.

    The dose is the examples, of which those are left out whose label it has no word for; a test
    example that a server does not take, or answers without a label, counts as wrong. Raises
    ExperimentError where too few are left, and Cancelled between two batches.
    """
    require_mode(model.name, isinstance(model, Asked), plan.mode)
    assert isinstance(model, Asked)  # as required
    began, scored, task = time.monotonic(), sets.scored, model.task
    told = [each for each in sets.challenge_train if each.gold and task.nearest(each.gold)]
    shots = nested(told, cell.seed, max(cell.size, *plan.sizes), sets.task)[: cell.size]
    asked = replace(model, given=shots) if cell.size else model
    precision, unanswered = resolve(plan.precision), 0

    def score(examples: Examples) -> tuple[float, ...]:
        nonlocal unanswered
        with cancelled_by(stop):
            answers = predict_each(asked, examples, precision)
        unanswered += sum(isinstance(each, ExampleError) for each in answers)
        named = ("" if isinstance(each, ExampleError) else each.label for each in answers)
        return tuple(
            float(bool(label and each.gold) and task.matches(label, each.gold))
            for label, each in zip(named, examples, strict=True)
        )

    original = score(scored.original_test)
    challenge = worst_variants(sets.task, scored.challenge_test, score(scored.challenge_test))
    control = score(scored.control) if scored.control else None
    tests = {name: score(examples) for name, examples in scored.counter_tests.items()}
    dev = fmean(score(scored.original_dev))
    return Point(
        cell, fmean(original), fmean(challenge), dev, 0, 0, time.monotonic() - began, precision,
        original, challenge, fmean(control) if control else None, tests,
        float(cell.size) if cell.size else None, False, unanswered,
    )  # fmt: skip


def generalise(
    plan: generalisation.Plan,
    data: generalisation.SourceData,
    cell: generalisation.Cell,
    classifier: Classifier,
    stop: Stop = never,
) -> Iterator[Epoch | generalisation.Point]:
    """Train on a condition and test all. Raises ExperimentError besides for too few pairs."""
    began, epochs, diverged = time.monotonic(), 0, False
    ready = prepare(classifier, plan.mode, plan.precision)
    tests = generalisation.draw_tests(plan, data, cell.seed)
    best = BestEpoch(dev=0.0, weights=copied_weights(ready.trained.model))
    if cell.size:
        sets = generalisation.draw_training(plan, data, cell.seed, cell.train, tests)
        learnt = ready.encoded(sets.train, min(plan.max_tokens, classifier.max_tokens), stop)
        dev = ready.scorer(sets.dev, stop)
        schedule = _schedule(plan, ready, cell.lr, cell.seed)
        rows = fine_tune(
            ready,
            learnt.first(cell.size),
            lambda: fmean(dev(False)),
            schedule,
            best,
            cell,
            stop=stop,
        )
        try:
            for row in rows:
                epochs = row.epoch
                yield row
        except Diverged:
            diverged = True
    ready.trained.model.load_state_dict(best.weights)

    def score(examples: Examples) -> generalisation.Clusters:
        hits = ready.scorer(examples, stop)(not cell.size)
        return generalisation.by_cluster(data.task, examples, hits)

    clusters = {generalisation.ORIGINAL: score(data.original)}
    clusters |= {name: score(examples) for name, examples in tests.items()}
    scores = {name: generalisation.summed(own) for name, own in clusters.items()}
    yield generalisation.Point(
        cell,
        scores.pop(generalisation.ORIGINAL),
        scores,
        best.dev,
        epochs,
        best.epoch,
        time.monotonic() - began,
        ready.precision,
        diverged,
        clusters,
    )


LOSSES: Mapping[str, Callable[[calibration.Plan], Loss]] = {
    CONTROL: lambda plan: cross_entropy,
    "smoothing": lambda plan: smoothed(plan.epsilon),
    "focal": lambda plan: focal(plan.gamma),
}
WITH_THRESHOLD = ("threshold", "entropic")


@dataclass(frozen=True)
class Repair:
    """A cell under way: `changed` is the copy of the model as it was `before`, and is changed."""

    plan: Any  # Any: plan and cell are of a kind
    source: SourceData
    cell: Any
    before: Classifier
    changed: Classifier
    stop: Stop = never
    began: float = field(default_factory=time.monotonic)

    @cached_property
    def ready(self) -> Prepared:
        """The copy, prepared to be trained and scored."""
        return prepare(self.changed, self.plan.training.mode, self.plan.training.precision)

    def train(
        self, examples: Examples, loss: Loss, targets: torch.Tensor | None = None
    ) -> Generator[Epoch, None, int]:
        """Train in place, yield each epoch and return how many there were.

        A loss may take other `targets` than the gold labels, a row for each example.
        """
        ready, training, stop = self.ready, self.plan.training, self.stop
        data = ready.encoded(examples, min(training.max_tokens, ready.whole.max_tokens), stop)
        if targets is not None:
            data = replace(data, targets=targets.to(data.targets.device))
        dev = ready.scorer(self.source.dev, stop)
        schedule = Schedule(
            range(1, training.epochs + 1),
            training.batch or ready.recipe.batch,
            self.cell.seed,
            lambda _, __: training.lr,
            patience=training.epochs,
        )
        epochs, _ = yield from fine_tune(
            ready, data, lambda: fmean(dev(False)), schedule, BestEpoch(), self.cell, stop, loss
        )
        return epochs

    def drawn(self) -> Examples:
        """Return the clean examples that the cell trains on."""
        return drawn(self.source.pool, self.cell.seed, self.cell.size)

    def destroyed(self, examples: Examples, names: tuple[str, ...]) -> Salad:
        """Return what transforms make of the first examples, as many as are tested."""
        return destroy(self.before, examples[: self.plan.tests], names)

    def logits(self, examples: Examples) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits before any temperature, and which are right.  # (examples, labels) both"""
        data = self.ready.encoded(examples, self.changed.max_tokens, self.stop)
        values = self.ready.trained.unscaled(data, self.ready.precision, self.stop)
        return values, data.targets

    def predict(self, examples: Examples) -> list[Prediction]:
        """Return the answers, with the model's temperature and threshold."""
        values, model = self.logits(examples)[0].double().cpu().numpy(), self.changed
        return as_predictions(values, model.labels, model.temperature, model.invalid_below)

    def fit_temperature(self) -> None:
        """Fit the temperature on dev, and keep it in the model's config."""
        value = fit_temperature(*self.logits(self.source.dev))
        setattr(self.changed.model.config, TEMPERATURE, value)

    def right(self, examples: Examples, answers: Sequence[Prediction]) -> list[bool]:
        """Return which answers match the gold labels; invalid ones do not."""
        pairs = zip(answers, examples, strict=True)
        return [self.source.task.matches(answer.label, example.gold) for answer, example in pairs]

    def found(self, salad: Salad) -> dict[str, Found]:
        """Count by transform the destroyed texts that are called invalid."""
        return {name: count_invalid(self.predict(texts)) for name, texts in salad.items() if texts}

    def stays(
        self,
        whole: Sequence[Prediction],
        broken: Mapping[str, Sequence[Prediction]],
        salad: Salad,
        label: Callable[[Prediction], Label],
    ) -> dict[str, Agreement]:
        """Count by transform the answers to broken texts that are those to whole test examples.

        An answer is a `label` of what is predicted; one that calls a text invalid never stays.
        """
        task, test = self.source.task, self.source.test
        before = {each.id: label(answer) for each, answer in zip(test, whole, strict=True)}
        found = {}
        for name, answers in broken.items():
            named = [
                (text.id, label(each)) for text, each in zip(salad[name], answers, strict=True)
            ]
            valid = [(row, answer) for row, answer in named if answer != INVALID]
            sure = fmean(each.confidence for each in answers)
            found[name] = Agreement(agreeing(name, task, before, valid), len(answers), sure)
        return found


def count_invalid(answers: Sequence[Prediction]) -> Found:
    """Count the answers that call a text invalid."""
    return Found(sum(answer.label == INVALID for answer in answers), len(answers))


def calibrate(repair: Repair) -> Iterator[Epoch | calibration.Point]:
    """Calibrate a model and measure that on clean and broken texts."""
    plan, source, cell, epochs = repair.plan, repair.source, repair.cell, 0
    salad = repair.destroyed(source.test, salad_names(source.task))
    if cell.method in LOSSES:
        epochs = yield from repair.train(repair.drawn(), LOSSES[cell.method](plan))
    if cell.method == "temperature":
        repair.fit_temperature()
    clean = repair.predict(source.test)
    measured = calibration_of(
        np.array([each.probabilities for each in clean]),
        repair.logits(source.test)[1].cpu().numpy(),
        np.array([each.labels.index(each.answer) for each in clean]),
    )
    broken = {name: repair.predict(texts) for name, texts in salad.items() if texts}
    agreements = repair.stays(clean, broken, salad, lambda each: each.answer)
    seconds, temperature = time.monotonic() - repair.began, repair.changed.temperature
    yield calibration.Point(cell, measured, agreements, temperature, epochs, seconds)


def mitigate(repair: Repair) -> Iterator[Epoch | mitigation.Point]:
    """Teach a model to say what is invalid, and measure that on clean and broken texts."""
    plan, source, cell, changed = repair.plan, repair.source, repair.cell, repair.changed
    names, config, epochs = transforms_of(plan, source.task), changed.model.config, 0
    if cell.size:
        clean = repair.drawn()
        loss: Loss = balanced_last if plan.balance else cross_entropy
        if cell.method == "entropic":
            loss = entropic(plan.weight, plan.entropy_by == "kinds")
        epochs = yield from repair.train((*clean, *broken(plan, cell, clean, repair.before)), loss)
    if cell.method in WITH_THRESHOLD:  # fitted on dev, as the temperature is
        salad = repair.destroyed(source.dev, names)
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
    answers, salad = repair.predict(source.test), repair.destroyed(source.test, names)
    doubtful = {name: repair.predict(texts) for name, texts in salad.items() if texts}

    def commonest(labels: Iterable[str]) -> float:
        ((_, count),) = Counter(labels).most_common(1)
        return count / len(source.test)

    yield mitigation.Point(
        cell,
        Found(sum(repair.right(source.test, answers)), len(answers)),
        count_invalid(answers),
        {name: count_invalid(each) for name, each in doubtful.items()},
        commonest(answer.answer for answer in answers),
        commonest(str(example.gold) for example in source.test),
        changed.invalid_below,
        changed.temperature,
        epochs,
        time.monotonic() - repair.began,
        repair.stays(answers, doubtful, salad, lambda each: each.label),
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


def teach(repair: Repair) -> Iterator[Epoch | transfer.Point]:
    """Train a model on one kind of broken text beside clean ones, or on one kind only."""
    plan, source, cell, before = repair.plan, repair.source, repair.cell, repair.before
    clean, tested = repair.drawn(), ()
    if cell.lesson == "one":
        texts = destroy(before, clean[: round(plan.share * len(clean))], (cell.transform,))
        examples = (*clean, *(replace(text, gold=INVALID) for text in texts[cell.transform]))
        tested = plan.transforms
    else:
        begin_anew(repair.changed, cell.seed)
        examples = salad_with_gold(cell, clean, before) if cell.transform else clean
    epochs = yield from repair.train(examples, cross_entropy)
    right = repair.right(source.test, repair.predict(source.test))
    found = repair.found(repair.destroyed(source.test, tested))
    clean_right, seconds = Found(sum(right), len(right)), time.monotonic() - repair.began
    yield transfer.Point(cell, clean_right, found, epochs, seconds)


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


def debias(repair: Repair) -> Iterator[Epoch | debiasing.Point]:
    """Let a model learn on against a weak model, or beside changed texts, and test all sets."""
    plan, source, cell, task = repair.plan, repair.source, repair.cell, repair.source.task
    weak, majority, epochs = Found(0, 0), Found(0, 0), 0
    if cell.size:
        examples, targets = repair.drawn(), None
        loss: Loss = cross_entropy
        if cell.method == "augment":
            changed = debiasing.augmented(plan, examples, task)
            if not changed:
                raise ExperimentError(f"no {task.unit} that is trained on suits {plan.augment}")
            examples = (*examples, *changed)
        elif cell.method in AGAINST:
            loss, labels = AGAINST[cell.method], repair.changed.labels
            admitted = admissible(examples, task, labels)
            said = weak_probabilities(plan.weak, examples, task, labels, cell.seed)
            taught = None
            if cell.method == "regularise":
                teachers = [repair.before]
                taught = mean_probabilities(teachers, examples, repair.ready.precision)
            targets = against(admitted, said, taught)
            right, most, n = weak_right(said, admitted)
            weak, majority = Found(right, n), Found(most, n)
        epochs = yield from repair.train(examples, loss, targets)
    clusters = {
        name: generalisation.by_cluster(task, tests, repair.right(tests, repair.predict(tests)))
        for name, tests in debiasing.tested_sets(plan, source).items()
    }
    seconds = time.monotonic() - repair.began
    yield debiasing.Point(cell, clusters, weak, majority, epochs, seconds)


def trial(
    kind: str, plan: Any, data: Any, cell: Any, before: Any, stop: Stop
) -> tuple[Any, Iterator[Any]]:
    """Return a copy of a model, and what a cell of a kind makes of it.

    The copy has one more class where the cell teaches a model to call a text invalid.
    """  # Any: plan, data, cell, model and rows are of the kind
    if kind in SWEEPS:
        same = plan.mode == CONTEXT or isinstance(before, Served)
        changed = before if same else fresh(before)
        return changed, SWEEPS[kind](plan, data, cell, changed, stop)
    taught = getattr(cell, "method", None) or getattr(cell, "lesson", None)
    changed = with_invalid_class(before) if taught in ("invalid", "one") else fresh(before)
    return changed, REPAIRS[kind](Repair(plan, data, cell, before, changed, stop))


SWEEPS: Mapping[str, Callable[..., Iterator[Any]]] = {
    inoculation.KIND: run_cell,
    generalisation.KIND: generalise,
}
REPAIRS: Mapping[str, Callable[[Repair], Iterator[Any]]] = {
    calibration.KIND: calibrate,
    mitigation.KIND: mitigate,
    transfer.KIND: teach,
    debiasing.KIND: debias,
}
