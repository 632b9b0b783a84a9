"""The results of an annotation set: by transform, beside the papers' people and beside a model."""

import math
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from probe.analysis.confusion import estimate_json
from probe.data.rows import is_missing
from probe.data.source import read_table
from probe.data.writers import write_table
from probe.errors import FileError, write_json
from probe.models.library import AnyModel
from probe.published import published_for
from probe.runs.run import Json
from probe.runs.store import Store
from probe.statistics import Estimate, mean, share
from probe.surveys.annotation_set import INVALID, KEPT, AnnotationSet, Item, Mode, example_of, key
from probe.surveys.survey import Response, respondents, responses
from probe.tasks.task import IN_COMMON, Label, Task
from probe.text.words import listing
from probe.transforms import REGISTRY, default_of
from probe.transforms.options import DEFAULTS
from probe.transforms.registry import ranks

UNTOUCHED, BROKEN = "", "broken"
"""The transform of texts that are as they were, and the row of all changed texts together."""


@dataclass(frozen=True)
class Judgement:
    """One answer to one item; it counts where its batch's control got the right answer."""

    response: Response
    batch: int
    item: Item
    counts: bool


@dataclass(frozen=True)
class Judged:
    """An item with its first counted votes; a majority has more than half of the wanted ones."""

    item: Item
    votes: Sequence[str]
    wanted: int

    @property
    def majority(self) -> str:
        """The answer of the majority, "" where there is none."""
        answer, count = next(iter(Counter(self.votes).most_common(1)), ("", 0))
        return answer if 2 * count > self.wanted else ""


@dataclass(frozen=True)
class OnModel:
    """A model on the items of a line: agreement with its answer before, confidence, accuracy."""

    agreement: Estimate
    confidence: Estimate
    accuracy: Estimate


@dataclass(frozen=True)
class Line:
    """The items of one transform: of those with a majority the share that has the measured answer.

    The measured answer is "invalid", the gold label, or that a distractor is kept. `undecided` are
    the items with all votes and no majority, `open` those that still miss some. `paper` is the
    published share, None where there is none; `model` None where no model was asked. `classes` say
    in which gold labels are read where some merge others of the line, "" elsewhere; `sign` by which
    one tokens were ranked, "" where none were.
    """

    transform: str
    share: Estimate
    undecided: int
    open: int
    paper: float | None
    model: OnModel | None
    classes: str
    sign: str = ""


@dataclass(frozen=True)
class Results:
    """All lines, untouched texts first, all broken ones last.

    `kappa` is over `kappa_n` items; of the `returned` batches some `failed` their control.
    """

    lines: tuple[Line, ...]
    kappa: float
    kappa_n: int
    returned: int
    failed: int
    model: str


@dataclass(frozen=True)
class SetProgress:
    """How far a set is: people who opened its link, batches that came back, and the share done.

    Batches count towards `share` where their control got its answer.
    """

    people: int
    returned: int
    share: float


def judgements(store: Store, annotated: AnnotationSet) -> list[Judgement]:
    """Return all answers, each with whether it counts, in the order in which they came."""
    places = {
        key(number, item): (number, annotated.items[item])
        for number, batch in enumerate(annotated.batches)
        for item in batch
    }
    given = responses(store, annotated.survey.id)
    answers: defaultdict[tuple[int, int], dict[str, str]] = defaultdict(dict)
    for response in given:
        batch, item = places[response.item]
        answers[response.respondent, batch][item.id] = response.answer
    passed = {place: annotated.passed(place[1], theirs) for place, theirs in answers.items()}
    rows = ((response, *places[response.item]) for response in given)
    return [Judgement(*row, passed[row[0].respondent, row[1]]) for row in rows]


def _returned(rows: Sequence[Judgement]) -> dict[tuple[int, int], bool]:
    """Return by respondent and batch whether what came back counts."""
    return {(row.response.respondent, row.batch): row.counts for row in rows}


def progress_of(store: Store, annotated: AnnotationSet) -> SetProgress:
    """Return how far a set is."""
    returned = _returned(judgements(store, annotated))
    good = Counter(batch for (_, batch), counts in returned.items() if counts)
    done = sum(min(count, annotated.votes) for count in good.values())
    wanted = annotated.votes * len(annotated.batches)
    return SetProgress(respondents(store, annotated.survey.id), len(returned), done / wanted)


