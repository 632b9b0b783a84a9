"""The sets of a challenge from anybody's own files."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from finetune.experiments.inoculation.challenges import MAX_PAIRS, counter_tests_of, make_sets
from finetune.experiments.inoculation.datasets import Sets, SourceData, split_by_premise, unseen
from finetune.training.data import Asked, numbered_pairs, read_pairs
from probe.data.missing import is_missing
from probe.data.names import listed, shown
from probe.data.tables import read_table
from probe.errors import ExperimentError, FileError
from probe.tasks.task import Task

SPLIT_SPELLINGS = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("test", "testing"), "test"),
    **dict.fromkeys(("dev", "development", "valid", "validation", "val"), "dev"),
}
"""How people spell the values of a column `split`."""


def file_sets(
    source_data: SourceData,
    challenge: str,
    files: Path | tuple[Path, Path],
    asked: Asked = Asked(),
    train: int = MAX_PAIRS,
    seed: int = 0,
) -> Sets:
    """Return the sets of a challenge from files: one to train on and one to test on, or one.

    One file may have a column `split`; its dev rows are tested on where there are no test rows.
    Without the column `train` pairs drawn by the seed are trained on and all others tested, as
    Liu et al. 2019 did with the numerical stress test; half of a file with fewer than twice as
    many. Raises ExperimentError, FileError or LabelError.
    """
    task = source_data.task
    if isinstance(files, tuple):
        train_pairs, test_pairs = (read_pairs(path, task, asked) for path in files)
    else:
        train_pairs, test_pairs = _parts(files, task, asked) or _drawn(
            read_pairs(files, task, asked), train, seed, task
        )
    if not (train_pairs and test_pairs):
        raise ExperimentError(
            f"{challenge}: too few {task.unit}s to train on some and test on others"
        )
    return Sets(
        source_data.dev,
        source_data.test,
        train_pairs,
        test_pairs,
        counter_tests=counter_tests_of(challenge, source_data, seed),
        task=task,
    )


def sets_tested_on(
    path: Path,
    challenge: str,
    source_data: SourceData,
    asked: Asked = Asked(),
    seed: int = 0,
) -> Sets:
    """Return the sets of a challenge made from the pool, and a file to test on.

    What the file is about is not trained on. Raises ExperimentError, FileError or LabelError.
    """
    task = source_data.task
    tests = read_pairs(path, task, asked)
    apart = replace(source_data, pool=unseen(source_data.pool, tests, task=task))
    return replace(make_sets(challenge, apart, seed), challenge_test=tests)


def _drawn(
    pairs: Sequence[Any], train: int, seed: int, task: Task
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Draw pairs to train on and to test on; no passage of questions is on both sides."""
    n = train if len(pairs) >= 2 * train else len(pairs) // 2
    if task.has_spans:
        return split_by_premise(pairs, n, seed, task)
    rows = set(random.Random(f"{seed}|split").sample(range(len(pairs)), max(0, n)))
    sides: tuple[list[Any], list[Any]] = ([], [])
    for row, pair in enumerate(pairs):
        sides[row not in rows].append(pair)
    return tuple(sides[0]), tuple(sides[1])


def _parts(path: Path, task: Task, asked: Asked) -> tuple[tuple[Any, ...], tuple[Any, ...]] | None:
    """Return the rows by the column `split`, None where there is none. Raises FileError."""
    frame = read_table(path, asked.bounds, asked.options).frame
    column = next((name for name in frame.columns if str(name).strip().lower() == "split"), None)
    if column is None:
        return None
    values = ["" if is_missing(cell) else str(cell).strip().lower() for cell in frame[column]]
    rows: dict[str, list[Any]] = {"train": [], "test": [], "dev": []}
    for number, pair in numbered_pairs(path, task, asked):
        rows.setdefault(SPLIT_SPELLINGS.get(values[number], ""), []).append(pair)
    test_pairs = rows["test"] or rows["dev"]
    if not (rows["train"] and test_pairs):
        names = listed(sorted(filter(None, set(values)))) or "nothing"
        raise FileError(
            f"the column {shown(column)} of {path.name} needs train and test; has: {names}"
        )
    if others := sum(map(len, rows.values())) - len(rows["train"]) - len(test_pairs):
        asked.tell(
            f"note: {path.name}: {others:,} rows are left out, of which {shown(column)} says "
            "neither train nor what is tested on"
        )
    return tuple(rows["train"]), tuple(test_pairs)
