"""Data maps: which rows a training finds easy, hard or ambiguous (Swayamdipta et al. 2020).

What a model says of its own training rows, epoch by epoch, as our trainings keep it, as the paper's
code writes it, or in a table of one's own.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import Any, Literal

import numpy as np
import pandas as pd

from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.names import listed, shown
from probe.data.rows import (
    GOLD,
    NO_COLUMN,
    Columns,
    InputRow,
    Record,
    Source,
    cell,
    find,
    is_missing,
    read_rows,
)
from probe.data.source import read_table
from probe.errors import FileError, FileQuestion, LabelError
from probe.limits import UNBOUNDED, Bounds
from probe.models.prediction_file import KEYS, OF_LABEL, SCORES, as_probabilities, listed_scores
from probe.statistics import Estimate, percent, wilson
from probe.tasks.task import Label, Task, label_word, normalised
from probe.terms import Term

Region = Literal["easy", "hard", "ambiguous"]
REGIONS: Mapping[Region, Term] = {
    "easy": Term("Easy to learn", "The rows of the highest confidence."),
    "hard": Term(
        "Hard to learn", "The rows of the lowest confidence; mislabelled ones are among them."
    ),
    "ambiguous": Term("Ambiguous", "The rows of the highest variability."),
}
MEASURES = ("confidence", "variability", "correctness")
SHARE = 0.33
"""The share of the rows that is a region, as in the paper."""
FEWEST, ENOUGH = 2, 3
"""Epochs without which there is no variability, and fewer of which are too little to tell it."""
TOO_FEW = (
    "{} epochs are too few to tell variability by: the maps of Swayamdipta et al. rest on five or "
    "six"
)
FOLDER = "training_dynamics"
EPOCH_FILE = re.compile(r"dynamics_epoch_(\d+)\.jsonl(\.gz|\.zst)?")
OF_EPOCH = re.compile(r".*epoch[-_. ]*(\d+)", re.IGNORECASE)
"""Names a column of what is said in one epoch, as logits_epoch_0."""
BOTH = ("label", "gold")
"""The columns of the right label where one has it in words and the other its number from 0."""
EPOCH, IDS = ("epoch", "epochs"), ("guid", *KEYS)
"""How a table with a row an epoch calls the column of its number, and any table that of ids."""
Matrix = Any
"""An array of numbers or truths, whose axes stand behind it.  # Any: numpy's of several types"""


def epoch_file(epoch: int) -> str:
    """Return the name of the file of an epoch, counted from 0."""
    return f"dynamics_epoch_{epoch}.jsonl"


@dataclass(frozen=True)
class DynamicsOptions:
    """What a person says of training dynamics; what is left empty is told by the files.

    `key` is the column of ids, `epoch` that of the epoch's number, `scores` those of the scores,
    one with a list of them or one a label; `labels` is the order of the labels, and `first` the
    number of the first one.
    """

    key: str = ""
    epoch: str = ""
    scores: tuple[str, ...] = ()
    labels: tuple[Label, ...] = ()
    first: int | None = None


@dataclass(frozen=True)
class Dynamics:
    """What was said of each row in each epoch; `golds` are the places of the right labels.

    `labels` are those of the places, () where nothing tells them; `notes` say how it was read.
    """

    ids: tuple[str, ...]
    golds: Matrix  # (rows,)
    probabilities: Matrix  # (rows, epochs, labels)
    labels: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def epochs(self) -> int:
        """How many there are."""
        return int(self.probabilities.shape[1])


