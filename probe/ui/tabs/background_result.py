"""What the buttons of the files in the background do: stop, go on, and show what is scored."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import gradio as gr
from gradio.events import Dependency

from probe.analysis.summary import Totals
from probe.errors import UserError
from probe.runs.access import own_run
from probe.runs.run import StoredRun
from probe.scoring.files import read_plan
from probe.ui.events import EACH, QUIET, cell_of
from probe.ui.html.elements import NOTHING, alert, note
from probe.ui.html.file_progress import FileProgress
from probe.ui.html.run import worked
from probe.ui.page import Page
from probe.ui.results.result_files import result_key
from probe.ui.results.run_result import read_result, result_folder, write_result
from probe.ui.tabs import batch_background
from probe.ui.tabs.batch_background import Background
from probe.ui.tabs.batch_outputs import Outputs, ScoredFile, finished
from probe.ui.visitors.visitor_files import check_room

STOP, GO_ON, TAKE = "stop", "go-on", "take"
GATHERING = "The rows of {file} that are scored are put together …"
PARTIAL = (
    "{rows:,} of {total:,} rows are scored; the figures, the rows and the files below hold these."
)
VERBS: Mapping[str, Callable[[Background, StoredRun], None]] = {
    STOP: Background.stop,
    GO_ON: Background.go_on,
}


def build(
    page: Page, background: Background, listed: batch_background.Outputs, shown: Outputs
) -> Dependency:
    """Let the buttons in the list do what they say; return what happens on a press."""

    def pressed(event: gr.EventData, visitor: str) -> Iterator[list[Any]]:
        verb, _, run_id = cell_of(event).partition(":")
        for listing, results in press(background, visitor, verb, run_id):
            yield [*listing.outputs, *results.outputs]

    outputs = [*listed.outputs, *shown.outputs]
    clicked: Dependency = listed.listed.click(pressed, page.owner, outputs, **EACH, **QUIET)
    return clicked


def press(
    background: Background, visitor: str, verb: str, run_id: str
) -> Iterator[tuple[batch_background.Outputs, Outputs]]:
    """Do what a button says with a run; yield the list and the results as they are then."""
    try:
        run = own_run(background.store, visitor, run_id)
        if verb == TAKE:
            if read_result(result_folder(run, visitor)) is None:
                words = GATHERING.format(file=run.plan["file"])
                yield batch_background.Outputs(trouble=note(words)), Outputs()
            yield background.listed(visitor), result_of(background, run, visitor)
        else:
            VERBS[verb](background, run)
            yield background.listed(visitor), Outputs(trouble=NOTHING)
    except UserError as trouble:
        yield batch_background.Outputs(trouble=alert(trouble)), Outputs()


def result_of(background: Background, run: StoredRun, visitor: str) -> Outputs:
    """Show a run's files to who takes them away, written now unless they are there.

    Raises FileError, LimitError.
    """
    plan, folder = read_plan(run.plan), result_folder(run, visitor)
    if (kept := read_result(folder)) is None:
        check_room(background.store, visitor)
        kept = write_result(run, visitor)
    totals = Totals(plan.task, plan.request.names)
    totals.merge(kept.totals)
    file = ScoredFile(
        plan.file, plan.task, totals.summary(), kept.shape,
        [str(folder / name) for name in kept.files],
        result_key(folder), kept.golds, kept.rules, worked(run),
    )  # fmt: skip
    return finished(file, _state(file, plan.rows))


def _state(file: ScoredFile, total: int) -> FileProgress:
    done = file.summary.rows
    if done == total:
        return FileProgress(file.name, "finished", done, total)
    words = PARTIAL.format(rows=done, total=total)
    return FileProgress(file.name, "partial", done, total, why=words)
