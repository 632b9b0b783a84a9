"""What a set with gold labels gives away by itself: its artefacts (Gururangan et al. 2018).

Lengths, overlap and negation by label; words that tell a label, by the test of Gardner et al. 2021;
and what rules without understanding get right by cross-validation (Poliak et al. 2018). A row costs
some numbers for each of its tokens, so that all of SNLI fits into a laptop's memory.
"""

import math
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from probe.analysis.batch import CHUNK_ROWS, in_chunks
from probe.analysis.near_duplicates import Pairing, Ragged, near_duplicates
from probe.analysis.slices import is_negated, length, overlap
from probe.baselines import BAG, BAG_LEAST, bare, fit_bag, in_one_run
from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.data.reading import left_out_words, reading_with_gold, why_left_out
from probe.data.rows import Columns, InputRow, Source, read_rows
from probe.data.source import open_source
from probe.errors import FileError, LabelError, LimitError, OptionError
from probe.first_import import first_import
from probe.limits import UNBOUNDED, Bounds
from probe.models.classifier import Model, Precision, predict_each
from probe.statistics import (
    FEWEST,
    MAX_P,
    Drawn,
    Estimate,
    adjusted,
    clustered,
    joined_difference,
    mean,
    percent,
    share,
    wilson,
)
from probe.stopping import check_stop
from probe.tasks.task import Label, Task, task_named
from probe.text.words import listing, tokenise

Chance = Literal["share", "uniform"]
CHANCES: Mapping[Chance, str] = {
    "share": "the label's share of the file",
    "uniform": "one by the number of labels, as in the paper",
}
"""What p0 is, the share of a label among the rows with a word that says nothing. Both are the same
where labels are balanced; where they are not, every frequent word would give away the most frequent
label by the paper's."""
SMOOTHING = 100
"""Added to the count of each word with each label before PMI, as Gururangan et al. 2018 do."""
SHOWN_ROWS = 10
"""Rows that are kept as examples of a word, with its label and with others."""
ALL = "all"
TELLS = "rows are taken as independent, as in the paper"


@dataclass(frozen=True)
class Request:
    """What is asked of a set; `field` is the text whose words are looked at, the judged one if "".

    Words are tested that at least `least` rows have; `top` words and as many bigrams of each label
    are shown. `similarity` is the Jaccard index from which texts are near duplicates.
    """

    field: str = ""
    least: int = 20
    top: int = 20
    chance: Chance = "share"
    folds: int = 5
    similarity: float = 0.8
    seed: int = 0


class Step(NamedTuple):
    """How far the work is: what is done now, and how much of it."""

    words: str
    done: int
    total: int


@dataclass(frozen=True)
class Trait:
    """A measure of the rows by label: a mean number, of shares or of whether something is so."""

    name: str
    title: str
    is_share: bool
    by_label: Mapping[Label, Estimate]

    def shown(self, one: Estimate) -> str:
        """Write one of its estimates with its interval."""
        if self.is_share:
            return percent(one)
        return f"{one.value:.2f} ({one.low:.2f} to {one.high:.2f})" if one.n else "–"


@dataclass(frozen=True)
class GiveAway:
    """A word, or two in a row, that tells a label.

    `share` is that of the label among the n rows that have it, against `chance` (p0); `z` is that
    of Gardner et al. 2021, and `p` one-sided, corrected over all words, bigrams and labels. `rows`
    and `others` are the first rows with that label and with another one, from 1.
    """

    text: str
    words: int
    label: Label
    n: int
    count: int
    share: Estimate
    chance: float
    z: float
    p: float
    pmi: float
    rows: tuple[int, ...]
    others: tuple[int, ...]


@dataclass(frozen=True)
class Rule:
    """A rule that never sees both texts as such, learnt and judged by cross-validation."""

    name: str
    title: str
    says: str
    accuracy: Estimate


@dataclass(frozen=True)
class Repeats:
    """Rows whose texts stand in an earlier row, and rows whose label an equal one contradicts.

    `examples` are pairs of such rows, from 1, those with two labels first.
    """

    rows: int
    contradicted: int
    examples: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Shared:
    """How many rows of another file are near duplicates of the file's, and how many are equal.

    `pairs` are the most alike: the row of the file, that of the other from 1, and how alike.
    """

    file: str
    rows: int
    near: Estimate
    equal: int
    similarity: float
    pairs: tuple[tuple[int, int, float], ...]


