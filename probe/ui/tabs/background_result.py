"""What the buttons of the files in the background do: stop, go on, and show what is scored."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.events import Dependency

from probe.analysis.file_progress import FileProgress
from probe.data.names import stem_of
from probe.data.source import form_of
from probe.errors import UserError
from probe.runs.access import own_run
from probe.runs.run import StoredRun
from probe.scoring.assembly import assemble
from probe.scoring.files import Places
from probe.scoring.folder import input_file
from probe.scoring.plan import read_plan
from probe.ui.events import QUIET
from probe.ui.html.background import seconds_of
from probe.ui.html.elements import alert, note
from probe.ui.page import Page
from probe.ui.part_rows import PartRows
from probe.ui.result_files import result_key, write_json
from probe.ui.tabs import batch_background
from probe.ui.tabs.batch_background import Background
from probe.ui.tabs.batch_outputs import Outputs, ScoredFile, finished
from probe.ui.visitors.visitor_files import check_room, fresh_folder

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
        verb, _, run_id = str(getattr(event, "cell", "")).partition(":")
        for listing, results in press(background, visitor, verb, run_id):
            yield [*listing.outputs, *results.outputs]

    outputs = [*listed.outputs, *shown.outputs]
    clicked: Dependency = listed.listed.click(pressed, page.owner, outputs, **QUIET)
    return clicked


def press(
    background: Background, visitor: str, verb: str, run_id: str
) -> Iterator[tuple[batch_background.Outputs, Outputs]]:
    """Do what a button says with a run; yield the list and the results as they are then."""
    try:
        run = own_run(background.store, visitor, run_id)
        if verb == TAKE:
            words = GATHERING.format(file=run.plan["file"])
            yield batch_background.Outputs(trouble=note(words)), Outputs()
            yield background.listed(visitor), result_of(background, run, visitor)
        else:
            VERBS[verb](background, run)
            yield background.listed(visitor), Outputs()
    except UserError as trouble:
        yield batch_background.Outputs(trouble=alert(trouble)), Outputs()


def result_of(background: Background, run: StoredRun, visitor: str) -> Outputs:
    """Write a run's files for who takes them away and show them. Raises FileError, LimitError."""
    check_room(background.store, visitor)
    plan, folder = read_plan(run.plan), fresh_folder(visitor)
    stem, form = stem_of(Path(plan.file)), form_of(input_file(plan.folder, plan.file))
    pairs = folder / f"{stem}-pairs.{form}" if plan.request.names else None
    places, rows = Places(folder / f"{stem}-scored.{form}", pairs), PartRows(folder, plan)
    assembled = assemble(run, places, rows.add)
    rows.finish()
    told = write_json(assembled.shape, folder / f"{stem}-summary.json")
    file = ScoredFile(
        plan.file, stem, plan.task, assembled.summary, assembled.shape,
        [str(path) for path in (places.scored, told, pairs) if path],
        result_key(folder), rows.golds, rows.rules.estimates(), seconds_of(run),
    )  # fmt: skip
    return finished(file, _state(file, plan.rows))


def _state(file: ScoredFile, total: int) -> FileProgress:
    done = file.summary.rows
    if done == total:
        return FileProgress(file.name, "finished", done, total)
    words = PARTIAL.format(rows=done, total=total)
    return FileProgress(file.name, "partial", done, total, why=words)
