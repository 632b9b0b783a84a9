"""The sets of an inoculation from files that somebody names, the bundled examples for the rest."""

from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path

from finetune.experiments.inoculation.challenges import MAX_PAIRS, make_sets
from finetune.experiments.inoculation.datasets import (
    Sets,
    SourceData,
    bundled,
    split_by_premise,
    unseen,
)
from finetune.experiments.inoculation.file_sets import file_sets, sets_tested_on
from finetune.experiments.refusal import refuse
from finetune.training.data import Asked, read_pairs
from probe.data.file_options import Said
from probe.data.hub.dataset import source_name
from probe.errors import ExperimentError
from probe.tasks.nli import NLI
from probe.tasks.task import Task

OPTIONS = {"challenge": "challenge-file"}
"""Options of files that have another name than their field."""


@dataclass(frozen=True)
class UserFiles:
    """Files in place of the bundled examples; `original` is split into dev and test halves.

    `challenge` is one file, of which `train` pairs are trained on unless it has a column `split`.
    With `challenge_test` alone the pool is changed into the examples to train on.
    All are read as `asked`.
    """

    original: Path | None = None
    original_dev: Path | None = None
    original_test: Path | None = None
    pool: Path | None = None
    challenge: Path | None = None
    challenge_train: Path | None = None
    challenge_test: Path | None = None
    control: Path | None = None
    train: int = MAX_PAIRS
    seed: int = 0
    asked: Asked = field(default_factory=Asked)


def read_sets(challenge: str, files: UserFiles, task: Task = NLI) -> Sets:
    """Return the sets of a challenge. Raises ExperimentError, FileError or LabelError."""
    _check(files)
    return read_unchecked_sets(challenge, files, task)


def read_unchecked_sets(challenge: str, files: UserFiles, task: Task = NLI) -> Sets:
    """Return the sets of files that are known to go together. Raises as `read_sets` does."""
    source_data = read_source_data(files, task)
    if files.challenge:
        one = files.challenge
        sets = file_sets(source_data, challenge, one, files.asked, files.train, files.seed)
    elif files.challenge_train and files.challenge_test:
        two = (files.challenge_train, files.challenge_test)
        sets = file_sets(source_data, challenge, two, files.asked)
    elif files.challenge_test:
        one = files.challenge_test
        sets = sets_tested_on(one, challenge, source_data, files.asked, files.seed)
    else:
        sets = make_sets(challenge, source_data, files.seed)
    if files.control is None:
        return sets
    return replace(sets, control=read_pairs(files.control, task, files.asked))


def read_source_data(files: UserFiles, task: Task = NLI) -> SourceData:
    """Return the ordinary examples; a pool of one's own loses the premises of dev and test.

    In other tasks it is what `Task.topic_of` says, such as the passage. Raises FileError or
    LabelError, ExperimentError where nothing of the pool is left.
    """
    bundled_data = bundled(task)
    read = partial(read_pairs, task=task, asked=files.asked)
    dev = read(files.original_dev) if files.original_dev else bundled_data.dev
    test = read(files.original_test) if files.original_test else bundled_data.test
    if files.original:
        pairs = read(files.original)
        dev, test = split_by_premise(pairs, len(pairs) // 2, files.seed, task)
    if files.pool is None:
        return SourceData(dev, test, bundled_data.pool, task)
    pool = unseen(read(files.pool), dev, test, task=task)
    if not pool:
        field = task.source or task.target
        raise ExperimentError(f"every {field} of {files.pool.name} is in original dev or test")
    return SourceData(dev, test, pool, task)


def sources_of(files: UserFiles) -> Said:
    """Return the files by their options on the command line, without their folders.

    The draws and how the files are read are among them.

    A run keeps them, so that the command that repeats it can be printed.
    """
    named = {
        OPTIONS.get(field.name, field.name.replace("_", "-")): getattr(files, field.name)
        for field in fields(files)
    }
    names = {option: source_name(path) for option, path in named.items() if isinstance(path, Path)}
    drawn = {"train": str(files.train)} if files.challenge else {}
    seed = {"sample-seed": str(files.seed)} if files.seed else {}
    return {**names, **drawn, **seed, **(files.asked.options.said if names else {})}


def _check(files: UserFiles) -> None:
    either = files.challenge_train or files.challenge_test
    problems = {
        "--challenge-train needs a --challenge-test": (
            files.challenge_train and not files.challenge_test
        ),
        "give --challenge-file or --challenge-train and --challenge-test, not all": (
            files.challenge and either
        ),
        "--original is split into dev and test; give it alone or the two, not all": (
            files.original and (files.original_dev or files.original_test)
        ),
        "--challenge-train and --challenge-test are one file; a test needs examples of its own": (
            files.challenge_train
            and files.challenge_test
            and files.challenge_train.resolve() == files.challenge_test.resolve()
        ),
        "--train must be 1 or more": files.train < 1,
    }
    refuse(problems)
