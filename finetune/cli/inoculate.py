"""`python -m finetune inoculate`: one model, one challenge, all into a folder."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import torch
import typer

from finetune.cli.options import Batch, InsteadOfBundled, ModeName, Original, Seeds
from finetune.cli.trial_options import local_files, told
from finetune.report.inoculation import (
    meaning,
    missing_texts,
    plan_that_tells,
    row_text,
    telling_command,
)
from finetune.report.inoculation_files import (
    write_points,
    write_summary,
)
from finetune.training.recipes import default_rate
from finetune.trials.challenges import MAX_PAIRS, UserFiles, challenge_name, read_sets, sources_of
from finetune.trials.datasets import Sets
from finetune.trials.inoculation import fast_notes
from finetune.trials.inoculation_plan import (
    THRESHOLDS,
    InoculationRun,
    Plan,
    Thresholds,
    check,
    epoch_from,
    inoculation_run,
    known_results,
    numbers,
    point_from,
    read_sizes,
    resolved,
    run_request,
)
from finetune.trials.inoculation_time import estimate_seconds, overflow_note
from probe.cli.compute import compute_run
from probe.cli.file_options import takes_file
from probe.cli.options import (
    InProcess,
    KeptModelName,
    LabelOrder,
    PrecisionName,
    TaskName,
    Threads,
    loaded_any,
)
from probe.cli.output import make_folder
from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions, Said
from probe.models.library import AnyModel
from probe.runs.experiment import Progress, Result
from probe.runs.models import named_model_hash
from probe.runs.run import Json, StoredRun, environment
from probe.text.duration import duration_words


def compute_inoculation(
    plan: Plan,
    sets: Sets,
    sources: Json,
    in_process: bool,
    on_result: Callable[[InoculationRun], None] | None = None,
) -> InoculationRun:
    """Compute an inoculation as `compute_run` does. Raises ModelError besides."""
    request = run_request(plan, sets, environment(), {"model": named_model_hash(plan.model)})
    if sources:
        request.artefacts["sources"] = sources
    known = partial(known_results, plan=plan, artefacts=request.artefacts)

    def listen(run: StoredRun) -> None:
        if on_result is not None:
            on_result(inoculation_run(run))

    return inoculation_run(compute_run(request, known, _row_text, in_process, listen))


def _row_text(key: Json, row: Progress | Result) -> str:
    read = point_from if isinstance(row, Result) else epoch_from
    return row_text(read(key, row.values))


@takes_file(texts=False)
def inoculate_command(
    model: KeptModelName,
    challenge: Annotated[str, typer.Option(help="A challenge, or a name for your own sets.")],
    out: Annotated[Path, typer.Option(help="Folder for points, summary and curve.")],
    task: TaskName = "",
    labels: LabelOrder = "",
    sizes: Annotated[str, typer.Option(help="How many examples; all: all.")] = "10,50,100,400",
    lrs: Annotated[str, typer.Option(help="Rates; else the usual one of its kind.")] = "",
    seeds: Seeds = "0",
    mode: ModeName = "full",
    original: Original = None,
    original_dev: InsteadOfBundled = None,
    original_test: InsteadOfBundled = None,
    pool: Annotated[Path | None, typer.Option(help="Examples to make the training set of.")] = None,
    challenge_file: Annotated[Path | None, typer.Option(help="Has a `split`, or is drawn.")] = None,
    train: Annotated[int, typer.Option(help="How many drawn of --challenge-file.")] = MAX_PAIRS,
    challenge_train: Annotated[Path | None, typer.Option(help="With --challenge-test.")] = None,
    challenge_test: Annotated[Path | None, typer.Option(help="Of your own.")] = None,
    control: Annotated[
        Path | None, typer.Option(help="A test set that is never trained on.")
    ] = None,
    sample_seed: Annotated[int, typer.Option(help="Draws and changes the examples.")] = 0,
    batch: Batch = None,
    max_epochs: Annotated[int, typer.Option(help="At most; dev stops it earlier.")] = 10,
    patience: Annotated[int, typer.Option(help="Epochs to wait for a better dev score.")] = 5,
    include_epoch0: Annotated[bool, typer.Option(help="May keep the model as it was.")] = False,
    min_gap: Annotated[float, typer.Option(help="Outcome 0 below.")] = THRESHOLDS.gap,
    max_drop: Annotated[float, typer.Option(help="Outcome 3 from.")] = THRESHOLDS.drop,
    cured: Annotated[float, typer.Option(help="Outcome 1 from.")] = THRESHOLDS.cured,
    uncured: Annotated[float, typer.Option(help="Outcome 2 below.")] = THRESHOLDS.uncured,
    max_majority: Annotated[float, typer.Option(help="Warn from.")] = THRESHOLDS.majority,
    max_damage: Annotated[float, typer.Option(help="Warn from.")] = THRESHOLDS.damage,
    min_tests: Annotated[int, typer.Option(help="Warn below.")] = THRESHOLDS.tests,
    in_process: InProcess = False,
    threads: Threads = 1,
    precision: PrecisionName = "auto",
    reading: FileOptions = AS_THE_FILE_TELLS,
) -> None:
    """Fine-tune on a little of a challenge and test on both sets (Liu et al. 2019).

    Thresholds are shares from 0 to 1. Cells of earlier runs are not computed again.

    A file may be a data set of the hub, hub:OWNER/NAME:SPLIT.
    """
    torch.set_num_threads(threads)
    started = loaded_any(model, labels, task)
    answered = started.task
    limits = Thresholds(min_gap, max_drop, cured, uncured, max_majority, max_damage, min_tests)
    given = local_files(
        UserFiles(
            original, original_dev, original_test, pool, challenge_file, challenge_train,
            challenge_test, control, train, sample_seed, told(reading),
        )
    )  # fmt: skip
    named = bool(challenge_file or challenge_train)  # otherwise examples are made
    plan = Plan(
        model,
        challenge if named else challenge_name(challenge, answered),
        sizes=read_sizes("--sizes", sizes),
        lrs=numbers("--lrs", lrs, float) if lrs.strip() else (default_rate(model, mode),),
        seeds=numbers("--seeds", seeds, int),
        mode=mode,
        batch=batch,
        max_epochs=max_epochs,
        patience=patience,
        precision=precision,
        include_epoch0=include_epoch0,
        thresholds=limits,
        task=answered.name,
        labels=started.order if task or labels else (),
    )
    sets = read_sets(plan.challenge, given, answered)
    _inoculate(
        resolved(plan, sets),
        sets,
        started,
        sources_of(given),
        in_process or threads > 1,
        out,
    )


def _inoculate(
    plan: Plan,
    sets: Sets,
    model: AnyModel,
    sources: Said,
    in_process: bool,
    out: Path,
) -> None:
    check(plan, sets)
    typer.echo(f"{duration_words(estimate_seconds(plan, sets, model))} on one core")
    if crowded := overflow_note(plan, sets, model):
        typer.echo(f"note: {crowded}")
    for known in fast_notes([plan]):
        typer.echo(f"note: {known}")
    make_folder(out)

    def write(run: InoculationRun) -> None:
        write_points([run], out)

    run = compute_inoculation(plan, sets, sources, in_process, write)
    write(run)
    summary = write_summary(run, out)
    found = summary["oracle_lr"]
    typer.echo(f"{found['headline']}. {meaning(found)}")
    if more := missing_texts(found):
        typer.echo(more)
    if telling := plan_that_tells(run, "oracle_lr"):
        wait = duration_words(estimate_seconds(telling, sets, model))
        typer.echo(f"{telling_command(run, 'oracle_lr')} ({wait} on one core)")
    for warning in summary["warnings"]:
        typer.echo(f"note: {warning}")
