"""The results of an annotation set: by transform, beside the papers' people and beside a model."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pandas as pd

from probe.data.rows import is_missing
from probe.data.source import form_of, read_table
from probe.data.writers import in_place
from probe.errors import FileError, writing
from probe.models.library import AnyModel
from probe.published import published_for
from probe.reports.comparison import estimate_json
from probe.runs.run import Json
from probe.runs.store import Store
from probe.statistics import Estimate, mean, share
from probe.surveys.annotation_set import INVALID, KEPT, AnnotationSet, Item, Mode, example_of
from probe.surveys.batches import Judged, Judgement, Returned, judged, judgements, kappa, returned
from probe.surveys.survey import responses
from probe.tasks.task import IN_COMMON, Label, Task
from probe.transforms import REGISTRY, default_of

UNTOUCHED = ""
"""The transform of texts that are as they were."""
TABLES = {"valid": "judged_invalid", "labels": "people_accuracy"}
"""The published table of each mode: Gupta et al. 2021, tables 4 and 14."""
BROKEN = "broken"
"""The row of all changed texts together."""


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
    in which gold labels are read where some merge others of the line, "" elsewhere.
    """

    transform: str
    share: Estimate
    undecided: int
    open: int
    paper: float | None = None
    model: OnModel | None = None
    classes: str = ""


@dataclass(frozen=True)
class Results:
    """All lines, untouched texts first, all broken ones last; kappa with its n, and batches."""

    lines: tuple[Line, ...]
    kappa: float
    kappa_n: int
    returned: Returned
    model: str = ""


def results(store: Store, annotated: AnnotationSet, classifier: AnyModel | None = None) -> Results:
    """Count what there is so far. Raises StoreError."""
    rows = judgements(annotated, responses(store, annotated.survey.id))
    return counted(annotated, rows, classifier)


def counted(
    annotated: AnnotationSet, rows: Sequence[Judgement], classifier: AnyModel | None = None
) -> Results:
    """Count judgements."""
    items = judged(annotated, rows)
    said = on_items(annotated, classifier) if classifier else {}
    named = {item.item.transform for item in items}
    order = [UNTOUCHED, *REGISTRY]
    known = [name for name in order if name in named]
    others = sorted(named.difference(order))
    groups = {
        name: [item for item in items if item.item.transform == name] for name in [*known, *others]
    }
    if len(named - {UNTOUCHED}) > 1:
        groups[BROKEN] = [item for item in items if item.item.transform]
    agreed, n = kappa(annotated, items)
    lines = tuple(
        _line(annotated, name, group, _on_model(annotated, group, said) if said else None)
        for name, group in groups.items()
    )
    return Results(lines, agreed, n, returned(rows), classifier.name if classifier else "")


def _line(
    annotated: AnnotationSet, name: str, group: Sequence[Judged], model: OnModel | None
) -> Line:
    needs_gold = annotated.mode.name == "labels"
    decided = [item for item in group if item.majority and (item.item.gold or not needs_gold)]
    golds = annotated.task.in_common([item.item.gold for item in decided])
    measured = zip(decided, golds, strict=True)
    complete = [item for item in group if len(item.votes) == annotated.votes]
    return Line(
        name,
        share([_measured(annotated, item, gold) for item, gold in measured]),
        sum(not item.majority for item in complete),
        len(group) - len(complete),
        paper_share(annotated, name),
        model,
        IN_COMMON if needs_gold and annotated.task.merges(golds) else "",
    )


def _measured(annotated: AnnotationSet, item: Judged, gold: Label | None) -> bool:
    if annotated.mode.name == "labels":
        return annotated.task.matches(item.majority, gold or "")
    return item.majority == {"valid": INVALID, "distractor": KEPT}[annotated.mode.name]


def paper_share(annotated: AnnotationSet, transform: str) -> float | None:
    """Return what the paper's people came to for a transform, None where it does not say.

    What table 4 says of validity it says of all tasks together.
    """
    name = TABLES.get(annotated.mode.name)
    if name is None:
        return None
    task = annotated.task.name if name == TABLES["labels"] else "nli"
    table = published_for(name, task, "")
    return table.value(transform or "untouched", table.columns[0]) if table else None


