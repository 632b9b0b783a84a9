"""What a model can be inoculated against, and the sets made for it.

A challenge is a transform that leaves a gold label, a set of templates, or anybody's own file.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal

from finetune.training.data import Asked, numbered_pairs, read_pairs
from finetune.trials.base import refuse
from finetune.trials.datasets import Examples, Sets, SourceData, bundled, split_by_premise, unseen
from probe.data.file_options import Said
from probe.data.names import listed, shown
from probe.errors import ExperimentError, FileError, UnknownTransform
from probe.tasks.label_rules import COMPUTED
from probe.tasks.nli import NLI
from probe.tasks.task import Task, offered_tasks
from probe.templates import Request, count, generate, kinds, split_by_template
from probe.templates.grammar import grammar
from probe.transforms import REGISTRY, Options, apply
from probe.transforms.registry import (
    applies_of,
    chain,
    chain_title,
    leaves_gold,
    ready,
    rule_of,
    source_of,
    summary_of,
)

COUNTER_TESTS: Mapping[str, tuple[str, ...]] = {"addsent": ("addsent_first", "addsent_other")}
"""The names of the counter-tests of a challenge, which are transforms."""
Kind = Literal["transform", "template", "file"]
KIND_TITLES: Mapping[Kind, str] = {
    "transform": "Ordinary examples, changed",
    "template": "Examples from templates",
    "file": "Your own file",
}
CONTROLS = {"word_overlap": "control_tautology", "negation": "control_tautology"}
"""The sister that shows whether a model learnt to ignore a tautology, or only this one."""
MAX_PAIRS = 1000
"""Pairs from templates to train on, and as many to test on; Liu et al. train on so many."""


@dataclass(frozen=True)
class Challenge:
    """A challenge: what it is, and where its labels and, of a transform, its idea come from."""

    name: str
    title: str
    kind: Kind
    family: str
    summary: str
    labels: str
    source: str = ""


def catalogue(task: Task = NLI) -> tuple[Challenge, ...]:
    """Return the challenges that can be made here, transforms first, in the registry's order."""
    changed = (
        Challenge(
            entry.name,
            entry.title,
            "transform",
            entry.family,
            summary_of(entry, task),
            entry.rule.words,
            source_of(entry, task),
        )
        for entry in map(REGISTRY.__getitem__, filter(leaves_gold, ready(task)))
    )
    labels = "the template gives the gold label"
    from_templates = (
        Challenge(name, own.title, "template", "templates", own.summary, labels)
        for name, kind in template_challenges(task).items()
        for own in [grammar(kind)]
    )
    return (*changed, *from_templates)


def title_of(challenge: str, task: Task = NLI) -> str:
    """Return a challenge's title; a chain joins its links', a person's own has its name only."""
    titles = {entry.name: entry.title for entry in catalogue(task)}
    if challenge in titles:
        return titles[challenge]
    return chain_title(challenge) if _transforms(challenge, task) else challenge


def template_challenges(task: Task = NLI) -> dict[str, str]:
    """Return a task's kinds of templates by the names of their challenges."""
    return {f"templates_{kind}": kind for kind in kinds(task)}


def challenge_name(text: str, task: Task = NLI) -> str:
    """Return a challenge's name for what a person calls it: a kind of templates has two names."""
    name = f"templates_{text}"
    return name if text not in REGISTRY and name in template_challenges(task) else text


def challenges(task: Task = NLI) -> tuple[str, ...]:
    """Return the names of the challenges that can be made here."""
    return tuple(challenge.name for challenge in catalogue(task))


def challenged(challenge: str, pairs: Sequence[Any], seed: int = 0, task: Task = NLI) -> Examples:
    """Transform examples into a challenge set.

    Those that it leaves as they were, or without a gold label, are left out; of several made from
    one the ids are numbered. Raises ExperimentError for a name that is no such transform, nor a
    chain of them.
    """
    if not _transforms(challenge, task):
        raise _no_challenge(challenge, task)
    examples: dict[object, Any] = {}  # Any: as above
    for results in apply(challenge, pairs, task, seed, Options(), lambda unread: []):
        for made in results:
            example = made.example
            if not (made.changed and made.gold):
                continue
            if made.number > 1:
                example = replace(example, id=f"{example.id}-{made.number}")
            # made of one side only, the same pair comes from every row with that side
            same = tuple(task.texts(example).values()) if rule_of(challenge) is COMPUTED else ()
            examples.setdefault(same or len(examples), example)
    return tuple(examples.values())


