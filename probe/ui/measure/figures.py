"""What a scored file's figures mean: a sentence, tiles, pictures, and a table of all of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from math import isnan

import pandas as pd
from markupsafe import Markup

from probe.analysis.confusion import Confusion
from probe.analysis.summary import Measured, Summary, fp32_words, summary_frame
from probe.baselines import BASELINES
from probe.models.bundled import title_of
from probe.pictures.forest import Forest, ForestRow
from probe.pictures.heat_map import MOST, Cell, Head, HeatMap, heat_map, heat_svg, share_cell
from probe.pictures.reliability import LEGEND, Diagram, bins_frame, diagram, diagrams_svg
from probe.runs.run import Json
from probe.statistics import (
    FEWEST,
    Bin,
    Estimate,
    averaged,
    first_bin,
    interval,
    joined_difference,
    percent,
    spread_words,
    sureness,
)
from probe.statistics import NOTHING as NOWHERE
from probe.tasks.label_rules import UNDEFINED
from probe.tasks.task import Task
from probe.text.duration import duration
from probe.transforms import default_of, rule_of
from probe.transforms.registry import chain, chain_title
from probe.ui.html.elements import NOTHING, join, note, sheet, term, twin
from probe.ui.html.picture import chart, picture
from probe.ui.html.prediction import tone
from probe.ui.measure.rows import NOT_SCORED, Selection

SEE = Markup('<button type="button" class="link" data-cell="{}">see why</button>')
SMALL = Markup('<div class="small">{}</div>')
"""Keeps a small drawing small in a wide card."""
MEASURES = ["agreement", "confidence", "entropy", "accuracy"]
GROUPS = {"entailed": "accuracy, entailed", "non_entailed": "accuracy, not entailed"}
"""How a group of the task is called; another one by its own name."""
PRECISION = (
    "How exactly a model computes: fp32 with numbers of 32 bits, bf16 with 16, which is faster and "
    "changes few answers."
)
EVERY = "All figures, with n and 95 % intervals"
MEASURED = "measures with 95 % intervals; a change counts where it changed the text"


def head(name: str, summary: Summary, model: str, precision: str, seconds: float) -> Markup:
    """Head a file's results: its name, and in one line what was done to it, by which model."""
    changes = len(summary.transforms)
    facts = [
        f"{summary.rows:,} row{'' if summary.rows == 1 else 's'}, {summary.scored:,} scored",
        title_of(model),
        f"{changes} change{'' if changes == 1 else 's'}",
    ]
    took = f", {duration(seconds)}" if seconds else ""
    return Markup('<h2 class="title">{}</h2><span class="soft num">{} · {}{}</span> ').format(
        name, " · ".join(facts), term(precision, PRECISION), took
    )


def figures(
    summary: Summary,
    task: Task,
    stem: str,
    rules: Markup = NOTHING,
    key: str = "",
    notes: Sequence[str] = (),
) -> Markup:
    """Show what the figures mean, the main ones, their pictures, and all of them folded away.

    `notes` say what they rest on. A press on some shows their rows, of the result with this key;
    without one it is not finished.
    """
    pictures = (kept(summary, task, stem, key), intervals(summary, task, stem))
    measured = spans_right(summary, stem) if task.has_spans else rules
    called = NOTHING
    if summary.confusion:
        called = confused(summary.confusion, task, f"{stem}-confusion", partial(_called, key))
    more = (confidence(summary, stem) if summary.transforms else called, measured)
    last = (called, NOTHING) if summary.transforms else (NOTHING, NOTHING)
    every = twin(EVERY, sheet(measures(summary), MEASURED)) if key else NOTHING
    said = [*notes, fp32_words(summary.sampled, summary.differing)]
    tiled = tiles(summary, task, key)
    main = (meaning(summary, task), tiled, *map(note, filter(None, said)))
    return join((*main, *map(_beside, (pictures, more, last)), every))


