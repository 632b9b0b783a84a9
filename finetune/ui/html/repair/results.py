"""What repairs came to: the sentence, then each run's pictures, then what to do next."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from finetune.report.command_line import command
from finetune.trials.calibration import CALIBRATION
from finetune.trials.calibration import plan_from as calibration_plan
from finetune.trials.mitigation import MITIGATION
from finetune.trials.transfer import TRANSFER
from finetune.ui.html.inoculation import commands
from finetune.ui.html.repair import calibration, mitigation, transfer
from finetune.ui.html.repair.words import model_title
from probe.runs.gallery import OWNER
from probe.runs.run import StoredRun
from probe.tasks.task import task_named
from probe.ui.html.elements import NOTHING, alert, join, link, twin
from probe.ui.links import link_to_measure, link_to_model, link_to_run


@dataclass(frozen=True)
class Kind:
    """How runs of a kind are shown; `sentence` is for judged runs alone."""

    sentence: Callable[[StoredRun], str]
    pictures: Callable[[StoredRun], Markup]


KINDS: Mapping[str, Kind] = {
    CALIBRATION.kind: Kind(calibration.sentence, calibration.pictures),
    MITIGATION.kind: Kind(mitigation.sentence, mitigation.pictures),
    TRANSFER.kind: Kind(transfer.sentence, transfer.pictures),
}
"""In the order in which they stand below one another."""
SPEAKING = (MITIGATION.kind, CALIBRATION.kind, TRANSFER.kind)
"""Of several runs, whose sentence stands first."""
NO_CURE = " Rescaling its confidence finds none."
SAY, LEAD = Markup('<p class="say">{}</p>'), Markup('<p class="lead">{}</p>')
ONWARD, BETWEEN = Markup('<p class="onward">{}</p>'), Markup(" · ")


def results(runs: Sequence[StoredRun]) -> Markup:
    """Show all that runs came to so far; what went wrong stands first."""
    ordered = sorted(runs, key=lambda run: list(KINDS).index(run.kind))
    judged = [run for run in ordered if run.verdict]
    first = min(judged, key=lambda run: SPEAKING.index(run.kind)) if judged else None
    return Markup('<div class="repaired">{}{}{}{}</div>').format(
        join(alert(run.error) for run in ordered if run.error),
        SAY.format(_opening(first, judged)) if first else NOTHING,
        join(_section(run, run is not first) for run in ordered),
        of_gallery(ordered),
    )


def _opening(first: StoredRun, judged: Sequence[StoredRun]) -> str:
    """Return the sentence of one run, and beside a mitigation what a temperature does not do.

    A temperature changes no answer, so that none of them says invalid.
    """
    softened = any(
        run.kind == CALIBRATION.kind and "temperature" in calibration_plan(run.plan).methods
        for run in judged
    )
    said = KINDS[first.kind].sentence(first)
    return said + NO_CURE if softened and first.kind == MITIGATION.kind else said


def _section(run: StoredRun, with_sentence: bool) -> Markup:
    lead = run.verdict and with_sentence
    return Markup('<section class="repair-kind">{}{}{}{}</section>').format(
        LEAD.format(KINDS[run.kind].sentence(run)) if lead else NOTHING,
        KINDS[run.kind].pictures(run),
        onward(run),
        twin("repeat on the command line", commands(command(run), run.kept)),
    )


def onward(run: StoredRun) -> Markup:
    """Link to the repaired model, where it is kept."""
    if not run.kept:
        return NOTHING
    task = task_named(run.plan["task"])
    both = [run.plan["model"], run.kept]
    links = [
        link(link_to_model(run.kept, task), "Probe the repaired model"),
        link(link_to_measure("compare", task, both), f"Compare it with {model_title(run)}"),
    ]
    return ONWARD.format(join(links, BETWEEN))


def of_gallery(runs: Sequence[StoredRun]) -> Markup:
    """Link to runs of the gallery, which keep no model."""
    ids = [run.id for run in runs if run.owner == OWNER]
    if not ids:
        return NOTHING
    address = link_to_run(ids, task=runs[0].plan["task"], aim="repair")
    return ONWARD.format(
        Markup("{} · its models are not kept; press Start to have one").format(
            link(address, "Link to these results")
        )
    )
