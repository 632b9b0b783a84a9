"""The files of a run that scored a file: written once for what is done of it, and read again.

They are written where nobody looks and then moved as a whole, with the size of each beside them: so
neither a half-written folder nor one that is being deleted is taken for a result.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from probe.data.names import stem_of
from probe.errors import FileError, writing
from probe.runs.run import Json, StoredRun
from probe.scoring.files import Places, assemble, done_parts, read_plan
from probe.statistics import Estimate
from probe.tasks.task import Label
from probe.ui.results.part_rows import PartRows
from probe.ui.results.result_files import write_json
from probe.ui.visitors.visitor_files import folder_for, fresh_folder

RESULT = "result.json"
GONE = "the files of this run were deleted while they were put together; ask for them again"


@dataclass(frozen=True)
class RunResult:
    """What the page needs of a result: the names of its files, and what the rows come to.

    `totals` are the state of `Totals`, `shape` is the summary as JSON, `rules` what each rule
    reaches, `sizes` are the bytes of what was written with it.
    """

    files: Sequence[str]
    totals: Json
    shape: Json
    golds: Sequence[Label]
    rules: Mapping[str, Estimate]
    sizes: Mapping[str, int]


def result_folder(run: StoredRun, visitor: str) -> Path:
    """Return where the result of what is done of a run belongs; more that is done has another."""
    return folder_for(visitor, run.id, run.artefacts.get("form"), run.finished, done_parts(run))


def read_result(folder: Path) -> RunResult | None:
    """Return a result, None where it is not there as it was written."""
    try:
        values = json.loads((folder / RESULT).read_text(encoding="utf-8"))
        rules = {name: Estimate(**each) for name, each in values.pop("rules").items()}
        result = RunResult(rules=rules, **values)
        folder.touch()  # it is kept from now on
        sizes = {name: (folder / name).stat().st_size for name in result.sizes}
        return result if sizes == result.sizes else None
    except (OSError, ValueError):
        return None


def write_result(run: StoredRun, visitor: str) -> RunResult:
    """Write the result of what is done of a run. Raises FileError."""
    folder, fresh = result_folder(run, visitor), fresh_folder(visitor)
    try:
        _write(run, fresh)
        if read_result(folder) is None:
            shutil.rmtree(folder, ignore_errors=True)
            with writing(folder):
                fresh.replace(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    if (result := read_result(folder)) is None:
        raise FileError(GONE)
    return result


def _write(run: StoredRun, folder: Path) -> None:
    plan = read_plan(run.plan)
    stem, form = stem_of(Path(plan.file)), plan.form
    pairs = folder / f"{stem}-pairs.{form}" if plan.request.names else None
    places, rows = Places(folder / f"{stem}-scored.{form}", pairs), PartRows(folder, plan)
    shape, totals = assemble(run, places, rows.add)
    rows.finish()
    summary = write_json(shape, folder / f"{stem}-summary.json")
    files = [path.name for path in (places.scored, summary, pairs) if path]
    sizes = {path.name: path.stat().st_size for path in folder.iterdir()}
    result = RunResult(
        files, totals.state, shape,
        rows.golds, rows.rules.estimates(), sizes,
    )  # fmt: skip
    write_json(asdict(result), folder / RESULT)
