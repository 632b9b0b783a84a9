"""`python -m finetune calibrate`: one model, several ways to calibrate it, all into a folder."""

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
from finetune.trials.calibration import KIND, REPAIR, REPAIRS, Plan, check, point_from
from finetune.trials.calibration_time import estimate_seconds
from finetune.trials.challenges import UserFiles
from finetune.trials.inoculation_plan import numbers
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
from probe.statistics import mean_error
from probe.text.duration import duration_words


@takes_file(texts=False)
def calibrate_command(
    model: KeptModelName,
    out: Annotated[Path, typer.Option(help="Folder for points, summary and diagrams.")],
    task: TaskName = "",
    labels: LabelOrder = "",
    methods: Annotated[
        str, typer.Option(help="The first is the summary's: temperature, smoothing, focal.")
    ] = ",".join(REPAIRS),
    sizes: Annotated[str, typer.Option(help="How many examples each training has.")] = SIZE,
    seeds: Seeds = "0,1",
    tests: Tests = 200,
    epsilon: Annotated[float, typer.Option(help="Of label smoothing.")] = 0.1,
    gamma: Annotated[float, typer.Option(help="Of focal loss.")] = 2.0,
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
    """Calibrate a model and see whether that cures word salad (Gupta et al. 2021, section 4).

    Fast mode trains the upper layers alone, which is ours; the paper trains all weights, on whole
    training sets. The model of the first method is kept and can be chosen by its name.

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
        epsilon,
        gamma,
        classifier.task.name,
        classifier.order if task or labels else (),
    )
    check(plan, source)
    typer.echo(f"{duration_words(estimate_seconds(plan, source, classifier))} on one core")
    run = compute_repair(REPAIR, plan, source, given, row_text, in_process or threads > 1, out)
    typer.echo(f"the calibrated model is kept as {run.kept}")
    keep(gallery, model, KIND, run)


def row_text(key: Json, row: Progress | Result) -> str:
    """Return method, size and seed, and how far the cell is or what it came to."""
    cell = f"{key['method']:11} size {key['size']:<4} seed {key['seed']}"
    if isinstance(row, Progress):
        return f"{cell}  {epoch_text(Epoch(**row.values))}"
    point = point_from(key, row.values)
    measured, error = point.calibration, mean_error([point.calibration])
    return (
        f"{cell}  ECE {measured.ece:.4f} ({error.beside} points)  "
        f"accuracy {measured.accuracy:.4f}  agreement {point.agreement:.4f}  "
        f"temperature {point.temperature:.3f}  {point.seconds:.1f} s"
    )
