"""What a check-up came to: a sentence, good and bad, pictures, what to try."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd
from markupsafe import Markup

from probe.checkup.conclusions import published_beside
from probe.checkup.measuring import GROUPS, Figure, Group, bins_from
from probe.checkup.page import (
    EXAMPLES,
    FIRST,
    RELIABILITY,
    TEST_HEADS,
    TESTS,
    examples,
    facts_of,
    glance_tiles,
    rows_of_tests,
    said_in,
    verdict,
)
from probe.checkup.report import changes_words, figures_of, references, report_of
from probe.models.bundled import title_of
from probe.pictures.forest import DotPlot, DotRow
from probe.pictures.reliability import LEGEND, Diagram, bins_frame, diagram
from probe.runs.run import Json, StoredRun
from probe.statistics import NOTHING as UNKNOWN
from probe.statistics import Estimate, first_bin, percent, spread_words
from probe.tasks.task import Task, task_named
from probe.ui.html.elements import NOTHING, card, heads, join, link, note, sheet, table, title, twin
from probe.ui.html.picture import chart
from probe.ui.links import link_to_inoculation, link_to_repair

SAY = Markup('<p class="say">{}</p>')
SHOWN_AT_ONCE = 6
"""Sentences of a list that are not folded away."""
TITLES: Mapping[str, str] = {"good": "What it is good at", "bad": "What it is bad at"}
BEFORE = "before the change"
WORDS: Mapping[Group, str] = {
    "salad": "Less is better: nobody can know the answer to such a text. By the sign gupta, as "
    "published, tokens that raise the loss are important, by support those that speak for the "
    "answer; figures by different signs are not drawn beside each other.",
    "families": "The mean over the changes of each kind.",
    "by_label": "Beside the paper where it tells them apart.",
    "confidence": "Less is better: of such a text nobody can be sure.",
    "entropy": "More is better: 100 % is the same probability for each label.",
    "stress": "Each change on the same texts before and after it, where the right answer stays.",
    "hans": "Where a text is not entailed, only the words suggest that it is.",
    "slices": "",
}
"""The groups that are drawn, and what stands under the picture of each."""
MEASURED: Mapping[Group, tuple[str, str]] = {
    "salad": ("answers that stay", "% stay"),
    "families": ("answers that stay", "% stay"),
    "by_label": ("answers that stay", "% stay"),
    "confidence": ("confidence", "% sure"),
    "entropy": ("entropy", "% of the most there can be"),
}
"""What a group measures, and the unit of its scale, where it is not how often answers are right."""
SUBCASE_HEADS = ("sub-case", "right", "n")
TABS: Mapping[str, str] = {"inoculate": "Inoculate", "repair": "Repair"}
Others = Mapping[str, Mapping[str, Figure]]


def results(runs: Sequence[StoredRun]) -> Markup:
    """Show what check-ups came to so far."""
    return join(shown(report_of(run)) for run in runs)


def shown(report: Json) -> Markup:
    """Show a report."""
    task, name = task_named(report["task"]), report["model"]["name"]
    own = figures_of(report)
    others = references(task, report["data"]["sha256"], name)
    said = verdict(report)
    return Markup('<div class="checked-up">{}{}{}{}{}{}{}{}</div>').format(
        SAY.format(said) if said else NOTHING,
        glance_tiles(report) if said else NOTHING,
        _good_and_bad(report),
        _advice(task, report),
        join(_drawn(task, name, own, others)),
        join(_folded(report, own)),
        twin("repeat on the command line", Markup("<pre>{}</pre>").format(report["command"])),
        twin("how it was made", _facts(report)),
    )


def _good_and_bad(report: Json) -> Markup:
    """List what speaks for the model beside what speaks against it, and then the rest."""
    lists = [
        card(title(words) + _listed(said_in(report, tone)))
        for tone, words in TITLES.items()
        if said_in(report, tone)
    ]
    rest = said_in(report, "")[1:]
    return Markup('<div class="halves">{}</div>{}').format(
        join(lists), twin("what is neither", _listed(rest)) if rest else NOTHING
    )


def _listed(lines: Sequence[str]) -> Markup:
    """List sentences, the first few at once."""
    items = [Markup("<li>{}</li>").format(line) for line in lines]
    first, more = (
        Markup('<ul class="tests">{}</ul>').format(join(part))
        for part in (items[:SHOWN_AT_ONCE], items[SHOWN_AT_ONCE:])
    )
    count = len(items) - SHOWN_AT_ONCE
    return first + twin(f"{count} more", more) if count > 0 else first


def _drawn(task: Task, name: str, own: Mapping[str, Figure], others: Others) -> list[Markup]:
    """Draw each group of figures that there is; how good the model is stands with the slices."""
    plots = {group: _plot(task, name, own, others, group) for group in WORDS}
    return [
        chart(GROUPS[group], plot, stem=f"checkup-{group}", sentence=WORDS[group])
        for group, plot in plots.items()
        if plot.rows
    ]


def _plot(
    task: Task, name: str, own: Mapping[str, Figure], others: Others, group: Group
) -> DotPlot:
    measure = task.measure.lower()
    groups = (group, "labels") if group == "slices" else (group,)
    has_before = group in ("stress", "confidence", "entropy")
    rows = [
        DotRow(_titled(each, task, name), _estimates(own, others, each.name, has_before))
        for each in own.values()
        if each.group in groups and not each.name.endswith(".before")
    ]
    if group == "slices" and measure in own:
        whole = _estimates(own, others, measure, False)
        rows.insert(0, DotRow(f"All {task.unit}s", whole, strong=True))
    models = [title_of(each) for each in others]
    marks = [title_of(name), *([BEFORE] if has_before else []), *models]
    words = MEASURED.get(group, (measure, "% right"))
    chance = None if group in MEASURED or task.has_spans else 1 / len(task.labels)
    chance = 0.5 if group == "hans" else chance
    return DotPlot(marks, rows, chance, "a guess", task.unit, words[0], words[1])


def _titled(figure: Figure, task: Task, model: str) -> str:
    """Return a figure's title, how far its seeds lie apart, and what was published."""
    known = published_beside(figure, task, model)
    paper = f" · {known.who}: {100 * known.share:.0f} %{known.note}" if known else ""
    return f"{figure.title}{spread_words(figure.spread)}{paper}"