@dataclass(frozen=True)
class Leaning:
    """A model on rows with a give-away word of their label, and without, and the difference.

    `misled` is its accuracy on those of the latter that have one of another label.
    """

    label: str
    having: Estimate
    lacking: Estimate
    difference: Estimate
    misled: Estimate

    @property
    def apart(self) -> str:
        """The difference in points, with what it lacks."""
        one, few = self.difference, "; too few rows to be quoted"
        if not one.n:
            return "no difference: all rows are of one kind"
        ends = (f"{100 * each:+.1f}" for each in (one.value, one.low, one.high))
        return "{} ({} to {})".format(*ends) + (few if one.n < FEWEST else "")


@dataclass(frozen=True)
class Artefacts:
    """What was found in a set. `tested` and `telling` count words and bigrams with labels."""

    file: str
    task: str
    field: str
    rows: int
    labels: Mapping[Label, int]
    notes: tuple[str, ...]
    request: Request
    traits: tuple[Trait, ...]
    tested: int
    telling: int
    words: tuple[GiveAway, ...]
    rules: tuple[Rule, ...]
    repeats: Repeats
    shared: Shared | None = None
    model: str = ""
    weighed_on: str = ""
    weighed: tuple[Leaning, ...] = ()

    @property
    def majority(self) -> Estimate:
        """The share of the most frequent label."""
        return wilson(max(self.labels.values()), self.rows)


@dataclass(frozen=True)
class Corpus:
    """A file as numbers, a row each where no more is said.

    `label` are places in `labels`, `tokens` by field the places of words in a vocabulary, `topics`
    and `texts` are equal where the source, and all texts, are.
    """

    source: Source
    columns: Columns
    task: Task
    labels: tuple[Label, ...]
    notes: tuple[str, ...]
    label: NDArray[np.int64]
    numbers: NDArray[np.int64]
    topics: NDArray[np.int64]
    texts: NDArray[np.int64]
    lengths: Mapping[str, NDArray[np.int64]]
    tokens: Mapping[str, Ragged]
    overlap: NDArray[np.float64]
    negated: NDArray[np.int64]
    in_one_run: NDArray[np.int64]

    def counts(self) -> dict[Label, int]:
        """Return how many rows have each label."""
        rows = np.bincount(self.label, minlength=len(self.labels)).tolist()
        return dict(zip(self.labels, rows, strict=True))

    def rows_at(self, wanted: Collection[int]) -> dict[int, InputRow]:
        """Read rows again by their numbers from 1."""
        return rows_at(self.source, self.columns, self.task, wanted)


def rows_at(
    source: Source, columns: Columns, task: Task, wanted: Collection[int]
) -> dict[int, InputRow]:
    """Read rows of a file by their numbers from 1."""
    only = replace(
        source, read=lambda: (each for each in source.read() if each.number + 1 in wanted)
    )
    return {row.number + 1: row for row in read_rows(only, columns, task)}


@dataclass
class _Reading:
    """What is gathered while rows are read; arrays of whole numbers of one size."""

    fields: Sequence[str]
    golds: list[Label] = field(default_factory=list)
    label: "array[int]" = field(default_factory=lambda: array("b"))
    columns: dict[str, "array[int]"] = field(default_factory=dict)
    overlap: "array[float]" = field(default_factory=lambda: array("f"))

    def add(self, name: str, value: int) -> None:
        """Add a number to a column."""
        self.columns.setdefault(name, array("q")).append(value)

    def of(self, name: str) -> NDArray[np.int64]:
        """Return a column."""
        return np.array(self.columns.get(name, array("q")), dtype=np.int64)