def of_answers(shape: Json, task: Task, stem: str) -> Markup:
    """Show what a file of answers comes to beside its figures: slices, and how sure it is.

    Nothing of a result of a model.
    """
    lines = [
        ForestRow(f"{one['group']}: {one['slice']}", Estimate(**estimate))
        for one in shape.get("slices", ())
        if one["gold"] == "all"
        for estimate in (one.get("f1") or one["accuracy"]).values()
    ]
    sliced = sure = NOTHING
    if lines:
        title = f"{task.measure} by slice".capitalize()
        note_on = str(shape["slices_note"])
        sliced = chart(title, Forest(lines), stem=f"{stem}-slices", sentence=note_on)
    if measured := shape.get("calibration"):
        bins = [Bin(**each) for each in measured["bins"]]
        drawn = Diagram(bins, first_bin(bins, len(task.labels)))
        words = (
            f"Sure by {100 * measured['confidence']:.1f} % on average, right on "
            f"{100 * measured['accuracy']:.1f} %: calibration error {100 * measured['ece']:.1f} "
            f"points, n = {measured['n']:,}. {LEGEND}"
        )
        title = "How often right by how sure"
        sure = picture(
            title, SMALL.format(diagram(drawn, title)), bins_frame(bins),
            diagrams_svg([drawn], title),
            stem=f"{stem}-reliability", sentence=words,
        )  # fmt: skip
    return _beside((sliced, sure))


def _beside(pictures: tuple[Markup, Markup]) -> Markup:
    """Show two pictures beside each other, one over the whole width, or nothing."""
    shown = [each for each in pictures if each]
    kind = "two wide" if len(shown) > 1 else "one"
    return Markup('<div class="{}">{}</div>').format(kind, join(shown)) if shown else NOTHING


def meaning(summary: Summary, task: Task) -> Markup:
    """Say in one sentence what the figures mean."""
    return Markup('<p class="say" aria-live="polite">{}</p>').format(sentence(summary, task))


def tiles(summary: Summary, task: Task, key: str = "") -> Markup:
    """Show the main figures, each with its n or interval."""
    wrong = _errors(summary, key)
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
        shown, more = _figure(accuracy, _apart(summary, task))
        found = summary.confusion.macro_f1 if summary.confusion else NOWHERE
        macro = f"; macro F1 {100 * found.value:.1f} %" if found.n else ""
        return _tile("Accuracy", shown, f"{more}{macro}")
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
        return "no right answers in this file"
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
        return _tile("Mean confidence", *_figure(before, "none is told"))
    arrow = Markup("{:.2f} <span aria-label='then'>→</span> {:.2f}").format(before.value, after)
    where = "on texts without meaning" if salad else "on the changed texts"
    return _tile("Confidence, before → after", arrow, where)


def _errors(summary: Summary, key: str) -> Markup:
    words = list[Markup]()
    if not summary.errors and not summary.cut:
        words.append(Markup("every row was read"))
    if summary.errors and key:
        words.append(SEE.format(Selection(key, kept=NOT_SCORED).asked))
    if summary.cut:
        words.append(Markup("{:,} too long, cut").format(summary.cut))
    return join(words, Markup("; "))


def measures(summary: Summary) -> pd.DataFrame:
    """Return the measures by transform and gold label as a person reads them."""
    frame = summary_frame(summary)
    frame = frame[frame["n"] > 0]
    figures = frame[["value", "low", "high", "n"]].itertuples(index=False)
    more = zip(frame["spread"], frame["not_applicable"], strict=True)
    shown = [
        f"{_percent(Estimate(*estimate))}{spread_words(apart)}"
        + (f" ({left:,} not in English)" if left else "")
        for estimate, (apart, left) in zip(figures, more, strict=True)
    ]
    groups = [name for name in summary.original.estimates if name not in MEASURES]
    names = [*MEASURES, *groups]
    titles = {name: GROUPS.get(name, f"accuracy, {name}") for name in groups}
    order = {name: at for at, name in enumerate(["original", *summary.transforms])}
    return (
        frame.assign(shown=shown)
        .pivot_table(
            index=["transform", "label"],
            columns="measure",
            values="shown",
            aggfunc="first",
            sort=False,
        )
        .reindex(columns=names)
        .fillna("–")
        .reset_index()
        .sort_values("transform", key=lambda names: names.map(order), kind="stable")
        .rename(columns={"label": "right answer before", **titles})
    )


def _percent(estimate: Estimate) -> str:
    return f"{percent(estimate, '–')}, n = {estimate.n}"


