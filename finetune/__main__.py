"""`python -m finetune`: training and inoculation on the command line."""

import os

from probe.errors import ExperimentError, UserError

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch: probing beside a fine-tune

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, get_args

import torch
import typer

from finetune.cli.gallery import gallery_command
from finetune.cli.inoculate import inoculate_command
from finetune.experiments.inoculation.challenges import KINDS, catalogue
from finetune.experiments.inoculation.run import inoculation_run
from finetune.experiments.inoculation.selection import Selection
from finetune.experiments.registry import register_experiments
from finetune.report.export import export
from finetune.training.data import read_jsonl
from finetune.training.loop import Recipe, train
from finetune.training.word_models import words_command
from finetune.training.word_vectors import vectors_command
from probe.cli.exit import one_of, stop
from probe.models.classifier import Precision, resolve
from probe.models.library import find, start_from_encoder
from probe.runs.experiment import run_json, run_title
from probe.runs.gallery import gallery_runs
from probe.runs.run import StoredRun
from probe.runs.store import Store

app = typer.Typer(add_completion=False, no_args_is_help=True)
app.command("words")(words_command)
app.command("vectors")(vectors_command)
app.command("inoculate")(inoculate_command)
app.command("gallery")(gallery_command)


@app.callback()
def main() -> None:
    """Change models: train them, inoculate them."""
    register_experiments()


@app.command("train")
def train_command(
    model: Annotated[str, typer.Option(help="Encoder or model: folder, bundled name or hub id.")],
    train_file: Annotated[list[Path], typer.Option("--train", help="JSON lines, maybe gzipped.")],
    out: Annotated[Path, typer.Option(help="Folder for checkpoints and the finished model.")],
    dev: Annotated[list[Path], typer.Option(help="Sets to measure on.")] = [],  # noqa: B006
    dev_size: Annotated[int, typer.Option(help="Pairs of each dev set, from its start.")] = 2000,
    epochs: int = 1,
    lr: float = 1.5e-4,
    batch: int = 32,
    max_tokens: int = 96,
    seed: int = 0,
    threads: Annotated[int, typer.Option(help="Torch threads.")] = 1,
    precision: Annotated[str, typer.Option(help="auto, fp32 or bf16.")] = "auto",
) -> None:
    """Fine-tune an encoder into a three-way NLI model; run again to resume."""
    torch.set_num_threads(threads)
    chosen: Precision = resolve(precision)  # type: ignore[arg-type]  # typer has no Literal
    recipe = Recipe(
        lr=lr, epochs=epochs, batch=batch, max_tokens=max_tokens, seed=seed, precision=chosen
    )
    pairs = [pair for file in train_file for pair in read_jsonl(file)]
    sets = {file.name.split(".")[0]: list(read_jsonl(file))[:dev_size] for file in dev}
    typer.echo(f"{len(pairs)} pairs, {recipe}")
    for row in train(start_from_encoder(find(model)), pairs, recipe, out, sets):
        scores = "  ".join(f"{name} {value:.4f}" for name, value in row.accuracy.items())
        typer.echo(
            f"step {row.step}/{row.steps}  loss {row.loss:.4f}  "
            f"{row.pairs_per_second:.1f} pairs/s  {scores}"
        )


@app.command("challenges")
def challenges_command(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List what a model can be inoculated against."""
    found = catalogue()
    if as_json:
        typer.echo(json.dumps([asdict(challenge) for challenge in found], indent=1))
        return
    for kind, words in KINDS.items():
        of_kind = [challenge for challenge in found if challenge.kind == kind]
        typer.echo(f"{words}:" if of_kind else f"{words}: --challenge-file FILE")
        for one in of_kind:
            typer.echo(f"  {one.name:20} {one.words} ({one.labels})")


@app.command("runs")
def runs_command(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the runs of the app, newest first."""
    runs = Store().runs()
    if as_json:
        typer.echo(json.dumps([run_json(run) for run in runs], indent=1))
        return
    for run in runs:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.created))
        typer.echo(
            f"{run.id}  {when}  {run.state:9}  {len(run.results)}/{len(run.cells)} cells  "
            f"{run_title(run)}  {run.verdict.get('name', run.error)}"
        )


@app.command("run")
def run_command(
    run_id: Annotated[str, typer.Argument(metavar="ID", help="Of the app's or of the gallery's.")],
) -> None:
    """Print a run as JSON: its plan, cells, environment, hashes and verdict."""
    try:
        typer.echo(json.dumps(run_json(_run(run_id)), indent=1))
    except UserError as problem:
        stop(problem)


@app.command("report")
def report_command(
    run_ids: Annotated[list[str], typer.Argument(metavar="ID...", help="As for `run`.")],
    out: Annotated[Path, typer.Option(help="Folder for points, figure and report.")],
    selection: Annotated[str, typer.Option(help="oracle_lr (as published) or dev_lr.")] = (
        "oracle_lr"
    ),
) -> None:
    """Write points.csv, figure.svg, figure.png and a report in one HTML file."""
    rate: Selection = one_of("selection", selection, get_args(Selection))
    try:
        runs = [inoculation_run(_run(run_id)) for run_id in run_ids]
        if not any(run.results for run in runs):
            raise ExperimentError("no cell of these runs is finished yet")
        out.mkdir(parents=True, exist_ok=True)
        for path in export(runs, rate, out):
            typer.echo(path)
    except UserError as problem:
        stop(problem)


def _run(run_id: str) -> StoredRun:
    """Return a run of the gallery or of the app. Raises ExperimentError where there is none."""
    shipped = [run for run in gallery_runs() if run.id == run_id]
    return shipped[0] if shipped else Store().get(run_id)


if __name__ == "__main__":
    app()
