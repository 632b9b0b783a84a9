"""`python -m finetune transfer`: one training for each kind of broken text, into a folder."""

from pathlib import Path
from typing import Annotated

import torch
import typer

from finetune.cli.options import (
    Batch,
    Epochs,
    InsteadOfBundled,
    ModeName,
    Original,
    Rate,
    SampleSeed,
    Seeds,
    Share,
    Tests,
)
from finetune.cli.trial_options import (
    SIZE,
    GalleryFolder,
    compute_repair,
    epoch_text,
    fitting,
    keep,
    local_files,
    named,
    read_clean,
    told,
    training_of,
)
from finetune.trials.base import Epoch
from finetune.trials.challenges import UserFiles
from finetune.trials.inoculation_plan import numbers
from finetune.trials.transfer import KIND, REPAIR, Plan, check, point_from, row_of
from finetune.trials.transfer_time import estimate_seconds
from finetune.trials.word_salad import salad_names
from probe.cli.file_options import takes_file
from probe.cli.options import (
    InProcess,
    KeptModelName,
    LabelOrder,
    PrecisionName,
    TaskName,
    Threads,
    loaded,
)
from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.runs.experiment import Progress, Result
from probe.runs.run import Json
from probe.text.duration import duration_words


@takes_file(texts=False)
def transfer_command(
    model: KeptModelName,
    out: Annotated[Path, typer.Option(help="Folder for points, summary and matrix.")],
    task: TaskName = "",
    labels: LabelOrder = "",
    transforms: Annotated[
        str, typer.Option(help="Rows and columns; all of the task's, if none.")
    ] = "",
    sizes: Annotated[str, typer.Option(help="How many clean examples each training has.")] = SIZE,
    seeds: Seeds = "0,1",
    tests: Tests = 200,
    share: Share = 0.5,
    salad_only: Annotated[bool, typer.Option(help="Train on shuffled texts only, too.")] = True,
    mode: ModeName = "fast",
    lr: Rate = None,
    epochs: Epochs = 3,
    batch: Batch = None,
    original: Original = None,
    original_dev: InsteadOfBundled = None,
    original_test: InsteadOfBundled = None,
    pool: Annotated[Path | None, typer.Option(help="Examples to train on.")] = None,
    sample_seed: SampleSeed = 0,
    gallery: GalleryFolder = None,
    in_process: InProcess = False,
    threads: Threads = 1,
    precision: PrecisionName = "auto",
    reading: FileOptions = AS_THE_FILE_TELLS,
) -> None:
    """Teach one kind of broken text, test on all (Gupta et al. 2021, tables 11 and 18).

    Fast mode trains the upper layers alone, which is ours; the paper trains all weights, on whole
    training sets. Cells of earlier runs are not computed again.

    A file may be a data set of the hub, hub:OWNER/NAME:SPLIT.
    """
    torch.set_num_threads(threads)
    classifier = loaded(model, labels, task)
    given = local_files(
        UserFiles(
            original, original_dev, original_test, pool, seed=sample_seed, asked=told(reading)
        )
    )
    source = read_clean(given, classifier.task)
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
    run = compute_repair(REPAIR, plan, source, given, row_text, in_process or threads > 1, out)
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