def read_corpus(
    path: Path,
    task: Task,
    options: FileOptions = AS_THE_FILE_TELLS,
    bounds: Bounds = UNBOUNDED,
    vocabulary: dict[str, int] | None = None,
) -> Iterator[Step | Corpus]:
    """Read a file row by row; the last that is yielded is the corpus.

    Words that are not in the vocabulary yet are added to it. Raises FileQuestion where it is not
    clear which are the gold labels, FileError, LimitError, and LabelError for a task without them.
    """
    if not task.labels:
        raise LabelError(f"{task.title.lower()} is answered with spans; this looks at labels")
    known: dict[str, int] = {} if vocabulary is None else vocabulary
    source = open_source(path, bounds, options)
    reading = reading_with_gold(source, path, task, options)
    gathered, left_out = _Reading(task.fields), Counter[str]()
    words = {name: array("i") for name in task.fields}
    ends = {name: array("q", [0]) for name in task.fields}
    for done, row in enumerate(read_rows(source, reading.columns, task), 1):
        if done % CHUNK_ROWS == 0:
            check_stop()
            yield Step(f"reading {path.name}", done, len(source))
        if why := why_left_out(row):
            if row.problems and isinstance(row.problems[0], LimitError):
                raise LimitError(f"row {row.number + 1:,} of {path.name}: {row.problems[0]}")
            left_out[why] += 1
            continue
        example, texts = row.example, task.texts(row.example)
        if example.gold not in gathered.golds:
            gathered.golds.append(example.gold)
        gathered.label.append(gathered.golds.index(example.gold))
        gathered.add("numbers", row.number + 1)
        split = {name: tokenise(text.lower()) for name, text in texts.items()}
        placed = {
            name: tuple(known.setdefault(token, len(known)) for token in tokens)
            for name, tokens in split.items()
        }
        for name, places in placed.items():
            words[name].extend(places)
            ends[name].append(len(words[name]))
            gathered.add(f"length.{name}", length(texts[name]))
        # a hash of numbers is the same in every process
        gathered.add("topics", hash(placed[task.source or task.target]))
        gathered.add("texts", hash(tuple(placed.values())))
        judged = bare(split[task.target])
        gathered.add("negated", is_negated(judged))
        if task.source:
            other = bare(split[task.source])
            gathered.overlap.append(overlap(judged, other))
            gathered.add("in_one_run", in_one_run(judged, other))
    labels, label = _labels(path, task, gathered)
    corpus = Corpus(
        source=source,
        columns=reading.columns,
        task=task,
        labels=labels,
        notes=(),
        label=label,
        numbers=gathered.of("numbers"),
        topics=gathered.of("topics"),
        texts=gathered.of("texts"),
        lengths={name: gathered.of(f"length.{name}") for name in task.fields},
        tokens={name: Ragged(np.array(words[name]), np.array(ends[name])) for name in task.fields},
        overlap=np.array(gathered.overlap, dtype=np.float64),
        negated=gathered.of("negated"),
        in_one_run=gathered.of("in_one_run"),
    )
    said = (reading.words, left_out_words(left_out, len(source)), *_warnings(corpus))
    yield replace(corpus, notes=tuple(filter(None, said)))


def _labels(
    path: Path, task: Task, gathered: _Reading
) -> tuple[tuple[Label, ...], NDArray[np.int64]]:
    """Return the labels in the task's order and that of each row, merged where some merge others.

    Raises FileError where there are not two.
    """
    common = task.in_common(gathered.golds)
    labels = tuple(gold for gold in task.golds if gold in common)
    if not labels:
        texts = ", a ".join(task.fields)
        raise FileError(f"{path.name} holds no {task.unit} with a {texts} and a label")
    if len(labels) < 2:
        raise FileError(
            f"every row of {path.name} that can be read has the label {labels[0]}: nothing can "
            "tell labels apart where there is one; use a file with two labels or more"
        )
    places = np.array([labels.index(each) for each in common if each], dtype=np.int64)
    return labels, places[np.array(gathered.label, dtype=np.int64)]


def _warnings(corpus: Corpus) -> Iterator[str]:
    """Yield what the figures of a set lack: labels without rows, or with few."""
    task, counts = corpus.task, corpus.counts()
    absent = [label for label in task.labels if label not in counts]
    if absent and all(label in task.labels for label in corpus.labels):
        yield f"no row has the label {' or '.join(absent)}"
    for label, rows in counts.items():
        if rows < FEWEST:
            few = f"only {rows} row{'' if rows == 1 else 's'} of {label}"
            yield f"{few}: figures of that label rest on too little to be quoted"


