"""`python -m finetune report`: what runs came to, as files."""

from pathlib import Path
from typing import Annotated, get_args

import typer

from finetune.cli.runs import find_run
from finetune.experiments.inoculation.run import KIND, inoculation_run
from finetune.experiments.inoculation.selection import Selection
from finetune.report.inoculation.export import export
from probe.cli.options import choice
from probe.cli.output import make_folder
from probe.errors import ExperimentError

SelectionName = Annotated[
    Selection,
    choice("selection", get_args(Selection), "What the rate is chosen by; published: oracle_lr."),
]


def report_command(
    run_ids: Annotated[list[str], typer.Argument(metavar="ID...", help="As for `run`.")],
    out: Annotated[Path, typer.Option(help="Folder for points, figure and report.")],
    selection: SelectionName = "oracle_lr",
) -> None:
    """Write points.csv, figure.svg, figure.png and a report in one HTML file."""
    stored = [find_run(run_id) for run_id in dict.fromkeys(run_ids)]
    for run in stored:
        if run.kind != KIND:
            raise ExperimentError(
                f"{run.id} is of the kind {run.kind}; only inoculations have a report"
            )
    runs = [inoculation_run(run) for run in stored]
    if not any(run.results for run in runs):
        raise ExperimentError("no cell of these runs is finished yet")
    make_folder(out)
    for path in export(runs, selection, out):
        typer.echo(path)
