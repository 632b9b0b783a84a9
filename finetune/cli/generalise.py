"""`python -m finetune generalise`: train on one condition, test on all, all into a folder."""

from functools import partial
from pathlib import Path
from typing import Annotated

import torch
import typer

from finetune.cli.options import Batch, InsteadOfBundled, ModeName, SampleSeed
from finetune.cli.trial_options import GalleryFolder, keep, local_files, told
from finetune.report.generalisation import (
    row_text,
    write_points,
    write_summary,
)
from finetune.training.recipes import default_rate
from finetune.trials.base import refuse
from finetune.trials.challenges import UserFiles, sources_of
from finetune.trials.generalisation_data import read_data, same_phenomenon
from finetune.trials.generalisation_plan import (
    FILE,
    THRESHOLDS,
    Plan,
    SourceData,
    Thresholds,
    check,
    epoch_from,
    generalisation_run,
    known_results,
    point_from,
    run_request,
    usual_rates,
    with_conditions,
)
from finetune.trials.generalisation_time import estimate_seconds
from finetune.trials.inoculation_plan import KIND as INOCULATION_KIND
from finetune.trials.inoculation_plan import numbers
from probe.cli.compute import compute_run
from probe.cli.file_options import local_file, takes_file
from probe.cli.options import (
    InProcess,
    KeptModelName,
    LabelOrder,
    PrecisionName,
    TaskName,
    Threads,
    loaded,
)
from probe.cli.output import make_folder
from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.hub_dataset import source_name
from probe.models.classifier import Classifier
from probe.runs.experiment import Progress, Result
from probe.runs.gallery import gallery_runs
from probe.runs.models import named_model_hash
from probe.runs.run import Json, StoredRun, environment
from probe.runs.store import Store
from probe.text.duration import duration_words

CONDITION = "condition"
"""The column of conditions, where no other is named."""


@takes_file(texts=False)
def generalise_command(
    model: KeptModelName,
    out: Annotated[Path, typer.Option(help="Folder for points, summary and figure.")],
    phenomenon: Annotated[
        str, typer.Option(help="dative or numerical; with your own file a name for it.")
    ] = "",
    vary: Annotated[
        str, typer.Option(help="complexity, lexical, or (numerical) range.")
    ] = "complexity",
    task: TaskName = "",
    labels: LabelOrder = "",
    sizes: Annotated[
        str, typer.Option(help="Training examples; published: 50,200,1000,4000 and more.")
    ] = "50,200,1000",
    lrs: Annotated[
        str, typer.Option(help="Rates to choose among; else the usual one and a lower.")
    ] = "",
    seeds: Annotated[
        str, typer.Option(help="Each splits and draws anew; published: 0,1,2,3,4.")
    ] = "0,1",
    mode: ModeName = "fast",
    tests: Annotated[int, typer.Option(help="Test examples of each condition and seed.")] = 400,
    original: Annotated[Path | None, typer.Option(help="The original set, whole.")] = None,
    original_dev: InsteadOfBundled = None,
    original_test: InsteadOfBundled = None,
    sample_seed: SampleSeed = 0,
    challenge_file: Annotated[
        Path | None, typer.Option(help="Your own rows instead of templates.")
    ] = None,
    condition: Annotated[
        str, typer.Option(help="The file's column that names each row's condition.")
    ] = CONDITION,
    batch: Batch = None,
    max_epochs: Annotated[int, typer.Option(help="At most; held-out rows stop it earlier.")] = 10,
    patience: Annotated[int, typer.Option(help="Epochs to wait for a better accuracy.")] = 3,
    max_loss: Annotated[
        float, typer.Option(help="A loss from here on means the data set was learnt.")
    ] = THRESHOLDS.loss,
    gallery: GalleryFolder = None,
    in_process: InProcess = False,
    threads: Threads = 1,
    precision: PrecisionName = "auto",
    reading: FileOptions = AS_THE_FILE_TELLS,
) -> None:
    """Train on one kind of example and test on each: phenomenon or data set (Rozen et al. 2019)?

    Epoch and rate are chosen on held-out rows of what is trained on. Cells of earlier runs are not
    computed again.

    A file may be a data set of the hub, hub:OWNER/NAME:SPLIT.
    """
    refuse(
        {
            "--condition names a column of --challenge-file; give that file too": (
                condition != CONDITION and challenge_file is None
            )
        }
    )
    torch.set_num_threads(threads)
    classifier = loaded(model, labels, task)
    answered = classifier.task
    given = local_files(
        UserFiles(original, original_dev, original_test, seed=sample_seed, asked=told(reading))
    )
    rows = local_file(challenge_file) if challenge_file else None
    data = read_data(given, rows, condition, answered)
    plan = Plan(
        model,
        phenomenon or (rows.stem if rows else "numerical"),
        FILE if challenge_file else vary,
        (),
        (),
        sizes=numbers("--sizes", sizes, int),
        lrs=numbers("--lrs", lrs, float) if lrs.strip() else usual_rates(default_rate(model, mode)),
        seeds=numbers("--seeds", seeds, int),
        mode=mode,
        tests=tests,
        batch=batch,
        max_epochs=max_epochs,
        patience=patience,
        precision=precision,
        thresholds=Thresholds(max_loss),
        task=answered.name,
        labels=classifier.order if task or labels else (),
    )
    whole = with_conditions(plan, data)
    own = {"challenge-file": source_name(rows), "condition": condition} if rows else {}
    artefacts = {"model": named_model_hash(model), "sources": {**sources_of(given), **own}}
    run = _generalise(whole, data, classifier, artefacts, in_process or threads > 1, out)
    keep(gallery, model, f"{whole.phenomenon}-{whole.vary}", run)


def _generalise(
    plan: Plan,
    data: SourceData,
    classifier: Classifier,
    artefacts: Json,
    in_process: bool,
    out: Path,
) -> StoredRun:
    check(plan)
    typer.echo(f"{duration_words(estimate_seconds(plan, data, classifier))} on one core")
    make_folder(out)
    request = run_request(plan, data, environment(), artefacts)
    known = partial(known_results, plan=plan, artefacts=request.artefacts)

    def write(run: StoredRun) -> None:
        write_points(generalisation_run(run), out)

    run = compute_run(request, known, _row_text, in_process, write)
    write(run)
    beside = same_phenomenon(plan, (*gallery_runs(), *Store().runs(kind=INOCULATION_KIND)))
    verdict = write_summary(generalisation_run(run), out, beside)["verdict"]
    typer.echo(f"{verdict['name']}. {verdict['explanation']}")
    for warning in verdict["warnings"]:
        typer.echo(f"note: {warning}")
    if beside:
        typer.echo(f"inoculation on {beside.plan.challenge}: {beside.verdict['headline']}")
    return run


def _row_text(key: Json, row: Progress | Result) -> str:
    read = point_from if isinstance(row, Result) else epoch_from
    return row_text(read(key, row.values))