SHARES = {
    0.0: "Hardly any answer",
    0.1: "One answer in ten",
    0.2: "One answer in five",
    0.25: "One answer in four",
    1 / 3: "One answer in three",
    0.4: "Two answers in five",
    0.5: "Half of the answers",
    0.6: "Three answers in five",
    2 / 3: "Two answers in three",
    0.75: "Three answers in four",
    0.8: "Four answers in five",
    0.9: "Nine answers in ten",
    0.95: "Nineteen answers in twenty",
    1.0: "Nearly every answer",
}
"""A share in words, by the nearest one; a verb in the singular or plural goes with it."""
ALL_OR_NONE = {0.0: "No answer", 1.0: "Every answer"}
"""A share that is exactly one of these."""
SINGULAR = ("Hardly", "One", "Nearly", "Every", "No ")
FEW = 0.05
"""A share below this is what one would hope for."""


def meaningless(names: Iterable[str], task: Task) -> list[str]:
    """Return the changes after which a text has no meaning, so that no answer should stay."""
    return [name for name in names if rule_of(name) is UNDEFINED and not default_of(name, task)]


def average(estimates: Iterable[Estimate]) -> float:
    """Return the mean of the estimates over anything, NaN where there is none."""
    values = [estimate.value for estimate in estimates if estimate.n]
    return sum(values) / len(values) if values else float("nan")


def agreement(measured: Mapping[str, Measured], names: Sequence[str]) -> float:
    """Return the mean share of answers that stay over some changes."""
    return average(measured[name]["agreement"] for name in names)


def sentence(summary: Summary, task: Task) -> str:
    """Say what the figures mean: what stays that should not, and where it is noticed least."""
    names = meaningless(summary.transforms, task)
    kept = agreement(summary.transforms, names)
    if not summary.scored:
        return "No row could be scored; each says why in the column “error” of the scored file."
    if isnan(kept):
        return _distracted(summary) or _without_salad(summary, task)
    said = f"{_stay(kept)} {_though(names, task, kept)}."
    sure = _confidence(summary, names)
    return " ".join(filter(None, (_distracted(summary), said, _least(summary, names), sure)))


def _distracted(summary: Summary) -> str:
    """Say how many answers stay when a sentence is added; "" where none was."""
    names = [
        name
        for name in summary.transforms
        if any(link.family == "distractor" for link in chain(name))
    ]
    kept = agreement(summary.transforms, names)
    return "" if isnan(kept) else f"{_stay(kept)} when a misleading sentence is added."


def _stay(value: float) -> str:
    words = ALL_OR_NONE.get(value) or SHARES[min(SHARES, key=lambda share: abs(share - value))]
    return f"{words} {'stays' if words.startswith(SINGULAR) else 'stay'}"


def _though(names: Sequence[str], task: Task, kept: float) -> str:
    target = task.title_of(task.target).lower()
    if all(link.family == "lexical" for name in names for link in chain(name)):
        return f"when the words of the {target} are put out of order"
    return f"{'where' if kept < FEW else 'although'} the {target} makes no sense any more"


def _least(summary: Summary, names: Sequence[str]) -> str:
    """Say under which gold label most answers stay, where that is beyond doubt.

    Groups of fewer than `FEWEST` are not ranked, nor those whose intervals meet.
    """
    by_label = {label: _together(group, names) for label, group in summary.by_label.items()}
    known = {label: each for label, each in by_label.items() if each.n >= FEWEST}
    least, *others = sorted(known, key=lambda label: known[label].value, reverse=True) or [""]
    if not others or joined_difference(known[others[0]], known[least]).low <= 0:
        return ""
    return f"The model notices it least where the right answer is {least}."


def _together(
    measured: Mapping[str, Measured], names: Sequence[str], measure: str = "agreement"
) -> Estimate:
    """Return the mean of a measure over some changes of the same texts, and of its bounds."""
    return averaged([measured[name][measure] for name in names])


