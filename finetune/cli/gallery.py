"""`python -m finetune gallery`: compute the runs that are shipped, Liu et al.'s Figure 3."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, get_args

import torch
import typer

from finetune.cli.trials import compute
from finetune.report.inoculation import CHALLENGES, MODELS, NUMERICAL, READERS, row_text
from finetune.training.data import numbered_pairs, read_pairs
from finetune.training.recipes import Mode, default_rate
from finetune.trials.base import best_rates, numbers, refuse
from finetune.trials.challenges import UserFiles, sets_of
from finetune.trials.datasets import Sets, SourceData, split_by_premise, unseen
from finetune.trials.inoculation import (
    ALL,
    KIND,
    LIU_SIZES,
    TRIALS,
    Cell,
    Plan,
    Point,
    check,
    liu_rates,
    read_sizes,
    resolved,
)
from finetune.trials.planning import KINDS, Planned
from probe.cli.options import InProcess, Threads, choice, takes
from probe.cli.output import make_folder
from probe.data.source import read_table
from probe.errors import ExperimentError, FileError
from probe.models.library import task_of_model
from probe.runs.gallery import FOLDER, read, write
from probe.runs.models import named_model_hash
from probe.runs.run import StoredRun
from probe.runs.store import Store, is_current
from probe.settings import make_home
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
    left_over: Annotated[
        bool, typer.Option("--left-over", help="List what Liu et al.'s grid lacks, with its hours.")
    ] = False,
    next_piece: Annotated[
        bool, typer.Option("--next", help="Compute the first piece that --left-over lists.")
    ] = False,
    background: Annotated[
        bool, typer.Option("--background", help="Do it in a process of its own, with a log.")
    ] = False,
) -> None:
    """Run each model on each challenge; cells of earlier runs are not computed again.

    A file in `out` is written when all cells of its model and challenge are there. With --left-over
    or --next sizes, rates and seeds are those of the published grid, in the order of `ORDER`.
    """
    refuse({"--background is for a piece; add --next": background and not next_piece})
    if background:
        _detach()
        return
    torch.set_num_threads(threads)
    (task, *others) = dict.fromkeys(map(task_of_model, model))
    if others:
        raise ExperimentError(
            f"the models answer {task.name} and {others[0].name}; name one task's"
        )
    rates = read_rates(lrs)
    make_folder(out)
    sets = all_sets(files, challenge, task)
    how = partial(Plan, mode=mode, max_epochs=max_epochs, patience=patience, task=task.name)
    if left_over or next_piece:
        refuse({f"the grid is of {', '.join(ORDER)}": not set(model) <= set(ORDER)})
        begun = [
            (name, how(name, each, (), (), (0,)), sets[each])
            for name in ORDER
            if name in model
            for each in challenge
        ]
        left = _left_over(begun, files, out)
        if left_over:
            _list(left)
        elif piece := next(left, None):
            _compute(piece.asked, out if piece.last else None, in_process or threads > 1)
        else:
            typer.echo("nothing is left over")
        return
    for name in model:
        for each in challenge:
            plan = how(
                name,
                each,
                read_sizes("--sizes", sizes),
                rates.get(name) or rates.get("") or (default_rate(name, mode),),
                numbers("--seeds", seeds, int),
            )
            asked = _asked(plan, sets[each], files)
            _compute(asked, out, in_process or threads > 1)


def _asked(plan: Plan, sets: Sets, files: GalleryFiles) -> Planned:
    """Return a checked plan with what it works on. Raises ExperimentError."""
    plan = resolved(plan, sets)
    check(plan, sets)
    return Planned(KINDS[KIND], plan, sets, files.sources(plan.challenge))


def _compute(asked: Planned, out: Path | None, alone: bool) -> None:
    """Compute a plan, and write its run where it is one of the gallery."""
    plan = asked.plan
    typer.echo(f"{plan.model} on {plan.challenge}")
    run = compute(asked, row_text, alone)
    if out:
        path = write(out, f"{plan.model}-{plan.challenge}", run)
        typer.echo(f"written: {path.name}, {path.stat().st_size:,} bytes")


@dataclass(frozen=True)
class Piece:
    """What is computed of a model: which part of the order it is, with which seeds and rates.

    Where no rates are named they are two of Liu et al.'s grid, which is tried on `GRID_SIZE`
    examples first.
    """

    part: str
    seeds: tuple[int, ...] = (0, 1, 2)
    rates: tuple[float, ...] = ()


ORDER: Mapping[str, Piece] = {
    **dict.fromkeys(("esim", "da"), Piece("a")),
    "minilm": Piece("b", (0,), (2e-5, 5e-5)),
    **dict.fromkeys(("esim_char", *READERS), Piece("c")),
}
"""The models of the gallery in the order in which the published grid is computed."""
GRID_SIZE = 100


@dataclass(frozen=True)
class LeftOver:
    """A plan of which cells are missing: how many of how many, and their hours on one core.

    The `last` plan of a model and challenge is the gallery's.
    """

    part: str
    asked: Planned
    missing: int
    cells: int
    hours: float
    last: bool


def _left_over(
    begun: Sequence[tuple[str, Plan, Sets]], files: GalleryFiles, out: Path
) -> Iterator[LeftOver]:
    """Yield the plans of models and challenges that lack cells, in the order they come in."""
    stored = [run for run in Store().runs(kind=KIND) if is_current(run)]
    for name, plan, sets in begun:
        piece, most = ORDER[name], len(sets.challenge_train)
        path = out / f"{name}-{plan.challenge}.json"
        runs = [*([read(path)] if path.exists() else []), *stored]
        sizes = tuple(size for size in LIU_SIZES if size != ALL and size <= most)
        rates = piece.rates
        if not rates:
            tried = liu_rates(sets.task)
            grid = replace(plan, sizes=(min(GRID_SIZE, most),), lrs=tried)
            asked = _asked(grid, sets, files)
            points = _known(asked, runs)
            if len(points) < len(TRIALS.cells(asked.plan)):
                yield _lacking(piece, asked, points, False)
            rates = two_best(points) or tried[-2:]  # as long as any two
        asked = _asked(replace(plan, sizes=sizes, lrs=rates, seeds=piece.seeds), sets, files)
        points = _known(asked, runs)
        if len(points) < len(TRIALS.cells(asked.plan)) or not path.exists():
            yield _lacking(piece, asked, points, True)


def _known(asked: Planned, runs: Sequence[StoredRun]) -> list[Point]:
    """Return the points of a plan that earlier runs have."""
    artefacts = asked.request(model=named_model_hash(asked.plan.model)).artefacts
    cells = TRIALS.cells(asked.plan)
    known = TRIALS.known_results(runs, asked.plan, artefacts)
    return [TRIALS.point_from(asdict(cells[at]), known[at]) for at in sorted(known)]


def _lacking(piece: Piece, asked: Planned, points: Sequence[Point], last: bool) -> LeftOver:
    cells: Sequence[Cell] = TRIALS.cells(asked.plan)
    there = {point.cell for point in points}
    lacking = [cell for cell in cells if cell not in there]
    share = sum(cell.size for cell in lacking) / sum(cell.size for cell in cells)
    hours = asked.seconds() * share / 3600
    return LeftOver(piece.part, asked, len(lacking), len(cells), hours, last)


def two_best(points: Sequence[Point]) -> tuple[float, ...]:
    """Return the rate that is best on the challenge test, and the one that is on original dev.

    Where both are the same, the second best on the challenge test; none without two rates.
    """

    def best(some: Sequence[Point], score: str) -> float:
        chosen = best_rates(some, lambda point: 0, lambda point: float(getattr(point, score)))
        return float(chosen[0][0].cell.lr)

    trained = [point for point in points if point.cell.size]
    if len({point.cell.lr for point in trained}) < 2:
        return ()
    first, second = best(trained, "challenge"), best(trained, "dev")
    if first == second:
        second = best([point for point in trained if point.cell.lr != first], "challenge")
    return tuple(sorted((first, second)))


def _list(left: Iterator[LeftOver]) -> None:
    hours = 0.0
    for piece in left:
        plan = piece.asked.plan
        rates = ", ".join(f"{rate:g}" for rate in plan.lrs)
        typer.echo(
            f"({piece.part}) {plan.model:13} {plan.challenge:16} to {max(plan.sizes):<5} rates "
            f"{rates}: {piece.missing} of {piece.cells} cells, {piece.hours:.1f} h"
        )
        hours += piece.hours
    typer.echo(f"left over: {hours:.1f} h on one core of this machine")


def _detach() -> None:
    """Begin the same command in a process of its own, which gives way to others."""
    words = [word for word in sys.argv[1:] if word != "--background"]
    log = make_home() / "gallery.log"
    with log.open("ab") as output:
        begun = subprocess.Popen(
            [sys.executable, "-m", "finetune", *words],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            preexec_fn=None if sys.platform == "win32" else partial(os.nice, 10),
        )
    typer.echo(f"process {begun.pid} computes it; {log} says how far it is")


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
