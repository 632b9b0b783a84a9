"""What Compare shows: the sentence, a tile a model, pictures, tests, and the rows of a number."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path

import pandas as pd
from markupsafe import Markup

from probe.analysis.comparison import (
    Row,
    accuracy,
    agreement,
    differing,
    disagreement,
    group_accuracies,
    in_words,
    labels_of,
    members,
    of_group,
    outcomes,
    parts_of,
    same_answer,
    score,
    significance,
)
from probe.analysis.comparison_report import confusion_of, gold_name, in_a_sentence
from probe.analysis.slices import ALL, Measured, inference, measure, note_on, of_gold, slices_of
from probe.analysis.slices import members as slice_members
from probe.analysis.transformed import Examination
from probe.errors import ComparisonError
from probe.models.bundled import title_of
from probe.models.classifier import Precision, resolve
from probe.pictures.forest import DotPlot, DotRow, mark
from probe.pictures.heat_map import Cell, Head, HeatMap, heat_map, heat_svg
from probe.statistics import Estimate, interval, p_text, percent
from probe.tasks.task import Label, Task
from probe.ui.html.elements import (
    NOTHING,
    each,
    heads,
    join,
    link,
    note,
    table,
    term,
    title,
    twin,
    unbroken,
)
from probe.ui.html.importance import importance
from probe.ui.html.picture import chart, picture
from probe.ui.html.prediction import bar, label_name, legend, tone, verdict
from probe.ui.links import link_to_example
from probe.ui.measure import bundles
from probe.ui.measure.answer_files import is_file
from probe.ui.measure.figures import PRECISION, confused
from probe.ui.measure.rows import SAID, pager, rows_on

PARTS = "{measure}, overall and in parts"
MATRIX = "Where two differ"
GROUPS = {"entailed": "Entailed", "non_entailed": "Not entailed"}
WEAKEST, STRONGEST = 0.3, 0.85
"""How strong the ground of a cell is in which two models differ: for one row, and for the most."""
DIFFER, SAME, RIGHT, CALLED = "differ", "same", "right", "called"
"""The cells of all rows on which two models differ, which is shown before one is pressed; of those
on which they agree; of those on which spans differ, by whether each is right: 1 or 0; of those with
one right answer that a model calls something."""
BUNDLE = "bundle"
WORDS = {"1": "right", "0": "wrong"}


@dataclass(frozen=True)
class Pressed:
    """What a press asks for of the results with a key: two of the models, rows, a page of them."""

    key: str
    first: int = 0
    second: int = 1
    page: int = 1
    cell: str = DIFFER

    def __str__(self) -> str:
        """Return what a button says."""
        return "|".join(map(str, vars(self).values()))

    @classmethod
    def read(cls, text: str) -> "Pressed":
        """Read what a button says. Raises ComparisonError."""
        key, *numbers, cell = [*text.split("|", 4), *[""] * 5][:5]
        if not key:
            raise ComparisonError("compare these models first")
        if not all(each.isascii() and each.isdecimal() and len(each) < 10 for each in numbers):
            raise ComparisonError("choose two of the models that were compared")
        first, second, page = map(int, numbers)
        return cls(key, first, second, page, cell)

    def check(self, names: Sequence[str]) -> None:
        """Refuse models that were not compared. Raises ComparisonError."""
        if self.first == self.second or max(self.first, self.second) >= len(names):
            raise ComparisonError("choose two of the models that were compared")

    @property
    def bundle(self) -> str:
        """The column by which rows are to be joined to contrast sets, "" for none."""
        kind, _, column = self.cell.partition("|")
        return column if kind == BUNDLE else ""

    def of(self, cell: str) -> str:
        """Return what a button says that asks for other rows of the same models."""
        return str(replace(self, cell=cell, page=1)) if cell else ""


def parts(rows: Sequence[Row], names: Sequence[str], pressed: Pressed) -> Markup:
    """Draw how good each model is over all rows, over each part of the labels, and on slices."""
    scored = [row for row in rows if row.predictions]
    if not any(row.gold for row in scored):
        return NOTHING
    plot = parts_plot(scored, names, pressed)
    title = PARTS.format(measure="F1" if plot.measure == "f1" else "Accuracy")
    stem = f"{plot.measure}-in-parts"
    return chart(title, plot, stem=stem)


def offered(
    rows: Sequence[Row], columns: Sequence[str], used: Sequence[str | None], pressed: Pressed
) -> Markup:
    """Offer the columns of a file that may join its rows to contrast sets."""
    if not any(row.gold for row in rows if row.predictions):
        return NOTHING
    attributes = Markup('type="button" class="link" data-cell="{}"')
    asks = {
        name: attributes.format(pressed.of(f"{BUNDLE}|{name}"))
        for name in columns
        if name not in used
    }
    return bundles.offer(columns, asks)


def bundled(scored: Path, rows: Sequence[Row], names: Sequence[str], column: str) -> Markup:
    """Show the contrast sets of compared rows. Raises FileError."""
    task, models = rows[0].task, range(len(names))
    judged = [
        bundles.Judged(
            row.number + 1, task.texts(row.example) if row.example else {}, row.gold or "",
            [answer.label for answer in row.predictions], [row.right(at) for at in models],
        )
        for row in rows
    ]  # fmt: skip
    return bundles.bundles(scored, judged, task, names, column)


def parts_plot(rows: Sequence[Row], names: Sequence[str], pressed: Pressed) -> DotPlot:
    """Return the plot of answered rows with gold labels."""
    task, models = rows[0].task, range(len(names))

    def estimates(part: Sequence[Row]) -> list[Estimate]:
        return [score(part, model) for model in models]

    drawn = [DotRow(f"All {task.unit}s", estimates(rows), pressed.of("gold|all"), strong=True)]
    if task.has_spans:
        drawn.append(DotRow("Exact match", [accuracy(rows, model) for model in models]))
    for name, group in parts_of(task).items():
        of_part = estimates(of_group(rows, group))
        if any(one.n for one in of_part):
            drawn.append(DotRow(_part_title(name), of_part, pressed.of(f"gold|{group.gold}")))
    drawn += _slices(measure(rows), pressed)
    chance = 1 / len(task.labels) if task.labels else None
    titles = [title_of(name) for name in names]
    measured = {"measure": "f1", "figures": "F1"} if task.has_spans else {}
    return DotPlot(titles, drawn, chance, "a guess", task.unit, **measured)


def _part_title(name: str) -> str:
    return GROUPS.get(name, name.capitalize())


def _slices(measured: Sequence[Measured], pressed: Pressed) -> Iterator[DotRow]:
    """Yield the main slices; that of common words by its labels."""
    overlaps = [
        line.slice for line in measured if line.slice.main and "overlap" in line.slice.group
    ]
    for line in measured:
        if line.slice.main and (line.gold == ALL) != (line.slice in overlaps):
            part = "" if line.gold == ALL else f", {gold_title(line.gold)}"
            title = f"{line.slice.title}{part}"
            yield DotRow(title, line.scores, pressed.of(f"slice|{line.place}|{line.gold}"))


def gold_title(gold: Label) -> str:
    """Say in plain words which part of the gold labels is meant."""
    return {"entailment": "entailed", "non-entailment": "not entailed"}.get(gold, gold)


@dataclass(frozen=True)
class Count:
    """A cell of the matrix: its rows, what shows them, and whether both answers are the same."""

    n: int
    cell: str
    tip: str = ""
    same: bool = False


Matrix = tuple[list[Head], list[Head], list[list[Count]], pd.DataFrame]
"""The heads of rows and columns, the counts, and all as a table."""


def matrix(rows: Sequence[Row], names: Sequence[str], pressed: Pressed) -> Markup:
    """Draw what the second model says where the first says this; each cell is a button.

    Spans are too many to stand in rows: whether they are right does.
    """
    scored = [row for row in rows if row.predictions]
    spans = any(row.task.has_spans for row in scored)
    first, second = pressed.first, pressed.second
    if not scored or not (spans or labels_of(scored, first)):
        return NOTHING
    one, other = title_of(names[first]), title_of(names[second])
    found = _who_is_right if spans else _who_says_what
    down, across, counts, frame = found(scored, names, first, second)
    most = max((count.n for line in counts for count in line if not count.same), default=0)

    def drawn(count: Count) -> Cell:
        share = 0.0 if count.same or not count.n else count.n / most
        strength = WEAKEST + (STRONGEST - WEAKEST) * share if share else 0.0
        asks, kind = pressed.of(count.cell if count.n else ""), "same" if count.same else ""
        return Cell(f"{count.n:,}", strength, asks, count.tip, kind)

    corner = f"{one} ↓ {other} →" if len(down) > 1 else ""
    heat = HeatMap(down, across, [list(map(drawn, line)) for line in counts], corner)
    verb, unit = "is" if spans else "says", scored[0].task.unit
    differ = differing(scored, first, second)
    right = outcomes(differ, first, second)
    alone = (
        f": {one} alone right in {right.only_first:,}, {other} alone in {right.only_second:,}"
        if any(row.gold for row in scored)
        else ""
    )
    return picture(
        MATRIX,
        _choice(names, pressed)
        + heat_map(
            heat, f"What {other} {verb} in the columns where {one} {verb} what the rows have"
        ),
        frame,
        heat_svg(heat, f"{one} in the rows, {other} in the columns"),
        stem="where-two-differ",
        sentence=f"{len(differ):,} of {len(scored):,} {unit}s differ{alone}. A press on a number "
        f"shows its {unit}s.",
    )


def _choice(names: Sequence[str], pressed: Pressed) -> Markup:
    """Let a person choose two of more models."""
    if len(names) == 2:
        return NOTHING
    now = (pressed.first, pressed.second)
    options = join(
        Markup('<option value="{}"{}>{} × {}</option>').format(
            Pressed(pressed.key, *two),
            Markup(" selected") if two == now else NOTHING,
            *(title_of(names[at]) for at in two),
        )
        for two in combinations(range(len(names)), 2)
    )
    return Markup('<select class="two-models" aria-label="Two models">{}</select>').format(options)


def _who_says_what(rows: Sequence[Row], names: Sequence[str], first: int, second: int) -> Matrix:
    """Count what both say, and who is right then."""
    cells, a, b = disagreement(rows, first, second), names[first], names[second]
    down, across = labels_of(rows, first), labels_of(rows, second)
    right = {
        said: (cell.both, cell.only_first, cell.only_second, cell.neither)
        for said, cell in cells.items()
    }

    def count(said: tuple[Label, Label]) -> Count:
        both, one, other, neither = right[said]
        tip = f"right: both {both}, only {a} {one}, only {b} {other}, neither {neither}"
        return Count(cells[said].n, "|".join(("answers", *said)), tip, same_answer(task, *said))

    task = rows[0].task
    counts = [[count((x, y)) for y in across] for x in down]
    columns = [f"{a} says", f"{b} says", "n", "both right", f"only {a}", f"only {b}", "neither"]
    lines = [(*said, cell.n, *right[said]) for said, cell in cells.items()]
    ours, theirs = (
        [Head(label, kind=f"label tone-{tone(label)}") for label in labels]
        for labels in (down, across)
    )
    return ours, theirs, counts, pd.DataFrame(lines, columns=columns)


def _who_is_right(rows: Sequence[Row], names: Sequence[str], first: int, second: int) -> Matrix:
    """Count who is right where spans differ; without right answers, how often they do."""
    differ, a, b = differing(rows, first, second), names[first], names[second]
    same = len(rows) - len(differ)
    right = outcomes(differ, first, second)
    figures = {
        "the same": same,
        "different": right.n,
        "different, both right": right.both,
        f"different, only {a} right": right.only_first,
        f"different, only {b} right": right.only_second,
        "different, neither right": right.neither,
    }
    frame = pd.DataFrame(list(figures.items()), columns=["answers", "n"])
    if not any(row.gold for row in rows):
        counts = [Count(same, SAME, same=True), Count(len(differ), DIFFER)]
        return [Head("Answers")], [Head("the same"), Head("different")], [counts], frame
    quarters = ((right.both, right.only_first), (right.only_second, right.neither))
    lines = [
        [Count(n, f"{RIGHT}|{x}|{y}") for n, y in zip(line, WORDS, strict=True)]
        for line, x in zip(quarters, WORDS, strict=True)
    ]
    heads = [Head(word) for word in WORDS.values()]
    return heads, heads, lines, frame


NO_GOLD = (
    "There are no {gold}, so nothing can be called right: {}, {} and slices are not "
    "shown. The picture still says where the models differ."
)
APART = "Entailed and not entailed are compared in two classes, as HANS does."
FINE = Markup('<span class="fine num">{}</span>')


def sentence(rows: Sequence[Row], names: Sequence[str]) -> Markup:
    """Say what the comparison means."""
    return say(in_a_sentence(rows, names))


def say(text: str) -> Markup:
    """Head results with a sentence, which a screen reader reads once it is there."""
    return Markup('<h2 class="say"><span role="status">{}</span></h2>').format(unbroken(text))


def empty(task: Task, models: int, examples: int) -> Markup:
    """Say what will stand here, and how to get it: the test, the parts, where two differ."""
    test, fail, differ = (
        (
            "a paired bootstrap of F1",
            "F1 with intervals, by what is asked and by what kind of thing answers it.",
            "Who is right where the answers differ",
        )
        if task.has_spans
        else (
            "McNemar's test",
            "Accuracy with intervals, also where words are shared or negated.",
            "What one says against the other",
        )
    )
    promises = {
        "Which is better": f"A sentence with {test}: better, or no way to tell them apart.",
        "Where they fail": fail,
        "Where they differ": f"{differ}, and every {task.unit} behind it.",
    }
    cards = join(
        Markup('<div class="card"><b>{}</b><p class="soft">{}</p></div>').format(*promise)
        for promise in promises.items()
    )
    told = (
        f"Press Compare: the models answer the same {examples} {task.unit}s, which takes some "
        "seconds a model."
        if models > 1
        else "There is one model for this task here, and a comparison needs two. Load your own "
        f"under Settings of Probe, or inoculate one; then compare them on {examples} {task.unit}s."
    )
    return Markup('<div class="promises">{}</div><p class="soft">{}</p>').format(cards, told)


def tiles(rows: Sequence[Row], names: Sequence[str], precision: Precision | None) -> Markup:
    """Show each model's accuracy or F1 with n and interval, and what belongs to it.

    That is the accuracy on each part of the labels, or the exact match.
    """
    shown = join(_tile(rows, model, name) for model, name in enumerate(names))
    answered = [row for row in rows if row.predictions]
    reasons = [row.error for row in rows if row.error]
    errors = f"; {len(reasons)} not: {reasons[0]}" if reasons else ""
    unit, caveat = rows[0].task.unit if rows else "example", ""
    if answered and any(row.gold for row in rows):
        task = answered[0].task
        caveat = " ".join(filter(None, [APART if task.groups else "", task.note]))
    told = f"{len(answered):,} of {len(rows):,} {unit}s scored, with 95 % intervals{errors}"
    return Markup('<div class="tiles compared">{}</div>{}').format(
        shown,
        Markup('<p class="fine">{}{}. {}</p>').format(
            told,
            Markup("; {}").format(term(resolve(precision), PRECISION)) if precision else NOTHING,
            caveat,
        ),
    )


def _tile(rows: Sequence[Row], model: int, name: str) -> Markup:
    estimate, spans = score(rows, model), any(row.task.has_spans for row in rows)
    said = [_interval(estimate, spans)]
    if estimate.n and spans:
        said.append(f"exact match {percent(accuracy(rows, model))}")
    elif estimate.n:
        known = [(part, one) for part, one in group_accuracies(rows, model).items() if one.n]
        parts = (f"{GROUPS.get(part, part)} {100 * one.value:.0f} %" for part, one in known)
        said.append(" · ".join(parts))
        if (found := confusion_of(rows, model)) and found.macro_f1.n:
            said.append(f"macro F1 {percent(found.macro_f1)}")
    if cut := sum(row.cut[model] for row in rows if row.cut):
        said.append(f"{cut} too long, cut")
    title = title_of(name)
    code = Markup(" <code>{}</code>").format(name) if title != name else NOTHING
    return Markup(
        '<div class="card tile"><span class="name">{} {}{}</span><strong>{}</strong>{}</div>'
    ).format(
        mark(model),
        title,
        code,
        f"{100 * estimate.value:.1f} %" if estimate.n else "–",
        each(FINE, map(unbroken, said)),
    )


def _interval(estimate: Estimate, spans: bool) -> str:
    if not estimate.n:
        return f"no right answers, so no {'F1' if spans else 'accuracy'}"
    return f"{'F1' if spans else 'right'}, {interval(estimate)}; n = {estimate.n:,}"


def tests(rows: Sequence[Row], names: Sequence[str]) -> Markup:
    """Say for each two models how often they agree and whether one is better."""
    task = rows[0].task
    if not any(row.gold for row in rows if row.predictions):
        measured = (
            ("F1", "the paired bootstrap") if task.has_spans else ("accuracy", "McNemar's test")
        )
        words = NO_GOLD.format(*measured, gold=gold_name(task))
        return Markup('<p class="soft">{}</p>').format(words)
    titles = [title_of(name) for name in names]
    sentences = (
        f"{in_words(significance(rows, a, b), titles[a], titles[b], task.unit)} "
        f"They agree on {percent(agreement(rows, a, b), '–')} of the {task.unit}s."
        for a, b in combinations(range(len(names)), 2)
    )
    return Markup('<ul class="tests">{}</ul>').format(each(Markup("<li>{}</li>"), sentences))


def side_by_side(examinations: Sequence[Examination]) -> Markup:
    """Show what each model says of one example, and which of its tokens mattered."""
    return Markup('<div class="beside">{}</div>').format(join(map(_model, examinations)))


def _model(examination: Examination) -> Markup:
    model = examination.model
    cut = " · too long, its end is cut" if examination.legible.cut else ""
    address = link_to_example(model.task, examination.example, model.name)
    return Markup(
        '<section class="card answer"><h3 class="fine name">{}{}</h3><div class="head">{}</div>'
        "{}{}<p>{}</p></section>"
    ).format(
        title_of(model.name),
        cut,
        verdict(examination.prediction),
        bar(examination.prediction) + legend(examination.prediction),
        importance(examination.example, examination.importance or examination.no_importance),
        link(address, "Open in Probe"),
    )


def agreement_on_one(examinations: Sequence[Examination]) -> str:
    """Say who gives which answer to one example."""
    answers: dict[str, list[str]] = {}
    for one in examinations:
        task, label = one.model.task, one.prediction.label
        known = next((each for each in answers if _same(task, each, label)), label)
        answers.setdefault(known, []).append(title_of(one.model.name))
    if len(answers) == 1:
        (label,) = answers
        return f"All say {label}." if len(examinations) > 2 else f"Both say {label}."
    said = [
        f"{' and '.join(names)} {'says' if len(names) == 1 else 'say'} {label}"
        for label, names in answers.items()
    ]
    return "They differ: " + ", ".join(said) + "."


def _same(task: Task, first: str, second: str) -> bool:
    """Whether two answers count as one: spans after normalisation, labels as they are."""
    return same_answer(task, first, second) if task.has_spans else first == second


CELL = Markup("<td>{}</td>")
PASSAGE = Markup('<p class="fine">{}</p>')
LONG_CELL = Markup('<td class="long">{}</td>')


def numbers(rows: Sequence[Row], names: Sequence[str], pressed: Pressed) -> Markup:
    """Show the tests of all models, and behind a fold every slice."""
    return _called(rows, names, pressed) + Markup(
        '<section class="card" aria-label="The tests">{}{}{}</section>'
    ).format(
        title("The tests, two models at a time"),
        tests(rows, names),
        slices(rows, names, pressed),
    )


def _called(rows: Sequence[Row], names: Sequence[str], pressed: Pressed) -> Markup:
    """Draw what each model calls what; nothing where answers are spans or none is right."""
    drawn = []
    for model, name in enumerate(names):
        found = confusion_of(rows, model)
        if not found:
            return NOTHING
        asks = partial(_confused_cell, pressed, model)
        title = f"What {title_of(name)} calls what"
        stem = f"confusion-{model + 1}"
        drawn.append(confused(found, rows[0].task, stem, asks, title, explained=not model))
    return Markup('<div class="two wide">{}</div>').format(join(drawn))


def _confused_cell(pressed: Pressed, model: int, gold: str, answer: str) -> str:
    return pressed.of(f"{CALLED}|{model}|{gold}|{answer}")


def cell_button(cell: str, label: str, count: int) -> Markup:
    """Return a button that shows the rows of a cell; `cell` is what a press sends."""
    return Markup(
        '<button type="button" data-cell="{}" aria-label="{}"{}>'
        '<span class="number">{:,}</span></button>'
    ).format(cell, label, NOTHING if count else Markup(" disabled"), count)


def slices(rows: Sequence[Row], names: Sequence[str], pressed: Pressed) -> Markup:
    """Show every model on every slice; the n of each is a button that shows its rows."""
    first, second = pressed.first, pressed.second
    measured = measure(rows, first, second)
    if not measured:
        return NOTHING
    groups = dict.fromkeys(line.slice.group for line in measured)
    gold, test = (["gold"], "McNemar") if measured[0].has_labels else ([], "Bootstrap")
    head = heads(["slice", *gold, "n", *map(title_of, names), test])
    body = join(_group(measured, group, pressed) for group in groups)
    return twin(
        "Every slice in numbers, as table",
        table("slices", head, body, kind="slices")
        + note(_about(rows[0].task, names, first, second)),
    )


def _about(task: Task, names: Sequence[str], first: int, second: int) -> str:
    """Say how the table is read."""
    hans = inference(task)
    classes = "The rows entailment and non-entailment are compared in two classes. " if hans else ""
    measured, test = (
        ("F1", "The paired bootstrap") if task.has_spans else ("Accuracy", "McNemar's exact test")
    )
    return (
        f"{measured} with 95 % intervals; press an n to see its {task.unit}s. {classes}"
        f"{test} is of {title_of(names[first])} and {title_of(names[second])}, each "
        f"p that of a single test: of twenty, one is below 0.05 by chance. {note_on(task)}"
    ).rstrip()


def _group(measured: Sequence[Measured], group: str, pressed: Pressed) -> Markup:
    mine = [line for line in measured if line.slice.group == group]
    names = dict.fromkeys(line.slice.name for line in mine)
    head = Markup('<tr class="group"><th colspan="{}" scope="colgroup">{}</th></tr>').format(
        3 + mine[0].has_labels + len(mine[0].scores), group
    )
    lines = NOTHING
    for name in names:  # all its pairs, the entailed ones, the others
        of_slice = [line for line in mine if line.slice.name == name]
        first = Markup('<th scope="rowgroup" rowspan="{}">{}</th>').format(len(of_slice), name)
        for at, line in enumerate(of_slice):
            cells = (NOTHING if at else first) + _measured(line, pressed)
            lines += Markup("<tr>{}</tr>").format(cells)
    return head + lines


def _measured(line: Measured, pressed: Pressed) -> Markup:
    test = p_text(line.test.p) if line.test.discordant else "–"
    words = f"{line.n} examples of this slice"
    button = cell_button(pressed.of(f"slice|{line.place}|{line.gold}"), words, line.n)
    gold = [line.gold] if line.has_labels else []
    scores = [percent(estimate, "–") for estimate in line.scores]
    return each(CELL, [*gold, button, *scores, test])


def chosen(
    rows: Sequence[Row], names: Sequence[str], first: int, second: int, cell: str
) -> tuple[str, list[Row]]:
    """Return what a pressed cell is in words, and its rows; nothing for an unknown one."""
    kind, _, rest = cell.partition("|")
    left, _, right = rest.partition("|")
    a, b = title_of(names[first]), title_of(names[second])
    known = slices_of(rows[0].task) if rows else ()
    if kind == DIFFER:
        return f"{a} and {b} differ", differing(rows, first, second)
    if kind == SAME:
        return f"{a} and {b} say the same", differing(rows, first, second, agree=True)
    if kind == RIGHT and {left, right} <= WORDS.keys():
        outcome = (left == "1", right == "1")
        quarter = [
            row
            for row in differing(rows, first, second)
            if (row.right(first), row.right(second)) == outcome
        ]
        return f"{a} {WORDS[left]}, {b} {WORDS[right]}", quarter
    if kind == "answers":
        return f"{a} {left}, {b} {right}", members(rows, first, second, (left, right))
    if kind == CALLED and left in map(str, range(len(names))):
        gold, _, answer = right.partition("|")
        each = int(left)
        called = [
            row
            for row in rows
            if row.predictions and (row.gold, row.predictions[each].label) == (gold, answer)
        ]
        return f"{gold_title(gold)}, called {answer} by {title_of(names[each])}", called
    if kind == "gold" and left:
        scored = [row for row in rows if row.predictions and row.gold]
        kept = {row.number for row in of_gold(scored, left)}
        return gold_title(left).capitalize(), [row for row in scored if row.number in kept]
    if kind == "slice" and left in map(str, range(len(known))):
        part = "" if right == "all" else f", {gold_title(right)}"
        return f"{known[int(left)].title}{part}", slice_members(rows, int(left), right)
    return "", []


def rows_of(rows: Sequence[Row], names: Sequence[str], pressed: Pressed) -> Markup:
    """Show a page of the rows of a cell with what each model says, and the ways to the others."""
    words, found = chosen(rows, names, pressed.first, pressed.second, pressed.cell)
    if not words:
        return NOTHING
    number, last, part = rows_on(pressed.page, len(found))
    task = next((row.task for row in found), None)
    fields = [task.title_of(field) for field in _columns(task)] if task else []
    unit = task.unit if task else "row"
    lead = Markup(
        '<div class="strip"><h3>The {}s</h3><span class="badge keep">{}: {:,}</span></div>'
    ).format(unit, words, len(found))
    if not found:
        return lead + note("There are none.")
    kind = "compared-rows stacks spans" if task and task.has_spans else "compared-rows stacks"
    head = heads([*fields, "Right", *map(title_of, names)])
    shown = join(_line(row, names) for row in found[part] if row.example)
    turned = pager(number, last, len(found), unit, lambda page: str(replace(pressed, page=page)))
    return lead + table("pairs", head, shown, kind=kind) + turned


def _columns(task: Task) -> tuple[str, ...]:
    """Return the fields that have a column: a passage is folded away under its question."""
    return (task.target,) if task.has_spans else task.fields


def _line(row: Row, names: Sequence[str]) -> Markup:
    gold = label_name(row.example.gold) if row.example.gold else NOTHING
    texts = row.task.texts(row.example)
    shown = [texts.pop(field) for field in _columns(row.task)]
    folded = join(twin(row.task.title_of(field), PASSAGE.format(texts[field])) for field in texts)
    cells = [
        *map(LONG_CELL.format, shown[:-1]),
        LONG_CELL.format(Markup("{}{}").format(shown[-1], folded)),
        SAID.format("Right", gold),
        *(SAID.format(title_of(name), _answer(row, n, name)) for n, name in enumerate(names)),
    ]
    return Markup("<tr>{}</tr>").format(join(cells))


def _answer(row: Row, model: int, name: str) -> Markup:
    """Show what a model says of a row, whether it is right, and a link to Probe."""
    f1, right = row.f1(model), {True: "right", False: "wrong", None: ""}[row.right(model)]
    there = Markup(
        '<a href="{}" target="_blank" rel="noopener" '
        'aria-label="open row {} in Probe with {}, in a new tab">open in Probe</a>'
    ).format(link_to_example(row.task, row.example, name), row.number + 1, name)
    return Markup('<span class="whole">{}</span><br><span class="whole fine">{} {}</span>').format(
        verdict(row.predictions[model]),
        right if f1 is None or row.right(model) else f"{right}, F1 {f1:.2f}",
        NOTHING if is_file(name) else there,
    )
