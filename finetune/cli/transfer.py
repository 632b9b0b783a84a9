"""`python -m finetune transfer`: one training for each kind of broken text, into a folder."""

from functools import partial
from pathlib import Path
from typing import Annotated

import torch
import typer

from finetune.cli.clean_examples import SIZE, Instead, Original, Pool, fitting, named, read_clean
from finetune.cli.example_files import at_commits, local_files
from finetune.cli.gallery_option import GalleryFolder, keep
from finetune.cli.repair_runs import compute_repair, epoch_text, training_of
from finetune.experiments.further_training import Epoch
from finetune.experiments.inoculation.plan import numbers
from finetune.experiments.inoculation.user_data import UserFiles, sources_of
from finetune.experiments.transfer.experiment import KIND, known_results, run_request
from finetune.experiments.transfer.outcomes import row_of
from finetune.experiments.transfer.plan import Plan, check
from finetune.experiments.transfer.point import point_from
from finetune.experiments.transfer.time_estimate import estimate_seconds
from finetune.experiments.word_salad import salad_names
from probe.cli.open_models import loaded
from probe.cli.options import LabelOrder, TaskName
from probe.cli.output import make_folder
from probe.reports.duration import duration_words
from probe.runs.environment import environment
from probe.runs.experiment import Progress, Result
from probe.runs.models import named_model_hash
from probe.runs.run import Json


def transfer_command(
    model: Annotated[str, typer.Option(help="Bundled or inoculated name, folder, or hub id.")],
    out: Annotated[Path, typer.Option(help="Folder for points, summary and matrix.")],
    task: TaskName = "",
    labels: LabelOrder = "",
    transforms: Annotated[
        str, typer.Option(help="Rows and columns; all of the task's, if none.")
    ] = "",
    sizes: Annotated[str, typer.Option(help="How many clean examples each training has.")] = SIZE,
    seeds: Annotated[str, typer.Option(help="Each draws its own examples and dropout.")] = "0,1",
    tests: Annotated[int, typer.Option(help="How many test examples are destroyed.")] = 200,
    share: Annotated[float, typer.Option(help="Of the examples, those destroyed too.")] = 0.5,
    salad_only: Annotated[bool, typer.Option(help="Train on shuffled texts only, too.")] = True,
    mode: Annotated[str, typer.Option(help="fast: the upper weights; full: all.")] = "fast",
    lr: Annotated[float | None, typer.Option(help="The usual one of its kind, if none.")] = None,
    epochs: Annotated[int, typer.Option(help="Of each training.")] = 3,
    batch: Annotated[int | None, typer.Option(help="As the model was trained, if none.")] = None,
    original: Annotated[Path | None, Original] = None,
    original_dev: Annotated[Path | None, Instead] = None,
    original_test: Annotated[Path | None, Instead] = None,
    pool: Annotated[Path | None, Pool] = None,
    sample_seed: Annotated[int, typer.Option(help="Splits --original.")] = 0,
    gallery: GalleryFolder = None,
    in_process: Annotated[bool, typer.Option(help="Compute without worker processes.")] = False,
    threads: Annotated[int, typer.Option(help="Torch threads; several imply --in-process.")] = 1,
    precision: Annotated[str, typer.Option(help="auto, fp32 or bf16.")] = "auto",
) -> None:
    """Teach one kind of broken text, test on all (Gupta et al. 2021, tables 11 and 18).

    Fast mode trains the upper layers alone, which is ours; the paper trains all weights, on whole
    training sets. Cells of earlier runs are not computed again.

    A file may be a data set of the hub, hub:OWNER/NAME:SPLIT.
    """
    torch.set_num_threads(threads)
    classifier = loaded(model, labels, task)
    given = UserFiles(original, original_dev, original_test, pool, seed=sample_seed)
    source = read_clean(local_files(given), classifier.task)
    known_names = salad_names(classifier.task)
    plan = Plan(
        model,
        training_of(model, mode, lr, epochs, batch, precision),
        named(transforms) or known_names,
        fitting(numbers("--sizes", sizes, int), len(source.pool), source.task.unit, sizes != SIZE),
        numbers("--seeds", seeds, int),
        tests,
        share,
        salad_only,
        classifier.task.name,
        classifier.order if task or labels else (),
    )
    check(plan, source, known_names)
    typer.echo(f"{duration_words(estimate_seconds(plan, source, classifier))} on one core")
    make_folder(out)
    artefacts = {"model": named_model_hash(model), "sources": sources_of(at_commits(given))}
    request = run_request(plan, source, environment(), artefacts)
    known = partial(known_results, plan=plan, artefacts=request.artefacts)
    run = compute_repair(request, known, row_text, in_process or threads > 1, out)
    keep(gallery, model, KIND, run)


def row_text(key: Json, row: Progress | Result) -> str:
    """Return what was trained on, size and seed, and how far the cell is or what it came to."""
    cell = f"size {key['size']:<4} seed {key['seed']}"
    if isinstance(row, Progress):
        return f"{key['transform'] or 'clean':10} {cell}  {epoch_text(Epoch(**row.values))}"
    point = point_from(key, row.values)
    found = "  ".join(f"{name} {each.share:.3f}" for name, each in point.found.items())
    return (
        f"{row_of(point.cell):10} {cell}  clean {point.clean.share:.4f}  {found}  "
        f"{point.seconds:.1f} s"
    )
