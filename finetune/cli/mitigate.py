"""`python -m finetune mitigate`: one model, several ways to find invalid inputs, into a folder."""

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
from finetune.trials.mitigation import (
    KIND,
    REPAIR,
    REPAIRS,
    SHARE,
    TOLERANCE,
    Plan,
    check,
    point_from,
    quick_cost,
)
from finetune.trials.mitigation_time import estimate_seconds
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
def mitigate_command(
    model: KeptModelName,
    out: Annotated[Path, typer.Option(help="Folder for points, summary and heat map.")],
    task: TaskName = "",
    labels: LabelOrder = "",
    methods: Annotated[
        str, typer.Option(help="The model of the first is kept: invalid, entropic, threshold.")
    ] = ",".join(REPAIRS),
    transforms: Annotated[
        str, typer.Option(help="What breaks texts; all of the task's, if none.")
    ] = "",
    sizes: Annotated[str, typer.Option(help="How many clean examples each training has.")] = SIZE,
    seeds: Seeds = "0,1",
    tests: Annotated[int, typer.Option(help="How many dev and test examples are destroyed.")] = 200,
    share: Share = SHARE,
    gradient_share: Annotated[
        float, typer.Option(help="The same for transforms that ask the model; less if it collapses")
    ] = SHARE,
    balance: Annotated[
        bool, typer.Option(help="Clean and broken texts weigh alike; the paper counts each text.")
    ] = True,
    weight: Annotated[float, typer.Option(help="Of the entropic term.")] = 0.1,
    tolerance: Annotated[
        float, typer.Option(help="Clean accuracy that a threshold may cost.")
    ] = TOLERANCE,
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
    """Teach a model to say when a text is no example of its task (Gupta et al. 2021, section 5).

    Fast mode trains the upper layers alone, which is ours and costs much accuracy on whole texts;
    the paper trains all weights, on whole training sets. The repaired model is kept and can be
    chosen by its name.

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
    plan = Plan(
        model,
        training_of(model, mode, lr, epochs, batch, precision),
        named(methods),  # type: ignore[arg-type]  # typer has no Literal; check() looks
        fitting(numbers("--sizes", sizes, int), len(source.pool), source.task.unit, sizes != SIZE),
        numbers("--seeds", seeds, int),
        tests,
        share,
        gradient_share,
        balance,
        weight,
        tolerance,
        classifier.task.name,
        classifier.order if task or labels else (),
        named(transforms),
    )
    check(plan, source)
    typer.echo(f"{duration_words(estimate_seconds(plan, source, classifier))} on one core")
    if cost := quick_cost(plan):
        typer.echo(f"note: {cost} --mode full is slower.")
    run = compute_repair(REPAIR, plan, source, given, row_text, in_process or threads > 1, out)
    for warning in run.verdict["warnings"]:
        typer.echo(f"note: {warning}")
    typer.echo(f"the repaired model is kept as {run.kept}")
    keep(gallery, model, KIND, run)


def row_text(key: Json, row: Progress | Result) -> str:
    """Return method, size and seed, and how far the cell is or what it came to."""
    cell = f"{key['method']:9} size {key['size']:<4} seed {key['seed']}"
    if isinstance(row, Progress):
        return f"{cell}  {epoch_text(Epoch(**row.values))}"
    point = point_from(key, row.values)
    return (
        f"{cell}  clean {point.clean.share:.4f}  rejected {point.rejected.share:.4f}  "
        f"found {point.invalid_found:.4f}  threshold {point.threshold:.3f}  {point.seconds:.1f} s"
    )