def _confidence(summary: Summary, names: Sequence[str]) -> str:
    before = summary.original["confidence"]
    after = _together(summary.transforms, names, "confidence")
    if not (before.n and after.n):
        return "The model does not tell how sure it is."
    change = joined_difference(before, after)
    said = sureness(change) or ("a little less sure than before" if change.high < 0 else "")
    words = f"The model is {said}" if said else "It is not clear whether the model is less sure now"
    figures = f"{words}: {after.value:.2f}, was {before.value:.2f}"
    if said:
        return f"{figures}."
    if after.n < FEWEST:
        counts = {name: summary.transforms[name]["confidence"].n for name in names}
        fewest = min(filter(counts.get, counts), key=counts.__getitem__)
        return f"{figures}. “{chain_title(fewest)}” changed {after.n} texts, too few to tell."
    return f"{figures}, and the change may be from {change.low:+.2f} to {change.high:+.2f}."


def _without_salad(summary: Summary, task: Task) -> str:
    """Say what can be said where no change destroys the text."""
    names = list(summary.transforms)
    kept = agreement(summary.transforms, names)
    if not isnan(kept):
        after = average(summary.transforms[name]["accuracy"] for name in names)
        right = "" if isnan(after) else f" After them {after:.0%} are right."
        return f"{_stay(kept)} after these changes.{right}".replace("%", " %")
    accuracy = summary.original["accuracy"]
    if accuracy.n:
        return f"The model answers {100 * accuracy.value:.0f} % of the {task.unit}s right."
    most = max(summary.predicted, key=summary.predicted.__getitem__)
    return f"Its most frequent answer is {most}; without right answers none is right or wrong."


STAYS = "Share of answers that stay"
PRESS = "A press on a cell shows its rows."
ALL = "all"


def chance(task: Task) -> float:
    """Return how often an answer stays by chance, 0 where answers are no labels."""
    return 1 / len(task.labels) if task.labels else 0.0


def kept(summary: Summary, task: Task, stem: str, key: str) -> Markup:
    """Draw the share of answers that stay, by change and gold label; nothing without a change.

    A press on a cell shows its rows, of the result with this key.
    """
    if not summary.transforms:
        return NOTHING
    heat = _heat(summary, task, key)
    frame = summary_frame(summary)
    frame = frame[(frame["measure"] == "agreement") & (frame["n"] > 0)].drop(columns="measure")
    return picture(
        STAYS,
        heat_map(heat, STAYS),
        frame.round(4),
        heat_svg(heat, STAYS),
        stem=f"{stem}-answers-that-stay",
        sentence=PRESS if key else "",
    )


def _heat(summary: Summary, task: Task, key: str) -> HeatMap:
    groups = {ALL: summary.transforms, **summary.by_label}
    columns = [
        Head(label, kind="" if label == ALL else f"label tone-{tone(label)}") for label in groups
    ]
    cells = [
        [
            share_cell(
                group[name]["agreement"],
                chance(task),
                _asks(key, name, label),
                _tip(group[name]),
            )
            for label, group in groups.items()
        ]
        for name in summary.transforms
    ]
    return HeatMap([Head(chain_title(name), name) for name in summary.transforms], columns, cells)


def _asks(key: str, change: str, label: str) -> str:
    """Return what a press on a cell asks for, "" where there are no rows to show yet."""
    gold = "" if label == ALL else label
    return Selection(key, gold=gold, change=change).asked if key else ""


def _tip(measured: Measured) -> str:
    estimate, left = measured["agreement"], measured.not_applicable
    told = f"{interval(estimate)} %, n = {estimate.n:,}" if estimate.n else "no such rows"
    told += spread_words(measured.spreads.get("agreement"))
    return f"{told}; {left:,} not in English, to which it does not apply" if left else told


def intervals(summary: Summary, task: Task, stem: str) -> Markup:
    """Draw the share of answers that stay with its interval, change by change, beside chance."""
    forest = Forest(
        _rows(summary, "agreement"),
        high_title="all stay",
        reference=chance(task) if task.labels else None,
    )
    if not forest.rows:
        return NOTHING
    return chart("With 95 % intervals", forest, stem=f"{stem}-intervals")


def confidence(summary: Summary, stem: str) -> Markup:
    """Draw how sure the model is after each change, beside how sure it was."""
    before = summary.original["confidence"]
    if not before.n:
        return NOTHING
    forest = Forest(
        _rows(summary, "confidence"),
        high_title="1",
        low_title="0",
        reference=before.value if before.n else None,
        reference_title="before",
    )
    return chart("Mean confidence after each change", forest, stem=f"{stem}-confidence")


