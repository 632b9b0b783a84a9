"""What a check-up came to: a sentence, good and bad, pictures, what to try."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from probe.checkup.families import losses
from probe.checkup.figure import GROUPS, Figure, Group
from probe.checkup.page import facts_of, said_in
from probe.checkup.report import changes_words, figures_of, references, report_of
from probe.metrics import NOTHING as UNKNOWN
from probe.metrics import Estimate
from probe.models.bundled import title_of
from probe.runs.run import Json, StoredRun
from probe.tasks.task import Task, task_named
from probe.ui.html.elements import NOTHING, card, heads, join, link, note, table, title, twin
from probe.ui.html.picture import picture
from probe.ui.html.pictures.dot_plot import DotPlot, DotRow, dot_frame, dot_plot, dot_svg
from probe.ui.links import link_to_inoculation, link_to_repair

SAY = Markup('<p class="say">{}</p>')
SHOWN_AT_ONCE = 6
"""Sentences of a list that are not folded away."""
TITLES: Mapping[str, str] = {"good": "What it is good at", "bad": "What it is bad at"}
BEFORE = "before the change"
WORDS: Mapping[Group, str] = {
    "plain": "",
    "labels": "",
    "salad": "Less is better: nobody can know the answer to such a text.",
    "confidence": "Less is better: of such a text nobody can be sure.",
    "stress": "Each change on the same texts before and after it, where the right answer stays.",
    "hans": "Where a text is not entailed, only the words suggest that it is.",
    "subcases": "",
    "slices": "",
}
"""What stands under the picture of a group."""
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
    said = report["findings"][:1]
    return Markup('<div class="checked-up">{}{}{}{}{}{}</div>').format(
        SAY.format(f"{title_of(name)}: {said[0]}") if said else NOTHING,
        _good_and_bad(report),
        join(_drawn(task, name, own, others)),
        _advice(task, report),
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
    plots = {group: _plot(task, name, own, others, group) for group in GROUPS if group != "plain"}
    return [
        picture(
            GROUPS[group],
            dot_plot(plot, GROUPS[group]),
            dot_frame(plot),
            dot_svg(plot, GROUPS[group]),
            stem=f"checkup-{group}",
            sentence=WORDS[group],
        )
        for group, plot in plots.items()
        if plot.rows
    ]


def _plot(
    task: Task, name: str, own: Mapping[str, Figure], others: Others, group: Group
) -> DotPlot:
    measure = task.measure.lower()
    lines = [(f.title, f.name) for f in own.values() if f.group == group]
    befores = {each for _, each in lines if each.endswith(".before")}
    rows = [
        DotRow(line, _estimates(own, others, each, group == "stress"))
        for line, each in lines
        if each not in befores
    ]
    if group == "slices" and measure in own:
        whole = _estimates(own, others, measure, False)
        rows.insert(0, DotRow(f"All {task.unit}s", whole, strong=True))
    models = [title_of(each) for each in others]
    marks = [title_of(name), *([BEFORE] if group == "stress" else []), *models]
    words = ("answers that stay", "% stay") if group == "salad" else (measure, "% right")
    chance = None if group == "salad" or task.has_spans else 1 / len(task.labels)
    chance = 0.5 if group == "hans" else chance
    return DotPlot(marks, rows, chance, "a guess", task.unit, words[0], words[1])


def _estimates(
    own: Mapping[str, Figure], others: Others, name: str, with_before: bool
) -> list[Estimate]:
    """Return a figure of this model, that before a change where it is asked for, and of others."""
    before = losses(own).get(name)
    first = own[name].estimate
    mine = [first, before[0].estimate if before else UNKNOWN] if with_before else [first]
    return [*mine, *(each[name].estimate if name in each else UNKNOWN for each in others.values())]


def _advice(task: Task, report: Json) -> Markup:
    """Say what to try, each with a link to the tab that does it."""
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
    """Link to the tab that does what is advised."""
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