@dataclass(frozen=True)
class DataMap:
    """Where rows lie: confidence, variability and correctness of each, in the order of `ids`.

    `rows` are the examples of a file that is joined, by their place among the ids.
    """

    dynamics: Dynamics
    share: float = SHARE
    rows: Mapping[int, InputRow] = field(default_factory=dict)

    @cached_property
    def of_gold(self) -> Matrix:
        """The probability of the right label.  # (rows, epochs)"""
        said = self.dynamics.probabilities
        return np.take_along_axis(said, self.dynamics.golds[:, None, None], 2)[:, :, 0]

    @cached_property
    def confidence(self) -> Matrix:
        """The mean of that over the epochs.  # (rows,)"""
        return self.of_gold.mean(1)

    @cached_property
    def variability(self) -> Matrix:
        """Its standard deviation, that of a population as in the paper's code.  # (rows,)"""
        return self.of_gold.std(1)

    @cached_property
    def right(self) -> Matrix:
        """Whether the likeliest label is the right one.  # (rows, epochs)"""
        return self.dynamics.probabilities.argmax(2) == self.dynamics.golds[:, None]

    @cached_property
    def correctness(self) -> Matrix:
        """The share of the epochs in which it is.  # (rows,)"""
        return self.right.mean(1)

    @cached_property
    def golds(self) -> list[str]:
        """The right label of each row, its number where no name is known."""
        names = self.dynamics.labels
        return [names[gold] if names else str(gold) for gold in self.dynamics.golds.tolist()]

    @property
    def size(self) -> int:
        """How many rows a region has."""
        return max(1, round(self.share * len(self.dynamics.ids)))

    def region(self, name: Region) -> list[int]:
        """Return the places of a region's rows, those that are most so first; ties in order.

        Regions may share rows, as in the paper.
        """
        keys = {"easy": -self.confidence, "hard": self.confidence, "ambiguous": -self.variability}
        return [int(at) for at in np.argsort(keys[name], kind="stable")[: self.size]]

    @property
    def too_few(self) -> str:
        """Say where there are too few epochs, "" where there are enough."""
        epochs = self.dynamics.epochs
        return TOO_FEW.format(epochs) if epochs < ENOUGH else ""


def holds_dynamics(names: Sequence[str]) -> bool:
    """Whether a table with these columns says things by epoch, by their names."""
    return any(map(OF_EPOCH.fullmatch, names)) or bool(
        find(names, EPOCH) and _score_columns(names, DynamicsOptions())
    )


def dynamics_files(place: Path) -> list[Path]:
    """Return the files of a folder in the order of the epochs, or the one file.

    Raises FileError where a folder holds none, or lacks an epoch, or nothing is there.
    """
    if not place.exists():
        raise FileError(f"{place} is neither a folder nor a file")
    if not place.is_dir():
        return [place]
    inner = place / FOLDER if (place / FOLDER).is_dir() else place
    found = {
        int(match[1]): path
        for path in inner.iterdir()
        if (match := EPOCH_FILE.fullmatch(path.name))
    }
    if not found:
        raise FileError(
            f"{place} holds no training dynamics: no file {epoch_file(0)}, also not in a folder "
            f"{FOLDER}"
        )
    if lacking := sorted({*range(min(1, *found), max(found))} - {*found}):  # some count from 1
        raise FileError(f"{inner} lacks {epoch_file(lacking[0])}, though it has later epochs")
    return [found[at] for at in sorted(found)]


@dataclass
class _Said:
    """What is said of a row: its right label as it is written, also in another way, and scores."""

    gold: str
    other: str
    scores: dict[int, list[float]] = field(default_factory=dict)


