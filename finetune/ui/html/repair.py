"""What Train shows of repairs: the sentence, then each run's pictures, then what to do next."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from finetune.report.command_line import command
from finetune.report.repair import (
    FIGURES,
    Compared,
    Figure,
    before_and_after,
    by_set,
    by_transform,
    calibrated,
    debiased,
    diagrams,
    figure_svg,
    found,
    matrices,
    mended,
    mitigated,
    model_title,
    on_broken_texts,
    on_whole_texts,
    transferred,
)
from finetune.trials import calibration, debiasing, mitigation, transfer
from finetune.ui.html.inoculation import commands
from probe.pictures.forest import Forest, forest_plot
from probe.pictures.heat_map import HeatMap, heat_map
from probe.pictures.reliability import diagram
from probe.runs.gallery import OWNER
from probe.runs.run import StoredRun
from probe.tasks.task import task_named
from probe.ui.html.elements import NOTHING, alert, each, join, link, note, term, twin, unbroken
from probe.ui.html.picture import picture
from probe.ui.links import link_to_measure, link_to_model, link_to_run

OURS = "Ours"
NO_CURE = " Rescaling its confidence finds none."
SAY, LEAD = Markup('<p class="say">{}</p>'), Markup('<p class="lead">{}</p>')
ONWARD, BETWEEN = Markup('<p class="onward">{}</p>'), Markup(" · ")
KEPT_NONE = Markup("{} · its models are not kept; press Start to have one")
WARNING = Markup('<p class="beware"><span class="badge keep">beware</span> {}</p>')
HALVES = Markup('<div class="halves">{}</div>')
SCROLL = Markup('<div class="scroll" tabindex="0" role="region" aria-label="{}">{}</div>')
MEANINGS = {words.title: words.summary for words in FIGURES.values()}


def shown(figure: Figure) -> Markup:
    """Show a figure as a picture."""
    drawn = figure.drawn
    if isinstance(drawn, HeatMap):
        explained = [
            replace(head, title=term(head.title, MEANINGS[head.title]))
            if head.title in MEANINGS
            else head
            for head in drawn.columns
        ]
        label = f"{figure.title}, in percent" if drawn.corner else figure.title
        content = SCROLL.format(figure.title, heat_map(replace(drawn, columns=explained), label))
    elif isinstance(drawn, Forest):
        content = forest_plot(drawn, figure.title)
    else:
        says = "how often answers are right by how sure the model is"
        content = diagram(drawn, f"{figure.title}: {says}, {figure.badge[1]}")
    tone, words = figure.badge
    return picture(
        figure.title,
        content,
        figure.frame,
        figure_svg(figure),
        stem=figure.name,
        sentence=unbroken(figure.sentence),
        beside=Markup('<span class="badge {}">{}</span>').format(tone, words) if words else NOTHING,
    )


def switched(run: StoredRun, compared: Compared) -> Markup:
    """Show our picture, with a choice of the paper's in its place where there is one."""
    if compared.theirs is None or compared.table is None:
        return shown(compared.ours)
    table = compared.table
    choice = join(
        Markup('<label><input type="radio" name="{}-{}"{}> {}</label>').format(
            run.id, table.name, Markup(" checked") if words == OURS else NOTHING, words
        )
        for words in (OURS, table.source.replace(" 2021", ""))
    )
    return Markup(
        '<div class="card switched"><div class="choice" role="radiogroup" '
        'aria-label="whose figures: {}">{}</div><div class="pane">{}</div>'
        '<div class="pane">{}</div></div>'
    ).format(table.name.replace("_", " "), choice, shown(compared.ours), shown(compared.theirs))


def _of_mitigation(run: StoredRun) -> Iterator[Markup]:
    if mitigation.points_of(run):
        cost = mitigation.quick_cost(mitigation.plan_from(run.plan))
        yield switched(run, found(run))
        yield note(cost) if cost else NOTHING
        yield each(WARNING, run.verdict.get("warnings", ()))
        yield shown(by_transform(run))
        yield _on_broken(run)


