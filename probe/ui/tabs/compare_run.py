"""What pressing Compare does: the pairs are read, the models asked, the page filled in."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gradio as gr

from probe.analysis.batch import Chunk
from probe.analysis.comparison import Row, compare_rows, read, require_two
from probe.analysis.examination import examine
from probe.data.names import stem_of
from probe.data.rows import guess, require_text
from probe.data.tables import Table, read_table
from probe.errors import ComparisonError, FileError, UserError
from probe.limits import visitor_bounds
from probe.models.classifier import Precision
from probe.reports.comparison import comparison_json
from probe.runs.model_access import ModelAccess
from probe.settings import ASSETS
from probe.tasks.nli import NLI, Pair
from probe.ui.html.batch import progress
from probe.ui.html.compare import cards, side_by_side, tests
from probe.ui.html.compare_cells import matrix, slices
from probe.ui.html.elements import NOTHING, alert, note
from probe.ui.pacing import Pace
from probe.ui.panels.upload import columns_of
from probe.ui.result_files import write_comparison
from probe.ui.tab_outputs import TabOutputs
from probe.ui.visitor_files import check_room, fresh_folder, own_file

BUNDLED, FILE, PAIR = "the bundled test pairs", "a file", "one pair"
MAX_MODELS = 6
"""How many models the page compares at once."""


@dataclass
class Outputs(TabOutputs):
    """What the page shows, in the order of the tab's outputs; what is not given stays."""

    progress: Any = field(default_factory=gr.skip)  # Any: markup, or one of gradio's updates
    cards: Any = field(default_factory=gr.skip)
    tests: Any = field(default_factory=gr.skip)
    two: Any = field(default_factory=gr.skip)
    first: Any = field(default_factory=gr.skip)
    second: Any = field(default_factory=gr.skip)
    matrix: Any = field(default_factory=gr.skip)
    slices: Any = field(default_factory=gr.skip)
    pairs: Any = field(default_factory=gr.skip)
    files: Any = field(default_factory=gr.skip)
    place: Any = field(default_factory=gr.skip)


def cleared() -> Outputs:
    """Return outputs that show nothing of an earlier comparison."""
    return Outputs(
        progress=NOTHING,
        cards=NOTHING,
        tests=NOTHING,
        two=gr.Row(visible=False),
        matrix=NOTHING,
        slices=NOTHING,
        pairs=NOTHING,
        files=gr.Files(visible=False),
        place="",
    )


def run(
    models: ModelAccess,
    visitor: str,
    names: list[str],
    source: str,
    precision: Precision,
    premise: str,
    hypothesis: str,
    path: str | None,
    *columns: str,
) -> Iterator[list[Any]]:
    """Compare; after each chunk yield what the page shows, in the order of `Outputs`."""
    try:
        require_models(models, visitor, names)
        if source == PAIR:
            yield from _run_pair(models, visitor, names, Pair(premise, hypothesis))
            return
        if source == FILE and not path:
            raise FileError("choose a file first, or one of the examples")
        place = own_file(visitor, path) if path and source == FILE else None
        check_room(models.store, visitor)
        yield from _run_table(models, visitor, names, place, precision, columns)
    except UserError as trouble:
        yield Outputs(alert(trouble)).outputs


def require_models(models: ModelAccess, visitor: str, names: Sequence[str]) -> None:
    """Refuse names that the page cannot compare. Raises ComparisonError, ModelError."""
    require_two(names)
    if len(names) > MAX_MODELS:
        raise ComparisonError(
            f"the page compares up to {MAX_MODELS} models; the command line any number"
        )
    for name in names:
        models.require(visitor, name)


def _run_pair(
    models: ModelAccess, visitor: str, names: list[str], pair: Pair
) -> Iterator[list[Any]]:
    require_text(NLI, pair, visitor_bounds())
    yield Outputs(note("Asking the models …")).outputs
    shown = cleared()
    shown.cards = side_by_side([examine(models.get(visitor, name), pair) for name in names])
    yield shown.outputs


def _run_table(
    models: ModelAccess,
    visitor: str,
    names: list[str],
    path: Path | None,
    precision: Precision,
    columns: Sequence[str],
) -> Iterator[list[Any]]:
    table = read_table(path, visitor_bounds()) if path else bundled_table()
    headers = [str(name) for name in table.frame.columns]
    chosen = columns_of(headers, *columns) if path else guess(headers, NLI)
    unread = read(table, chosen, NLI)
    yield Outputs(note("Loading the models …")).outputs
    classifiers = [models.get(visitor, name) for name in names]
    rows, pace = list[Row](), Pace()
    for chunk in compare_rows(classifiers, unread, precision):
        rows += chunk.rows
        yield _part(chunk, rows, names, precision, pace).outputs
    stem = stem_of(path) if path else "bundled-test"
    summary = comparison_json(rows, names, precision)
    files, place = write_comparison(fresh_folder(visitor), table, rows, names, summary, stem)
    yield _finished(rows, names, files, place).outputs


def _part(
    chunk: Chunk[Row], rows: Sequence[Row], names: Sequence[str], precision: Precision, pace: Pace
) -> Outputs:
    """Show how far it is, and the figures so far: at the end, before that at times."""
    shown = Outputs()
    with pace.turn() as due:
        if due or chunk.done == chunk.total:
            shown = cleared()
            shown.cards, shown.tests = cards(rows, names, precision), tests(rows, names)
    shown.progress = progress(chunk)
    return shown


def _finished(rows: Sequence[Row], names: list[str], files: list[str], place: str) -> Outputs:
    """Show the files, and where the first two models differ."""
    return Outputs(
        two=gr.Row(visible=len(names) > 2),
        first=gr.Dropdown(names, value=names[0]),
        second=gr.Dropdown(names, value=names[1]),
        matrix=matrix(rows, names, 0, 1),
        slices=slices(rows, names, 0, 1),
        files=gr.Files(files, visible=True),
        place=place,
    )


def bundled_table() -> Table:
    """Return the bundled test pairs as a table."""
    table = read_table(ASSETS / "pairs.csv")
    test = table.frame[table.frame["split"] == "test"].reset_index(drop=True)
    return Table(test, table.form)