def read_dynamics(
    files: Sequence[Path],
    task: Task,
    options: DynamicsOptions = DynamicsOptions(),
    reading: FileOptions = AS_THE_FILE_TELLS,
    bounds: Bounds = UNBOUNDED,
) -> Dynamics:
    """Read training dynamics of the files of a folder, or of one table.

    A row that has no right label, or is not in every epoch, is left out and counted. Raises
    FileError, LimitError; FileQuestion where it is not told what numbers mean.
    """
    if not task.labels:
        raise FileError(f"{task.title.lower()} is answered with spans, so that there is no map")
    rows, named = dict[str, _Said](), set[tuple[Label, ...]]()
    for file in files:
        table = read_table(file, bounds, reading)
        named.add(_add(rows, table, task, options, reading))
    order = named.pop() if len(named) == 1 else ()
    several = {epoch for row in rows.values() for epoch in row.scores}
    without = Counter[str]()
    whole = dict[str, _Said]()
    for name, row in rows.items():
        if label_word(row.gold) in ("", "-", "-1"):
            without["without a right label"] += 1
        elif len(row.scores) < len(several):
            without["that are not in every epoch"] += 1
        else:
            whole[name] = row
    source = files[0].name if len(files) == 1 else f"the files of {len(files)} epochs"
    if not whole:
        raise FileError(f"{source}: no row has a right label and scores in each of its epochs")
    if len(several) < FEWEST:
        raise FileError(f"{source} tells one epoch; a map needs several, {ENOUGH} at the least")
    counts = Counter(len(scores) for row in whole.values() for scores in row.scores.values())
    if len(counts) > 1:
        raise FileError(f"{source}: rows have {listed(list(map(str, counts)))} scores an epoch")
    (width,) = counts
    epochs = sorted(several)
    flat = {
        at: row.scores[epoch]
        for at, (row, epoch) in enumerate(
            (row, epoch) for row in whole.values() for epoch in epochs
        )
    }
    said, how = as_probabilities(flat)
    if not said:
        raise FileError(f"{source}: {how.format(name='the scores')}")
    probabilities = np.array([*said.values()]).reshape(len(whole), len(epochs), width)
    numbered = options.labels or order or _beside(whole.values(), width, task)
    if numbered and len(numbered) != width:
        raise FileError(
            f"{source}: {width} scores a row, and {len(numbered)} labels that are named"
        )
    labels = order or numbered
    words = [row.gold for row in whole.values()]
    golds, told = _golds(words, width, labels, task, options.first, reading)
    if told and order:  # the names of columns tell whose a score is, not what a number means
        if order != task.labels and not options.labels:
            raise FileQuestion(
                f"the right labels of {source} are numbers, and its columns name the scores in an "
                f"order of their own, {listed(order)}; nothing tells which label is which number",
                f"--labels {','.join(task.labels)} (in the order of their numbers)",
            )
        golds = [order.index(numbered[gold]) for gold in golds]
        told = f"{told}: {listed(numbered)}"
    gaps = epochs != [*range(epochs[0], epochs[0] + len(epochs))]
    notes = [how.format(name="the scores"), told]
    notes += [f"epochs {listed(list(map(str, epochs)))} alone"] if gaps else []
    if lost := sum(without.values()):
        reasons = ", ".join(f"{count:,} {why}" for why, count in without.items())
        notes.append(f"{lost:,} of {len(rows):,} rows are left out: {reasons}")
    kept = tuple(filter(None, notes))
    return Dynamics(tuple(whole), np.array(golds), probabilities, labels, kept)


def _score_columns(names: Sequence[str], options: DynamicsOptions) -> list[str]:
    """Return the columns of a row's scores in one epoch, by what is said or by their names."""
    if options.scores:
        return [name for name in options.scores if name in names]
    one = find(names, SCORES)
    return [one] if one else [name for name in names if OF_LABEL.match(normalised(name))]


def _add(
    rows: dict[str, _Said],
    table: Source,
    task: Task,
    options: DynamicsOptions,
    reading: FileOptions,
) -> tuple[Label, ...]:
    """Add what a table says to the rows; return the labels that the names of its columns tell."""
    names, name = table.names, table.path.name
    asked = (reading.gold if reading.one_file else "", options.epoch, *options.scores)
    if absent := next((each for each in asked if each and each not in names), None):
        raise FileError(f"{name} has no column {shown(absent)}; it has: {listed(names)}")
    wide = {
        column: int(match[1])
        for column in (options.scores or table.columns)
        if (match := OF_EPOCH.fullmatch(column))
    }
    epoch = options.epoch or find(names, EPOCH)
    columns = [] if wide else _score_columns(names, options)
    if not wide and not (epoch and columns):
        lacking = "--scores NAME" if epoch else "--epoch NAME"
        raise FileQuestion(
            f"{name} has no columns such as logits_epoch_0, nor one of the epoch beside one of "
            f"scores; it has: {listed(names)}",
            lacking,
        )
    gold = reading.gold if reading.gold in names else find(names, GOLD)
    if not gold:
        raise FileQuestion(
            f"no column of {name} holds the right labels; it has: {listed(names)}", "--gold NAME"
        )
    key = options.key if options.key in names else find(names, IDS)
    if not key and not (wide and rows == {}):
        raise FileQuestion(
            f"no column of {name} says which row of the training set each of its rows is; it has: "
            f"{listed(names)}",
            "--key NAME",
        )
    if len({*wide.values()}) < len(wide):
        raise FileQuestion(
            f"several columns of {name} are of one epoch: {listed([*wide])}",
            "--scores NAME,… (one an epoch)",
        )
    order, other = _order(columns, task), next((each for each in BOTH if each != gold), "")
    for record in table.records():
        if record.broken:
            raise FileError(f"row {record.number + 1:,} of {name}: {record.broken}")
        given = cell(record.cells, key) if key else record.number
        own = "" if is_missing(given) else str(given).strip()
        if not own:
            raise FileError(f"row {record.number + 1:,} of {name} has no id in {shown(str(key))}")
        right = cell(record.cells, gold)
        word = "" if is_missing(right) else str(right).strip()
        beside = cell(record.cells, other) if other else None
        row = rows.setdefault(own, _Said(word, "" if is_missing(beside) else str(beside)))
        if row.gold != word:
            raise FileError(f"{name}: {shown(own)} has another right label than in other epochs")
        for at, scores in _scores(record, wide, epoch or "", columns, name):
            if at in row.scores:
                raise FileError(f"{name} has {shown(own)} twice in epoch {at}")
            row.scores[at] = scores
    return order


