"""What the Batch tab shows of a scored file: its head, and its figures as tiles."""

from collections.abc import Sequence

import pandas as pd
from markupsafe import Markup

from probe.analysis.summary import Summary, fp32_words
from probe.models.bundled import title_of
from probe.statistics import Estimate, interval
from probe.tasks.task import Task
from probe.text.duration import duration
from probe.ui.html.batch.pictures import confidence, intervals, kept, spans_right
from probe.ui.html.batch.words import agreement, average, meaningless, sentence
from probe.ui.html.elements import NOTHING, join, note, sheet, twin
from probe.ui.html.tones import tone

SEE_WHY = "not-scored"
"""What a press on the link beside the rows that could not be scored reports."""
SEE = Markup('<button type="button" class="link" data-cell="{}">see why</button>')
EVERY = "All figures, with n and 95 % intervals"
MEASURED = "measures with 95 % intervals; a change counts where it changed the text"


def head(name: str, summary: Summary, model: str, precision: str, seconds: float) -> Markup:
    """Head a file's results: its name, and in one line what was done to it, by which model."""
    changes = len(summary.transforms)
    facts = [
        f"{summary.rows:,} row{'' if summary.rows == 1 else 's'}, {summary.scored:,} scored",
        title_of(model),
        f"{changes} change{'' if changes == 1 else 's'}",
        f"{precision}, {duration(seconds)}",
    ]
    return Markup('<h2 class="title">{}</h2><span class="soft num">{}</span>').format(
        name, " · ".join(facts)
    )


def figures(
    summary: Summary,
    task: Task,
    stem: str,
    rules: Markup = NOTHING,
    measures: pd.DataFrame | None = None,
    pressable: bool = True,
    notes: Sequence[str] = (),
) -> Markup:
    """Show what the figures mean, the main ones, their pictures, and all of them folded away.

    `notes` say what they rest on. A press on some shows their rows, where these are `pressable`.
    """
    pictures = (kept(summary, task, stem, pressable), intervals(summary, task, stem))
    measured = spans_right(summary, stem) if task.has_spans else rules
    more = (confidence(summary, stem) if summary.transforms else NOTHING, measured)
    every = NOTHING if measures is None else twin(EVERY, sheet(measures, MEASURED))
    said = [*notes, fp32_words(summary.sampled, summary.differing)]
    tiled = tiles(summary, task, pressable)
    main = (meaning(summary, task), tiled, *map(note, filter(None, said)))
    return join((*main, *map(_beside, (pictures, more)), every))


def _beside(pictures: tuple[Markup, Markup]) -> Markup:
    """Show two pictures beside each other, one over the whole width, or nothing."""
    shown = [each for each in pictures if each]
    kind = "two wide" if len(shown) > 1 else "one"
    return Markup('<div class="{}">{}</div>').format(kind, join(shown)) if shown else NOTHING


def meaning(summary: Summary, task: Task) -> Markup:
    """Say in one sentence what the figures mean."""
    return Markup('<p class="say" aria-live="polite">{}</p>').format(sentence(summary, task))


def tiles(summary: Summary, task: Task, pressable: bool = True) -> Markup:
    """Show the main figures, each with its n or interval."""
    wrong = _errors(summary, pressable)
    shown = [
        _rightness(summary, task),
        _stays(summary, task) if summary.transforms else _answers(summary),
        _sureness(summary, task),
        _tile("Not scored", f"{summary.errors} row{'' if summary.errors == 1 else 's'}", wrong),
    ]
    return Markup('<div class="tiles">{}</div>').format(join(shown))


def _tile(name: str, value: str | Markup, more: str | Markup) -> Markup:
    return Markup(
        '<div class="card tile"><span class="soft tiny">{}</span><strong>{}</strong>'
        '<span class="soft tiny num">{}</span></div>'
    ).format(name, value, more)


def _rightness(summary: Summary, task: Task) -> Markup:
    """Show how much is right: the accuracy, or for spans the F1 with the exact match under it."""
    accuracy = summary.original["accuracy"]
    if not task.has_spans:
        return _tile("Accuracy", *_figure(accuracy, _apart(summary, task)))
    value, more = _figure(summary.original["f1"], "no right answers in this file")
    exact = f"; exact match {100 * accuracy.value:.1f} %" if accuracy.n else ""
    return _tile("F1", value, f"{more}{exact}")


def _apart(summary: Summary, task: Task) -> str:
    """Say why there is no accuracy: no gold labels, or such of two classes and of three."""
    told = [
        f"{group.title.removeprefix('Accuracy, ')} {100 * found.value:.1f} % of {found.n:,}"
        for name, group in task.groups.items()
        if (found := summary.original[name]).n
    ]
    if not told:
        return "no gold labels in this file"
    return f"no average of labels in two classes and in three: {', '.join(told)}"


def _figure(estimate: Estimate, nothing: str) -> tuple[str, str]:
    if not estimate.n:
        return "–", nothing
    return f"{100 * estimate.value:.1f} %", f"{interval(estimate)}, n = {estimate.n:,}"


def _stays(summary: Summary, task: Task) -> Markup:
    names = [name for name, each in summary.transforms.items() if each["agreement"].n]
    kept = agreement(summary.transforms, names)
    many = f", mean of {len(names)}" if len(names) > 1 else ""
    value = "–" if kept != kept else f"{100 * kept:.0f} %"  # NaN is not itself
    chance = f"{100 / len(task.labels):.0f} % by chance" if task.labels else ""
    return _tile(f"Answers that stay{many}", value, chance)


def _answers(summary: Summary) -> Markup:
    """Show how often each label is the answer, as one bar."""
    counts = {label: count for label, count in summary.predicted.items() if count}
    most = max(counts, key=counts.__getitem__, default="–")
    parts = join(
        Markup('<span class="part tone-{}" style="width:{:.1f}%"></span>').format(
            tone(label), 100 * count / max(1, summary.scored)
        )
        for label, count in counts.items()
    )
    words = ", ".join(f"{count:,} {label}" for label, count in counts.items())
    bar = Markup('<span class="bar" role="img" aria-label="{}">{}</span>{}').format(
        words, parts, words
    )
    return _tile("Most frequent answer", most, bar)


def _sureness(summary: Summary, task: Task) -> Markup:
    before = summary.original["confidence"]
    salad = meaningless(summary.transforms, task)
    names = salad or list(summary.transforms)
    after = average(summary.transforms[name]["confidence"] for name in names)
    if not before.n or after != after:
        return _tile("Mean confidence", *_figure(before, ""))
    arrow = Markup("{:.2f} <span aria-label='then'>→</span> {:.2f}").format(before.value, after)
    where = "on texts without meaning" if salad else "on the changed texts"
    return _tile("Confidence, before → after", arrow, where)


def _errors(summary: Summary, pressable: bool) -> Markup:
    words = list[Markup]()
    if not summary.errors and not summary.cut:
        words.append(Markup("every row was read"))
    if summary.errors and pressable:
        words.append(SEE.format(SEE_WHY))
    if summary.cut:
        words.append(Markup("{:,} too long, cut").format(summary.cut))
    return join(words, Markup("; "))