def _estimates(
    own: Mapping[str, Figure], others: Others, name: str, with_before: bool
) -> list[Estimate]:
    """Return a figure of this model, that before a change where it is asked for, and of others.

    Others' figures by another sign are left out.
    """
    before, first, sign = own.get(f"{name}.before"), own[name].estimate, own[name].sign
    mine = [first, before.estimate if before else UNKNOWN] if with_before else [first]
    beside = (each.get(name) for each in others.values())
    return [*mine, *(each.estimate if each and each.sign == sign else UNKNOWN for each in beside)]


def _folded(report: Json, own: Mapping[str, Figure]) -> Iterator[Markup]:
    """Show what few ask for: how sure it is, sub-cases, examples, and the tests."""
    if bins := bins_from(report["reliability"]):
        first = first_bin(bins, len(task_named(report["task"]).labels))
        drawn = diagram(Diagram(bins, first), RELIABILITY)
        framed = Markup('<div class="reliability">{}</div>').format(drawn)
        yield twin(RELIABILITY, framed + note(LEGEND) + sheet(bins_frame(bins), RELIABILITY))
    if subcases := [each for each in own.values() if each.group == "subcases"]:
        rows = [(each.title, percent(each.estimate), str(each.n)) for each in subcases]
        yield twin(GROUPS["subcases"], _sheet(SUBCASE_HEADS, rows, GROUPS["subcases"]))
    if report["examples"]:
        yield twin(EXAMPLES, note(FIRST) + examples(report))
    if report["tests"]:
        rows_of = rows_of_tests(report)
        yield twin(TESTS, note(report["how_tested"]) + _sheet(TEST_HEADS, rows_of, TESTS))


def _sheet(columns: Sequence[str], rows: Sequence[Sequence[str]], label: str) -> Markup:
    return sheet(pd.DataFrame(list(rows), columns=list(columns)), label)


def _advice(task: Task, report: Json) -> Markup:
    """Say what to try, each with a link to the place that does it."""
    if not report["advice"]:
        words = "Nothing that was measured here asks for a cure."
        return card(title("What to try") + note(words)) if not report["missing"] else NOTHING
    one = Markup("<li>{}: {}<pre>{}</pre></li>")
    items = join(
        one.format(each["why"], _onward(task, report["model"]["name"], each), each["command"])
        for each in report["advice"]
    )
    return card(title("What to try") + Markup('<ul class="tests tries">{}</ul>').format(items))


def _onward(task: Task, model: str, each: Json) -> Markup:
    """Link to the place that does what is advised."""
    if each["tab"] == "inoculate":
        address = link_to_inoculation(each["challenge"], model, task)
    else:
        address = link_to_repair(model, task)
    return link(address, f"open {TABS[each['tab']]}")


def _facts(report: Json) -> Markup:
    """Name model, data, seeds, versions and what could not be measured, in a table."""
    line = Markup('<tr><th scope="row">{}</th><td class="long">{}</td></tr>')
    body = join(line.format(name, words) for name, words in facts_of(report).items())
    return table("how the check-up was made", heads(["what", "which"]), body)


def changed(older: Json, changes: Sequence[Json]) -> Markup:
    """Say what got better and what got worse since an older report, what got worse first."""
    items = join(Markup("<li>{}</li>").format(line) for line in changes_words(changes))
    since = f"Since the report of {older.get('made', 'an earlier day')} on {older['data']['name']}"
    return card(title(since) + Markup('<ul class="tests" role="status">{}</ul>').format(items))