def _of_calibration(run: StoredRun) -> Iterator[Markup]:
    """Yield the diagrams as it was and after the first method, then all figures."""
    drawn, first = diagrams(run), calibration.plan_from(run.plan).methods[0]
    in_sight = [drawn.pop(it) for it in (calibration.BASE.method, first) if it in drawn]
    if in_sight:
        yield HALVES.format(join(map(shown, in_sight)))
    yield switched(run, before_and_after(run))
    if drawn:
        others = HALVES.format(join(map(shown, drawn.values())))
        yield twin("the diagrams of the other methods", others)
    yield _on_broken(run)


def _on_broken(run: StoredRun) -> Markup:
    drawn = list(map(shown, on_broken_texts(run)))
    return twin("answers to broken texts, by kind", join(drawn)) if drawn else NOTHING


def _of_debiasing(run: StoredRun) -> Iterator[Markup]:
    if debiasing.points_of(run):
        yield shown(mended(run))
        yield each(WARNING, run.verdict.get("warnings", ()))
        yield shown(by_set(run))


def _of_transfer(run: StoredRun) -> Iterator[Markup]:
    if transfer.points_of(run):
        yield switched(run, matrices(run))
        yield from (switched(run, compared) for compared in on_whole_texts(run))


@dataclass(frozen=True)
class Kind:
    """How runs of a kind are shown; `sentence` is for judged runs alone."""

    sentence: Callable[[StoredRun], str]
    pictures: Callable[[StoredRun], Iterator[Markup]]


KINDS: Mapping[str, Kind] = {
    mitigation.KIND: Kind(mitigated, _of_mitigation),
    calibration.KIND: Kind(calibrated, _of_calibration),
    debiasing.KIND: Kind(debiased, _of_debiasing),
    transfer.KIND: Kind(transferred, _of_transfer),
}
"""In the order in which they stand below one another; the sentence of the first stands above."""


def results(runs: Sequence[StoredRun]) -> Markup:
    """Show all that runs came to so far; what went wrong stands first.

    A temperature changes no answer, so that beside a mitigation none of them says invalid.
    """
    ordered = sorted(runs, key=lambda run: list(KINDS).index(run.kind))
    judged = [run for run in ordered if run.verdict]
    softened = any(
        run.kind == calibration.KIND and "temperature" in run.plan["methods"] for run in judged
    )
    parts = [alert(run.error) for run in ordered if run.error]
    for run in judged[:1]:
        cure = NO_CURE if softened and run.kind == mitigation.KIND else ""
        parts.append(SAY.format(KINDS[run.kind].sentence(run) + cure))
    for run in ordered:
        kind, lead = KINDS[run.kind], run.verdict and run is not judged[0]
        section = [LEAD.format(kind.sentence(run)) if lead else NOTHING, *kind.pictures(run)]
        section += [onward(run), commands(command(run), run.kept)]
        parts.append(Markup('<section class="repair-kind">{}</section>').format(join(section)))
    if ids := [run.id for run in ordered if run.owner == OWNER]:
        address = link_to_run(ids, task=ordered[0].plan["task"], aim="repair")
        parts.append(ONWARD.format(KEPT_NONE.format(link(address, "Link to these results"))))
    return Markup('<div class="repaired">{}</div>').format(join(parts))


def onward(run: StoredRun) -> Markup:
    """Link to the repaired model, where it is kept."""
    if not run.kept:
        return NOTHING
    task, both = task_named(run.plan["task"]), [run.plan["model"], run.kept]
    links = [
        link(link_to_model(run.kept, task), "Probe the repaired model"),
        link(link_to_measure("compare", task, both), f"Compare it with {model_title(run)}"),
    ]
    return ONWARD.format(join(links, BETWEEN))
