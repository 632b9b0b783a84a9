"""`python -m probe baselines`: measure the baselines, and train the one that is trained."""

from pathlib import Path
from typing import Annotated

import typer

from probe.baselines import baselines_for
from probe.baselines.training import Evaluation, evaluate_baseline, evaluation_json
from probe.cli.file_options import OR_HUB, labelled_and_told, local_file, takes_file
from probe.cli.group import group
from probe.cli.options import AsJson
from probe.cli.output import print_json
from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.errors import BaselineError
from probe.statistics import percent
from probe.tasks.nli import NLI, NON_ENTAILMENT
from probe.tasks.task import task_named

app = group()


@app.callback()
def main() -> None:
    """Baselines that understand nothing: what rules get right on a set."""


@app.command("judge")
@takes_file(texts=False)
def judge_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A rule's name, or all.")],
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help=f"CSV, TSV, JSONL or Parquet, {OR_HUB}.")
    ],
    task: Annotated[str, typer.Option(help="The task of the file.")] = NLI.name,
    as_json: AsJson = False,
    reading: FileOptions = AS_THE_FILE_TELLS,
) -> None:
    """Measure a baseline on a file: one JSON object, or a list of them for all."""
    asked = task_named(task)
    known = baselines_for(asked)
    if not known:
        raise BaselineError(f"no rule speaks of the task {asked.name} ({asked.title})")
    read = labelled_and_told(local_file(file), asked, reading)
    evaluations = [
        evaluate_baseline(baseline, read.examples)
        for baseline in (known if name == "all" else [name])
    ]
    if as_json:
        shapes = [evaluation_json(evaluation) for evaluation in evaluations]
        print_json(shapes if name == "all" else shapes[0])
        return
    for evaluation in evaluations:
        typer.echo(_line(evaluation))


@app.command("train")
@takes_file(texts=False)
def train_command(
    file: Annotated[Path, typer.Argument(metavar="TRAIN", help="Labelled pairs.")],
    out: Annotated[Path, typer.Option(help="Folder for the weights.")],
    least: Annotated[int, typer.Option(min=1, help="Hypotheses a word must be in.")] = 20,
    reading: FileOptions = AS_THE_FILE_TELLS,
) -> None:
    """Train hypothesis_only and write its weights."""
    from probe.baselines.training import train, write  # scikit-learn takes a second to import

    weights = train(labelled_and_told(file, NLI, reading).examples, least)
    path = write(weights, out)
    typer.echo(f"{len(weights.rows):,} words, {path.stat().st_size:,} bytes, written to {path}")


def _line(evaluation: Evaluation) -> str:
    classes = "two classes" if NON_ENTAILMENT in evaluation.counts else "three classes"
    return (
        f"{evaluation.name:16} {evaluation.correct:,} of {evaluation.n:,} right: "
        f"{percent(evaluation.estimate)}, {classes}"
    )
