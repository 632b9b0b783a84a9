"""`python -m finetune runs` and `run`: the runs of the app and of the gallery."""

import time
from typing import Annotated

import typer

from probe.cli.options import AsJson
from probe.cli.output import print_json
from probe.runs.experiment import run_json, run_title
from probe.runs.gallery import gallery_runs
from probe.runs.run import StoredRun
from probe.runs.store import Store


def runs_command(as_json: AsJson = False) -> None:
    """List the runs of the app, newest first."""
    runs = Store().runs()
    if as_json:
        print_json([run_json(run) for run in runs])
        return
    for run in runs:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.created))
        typer.echo(
            f"{run.id}  {when}  {run.state:9}  {len(run.results)}/{len(run.cells)} cells  "
            f"{run_title(run)}  {run.verdict.get('headline') or run.verdict.get('name', run.error)}"
        )


def run_command(
    run_id: Annotated[
        str,
        typer.Argument(
            metavar="ID", help="As `runs` lists it, or of the gallery: gallery-da-numerical."
        ),
    ],
) -> None:
    """Print a run as JSON: its plan, cells, environment, hashes and verdict."""
    print_json(run_json(find_run(run_id)))


def find_run(run_id: str) -> StoredRun:
    """Return a run of the gallery or of the app. Raises UnknownRun where there is none."""
    shipped = [run for run in gallery_runs() if run.id == run_id]
    return shipped[0] if shipped else Store().get(run_id)