Said = Mapping[str, tuple[bool, float, Label]]
"""By item: whether the model keeps its answer, how sure it is, and its answer."""


def on_items(annotated: AnnotationSet, classifier: AnyModel) -> Said:
    """Ask a model about the same items, changed and as they were."""
    items = [item for item in annotated.items.values() if not item.control]
    task = classifier.task
    after = classifier.predict([example_of(task, item) for item in items])
    before = classifier.predict([example_of(task, item, before=True) for item in items])
    said: dict[str, tuple[bool, float, Label]] = {}
    for item, now, then in zip(items, after, before, strict=True):
        expected = (default_of(item.transform, task) if item.transform else None) or then.label
        said[item.id] = (task.agrees(expected, now.label), now.confidence, now.label)
    return said


def _on_model(annotated: AnnotationSet, group: Sequence[Judged], said: Said) -> OnModel:
    answers, task = [said[item.item.id] for item in group], annotated.task
    golds = task.in_common([item.item.gold for item in group])
    rights = [
        task.matches(label, gold)
        for (_, _, label), gold in zip(answers, golds, strict=True)
        if gold
    ]
    return OnModel(
        share([agrees for agrees, _, _ in answers]),
        mean([confidence for _, confidence, _ in answers]),
        share(rights),
    )


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
        "kappa": None if found.kappa != found.kappa else found.kappa,
        "kappa_items": found.kappa_n,
        "returned": asdict(found.returned),
        "lines": [_line_json(line) for line in found.lines],
    }


def _line_json(line: Line) -> Json:
    model = line.model
    return {
        "transform": line.transform or "untouched",
        "share": estimate_json(line.share),
        **({"classes": line.classes} if line.classes else {}),
        "undecided": line.undecided,
        "open": line.open,
        "paper": line.paper,
        "model": model
        and {
            "agreement": estimate_json(model.agreement),
            "confidence": estimate_json(model.confidence),
            "accuracy": estimate_json(model.accuracy),
        },
    }


BEFORE = "before_"
"""Begins the name of a column with a text as it was before the change."""


def items_frame(task: Task, items: Sequence[Item]) -> pd.DataFrame:
    """Return items as a table: id, transform, gold, control, the texts, the texts before."""
    return pd.DataFrame(
        [
            {
                "id": item.id,
                "transform": item.transform,
                "gold": item.gold or "",
                "control": item.control,
                **{name: item.texts[name] for name in task.fields},
                **{f"{BEFORE}{name}": item.before[name] for name in task.fields},
            }
            for item in items
        ]
    )


def votes_frame(rows: Sequence[Judgement]) -> pd.DataFrame:
    """Return judgements as a table, one a row; `counts` is 0 where the control was failed."""
    return pd.DataFrame(
        [
            {
                "respondent": row.respondent,
                "nickname": row.nickname,
                "batch": row.batch + 1,
                "item": row.item.id,
                "transform": row.item.transform or "untouched",
                "control": row.item.control,
                "answer": row.answer,
                "counts": int(row.counts),
                "sent": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(row.sent)),
            }
            for row in rows
        ],
        columns=[
            *("respondent", "nickname", "batch", "item", "transform", "control", "answer"),
            *("counts", "sent"),
        ],
    )


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV. Raises FileError, also for a name that says another form."""
    form_of(path, ("csv",))
    with in_place(path) as fresh, writing(path):
        frame.to_csv(fresh, index=False)


def read_items(path: Path, task: Task, mode: Mode) -> list[Item]:
    """Read items as `items_frame` writes them; only the texts and their columns are required.

    Raises FileError, with the number of the row where one cannot be used.
    """
    frame = read_table(path).frame
    missing = [name for name in task.fields if name not in frame.columns]
    if missing:
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
        items.append(
            Item(
                cells.get("id") or str(number), texts, before, cells.get("transform", ""), gold,
                control,
            )
        )  # fmt: skip
    if len({item.id for item in items}) < len(items):
        raise FileError(f"two rows of {path.name} have the same id")
    return items
