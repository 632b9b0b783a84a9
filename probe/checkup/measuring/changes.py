"""What a change of the texts does to a model's answers, and how sure it stays of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from probe.analysis.transformed import Transformed, transform_all
from probe.checkup.figure import Figure, figure_of
from probe.checkup.measuring.part import ChangedExample, Part
from probe.checkup.measuring.subject import Subject
from probe.metrics import mean, mean_score, share
from probe.models.classifier import Prediction
from probe.tasks.label_rules import KEEP
from probe.tasks.task import Label, Task
from probe.transforms.registry import Transform

SHOWN = 3
"""Examples of a change that a report shows."""


@dataclass(frozen=True)
class Change:
    """One changed example with the answers and the gold labels before and after."""

    before: Prediction
    gold_before: Label
    after: Transformed
    gold: Label | None

    @property
    def score_before(self) -> float:
        """How right the answer was."""
        return self.after.result.task.score(self.before.label, self.gold_before)

    @property
    def score(self) -> float:
        """How right the answer is now, by the new gold label."""
        return self.after.result.task.score(self.after.prediction.label, self.gold or "")


def changed(transform: Transform, subject: Subject) -> Part:
    """Return what a transform costs where it leaves a right answer, else which answers stay."""
    changes = _changes(transform, subject)
    golden, merged = _in_common(subject, [each for each in changes if each.gold])
    if not changes:
        return Part(())
    if golden:
        failed = [each.score < (each.score_before if _keeps(transform) else 1) for each in golden]
        figures, shown = _scored(transform, subject.task, golden, merged), golden
    else:
        failed = [each.after.agrees for each in changes]
        figures, shown = _salad(transform, changes), changes
    return Part(list(figures), _telling(shown, failed))


def _changes(transform: Transform, subject: Subject) -> list[Change]:
    """Return what a transform changes of the few, classified: of one example perhaps several."""
    asked, name = subject.asked, transform.name
    made = transform_all(
        subject.model,
        subject.few,
        subject.before,
        [name],
        asked.seed,
        precision=asked.precision,
        scored=subject.importance if "model" in transform.needs else [],
    )[name]
    return [
        Change(before, example.gold, one, one.result.gold)
        for example, before, several in zip(subject.few, subject.before, made, strict=True)
        for one in several
        if one.result.changed
    ]


def _in_common(subject: Subject, changes: Sequence[Change]) -> tuple[list[Change], bool]:
    """Return changes with gold labels in the classes that all have, and whether some are merged."""
    task, whole = subject.task, [example.gold for example in subject.examples]
    golds = [*whole, *(each.gold_before for each in changes), *(each.gold for each in changes)]
    read = task.in_common(golds)[len(whole) :]
    pairs = zip(changes, read[: len(changes)], read[len(changes) :], strict=True)
    told = [replace(each, gold_before=before or "", gold=gold) for each, before, gold in pairs]
    return told, bool(task.merges(golds))


def _keeps(transform: Transform) -> bool:
    """Whether the right answer stays what it was."""
    return transform.rule is KEEP


def _scored(
    transform: Transform, task: Task, golden: Sequence[Change], merged: bool
) -> Iterator[Figure]:
    """Yield the score after the change and, where the right answer stays, that before it."""
    figures = {transform.name: (transform.title, [each.score for each in golden])}
    if _keeps(transform):
        before = [each.score_before for each in golden]
        figures[f"{transform.name}.before"] = (f"{transform.title}: before", before)
    for name, (words, scores) in figures.items():
        yield figure_of(name, words, "stress", mean_score(task, scores), scores, merged=merged)


def _salad(transform: Transform, changes: Sequence[Change]) -> Iterator[Figure]:
    """Yield how often the answer stays, and how sure it is of changed texts and was before."""
    name, title = transform.name, transform.title
    stays = [each.after.agrees for each in changes]
    yield figure_of(name, title, "salad", share(stays), stays, more_is_better=False)
    sure = [each.after.prediction.confidence for each in changes]
    yield figure_of(f"confidence.{name}", title, "confidence", mean(sure), sure, False)
    sure = [each.before.confidence for each in changes]
    yield figure_of(
        f"confidence.{name}.before", f"{title}: before", "confidence", mean(sure), sure, None
    )


def _telling(changes: Sequence[Change], failed: Sequence[bool]) -> list[ChangedExample]:
    """Return a few examples, those on which the model fails first, else in the texts' order."""
    order = sorted(range(len(changes)), key=lambda at: not failed[at])
    return [_shown(changes[at]) for at in order[:SHOWN]]


def _shown(change: Change) -> ChangedExample:
    result, answer = change.after.result, change.after.prediction
    texts, earlier = (result.task.texts(each) for each in (result.example, result.original))
    return ChangedExample(
        texts,
        {name: text for name, text in earlier.items() if text != texts[name]},
        change.before.label,
        answer.label,
        round(change.before.confidence, 3),
        round(answer.confidence, 3),
        result.gold,
    )
