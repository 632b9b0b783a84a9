"""`python -m finetune gallery`: compute the runs that are shipped, Liu et al.'s Figure 3."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, get_args

import torch
import typer

from finetune.cli.trials import compute
from finetune.report.inoculation import CHALLENGES, MODELS, NUMERICAL, row_text
from finetune.training.data import numbered_pairs, read_pairs
from finetune.training.recipes import Mode, default_rate
from finetune.trials.base import numbers
from finetune.trials.challenges import UserFiles, sets_of
from finetune.trials.datasets import Sets, SourceData, split_by_premise, unseen
from finetune.trials.inoculation import KIND, Plan, check, read_sizes, resolved
from finetune.trials.planning import KINDS, Planned
from probe.cli.options import InProcess, Threads, choice, takes
from probe.cli.output import make_folder
from probe.data.source import read_table
from probe.errors import ExperimentError, FileError
from probe.models.library import task_of_model
from probe.runs.gallery import FOLDER, write
from probe.tasks.nli import NLI
from probe.tasks.task import Task

ModeName = Annotated[
    Mode, choice("mode", get_args(Mode), "full: all weights, as published; fast: the upper ones.")
]
POOL_FACTOR = 1.5  # pool pairs for each training pair: a challenge leaves some out


@dataclass(frozen=True)
class GalleryFiles:
    """The options that say what data there is and how much of it is used."""

    original: Annotated[Path, typer.Option(help="Labelled: original dev and test.")]
    pool: Annotated[Path, typer.Option(help="Labelled: challenges are made of it.")]
    numerical: Annotated[Path | None, typer.Option(help="The released numerical file.")] = None
    challenge_test: Annotated[Path | None, typer.Option(help="A released test set.")] = None
    pool_source: Annotated[str, typer.Option(help="Only pool rows with this `source`.")] = ""
    dev: Annotated[int, typer.Option(help="Original dev examples.")] = 500
    test: Annotated[int, typer.Option(help="Original test examples.")] = 1000
    train: Annotated[int, typer.Option(help="Challenge training examples.")] = 1000
    numerical_test: Annotated[int, typer.Option(help="0 tests on all the rest.")] = 0
    sample_seed: Annotated[int, typer.Option(help="Draws dev, test and training sets.")] = 0

    def sources(self, challenge: str) -> dict[str, str]:
        """Return the options that draw a challenge's sets, the files without their folders."""
        return {
            name.replace("_", "-"): value.name if isinstance(value, Path) else str(value)
            for name, value in vars(self).items()
            if value not in (None, "") and (challenge == NUMERICAL or "numerical" not in name)
        }


@takes("files", GalleryFiles)
def gallery_command(
    files: GalleryFiles,
    out: Annotated[Path, typer.Option(help="Folder for the finished runs.")] = FOLDER,
    model: Annotated[list[str], typer.Option(help="May be repeated.")] = MODELS,
    challenge: Annotated[list[str], typer.Option(help="May be repeated.")] = CHALLENGES,
    sizes: Annotated[str, typer.Option(help="all is the whole set.")] = "5,10,50,100,400,1000",
    lrs: Annotated[
        list[str], typer.Option(help="Rates, of all models or MODEL=RATES; may be repeated.")
    ] = [],  # noqa: B006
    seeds: str = "0",
    mode: ModeName = "full",
    max_epochs: int = 10,
    patience: int = 5,
    in_process: InProcess = False,
    threads: Threads = 1,
) -> None:
    """Run each model on each challenge; cells of earlier runs are not computed again.

    A file in `out` is written when all cells of its model and challenge are there.
    """
    torch.set_num_threads(threads)
    (task, *others) = dict.fromkeys(map(task_of_model, model))
    if others:
        raise ExperimentError(
            f"the models answer {task.name} and {others[0].name}; name one task's"
        )
    rates = read_rates(lrs)
    make_folder(out)
    sets = all_sets(files, challenge, task)
    for name in model:
        for each in challenge:
            plan = Plan(
                name,
                each,
                read_sizes("--sizes", sizes),
                rates.get(name) or rates.get("") or (default_rate(name, mode),),
                numbers("--seeds", seeds, int),
                mode=mode,
                max_epochs=max_epochs,
                patience=patience,
                task=task.name,
            )
            plan = resolved(plan, sets[each])
            check(plan, sets[each])
            typer.echo(f"{plan.model} on {plan.challenge}")
            alone = in_process or threads > 1
            asked = Planned(KINDS[KIND], plan, sets[each], files.sources(each))
            run = compute(asked, row_text, alone)
            path = write(out, f"{plan.model}-{plan.challenge}", run)
            typer.echo(f"written: {path.name}, {path.stat().st_size:,} bytes")


def read_rates(texts: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """Read rates by model from MODEL=RATES, under "" where no model is named.

    Raises ExperimentError.
    """
    parts = [text.rpartition("=") for text in texts]
    return {name.strip(): numbers("--lrs", rates, float) for name, _, rates in parts}


def all_sets(files: GalleryFiles, challenges: Sequence[str], task: Task = NLI) -> dict[str, Sets]:
    """Return the sets of each challenge, each training set of as many pairs as asked for.

    Raises ExperimentError, FileError or LabelError.
    """
    source_data, found = sample_source_data(files, task), dict[str, Sets]()
    seed, tests = files.sample_seed, files.numerical_test
    for name in challenges:
        if name == NUMERICAL:
            if files.numerical is None:
                raise ExperimentError("the numerical challenge needs --numerical FILE")
            own = UserFiles(challenge=files.numerical, train=files.train, seed=seed)
            sets = sets_of(name, source_data, own)
            if tests:
                tested, _ = split_by_premise(sets.challenge_test, tests, seed, task)
                sets = replace(sets, challenge_test=tested[:tests])
        else:
            own = UserFiles(challenge_test=files.challenge_test, seed=seed)
            sets = sets_of(name, source_data, own)
        found[name] = replace(sets, challenge_train=sets.challenge_train[: files.train])
    return found


def sample_source_data(files: GalleryFiles, task: Task = NLI) -> SourceData:
    """Draw dev, test and pool by premise; no premise is in two of them.

    Raises ExperimentError where there are too few, FileError or LabelError.
    """
    seed = files.sample_seed
    dev, rest = split_by_premise(read_pairs(files.original, task), files.dev, seed, task)
    test, _ = split_by_premise(rest, files.test, seed, task)
    rows, wanted = numbered_pairs(files.pool, task), round(POOL_FACTOR * files.train)
    if files.pool_source:
        frame = read_table(files.pool).frame
        if "source" not in frame.columns:
            raise FileError(f"no column 'source' in {files.pool.name}")
        said = list(frame["source"])
        rows = [(row, pair) for row, pair in rows if said[row] == files.pool_source]
    fresh = unseen(tuple(pair for _, pair in rows), dev, test, task=task)
    pool, _ = split_by_premise(fresh, wanted, seed, task)
    for name, drawn, n in (("dev", dev, files.dev), ("test", test, files.test)):
        if len(drawn) < n:
            raise ExperimentError(
                f"{files.original.name} has too few {task.unit}s for --{name} {n}"
            )
    return SourceData(dev[: files.dev], test[: files.test], pool[:wanted], task)