def require_challenge(challenge: str, task: Task = NLI) -> None:
    """Raise ExperimentError for what is no challenge, nor a chain of transforms that is one."""
    if challenge not in challenges(task) and not _transforms(challenge, task):
        raise _no_challenge(challenge, task)


def _no_challenge(challenge: str, task: Task) -> ExperimentError:
    other = next((each for each in offered_tasks() if challenge in challenges(each)), None)
    problem = (
        f"{challenge} is a challenge of {other.title.lower()}, not of {task.title.lower()}"
        if other
        else f"there is no challenge {challenge!r}"
    )
    return ExperimentError(f"{problem}; there are: {', '.join(challenges(task))}")


def _transforms(name: str, task: Task) -> bool:
    try:
        available = set(ready(task))
        return leaves_gold(name) and all(link.name in available for link in chain(name))
    except UnknownTransform:
        return False


def make_sets(challenge: str, source_data: SourceData, seed: int = 0) -> Sets:
    """Return the sets of a challenge by name. Raises ExperimentError."""
    task = source_data.task
    if kind := template_challenges(task).get(challenge):
        # no template makes both (Rozen et al. 2019, 4)
        requests = [Request(kind, templates=part) for part in split_by_template(kind, seed=seed)]
        learnt, tested = (
            tuple(generate(each, min(MAX_PAIRS, count(each) or MAX_PAIRS), seed))
            for each in requests
        )
    else:
        parts = (source_data.pool, source_data.test)
        learnt, tested = (challenged(challenge, pairs, seed, task) for pairs in parts)
    if not (learnt and tested):
        needs = "; ".join(applies_of(link, task) for link in chain(challenge))
        raise ExperimentError(f"no {task.unit} suits the challenge {challenge}: it needs {needs}")
    sets = _with_counter_tests(challenge, source_data, learnt, tested, seed)
    if control := CONTROLS.get(challenge):
        return replace(sets, control=challenged(control, source_data.test, seed, task))
    return sets


def _with_counter_tests(
    challenge: str, source_data: SourceData, learnt: Examples, tested: Examples, seed: int
) -> Sets:
    """Return the sets of a challenge, its counter-tests made from the original test set."""
    task, originals = source_data.task, source_data.test
    counter_tests = {
        name: challenged(name, originals, seed, task) for name in COUNTER_TESTS.get(challenge, ())
    }
    return Sets(source_data.dev, originals, learnt, tested, counter_tests=counter_tests, task=task)


@lru_cache(maxsize=16)
def bundled_sets(challenge: str, task: Task = NLI) -> Sets:
    """Return the sets made from bundled examples. Raises ExampleError where the task has none."""
    return make_sets(challenge, bundled(task))


SPLIT_SPELLINGS = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("test", "testing"), "test"),
    **dict.fromkeys(("dev", "development", "valid", "validation", "val"), "dev"),
}
"""How people spell the values of a column `split`."""


def rows_by_column(
    path: Path, column: str, task: Task, asked: Asked
) -> tuple[str | None, list[str], dict[str, list[Any]]]:
    """Return a column's own name, those of all columns, and the labelled examples by its cells.

    These are without space around them. The name is None, and there are no examples, where there is
    no such column, in whatever case. Raises FileError or LabelError.
    """
    from probe.data.rows import is_missing  # with pandas
    from probe.data.source import read_table

    frame = read_table(path, asked.bounds, asked.options).frame
    names = {str(name).strip().lower(): name for name in reversed(frame.columns)}
    rows: dict[str, list[Any]] = {}
    if (found := names.get(column.strip().lower())) is not None:
        cells = ["" if is_missing(cell) else str(cell).strip() for cell in frame[found]]
        for number, example in numbered_pairs(path, task, asked):
            rows.setdefault(cells[number], []).append(example)
    return found, list(map(str, frame.columns)), rows