def find_artefacts(
    path: Path,
    task: Task,
    request: Request = Request(),
    options: FileOptions = AS_THE_FILE_TELLS,
    against: Path | None = None,
    other_options: FileOptions = AS_THE_FILE_TELLS,
    bounds: Bounds = UNBOUNDED,
    load: Callable[[], Model] | None = None,
    precision: Precision = "auto",
) -> Iterator[Step | Artefacts]:
    """Look at a set, and at what it shares with another; the last that is yielded is the result.

    A model that is to be loaded is asked about the other set where there is one. Raises as
    `read_corpus` does, and OptionError for a field that the task has not.
    """
    judged = request.field or task.target
    if judged not in task.fields:
        fields = " or ".join(task.fields)
        raise OptionError(f"the task {task.name} has no text {judged!r}; it has: {fields}")
    vocabulary = dict[str, int]()
    corpus = other = None
    for step in read_corpus(path, task, options, bounds, vocabulary):
        if isinstance(step, Corpus):
            corpus = step
        else:
            yield step
    if against:
        for step in read_corpus(against, task, other_options, bounds, vocabulary):
            if isinstance(step, Corpus):
                other = step
            else:
                yield step
    if corpus is None:
        raise FileError(f"{path.name} has no rows")
    yield Step("counting words", 0, 1)
    names = list(vocabulary)
    tested, telling, words = give_aways(corpus, judged, names, request)
    rules = list[Rule]()
    for each in cross_validated(corpus, judged, names, request):
        if isinstance(each, Rule):
            rules.append(each)
        else:
            yield each
    shared = None
    if other and against:
        yield Step(f"looking for the rows of {against.name}", 0, 1)
        shared = _shared(corpus, other, against.name, request)
    notes = list(corpus.notes)
    if other and against:
        notes += [f"{against.name}: {note}" for note in other.notes]
    if not tested:
        notes.append(
            f"no word is in {request.least} rows, so that none is tested; ask for words in fewer"
        )
    if not rules:
        notes.append(
            f"there are fewer than {request.folds} different {task.title_of(task.source or judged)}"
            " texts, so that nothing is cross-validated"
        )
    found = Artefacts(
        file=path.name,
        task=task.name,
        field=judged,
        rows=len(corpus.label),
        labels=corpus.counts(),
        notes=tuple(notes),
        request=request,
        traits=tuple(_traits(corpus)),
        tested=tested,
        telling=telling,
        words=tuple(words),
        rules=tuple(rules),
        repeats=_repeats(corpus),
        shared=shared,
    )
    if load is None:
        yield found
        return
    yield Step("loading the model", 0, 1)
    weighed_on = (against, other_options) if against else (path, options)
    yield from _weigh(found, load(), *weighed_on, bounds, precision)


def final(
    steps: Iterator[Step | Artefacts], tell: Callable[[Step], object] = lambda step: None
) -> Artefacts:
    """Go through all steps, tell each, and return what was found."""
    for step in steps:
        if isinstance(step, Artefacts):
            return step
        tell(step)
    raise ValueError("the last step is what was found")


def _traits(corpus: Corpus) -> Iterator[Trait]:
    """Yield the measures of the rows by label."""
    task = corpus.task
    target = task.title_of(task.target).lower()

    def trait(name: str, title: str, values: NDArray[Any], most: float = 1.0) -> Trait:
        parts = [values[corpus.label == at].tolist() for at in range(len(corpus.labels))]
        told = values.dtype == bool  # of what is so or not, Wilson's interval
        each = [share(part) if told else mean(part, most=most) for part in parts]
        return Trait(name, title, most == 1, dict(zip(corpus.labels, each, strict=True)))

    for name in task.fields:
        title = f"Words of the {task.title_of(name).lower()}"
        yield trait(f"length.{name}", title, corpus.lengths[name], math.inf)
    if task.source:
        source = task.title_of(task.source).lower()
        title = f"Share of the {target}'s words that the {source} has"
        yield trait("overlap", title, corpus.overlap)
        title = f"Every word of the {target} in the {source}"
        yield trait("all_shared", title, corpus.overlap == 1)
    yield trait("negation", f"A negation word in the {target}", corpus.negated == 1)


class _Features(NamedTuple):
    """Which rows have which words or bigrams, each once: row and feature, and their names."""

    rows: NDArray[np.int64]
    places: NDArray[np.int64]
    names: Sequence[str]