def _scores(
    record: Record, wide: Mapping[str, int], epoch: str, columns: Sequence[str], name: str
) -> Iterator[tuple[int, list[float]]]:
    """Yield what a row of a table says by epoch, nothing of an epoch where its cell is empty."""
    cells = {column: (at, cell(record.cells, column)) for column, at in wide.items()}
    if not wide:
        number = label_word(cell(record.cells, epoch))
        if not number.isdecimal():
            raise FileError(f"row {record.number + 1:,} of {name}: the epoch is {shown(number)}")
        values = [cell(record.cells, column) for column in columns]
        cells = {epoch: (int(number), values if len(values) > 1 else values[0])}
    for column, (at, value) in cells.items():
        if is_missing(value):
            continue
        scores = listed_scores(value)
        if not scores:
            raise FileError(
                f"row {record.number + 1:,} of {name}: {shown(str(value))} in {shown(column)} is "
                "no list of one number a label"
            )
        yield at, scores


def _order(columns: Sequence[str], task: Task) -> tuple[Label, ...]:
    """Return the labels that columns are named by, () where one has a list or names none."""
    words = [OF_LABEL.sub("", normalised(name)) for name in columns]
    return tuple(words) if len(words) > 1 and {*words} == {*task.labels} else ()


def _beside(rows: Iterable[_Said], width: int, task: Task) -> tuple[Label, ...]:
    """Return the labels that stand in words beside their numbers from 0, () unless all do."""
    pairs = {(label_word(row.gold), label_word(row.other)) for row in rows}
    ordered = (pair if pair[0].isdecimal() else pair[::-1] for pair in pairs)
    told = {int(number): name for number, name in ordered if number.isdecimal()}
    whole = len(told) == len(pairs) and {*told} == {*range(width)}
    names = tuple(told[at] for at in range(width)) if whole else ()
    return names if {*names} == {*task.labels} else ()


def _golds(
    words: Sequence[str],
    width: int,
    labels: Sequence[Label],
    task: Task,
    first: int | None,
    reading: FileOptions,
) -> tuple[list[int], str]:
    """Return the place of each right label among the scores, and how numbers are counted.

    Raises FileQuestion where it is not told from what number, or what place a word has.
    """
    values = Counter(map(label_word, words))
    if all(value.isdecimal() for value in values):
        numbers = {int(value) for value in values}
        if first is None and {0, width} & numbers:
            first = 0 if 0 in numbers else 1
        if first is None:
            raise FileQuestion(
                f"the right labels are numbered {listed(sorted(values))}, and nothing tells "
                f"whether the first of {width} has the number 0 or 1",
                "--first 0",
                "--first 1",
            )
        if not {*range(first, first + width)} >= numbers:
            raise FileError(
                f"the right labels are numbered {listed(sorted(values))}, which {width} scores "
                f"counted from {first} have no place for"
            )
        told = f"right labels are counted from {first}"
        return [int(label_word(word)) - first for word in words], told
    if not labels:
        raise FileQuestion(
            f"the right labels are words, {listed(sorted(values)[:5])}, and nothing tells which of "
            f"{width} scores is of which label",
            f"--labels {','.join(task.labels)} (in their order)",
        )
    places, known = dict[str, int](), {label_word(one): two for one, two in reading.values.items()}
    for value in values:
        label = task.read_gold(known.get(value, value)) or ""
        if label not in labels:
            raise LabelError(f"the right label {value!r} is none of {', '.join(labels)}")
        places[value] = list(labels).index(label)
    return [places[label_word(word)] for word in words], ""