def _divided(path: Path, task: Task, asked: Asked, n: int, seed: int) -> tuple[Examples, Examples]:
    """Return what one file trains and tests on, by its column `split`, else drawn by the seed.

    Its dev rows are tested on where there are no test rows. Without the column n pairs are trained
    on and all others tested, as Liu et al. 2019 did with the numerical stress test; half of a file
    with fewer than twice as many. No passage of questions is on both sides.
    """
    column, _, rows = rows_by_column(path, "split", task, asked)
    if column is None:
        pairs = read_pairs(path, task, asked)
        n = n if len(pairs) >= 2 * n else len(pairs) // 2
        if task.has_spans:
            return split_by_premise(pairs, n, seed, task)
        chosen = set(random.Random(f"{seed}|split").sample(range(len(pairs)), max(0, n)))
        learnt = tuple(pairs[row] for row in sorted(chosen))
        return learnt, tuple(pair for row, pair in enumerate(pairs) if row not in chosen)
    parts: dict[str, list[Any]] = {"train": [], "test": [], "dev": []}
    for cell, examples in rows.items():
        parts.setdefault(SPLIT_SPELLINGS.get(cell.lower(), ""), []).extend(examples)
    learnt, tested = tuple(parts["train"]), tuple(parts["test"] or parts["dev"])
    if not (learnt and tested):
        names = listed(sorted({cell.lower() for cell in rows if cell})) or "nothing"
        raise FileError(
            f"the column {shown(column)} of {path.name} needs train and test; has: {names}"
        )
    if others := sum(map(len, parts.values())) - len(learnt) - len(tested):
        asked.tell(
            f"note: {path.name}: {others:,} rows are left out, of which {shown(column)} says "
            "neither train nor what is tested on"
        )
    return learnt, tested


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
    learnt, tested = files.challenge_train, files.challenge_test
    problems = {
        "--challenge-train needs a --challenge-test": learnt and not tested,
        "give --challenge-file or --challenge-train and --challenge-test, not all": (
            files.challenge and (learnt or tested)
        ),
        "--original is split into dev and test; give it alone or the two, not all": (
            files.original and (files.original_dev or files.original_test)
        ),
        "--challenge-train and --challenge-test are one file; a test needs examples of its own": (
            learnt and tested and learnt.resolve() == tested.resolve()
        ),
        "--train must be 1 or more": files.train < 1,
    }
    refuse(problems)
    return sets_of(challenge, read_source_data(files, task), files)


def sets_of(challenge: str, source_data: SourceData, files: UserFiles) -> Sets:
    """Return the sets of a challenge, made of ordinary examples where there are no files of it.

    Where there is one to test on alone, what it is about is not trained on. Raises as `read_sets`.
    """
    task, asked, seed = source_data.task, files.asked, files.seed
    learnt = read_pairs(files.challenge_train, task, asked) if files.challenge_train else ()
    tested = read_pairs(files.challenge_test, task, asked) if files.challenge_test else ()
    if files.challenge:
        learnt, tested = _divided(files.challenge, task, asked, files.train, seed)
    if files.challenge or files.challenge_train:
        if not (learnt and tested):
            raise ExperimentError(
                f"{challenge}: too few {task.unit}s to train on some and test on others"
            )
        sets = _with_counter_tests(challenge, source_data, learnt, tested, seed)
    else:
        pool = unseen(source_data.pool, tested, task=task)
        sets = make_sets(challenge, replace(source_data, pool=pool), seed)
        sets = replace(sets, challenge_test=tested or sets.challenge_test)
    if files.control is None:
        return sets
    return replace(sets, control=read_pairs(files.control, task, asked))


def read_source_data(files: UserFiles, task: Task = NLI) -> SourceData:
    """Return the ordinary examples; a pool of one's own loses the premises of dev and test.

    In other tasks it is what `Task.topic_of` says, such as the passage. Raises FileError or
    LabelError, ExperimentError where nothing of the pool is left.
    """
    if files.original and (files.original_dev or files.original_test):
        raise ExperimentError(
            "the original set is given whole and in parts; give one file to divide, or those of "
            "dev and test"
        )
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
    """Return by options, for the command that repeats a run, its files, draws and reading."""
    from probe.data.hub_dataset import source_name  # with pandas

    named = {
        OPTIONS.get(field.name, field.name.replace("_", "-")): getattr(files, field.name)
        for field in fields(files)
    }
    names = {option: source_name(path) for option, path in named.items() if isinstance(path, Path)}
    drawn = {"train": str(files.train)} if files.challenge else {}
    seed = {"sample-seed": str(files.seed)} if files.seed else {}
    return {**names, **drawn, **seed, **(files.asked.options.said if names else {})}