def _features(corpus: Corpus, judged: str, vocabulary: Sequence[str], words: int) -> _Features:
    tokens, size = corpus.tokens[judged], len(vocabulary)
    rows, keys = tokens.rows(), tokens.values.astype(np.int64)
    if words == 2:
        same = rows[:-1] == rows[1:]
        keys, rows = (keys[:-1] * size + keys[1:])[same], rows[:-1][same]
    distinct, places = np.unique(keys, return_inverse=True)
    once = np.unique(rows * max(1, len(distinct)) + places)
    names = [
        vocabulary[key] if words == 1 else f"{vocabulary[key // size]} {vocabulary[key % size]}"
        for key in distinct.tolist()
    ]
    return _Features(*np.divmod(once, max(1, len(distinct))), names)


def give_aways(
    corpus: Corpus, judged: str, vocabulary: Sequence[str], request: Request
) -> tuple[int, int, list[GiveAway]]:
    """Return how many words with labels are tested, how many tell, and the most telling ones.

    z = (p(label|word) - p0) / sqrt(p0 (1 - p0) / n) (Gardner et al. 2021, section 3), one-sided,
    with the correction of Benjamini and Hochberg over all words, bigrams and labels. PMI is in
    nats, over words and over bigrams apart, with rows as counts.
    """
    with first_import:
        from scipy.stats import norm

    labels, rows = len(corpus.labels), np.array([*corpus.counts().values()])
    uniform = np.full(labels, 1 / labels)
    chance = rows / rows.sum() if request.chance == "share" else uniform
    kinds = []
    for words in (1, 2):
        found = _features(corpus, judged, vocabulary, words)
        keys = found.places * labels + corpus.label[found.rows]
        counts = np.bincount(keys, minlength=len(found.names) * labels).reshape(-1, labels)
        smooth = counts + SMOOTHING
        pmi = np.log(smooth * smooth.sum() / smooth.sum(1, keepdims=True) / smooth.sum(0))
        n = counts.sum(axis=1, keepdims=True)
        enough = np.flatnonzero(n[:, 0] >= request.least)
        z = (counts / n - chance)[enough] / np.sqrt(chance * (1 - chance) / n[enough])
        kinds.append((words, found, counts, pmi, enough, z))
    every = np.concatenate([z.ravel() for *_, z in kinds])
    if not len(every):
        return 0, 0, []
    corrected, give = np.array(adjusted(norm.sf(every).tolist())), list[GiveAway]()
    begin = 0
    for words, found, counts, pmi, enough, z in kinds:
        p = corrected[begin : begin + z.size].reshape(z.shape)
        begin += z.size
        for at, label in enumerate(corpus.labels):
            best = np.argsort(-z[:, at], kind="stable")[: request.top]
            for place in best[p[best, at] < MAX_P]:
                word = int(enough[place])
                own = found.rows[found.places == word]
                right, n = corpus.label[own] == at, int(counts[word].sum())
                give.append(
                    GiveAway(
                        found.names[word], words, label, n, int(counts[word, at]),
                        wilson(int(counts[word, at]), n), float(chance[at]), float(z[place, at]),
                        float(p[place, at]), float(pmi[word, at]),
                        tuple(corpus.numbers[own[right]][:SHOWN_ROWS].tolist()),
                        tuple(corpus.numbers[own[~right]][:SHOWN_ROWS].tolist()),
                    )
                )  # fmt: skip
    return len(every), int((corrected < MAX_P).sum()), give


