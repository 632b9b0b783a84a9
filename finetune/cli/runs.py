"""`python -m finetune runs` and `run`: the runs of the app and of the gallery."""

import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, get_args

import typer

from finetune.report.files import export
from finetune.trials.challenges import KIND_TITLES, catalogue
from finetune.trials.inoculation import KIND, Selection, inoculation_run
from probe.cli.options import AsJson, choice
from probe.cli.output import make_folder, print_json
from probe.errors import ExperimentError, ModelError
from probe.models.library import find
from probe.models.weights import share_weights
from probe.runs.experiment import run_json, run_title
from probe.runs.gallery import gallery_runs
from probe.runs.run import StoredRun
from probe.runs.store import Store
from probe.tasks.nli import NLI
from probe.tasks.task import task_named


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


CHOSEN = "What the rate is chosen by; published: oracle_lr."


def report_command(
    run_ids: Annotated[list[str], typer.Argument(metavar="ID...", help="As for `run`.")],
    out: Annotated[Path, typer.Option(help="Folder for points, figure and report.")],
    selection: Annotated[Selection, choice("selection", get_args(Selection), CHOSEN)] = "oracle_lr",
) -> None:
    """Write points.csv, figure.svg, .pdf and .png and a report in one HTML file."""
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


def challenges_command(
    task: Annotated[str, typer.Option(help="The task of the model.")] = NLI.name,
    as_json: AsJson = False,
) -> None:
    """List what a model of a task can be inoculated against."""
    challenges = catalogue(task_named(task))
    if as_json:
        print_json([asdict(challenge) for challenge in challenges])
        return
    for kind, words in KIND_TITLES.items():
        of_kind = [challenge for challenge in challenges if challenge.kind == kind]
        if of_kind:
            typer.echo(f"{words}:")
        for challenge in of_kind:
            facts = "; ".join(filter(None, (challenge.labels, challenge.source)))
            about = f"{challenge.title}: {challenge.summary} ({facts})"
            typer.echo(f"  {challenge.name:20} {about}")
    typer.echo(f"{KIND_TITLES['file']}: --challenge-file FILE")


def share_command(
    models: Annotated[list[str], typer.Argument(help="Trained models: folders or names on disk.")],
    embeddings: Annotated[
        str, typer.Option(help="A file of the folder word_embeddings beside each model.")
    ] = "all-minilm-l6-v2.safetensors",
) -> None:
    """Let models take their word embeddings from one file, so that these lie on disk once.

    For models trained with --freeze-word-embeddings; `probe models export` writes a whole one.
    """
    for model in models:
        folder = Path(find(model))
        if not folder.is_dir():
            raise ModelError(f"there is no model or folder called {model!r}")
        saved = share_weights(folder, embeddings)
        typer.echo(f"{folder.name} shares {embeddings}: {saved / 1e6:.1f} MB less on disk")