Said = dict[str, tuple[bool, float, Label]]
"""By item: whether a model keeps its answer, how sure it is, and its answer."""


def results(store: Store, annotated: AnnotationSet, classifier: AnyModel | None = None) -> Results:
    """Count what there is so far. Raises StoreError."""
    rows = judgements(store, annotated)
    votes: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        if row.counts:
            votes[row.item.id].append(row.response.answer)
    items = [
        Judged(item, votes[item.id][: annotated.votes], annotated.votes)
        for item in annotated.items.values()
        if not item.control
    ]
    named = {judged.item.transform for judged in items}
    order = [UNTOUCHED, *REGISTRY]
    names = [*filter(named.__contains__, order), *sorted(named.difference(order))]
    groups = {name: [each for each in items if each.item.transform == name] for name in names}
    if len(named - {UNTOUCHED}) > 1:
        groups[BROKEN] = [each for each in items if each.item.transform]
    whole = [Counter(each.votes) for each in items if len(each.votes) == annotated.votes]
    returned = _returned(rows).values()
    said: Said = {}
    if classifier:
        task, asked = classifier.task, [each.item for each in items]
        after = classifier.predict([example_of(task, item) for item in asked])
        before = classifier.predict([example_of(task, item, before=True) for item in asked])
        for item, now, then in zip(asked, after, before, strict=True):
            expected = (default_of(item.transform, task) if item.transform else None) or then.label
            said[item.id] = (task.agrees(expected, now.label), now.confidence, now.label)
    return Results(
        tuple(_line(annotated, name, group, said) for name, group in groups.items()),
        fleiss_kappa([[votes[answer] for answer in annotated.answers] for votes in whole]),
        len(whole),
        len(returned),
        sum(not counts for counts in returned),
        classifier.name if classifier else "",
    )


def fleiss_kappa(counts: Sequence[Sequence[int]]) -> float:
    """Return Fleiss' kappa (1971) of items by answers; each item has the same number of votes.

    # counts: (items, answers)

    1 is perfect agreement, 0 what chance gives. NaN for fewer than two votes an item, and where all
    answers are the same, since chance then agrees too.
    """
    from statsmodels.stats import inter_rater

    with np.errstate(invalid="ignore"):
        return float(inter_rater.fleiss_kappa(np.array(counts))) if counts else math.nan


def _line(annotated: AnnotationSet, name: str, group: Sequence[Judged], said: Said) -> Line:
    task, measured = annotated.task, {"valid": INVALID, "distractor": KEPT}
    wanted = measured.get(annotated.mode.name)
    decided = [each for each in group if each.majority and (wanted or each.item.gold)]
    golds = task.in_common([each.item.gold for each in decided])
    complete = [each for each in group if len(each.votes) == annotated.votes]
    model = None
    if said:
        answers = [said[each.item.id] for each in group]
        known = zip(answers, task.in_common([each.item.gold for each in group]), strict=True)
        model = OnModel(
            share([keeps for keeps, _, _ in answers]),
            mean([confidence for _, confidence, _ in answers]),
            share([task.matches(label, gold) for (_, _, label), gold in known if gold]),
        )
    return Line(
        name,
        share(
            [
                each.majority == wanted if wanted else task.matches(each.majority, gold or "")
                for each, gold in zip(decided, golds, strict=True)
            ]
        ),
        sum(not each.majority for each in complete),
        len(group) - len(complete),
        paper_share(annotated, name),
        model,
        "" if wanted or not task.merges(golds) else IN_COMMON,
        listing(sorted({each.item.sign or DEFAULTS.sign for each in group})) if ranks(name) else "",
    )


def paper_share(annotated: AnnotationSet, transform: str) -> float | None:
    """Return what people came to in Gupta et al. 2021, tables 4 and 14, None where it is not told.

    What table 4 says of validity it says of all tasks together.
    """
    tables = {
        "valid": ("judged_invalid", "nli"),
        "labels": ("people_accuracy", annotated.task.name),
    }
    known = tables.get(annotated.mode.name)
    table = published_for(*known, "") if known else None
    return table.value(transform or "untouched", table.columns[0]) if table else None