def cross_validated(
    corpus: Corpus, judged: str, vocabulary: Sequence[str], request: Request
) -> Iterator[Step | Rule]:
    """Yield what each rule gets right on folds from which it did not learn.

    Rows with the same source are in one fold, and intervals are over sources. A rule of one trait
    says of each of its values the label that most rows of the other folds have there. Nothing is
    yielded where there are fewer sources than folds.
    """
    task, labels = corpus.task, len(corpus.labels)
    _, topics = np.unique(corpus.topics, return_inverse=True)
    if (distinct := int(topics.max()) + 1) < request.folds:
        return
    drawn = np.random.default_rng(request.seed).permutation(distinct) % request.folds
    fold = drawn[topics]
    called = task.title_of(task.target).lower(), task.title_of(task.source or "").lower()

    def judge(name: str, title: str, says: str, predicted: NDArray[np.int64]) -> Rule:
        right = np.bincount(topics, predicted == corpus.label, distinct).tolist()
        sizes = np.bincount(topics, minlength=distinct).tolist()
        several = [Drawn(0, at, each, n) for at, (each, n) in enumerate(zip(right, sizes))]  # noqa: B905
        return Rule(name, title, says, clustered(several))

    def of_trait(values: NDArray[np.int64]) -> NDArray[np.int64]:
        predicted = np.zeros_like(corpus.label)
        for at in range(request.folds):
            train, held = fold != at, fold == at
            keys = values[train] * labels + corpus.label[train]
            counts = np.bincount(keys, minlength=(values.max() + 1) * labels).reshape(-1, labels)
            overall = counts.sum(axis=0) / (1 + counts.sum())  # decides of equals and of new values
            predicted[held] = (counts + overall).argmax(axis=1)[values[held]]
        return predicted

    traits: list[tuple[str, str, str, NDArray[np.int64]]] = [
        ("majority", "Most frequent label", "always the same", np.zeros_like(corpus.label)),
    ]
    if task.source:
        traits += [
            (
                "lexical_overlap",
                "Every word shared",
                f"whether every word of the {called[0]} is in the {called[1]}",
                (corpus.overlap == 1).astype(np.int64),
            ),
            (
                "subsequence",
                "Words in one run",
                f"whether the {called[0]} stands in the {called[1]} in one run",
                corpus.in_one_run,
            ),
            (
                "overlap",
                "Overlap in tenths",
                f"how many tenths of the {called[0]}'s words are in the {called[1]}",
                np.floor(corpus.overlap * 10 + 1e-6).astype(np.int64),
            ),
        ]
    traits += [
        ("negation", "Negation", f"whether the {called[0]} has a negation word", corpus.negated),
        (
            "length",
            "Length",
            f"how many words the {called[0]} has, 30 or more as one",
            np.minimum(corpus.lengths[task.target], 30),
        ),
    ]
    for name, title, says, values in traits:
        yield judge(name, title, says, of_trait(values))
    with first_import:
        from scipy.sparse import csr_matrix

    rows, places, names = _features(corpus, judged, vocabulary, 1)
    matrix = csr_matrix((np.ones(len(rows)), (rows, places)), (len(corpus.label), len(names)))
    predicted = np.zeros_like(corpus.label)
    for at in range(request.folds):
        check_stop()
        yield Step("cross-validating a bag of words", at, request.folds)
        predicted[fold == at] = _bag(matrix, corpus.label, fold == at)
    title = f"{task.title_of(judged)} only" if task.source else "Bag of words"
    says = f"a bag of the {task.title_of(judged).lower()}'s words"
    yield judge("bag_of_words", title, says, predicted)


