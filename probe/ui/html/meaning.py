"""What results mean: a badge and a sentence for each, and one sentence above all of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isnan
from statistics import mean
from typing import Literal

from markupsafe import Markup

from probe.analysis.transformed import Transformed
from probe.models.classifier import Prediction
from probe.statistics import exactly, sureness
from probe.tasks.label_rules import KEEP, UNDEFINED
from probe.tasks.nli import NON_ENTAILMENT
from probe.tasks.reading import in_words
from probe.transforms.apply import Result
from probe.transforms.registry import chain, default_of

NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
Kind = Literal["keep", "good", "bad", "plain"]
GOOD: Kind = "good"
BAD: Kind = "bad"


@dataclass(frozen=True)
class Badge:
    """What a result means in two or three words; `kind` is its colour.

    "keep" is what should give pause, "good" and "bad" are right and wrong, "plain" says neither.
    """

    words: str
    kind: Kind

    def markup(self) -> Markup:
        """Return the badge as it is shown."""
        return Markup('<span class="badge {}">{}</span>').format(self.kind, self.words)


def badge(transformed: Transformed, before: Prediction) -> Badge:
    """Say what a result means beside the answer before."""
    result, now = transformed.result, transformed.prediction
    stays = result.task.agrees(before.label, now.label)
    if result.not_applicable:
        return Badge("for English", "plain")
    if not result.changed:
        return Badge("unchanged", "plain")
    if usual := default_of(result.transform, result.task):
        if transformed.agrees:
            return Badge(f"taken for {usual}", "keep")
        return Badge(f"not taken for {usual}", "good")
    if result.rule == UNDEFINED:
        return Badge("stays, though senseless", "keep") if stays else Badge("changes", "good")
    if transformed.right is None:
        if result.rule == KEEP:
            return Badge("stays, as it should", "good") if stays else Badge("wrongly moves", "bad")
        return Badge("stays" if stays else "changes", "plain")
    if result.rule == KEEP and stays and transformed.right:
        return Badge("stays, as it should", "good")
    rightly, kind = ("rightly", GOOD) if transformed.right else ("wrongly", BAD)
    return Badge(f"{rightly} {'stays' if stays else 'moves'}", kind)


def _sureness(now: float, before: Prediction) -> str:
    if isnan(now - before.confidence):
        return "how sure it is not being told"
    return sureness(exactly(now - before.confidence))


def meaning(transformed: Transformed, before: Prediction) -> str:
    """Say in one sentence what a result means."""
    result, now = transformed.result, transformed.prediction
    task, sure = result.task, _sureness(now.confidence, before)
    if result.not_applicable:
        return f"The change is for English, and this {task.unit} is not: nothing was changed."
    if not result.changed:
        return f"The {task.unit} is unchanged, so this says nothing about the model."
    if default_of(result.transform, task):
        source = task.title_of(task.source or task.target).lower()
        return (
            f"The {task.title_of(task.target).lower()} is only the {source}'s own words, "
            f"and the model says {now.label}."
        )
    if result.rule == UNDEFINED:
        if transformed.agrees:
            return f"The text is destroyed, and the model still says {now.label}, {sure}."
        return f"The text is destroyed, and the answer moves from {before.label} to {now.label}."
    moved = "" if transformed.agrees else f", no longer {before.label}"
    if result.rule == KEEP and transformed.right is None:
        stays = f"and it does, {sure}" if transformed.agrees else f"but it becomes {now.label}"
        return f"The label should stay, {stays}."
    if transformed.right is None:
        return f"The model says {now.label}{moved}, {sure}. {result.rule.words.capitalize()}."
    if task.has_spans:
        right = "rightly" if transformed.right else f"but the right answer is {gold_words(result)}"
        return f"The model says {now.label}{moved}, {right}."
    wanted = "not entailed" if result.gold == NON_ENTAILMENT else f"{result.gold}"
    rightly = "rightly" if transformed.right else "wrongly"
    return f"The new {task.unit} is {wanted}; the model says {now.label}{moved}, {rightly}."


def gold_words(result: Result) -> str:
    """Return the right answer, several with "or" between them."""
    return in_words(result.gold or "")


def summary(transformed: Sequence[Transformed], before: Prediction) -> str:
    """Say in one or two sentences what all results together mean."""
    changed = [each for each in transformed if each.result.changed]
    if not changed:
        unit = transformed[0].result.task.unit
        return f"None of these changes anything in this {unit}."
    now = mean(each.prediction.confidence for each in changed)
    clauses = filter(None, (clause(changed, before) for clause in CLAUSES))
    if isnan(now - before.confidence):
        return f"{' '.join(clauses)} The model does not tell how sure it is."
    sure = _sureness(now, before)
    return f"{' '.join(clauses)} The model is {sure}: {now:.2f}, was {before.confidence:.2f}."


def _stay(changed: Sequence[Transformed], before: Prediction) -> str:
    """Say how many answers stay, and how many of the texts mean nothing any more."""
    compared = [each for each in changed if not _is_copy(each) and not _is_distracted(each)]
    if not compared:
        return ""
    agrees = compared[0].result.task.agrees
    senseless = [each for each in compared if each.result.rule == UNDEFINED]
    stay, stay_senseless = (
        sum(agrees(before.label, each.prediction.label) for each in several)
        for several in (compared, senseless)
    )
    of_all = f"All {stay}" if stay == len(compared) else f"{stay} of {len(compared)}"
    counted = f"{of_all} answers {'stays' if stay == 1 else 'stay'}"
    if len(compared) == 1:
        counted = "The answer stays" if stay else "The answer changes"
    return f"{counted}{_among(len(compared), stay, len(senseless), stay_senseless)}."


def _among(compared: int, stay: int, senseless: int, stay_senseless: int) -> str:
    """Return the clause that says how many of the answers that stay are to senseless texts."""
    if not senseless:
        return ""
    if senseless == compared:
        texts = "the text means" if senseless == 1 else "the texts mean"
        return f", {'though' if stay else 'and'} {texts} nothing any more"
    if stay_senseless == senseless:
        return f", though {_of_texts(senseless)} nothing any more"
    if stay_senseless:
        return f", {_number(stay_senseless)} of them though the text means nothing any more"
    return ", and none where the text means nothing any more" if stay else ""


def _distracted(changed: Sequence[Transformed], before: Prediction) -> str:
    """Say how many added sentences move the answer, which should stay."""
    added = [each for each in changed if _is_distracted(each)]
    if not added:
        return ""
    moved = sum(not each.agrees for each in added)
    if len(added) == 1:
        return f"The added sentence {'moves' if moved else 'does not move'} the answer."
    return (
        f"{moved} of {len(added)} added sentences {'moves' if moved == 1 else 'move'} the answer."
    )


def _copies(changed: Sequence[Transformed], before: Prediction) -> str:
    """Say how many copies of the other text get the task's default label."""
    copies = [each for each in changed if _is_copy(each)]
    if not copies:
        return ""
    usual = default_of(copies[0].result.transform, copies[0].result.task)
    taken = sum(each.agrees for each in copies)
    if len(copies) == 1:
        return f"The senseless copy is {'' if taken else 'not '}called {usual}."
    return f"{taken} of {len(copies)} senseless copies are called {usual}."


def _right(changed: Sequence[Transformed], before: Prediction) -> str:
    """Say how many answers are right where that is known and several are asked for it."""
    known = [each for each in changed if each.right is not None and each.result.rule != KEEP]
    if len(known) < 2:
        return ""
    right = sum(bool(each.right) for each in known)
    return f"{right} of the {len(known)} that get a new right answer {_are(right)} right."


CLAUSES: Sequence[Callable[[Sequence[Transformed], Prediction], str]] = (
    _distracted,
    _stay,
    _copies,
    _right,
)


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _of_texts(count: int) -> str:
    return f"{_number(count)} of the texts {'means' if count == 1 else 'mean'}"


def _number(count: int) -> str:
    return NUMBERS[count] if count < len(NUMBERS) else str(count)


def _is_copy(transformed: Transformed) -> bool:
    return default_of(transformed.result.transform, transformed.result.task) is not None


def _is_distracted(transformed: Transformed) -> bool:
    return any(link.family == "distractor" for link in chain(transformed.result.transform))