def spans_right(summary: Summary, stem: str) -> Markup:
    """Draw the F1 after each change that leaves an answer right, beside the F1 before."""
    before = summary.original["f1"]
    rows = [row for row in _rows(summary, "f1") if row.estimate.n]
    if not rows:
        return NOTHING
    forest = Forest(
        rows,
        high_title="all right",
        low_title="0",
        reference=before.value if before.n else None,
        reference_title="before",
    )
    words = "A change after which no answer is right has none."
    return chart("F1 after each change", forest, stem=f"{stem}-f1", sentence=words)


def _rows(summary: Summary, measure: str) -> list[ForestRow]:
    return [
        ForestRow(chain_title(name), measured[measure], name)
        for name, measured in summary.transforms.items()
    ]


CALLED = "What is called what"
MACRO = (
    "the mean over the classes of F1, the harmonic mean of accuracy and precision. Accuracy, the "
    "recall: of those that are so, how many are called so; precision: of those called so, how many "
    "are"
)


def _called(key: str, gold: str, answer: str) -> str:
    return Selection(key, gold=gold, answer=answer).asked if key else ""


def confused(
    found: Confusion, task: Task, stem: str, asks: Callable[[str, str], str], title: str = CALLED,
    explained: bool = True,
) -> Markup:  # fmt: skip
    """Draw counts by right answer and answer given, with accuracy and precision beside them.

    `asks` returns what a press on a count reports, "" for nothing.
    """
    classes = {each.label: each for each in found.classes}
    given = {gold: sum(found.of(gold, answer) for answer in found.answers) for gold in found.golds}

    def share(estimate: Estimate | None) -> Cell:
        if estimate is None or not estimate.n:
            return Cell("–")
        tip = f"{interval(estimate)} %, n = {estimate.n:,}"
        return Cell(f"{100 * estimate.value:.0f} %", tip=tip, n=estimate.n)

    cells = [
        [
            *(
                Cell(f"{n:,}", MOST * n / given[gold], asks(gold, answer) if n else "")
                for answer in found.answers
                for n in [found.of(gold, answer)]
            ),
            share(classes[gold].recall if gold in classes else None),
        ]
        for gold in found.golds
    ]
    if classes:
        last = [
            share(classes[each].precision if each in classes else None) for each in found.answers
        ]
        cells.append([*last, Cell("")])
    down, across = (
        [Head(label, kind=f"label tone-{tone(label)}") for label in labels]
        for labels in (found.golds, found.answers)
    )
    heat = HeatMap(
        [*down, *([Head("precision")] if classes else ())], [*across, Head("accuracy")], cells,
        "right answer ↓ answer →",
    )  # fmt: skip
    macro, press = "", f" A press on a number shows its {task.unit}s." if asks("", "") else ""
    if found.macro_f1.n:
        two = " of two classes" if len(classes) < len(found.answers) else ""
        macro = f"Macro F1{two} {percent(found.macro_f1)}{f': {MACRO}' if explained else ''}."
    frame = pd.DataFrame(
        [(*both, found.of(*both)) for both in product(found.golds, found.answers)],
        columns=["right answer", "answer", "n"],
    )
    return picture(
        title, heat_map(heat, title), frame, heat_svg(heat, title), stem=stem,
        sentence=f"{macro}{press}".strip(),
    )  # fmt: skip


RULES = "Accuracy of rules that read no sentence"


def against_rules(rules: Mapping[str, Estimate], accuracy: Estimate, stem: str) -> Markup:
    """Draw what rule baselines reach on the same rows beside the model; nothing without gold."""
    if not rules:
        return NOTHING
    forest = Forest(
        [
            ForestRow(BASELINES[name].title, estimate, name, BASELINES[name].summary)
            for name, estimate in rules.items()
        ],
        high_title="all right",
        reference=accuracy.value if accuracy.n else None,
        reference_title="this model",
        beside=False,
    )
    words = "A model that understands is far above them."
    return chart(RULES, forest, stem=f"{stem}-rules", sentence=words)