def results_json(annotated: AnnotationSet, found: Results) -> Json:
    """Return results for a file."""
    return {
        "task": annotated.task.name,
        "mode": annotated.mode.name,
        "question": annotated.mode.question(annotated.task),
        "votes": annotated.votes,
        "source": annotated.survey.content["source"],
        "items": sum(not item.control for item in annotated.items.values()),
        "model": found.model or None,
        "kappa": None if math.isnan(found.kappa) else found.kappa,
        "kappa_items": found.kappa_n,
        "returned": {"batches": found.returned, "failed": found.failed},
        "lines": [
            {
                "transform": line.transform or "untouched",
                "share": estimate_json(line.share),
                **({"classes": line.classes} if line.classes else {}),
                **({"sign": line.sign} if line.sign else {}),
                "undecided": line.undecided,
                "open": line.open,
                "paper": line.paper,
                "model": line.model
                and {name: estimate_json(each) for name, each in vars(line.model).items()},
            }
            for line in found.lines
        ],
    }


BEFORE = "before_"
"""Begins the name of a column with a text as it was before the change."""


def items_frame(task: Task, items: Sequence[Item]) -> pd.DataFrame:
    """Return items as a table: id, transform, sign, gold, control, texts, texts before."""
    texts, before = task.fields, [f"{BEFORE}{name}" for name in task.fields]
    rows = [
        (
            *(item.id, item.transform, item.sign, item.gold or "", item.control),
            *(side[name] for side in (item.texts, item.before) for name in texts),
        )
        for item in items
    ]
    columns = ["id", "transform", "sign", "gold", "control", *texts, *before]
    return pd.DataFrame(rows, columns=columns)


VOTES = (
    "person", "nickname", "batch", "text", "change", "right answer of a control", "answer",
    "counts", "sent (UTC)",
)  # fmt: skip
"""The columns of the judgements of a set."""


def votes_frame(rows: Sequence[Judgement]) -> pd.DataFrame:
    """Return judgements as a table, one a row; none counts whose batch missed its control."""
    told = [
        (
            *(row.response.respondent, row.response.nickname, row.batch + 1, row.item.id),
            *(row.item.transform or "untouched", row.item.control, row.response.answer),
            "yes" if row.counts else "no",
            time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(row.response.created)),
        )
        for row in rows
    ]
    return pd.DataFrame(told, columns=list(VOTES))


def write_files(
    store: Store, annotated: AnnotationSet, classifier: AnyModel | None, folder: Path
) -> Json:
    """Write votes.csv, items.csv and results.json, and return the results. Raises FileError."""
    found = results_json(annotated, results(store, annotated, classifier))
    write_table(votes_frame(judgements(store, annotated)), folder / "votes.csv", guard=True)
    write_table(items_frame(annotated.task, [*annotated.items.values()]), folder / "items.csv")
    write_json(found, folder / "results.json")
    return found


def read_items(path: Path, task: Task, mode: Mode) -> list[Item]:
    """Read items as `items_frame` writes them; only the texts and their columns are required.

    Raises FileError, with the number of the row where one cannot be used.
    """
    frame = read_table(path).frame
    if missing := [name for name in task.fields if name not in frame.columns]:
        raise FileError(f"{path.name} has no column {missing[0]!r}, a text of {task.title}")
    answers = mode.answers(task)
    items = []
    for number, row in enumerate(frame.to_dict("records"), 1):
        cells = {str(name): "" if is_missing(cell) else str(cell) for name, cell in row.items()}
        texts = {name: cells[name] for name in task.fields}
        if not all(text.strip() for text in texts.values()):
            raise FileError(f"row {number:,} of {path.name} has an empty text")
        control = cells.get("control", "")
        if control and control not in answers:
            raise FileError(
                f"row {number:,} of {path.name} has the control {control!r}, which is none of: "
                + ", ".join(answers)
            )
        before = {name: cells.get(f"{BEFORE}{name}") or texts[name] for name in task.fields}
        gold = task.read_gold(cells.get("gold", ""))
        name, id = cells.get("transform", ""), cells.get("id") or str(number)
        items.append(Item(id, texts, before, name, gold, control, cells.get("sign", "")))
    if len({item.id for item in items}) < len(items):
        raise FileError(f"two rows of {path.name} have the same id")
    return items