def _bag(
    matrix: Any,  # Any: untyped scipy's, (rows, words)
    label: NDArray[np.int64],
    held: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """Return what a bag of words that is fitted to the other rows says of held ones."""
    train, targets = matrix[~held], label[~held]
    kept = np.flatnonzero(np.bincount(train.indices, minlength=matrix.shape[1]) >= BAG_LEAST)
    if not len(kept) or len(np.unique(targets)) < 2:
        return np.full(int(held.sum()), int(np.bincount(targets).argmax()))
    fitted = fit_bag(train[:, kept], targets, BAG)
    answers: NDArray[np.int64] = fitted.predict(matrix[held][:, kept])
    return answers


def _repeats(corpus: Corpus) -> Repeats:
    """Count the rows of equal texts, case and blanks aside."""
    order = np.lexsort((corpus.numbers, corpus.texts))
    texts, label, numbers = (each[order] for each in (corpus.texts, corpus.label, corpus.numbers))
    again = np.flatnonzero(texts[1:] == texts[:-1]) + 1
    _, group = np.unique(texts, return_inverse=True)
    lowest = np.full(group.max() + 1, len(corpus.labels))
    highest = np.full(group.max() + 1, -1)
    np.minimum.at(lowest, group, label)
    np.maximum.at(highest, group, label)
    split = (lowest != highest)[group]
    first = sorted(again.tolist(), key=lambda at: label[at] == label[at - 1])[:SHOWN_ROWS]
    pairs = tuple((int(numbers[at - 1]), int(numbers[at])) for at in first)
    return Repeats(len(again), int(split.sum()), pairs)


def _shared(corpus: Corpus, other: Corpus, name: str, request: Request) -> Shared:
    """Compare all texts of two files, as sets of pairs of words beside each other."""
    found: list[Pairing] = near_duplicates(
        list(corpus.tokens.values()), list(other.tokens.values()), request.similarity, request.seed
    )
    pairs = sorted(found, key=lambda each: -each.similarity)[:SHOWN_ROWS]
    return Shared(
        name,
        len(other.label),
        wilson(len(found), len(other.label)),
        int(np.isin(other.texts, corpus.texts).sum()),
        request.similarity,
        tuple(
            (int(corpus.numbers[at]), int(other.numbers[beside]), round(alike, 3))
            for at, beside, alike in pairs
        ),
    )


def _weigh(
    found: Artefacts,
    model: Model,
    path: Path,
    options: FileOptions,
    bounds: Bounds,
    precision: Precision,
) -> Iterator[Step | Artefacts]:
    """Ask a model about the rows of a file, and compare those with give-away words and without."""
    task = task_named(found.task)
    source = open_source(path, bounds, options)
    columns = reading_with_gold(source, path, task, options).columns
    telling: dict[Label, set[str]] = {}
    for each in found.words:
        telling.setdefault(each.label, set()).add(each.text)
    merged = len({*found.labels} - {*task.labels}) > 0

    def gold_of(row: InputRow) -> Label | None:
        gold: Label | None = row.example.gold if row.example else None
        return task.in_common([gold, *found.labels])[0] if merged else gold

    def answer(rows: Sequence[InputRow]) -> list[tuple[Label, str, bool]]:
        asked = [(row, gold) for row in rows if row.example and (gold := gold_of(row))]
        said = predict_each(model, [row.example for row, _ in asked], precision)
        answered = []
        for (row, gold), prediction in zip(asked, said, strict=True):
            if isinstance(prediction, Exception):
                continue
            tokens = tokenise(getattr(row.example, found.field).lower())
            has = {*tokens, *(" ".join(two) for two in pairwise(tokens))}
            labels = [label for label, words in telling.items() if not words.isdisjoint(has)]
            kind = "having" if gold in labels else "misled" if labels else "none"
            answered.append((gold, kind, task.matches(prediction.label, gold)))
        return answered

    hits = list[tuple[Label, str, bool]]()
    for chunk in in_chunks(read_rows(source, columns, task), len(source), answer):
        check_stop()
        hits += chunk.rows
        yield Step(f"asking {model.name}", chunk.done, chunk.total)
    leanings = []
    for label in (ALL, *found.labels):
        own = [(kind, right) for gold, kind, right in hits if label in (ALL, gold)]
        having = share([right for kind, right in own if kind == "having"])
        lacking = share([right for kind, right in own if kind != "having"])
        misled = share([right for kind, right in own if kind == "misled"])
        leanings.append(Leaning(label, having, lacking, joined_difference(lacking, having), misled))
    yield replace(found, model=model.name, weighed_on=path.name, weighed=tuple(leanings))


def artefacts_json(found: Artefacts) -> dict[str, Any]:  # Any: JSON
    """Return what was found as JSON values; an estimate over nothing is null."""

    def plain(value: Any) -> Any:  # Any: as above
        if isinstance(value, dict):
            nothing = value.keys() == {"value", "low", "high", "n"} and not value["n"]
            return None if nothing else {name: plain(each) for name, each in value.items()}
        return [plain(each) for each in value] if isinstance(value, list | tuple) else value

    shape: dict[str, Any] = plain(asdict(found))
    return {**shape, "majority": asdict(found.majority), "correction": "Benjamini-Hochberg"}


def in_words(found: Artefacts) -> str:
    """Say in one sentence what a set gives away."""
    bag = next((each for each in found.rules if each.name == "bag_of_words"), None)
    if bag is None:
        return "Too few different texts to say what a rule without understanding would get right."
    tells = "more than" if bag.accuracy.low > found.majority.value else "not clearly more than"
    return (
        f"{bag.says.capitalize()} tells the label of {percent(bag.accuracy)} of {found.rows:,} "
        f"rows, {tells} the most frequent label has: {percent(found.majority)}."
    )


def label_list(found: Artefacts) -> str:
    """List the labels with their rows."""
    return listing([f"{label} {rows:,}" for label, rows in found.labels.items()])