def joined(
    dynamics: Dynamics, table: Source, columns: Columns, task: Task, key: str = ""
) -> tuple[Dynamics, dict[int, InputRow]]:
    """Return the rows of a file by their place in the dynamics, whose labels they name.

    Rows are known by a column of the file, or by their number from 0, with the `key` none by that
    alone; where training had several files, by what stands behind the file's name. Where right
    labels differ nothing is joined. Raises FileError, FileQuestion.
    """
    if key not in ("", NO_COLUMN, *table.names):
        raise FileError(
            f"{table.path.name} has no column {shown(key)}; it has: {listed(table.names)}"
        )
    name, ids = table.path.name, dynamics.ids
    prefix = f"{name}:"
    wanted = {
        each.removeprefix(prefix): at for at, each in enumerate(ids) if each.startswith(prefix)
    } or {each: at for at, each in enumerate(ids)}
    usual = [found for word in IDS if (found := find(table.names, [word]))]
    rows = [row for row in read_rows(table, columns, task) if row.example]
    ways = dict[str, tuple[tuple[Label, ...], dict[int, InputRow]]]()
    named = [key] if key in table.names else [] if key else usual
    for column in dict.fromkeys([*named, *([] if key in table.names else [""])]):
        own = [
            str(cell(row.record.cells, column)).strip() if column else str(row.number)
            for row in rows
        ]
        met, alike = dict[int, InputRow](), True
        for each, row in zip(own, rows, strict=True):
            if each in wanted:  # a row an epoch has the same texts in each
                first = met.setdefault(wanted[each], row)
                alike &= task.texts(first.example) == task.texts(row.example)
        if alike and met and (labels := _named_by(dynamics, met, task)) is not None:
            ways[column] = labels, met
    most = max((len(met) for _, met in ways.values()), default=0)
    best = {column: way for column, way in ways.items() if len(way[1]) == most}
    if not best:
        raise FileError(
            f"{name} cannot be joined to the training dynamics: no column of ids, nor the number "
            f"of the row, leads from ids such as {shown(next(iter(wanted)))} to rows with the same "
            "right labels; name its column of ids with --key, or give the file that was trained on"
        )
    column, (labels, met) = next(iter(best.items()))
    if any(
        {at: row.number for at, row in each.items()} != {at: row.number for at, row in met.items()}
        for _, each in best.values()
    ):
        raise FileQuestion(
            f"the rows of {name} may be joined in several ways",
            *(f"--key {quote(each or NO_COLUMN)}" for each in best),
        )
    how = f"by {shown(column)}" if column else "by their number from 0"
    notes = [*dynamics.notes, f"joined to the rows of {name} {how}"]
    if labels != dynamics.labels:
        meant = ", ".join(f"{at} as {label}" for at, label in enumerate(labels))
        notes.append(f"labels by number: {meant}, as its rows have them")
    if lacking := len(ids) - len(met):
        notes.append(f"{lacking:,} of {len(ids):,} rows that were trained on are not in {name}")
    return replace(dynamics, labels=labels, notes=tuple(notes)), met


def _named_by(
    dynamics: Dynamics, rows: Mapping[int, InputRow], task: Task
) -> tuple[Label, ...] | None:
    """Return the labels by their places as the rows of a file have them, None where they differ.

    A place of which the file has no row is named where one label of the task is left.
    """
    golds = dynamics.golds.tolist()
    pairs = {(golds[at], row.example.gold) for at, row in rows.items() if row.example.gold}
    places, names = ({each[end] for each in pairs} for end in (0, 1))
    if not len(pairs) == len(places) == len(names):
        return None
    if dynamics.labels:
        fits = all(task.agrees(dynamics.labels[at], name) for at, name in pairs)
        return dynamics.labels if fits else None
    width, told = dynamics.probabilities.shape[2], dict(pairs)
    free = [label for label in task.labels if label not in names]
    left = [at for at in range(width) if at not in told]
    if not told or (left and not len(left) == len(free) == 1):
        return () if not told else tuple(told.get(at, str(at)) for at in range(width))
    return tuple(told.get(at) or free[0] for at in range(width))


