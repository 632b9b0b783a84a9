"""`python -m finetune`: training and inoculation on the command line."""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch: probing beside a fine-tune

import json
import time
from pathlib import Path
from typing import Annotated

import torch
import typer

from finetune.data import read_jsonl
from finetune.folder import add, key_of, known, write_points, write_summary
from finetune.gallery_command import gallery_command
from finetune.inoculate import Epoch, Point, fresh, run_cell
from finetune.plan import Cell, Plan, cells, check, numbers
from finetune.runs import Store, run_json
from finetune.sets import InoculationError, Sets, challenged, read_pairs
from finetune.train import Recipe, train
from finetune.vectors import vectors_command
from finetune.words import words_command
from probe.ending import stop
from probe.files import FileError
from probe.labels import LabelError
from probe.models.catalogue import ModelError, find, load_three_way, start_from_encoder
from probe.models.classifier import Classifier, Precision, resolve
from probe.pairs import bundled_pairs

app = typer.Typer(add_completion=False, no_args_is_help=True)
PROBLEMS = (InoculationError, ModelError, FileError, LabelError, OSError)
"""What a person can put right; anything else is our error and shows its trace."""


app.command("words")(words_command)
app.command("vectors")(vectors_command)
app.command("gallery")(gallery_command)


@app.callback()
def main() -> None:
    """Change models: train them, inoculate them."""


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


@app.command("inoculate")
def inoculate_command(
    model: Annotated[str, typer.Option(help="Bundled or inoculated name, folder, or hub id.")],
    challenge: Annotated[str, typer.Option(help="A challenge, or a name for your own sets.")],
    out: Annotated[Path, typer.Option(help="Folder for points, summary and curve.")],
    sizes: Annotated[str, typer.Option(help="How many challenge examples.")] = "10,50,100,400",
    lrs: Annotated[str, typer.Option(help="Learning rates.")] = "2e-5",
    seeds: Annotated[str, typer.Option(help="Each draws its own examples and dropout.")] = "0",
    original_dev: Annotated[Path | None, typer.Option(help="Instead of bundled pairs.")] = None,
    original_test: Annotated[Path | None, typer.Option(help="Instead of bundled pairs.")] = None,
    challenge_train: Annotated[Path | None, typer.Option(help="With --challenge-test.")] = None,
    challenge_test: Annotated[Path | None, typer.Option(help="With --challenge-train.")] = None,
    batch: int = 32,
    max_epochs: Annotated[int, typer.Option(help="At most; dev stops it earlier.")] = 10,
    patience: Annotated[int, typer.Option(help="Epochs to wait for a better dev accuracy.")] = 5,
    include_epoch0: Annotated[bool, typer.Option(help="May keep the model as it was.")] = False,
    threads: Annotated[int, typer.Option(help="Torch threads.")] = 1,
    precision: Annotated[str, typer.Option(help="auto, fp32 or bf16.")] = "auto",
) -> None:
    """Fine-tune on a little of a challenge and test on both sets (Liu et al. 2019).

    Cells that are in the folder already are not computed again.
    """
    torch.set_num_threads(threads)
    try:
        plan = Plan(
            model,
            challenge,
            sizes=numbers("--sizes", sizes, int),
            lrs=numbers("--lrs", lrs, float),
            seeds=numbers("--seeds", seeds, int),
            batch=batch,
            max_epochs=max_epochs,
            patience=patience,
            precision=precision,  # type: ignore[arg-type]  # typer has no Literal; check() looks
            include_epoch0=include_epoch0,
        )
        sets = _sets(challenge, original_dev, original_test, challenge_train, challenge_test)
        check(plan, sets)
        _inoculate(plan, sets, out)
    except PROBLEMS as problem:
        stop(problem)


def _sets(
    challenge: str, dev: Path | None, test: Path | None, train_set: Path | None, hard: Path | None
) -> Sets:
    """Return the sets from the files given; what is missing comes from the bundled pairs."""
    if (train_set is None) != (hard is None):
        raise InoculationError("give both --challenge-train and --challenge-test, or neither")
    original_dev = read_pairs(dev) if dev else bundled_pairs("dev")
    original_test = read_pairs(test) if test else bundled_pairs("test")
    if train_set and hard:
        return Sets(original_dev, original_test, read_pairs(train_set), read_pairs(hard))
    learnt = challenged(challenge, bundled_pairs("pool"))
    return Sets(original_dev, original_test, learnt, challenged(challenge, original_test))


def _inoculate(plan: Plan, sets: Sets, out: Path) -> None:
    classifier = load_three_way(plan.model)
    out.mkdir(parents=True, exist_ok=True)
    key = key_of(plan, sets)
    there, points = known(out, key), []
    for cell in cells(plan):
        if cell in there:
            points.append(there[cell])
            typer.echo(f"{_words(there[cell])}  (from an earlier call)")
        else:
            points.append(_run(plan, sets, cell, classifier))
            add(out, key, points[-1])
        write_points(out, points)
    summary = write_summary(out, plan, sets, points)
    typer.echo(f"{summary['name']}. {summary['explanation']}")
    for warning in summary["warnings"]:
        typer.echo(f"note: {warning}")


def _run(plan: Plan, sets: Sets, cell: Cell, classifier: Classifier) -> Point:
    rows = run_cell(plan, sets, cell, fresh(classifier))
    for row in rows:
        typer.echo(_words(row))
        if isinstance(row, Point):
            return row
    raise RuntimeError(f"{cell} ended without a point")


def _words(row: Epoch | Point) -> str:
    cell = f"size {row.cell.size:<4} lr {row.cell.lr:g}  seed {row.cell.seed}"
    if isinstance(row, Epoch):
        return (
            f"{cell}  epoch {row.epoch}  loss {row.loss:.4f}  dev {row.dev:.4f}  "
            f"{row.examples_per_second:.1f} examples/s"
        )
    return (
        f"{cell}  original {row.original:.4f}  challenge {row.challenge:.4f}  "
        f"best epoch {row.best_epoch} of {row.epochs}  {row.seconds:.1f} s"
    )


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
        ready = sum(state.point is not None for state in run.cells)
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.created))
        typer.echo(
            f"{run.id}  {when}  {run.state:9}  {ready}/{len(run.cells)} cells  "
            f"{run.plan.model}  {run.plan.challenge}  {run.verdict.get('name', run.error)}"
        )


if __name__ == "__main__":
    app()