def map_json(drawn: DataMap) -> dict[str, Any]:  # Any: JSON
    """Return a map's figures.

    accuracy: the share that is right in each epoch. labels and regions: how many rows, and the
    means of the three measures; of a region also each label's share with its interval, and that
    of the rows that it shares with another. too_few is a sentence, null where there are enough.
    """
    golds, every = np.array(drawn.golds), np.arange(len(drawn.golds))
    regions = {name: np.array(drawn.region(name)) for name in REGIONS}

    def means(rows: Any) -> dict[str, Any]:  # Any: numpy's index
        measures = {name: float(getattr(drawn, name)[rows].mean()) for name in MEASURES}
        return {"n": len(rows), **measures}

    def of_labels(rows: Any) -> dict[str, Any]:  # Any: as above
        counts = Counter(golds[rows].tolist())
        shares = {each: wilson(counts[each], len(rows)) for each in sorted({*drawn.golds})}
        return {each: asdict(one) for each, one in shares.items()}

    return {
        "epochs": drawn.dynamics.epochs,
        "share": drawn.share,
        "too_few": drawn.too_few or None,
        "notes": list(drawn.dynamics.notes),
        "accuracy": drawn.right.mean(0).tolist(),
        **means(every),
        "labels": {each: means(np.flatnonzero(golds == each)) for each in sorted({*drawn.golds})},
        "regions": {
            name: {
                **means(rows),
                "labels": of_labels(rows),
                "shared": {
                    other: len(np.intersect1d(rows, those))
                    for other, those in regions.items()
                    if other != name
                },
            }
            for name, rows in regions.items()
        },
    }


def rows_frame(drawn: DataMap, task: Task) -> pd.DataFrame:
    """Return every row of a map: id, measures, in which regions it is, and the texts it has.

    `row` is its number in the joined file, from 1.
    """
    ids, rows = drawn.dynamics.ids, drawn.rows
    frame = pd.DataFrame({"guid": ids, "gold": drawn.golds})
    for name in MEASURES:
        frame[name] = getattr(drawn, name).round(6)
    for name in REGIONS:
        frame[name] = np.isin(np.arange(len(ids)), drawn.region(name))
    if rows:
        frame.insert(
            0, "row", [rows[at].number + 1 if at in rows else None for at in range(len(ids))]
        )
        frame["row"] = frame["row"].astype("Int64")
        for text in task.fields:
            frame[text] = [
                task.texts(rows[at].example)[text] if at in rows else "" for at in range(len(ids))
            ]
    return frame


def map_lines(drawn: DataMap) -> Iterator[str]:
    """Say what a map has in lines for people."""
    told, figures = map_json(drawn), "confidence {:.3f}, variability {:.3f}, correctness {:.3f}"

    def of(one: Mapping[str, Any]) -> str:  # Any: JSON
        means = (one[name] for name in MEASURES)
        return f"n {one['n']:6,}  " + figures.format(*means)

    yield f"{told['n']:,} rows over {told['epochs']} epochs"
    yield from (f"note: {note}" for note in told["notes"])
    if drawn.too_few:
        yield f"note: {drawn.too_few}"
    right = ", ".join(f"{100 * each:.1f} %" for each in told["accuracy"])
    yield f"right while the epochs were trained: {right}"
    yield from (f"  {label:24} {of(one)}" for label, one in told["labels"].items())
    yield f"Regions of {100 * drawn.share:g} % each:"
    for name, one in told["regions"].items():
        yield f"  {REGIONS[name].title:24} {of(one)}"
        shares = (f"{label} {percent(Estimate(**each))}" for label, each in one["labels"].items())
        yield f"    {'; '.join(shares)}"
