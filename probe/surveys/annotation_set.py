"""An annotation set: items in batches, what people are asked about them, who is given which batch.

A batch has one control item. It is done when enough people have answered it who gave the control
its answer; a batch that somebody was given and did not return counts as taken for a while.
"""

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError

from probe.analysis.transformed import transform_all
from probe.errors import ArgumentError, ExampleError, SurveyError
from probe.models.library import AnyModel
from probe.runs.access import as_token
from probe.runs.database import AssignmentRow, ResponseRow, Survey
from probe.runs.store import Store
from probe.surveys.survey import (
    add_responses,
    change_survey,
    create_survey,
    own_survey,
    require_open,
    require_respondent,
    responses,
    survey_of,
)
from probe.tasks.task import TASKS, Label, Task
from probe.transforms.options import PUBLISHED
from probe.transforms.registry import ranks

VALID, INVALID = "valid", "invalid"
KEPT, DROPPED = "yes", "no"


@dataclass(frozen=True)
class Mode:
    """A question to people: `suits` says for which tasks, `answers` what they choose from.

    `whole` says that they see all texts of an example, else the changed one alone.
    """

    name: str
    title: str
    summary: str
    instructions: str
    question: Callable[[Task], str]
    answers: Callable[[Task], tuple[Label, ...]]
    suits: Callable[[Task], bool]
    whole: bool


MODES: Mapping[str, Mode] = {
    mode.name: mode
    for mode in (
        Mode(
            "valid",
            "Is it a text at all?",
            "Each text is called valid or invalid, as in table 4 of Gupta et al. 2021.",
            "Some of these texts were broken by a program, others are as somebody wrote them. Call "
            "a text invalid only if it is neither natural nor understandable.",
            lambda task: "Is this text valid?",
            lambda task: (VALID, INVALID),
            lambda task: bool(task.labels),
            whole=False,
        ),
        Mode(
            "labels",
            "Do the model's task",
            "People answer what the model is asked, as in table 14 of Gupta et al. 2021.",
            "Some of these texts were broken by a program. Think of what they may have said "
            "before, as well as you can, and answer.",
            lambda task: task.question,
            lambda task: task.labels,
            lambda task: bool(task.labels),
            whole=True,
        ),
        Mode(
            "distractor",
            "Check the distractors",
            "Each sentence is kept or dropped, as in the last step of Jia and Liang 2017.",
            "Each sentence was made by a program, to mislead a reader. It may say what is false, "
            "and in a wrong tense. Yes only if it is grammatical, states something, and does not "
            "answer the question.",
            lambda task: "Grammatical, a statement, and no answer to the question?",
            lambda task: (KEPT, DROPPED),
            lambda task: task.has_spans,
            whole=True,
        ),
    )
}


def modes_for(task: Task) -> tuple[Mode, ...]:
    """Return what people can be asked about a task's examples."""
    return tuple(mode for mode in MODES.values() if mode.suits(task))


def mode_for(task: Task, name: str) -> Mode:
    """Return a mode by its name. Raises ArgumentError where the task has none of this name."""
    suitable = {mode.name: mode for mode in modes_for(task)}
    if name not in suitable:
        known = ", ".join(suitable) or "none"
        raise ArgumentError(f"{task.title} has no annotation {name!r}; it has: {known}")
    return suitable[name]


CONTROLS = 5
"""Control items of a set; batches take them in turn."""
BATCH, VOTES = 5, 3
"""Items of a batch, its control among them, and people who judge each item: the paper's."""


@dataclass(frozen=True)
class Item:
    """One text to judge. `texts` are the example's by field, `before` those before any change.

    `transform` is "" where nothing was changed, `control` the answer that a control item must get,
    "" for all others. `gold` is the label of the example before the change, `sign` that by which
    the change ranked tokens, "" where it ranked none or an earlier version made it.
    """

    id: str
    texts: Mapping[str, str]
    before: Mapping[str, str]
    transform: str = ""
    gold: Label | None = None
    control: str = ""
    sign: str = ""


def example_of(task: Task, item: Item, before: bool = False) -> Any:  # Any: the task's own class
    """Return an item as an example of its task, changed or as it was."""
    texts = item.before if before else item.texts
    return task.example(**texts, gold=item.gold, id=item.id)


def shown_texts(task: Task, mode: Mode, item: Item) -> dict[str, str]:
    """Return what people see of an item: the texts by their titles.

    Of a passage it is what a distractor added, of a control the sentence that it holds.
    """
    if task.has_spans:
        before, after = item.before["passage"], item.texts["passage"]
        added = after.removeprefix(before).removesuffix(before).strip() if before else ""
        return {task.title_of("question"): item.texts["question"], "Sentence": added or after}
    if not mode.whole:
        return {"Text": item.texts[task.target]}
    return {task.title_of(field): item.texts[field] for field in task.fields}


TOGETHER = 8
"""Examples at most that are changed together, between two reports of the progress."""


@dataclass(frozen=True)
class Drawn:
    """The share of a set's changes that are drawn; at the end its items and its controls."""

    share: float
    items: Sequence[Item] = ()
    controls: Sequence[Item] = ()


def draw_items(
    task: Task,
    mode: Mode,
    examples: Sequence[Any],
    transforms: Sequence[str],
    each: int,
    classifier: AnyModel,
    seed: int = 0,
) -> Iterator[Drawn]:
    """Draw items and control items from examples, change by change; the same seed draws the same.

    Of each transform there are `each` texts that it did change. For the question whether a text is
    valid as many are untouched, as in Gupta et al. 2021; for the task itself `each` are; of
    distractors none. No example serves twice while there are others. Raises ExampleError where
    there are too few, and what transforms raise.
    """
    pool = list(examples)
    random.Random(f"{seed}|annotation").shuffle(pool)
    controls = _controls(task, mode, pool, classifier, seed)
    pool = _without(pool, controls)
    drawn: list[Item] = []
    for done, name in enumerate(transforms):
        changed = list[Item]()
        found = _changed(task, name, pool, classifier, seed, min(each, TOGETHER))
        for item in islice(found, each):
            if len(changed) % TOGETHER == 0:
                yield Drawn((done + len(changed) / each) / len(transforms))
            changed.append(item)
        if len(changed) < each:
            raise ExampleError(
                f"{name} changes {len(changed)} of the {len(pool)} examples that the controls "
                f"left, fewer than {each}"
            )
        drawn += changed
        fresh = _without(pool, changed)
        pool = fresh + _without(pool, fresh)
    whole = {"valid": len(drawn) or each, "labels": each}.get(mode.name, 0)
    if len(pool) < whole:
        raise ExampleError(
            f"the controls left {len(pool)} examples, too few for {whole} untouched ones"
        )
    drawn += [_untouched(task, example) for example in pool[:whole]]
    random.Random(f"{seed}|order").shuffle(drawn)
    yield Drawn(
        1.0,
        [replace(item, id=str(number)) for number, item in enumerate(drawn, 1)],
        [replace(item, id=f"c{number}") for number, item in enumerate(controls, 1)],
    )


def _without(pool: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    """Return the examples of a pool whose ids none of the others has."""
    ids = {each.id for each in others}
    return [example for example in pool if example.id not in ids]


def _untouched(task: Task, example: Any) -> Item:
    texts = task.texts(example)
    return Item(example.id, texts, texts, gold=example.gold)


def _changed(
    task: Task, name: str, pool: Sequence[Any], classifier: AnyModel, seed: int, together: int
) -> Iterator[Item]:
    """Yield the examples that a transform changes; so many are transformed together."""
    for start in range(0, len(pool), together):
        chunk = pool[start : start + together]
        predictions = classifier.predict(chunk)
        options = replace(PUBLISHED, draws=1)  # people are shown one
        rows = transform_all(classifier, chunk, predictions, [name], seed, options)[name]
        for example, row in zip(chunk, rows, strict=True):
            if (result := row[0].result).changed:
                texts = task.texts(result.example)
                sign = PUBLISHED.sign if ranks(name) else ""
                yield Item(example.id, texts, task.texts(example), name, example.gold, sign=sign)


def _controls(
    task: Task, mode: Mode, pool: Sequence[Any], classifier: AnyModel, seed: int
) -> list[Item]:
    """Return the first items of the pool with the answer that is plain for them.

    For valid or not whole and shuffled texts in turn; for the task the gold label; of distractors
    the sentence that holds the answer, which must be dropped.
    """
    able = [example for example in pool if mode.name == "valid" or example.gold]
    if len(able) < CONTROLS:
        raise ExampleError(f"{len(able)} examples can be controls; a set needs {CONTROLS}")
    first = able[:CONTROLS]
    items = [_untouched(task, example) for example in first]
    if mode.name == "distractor":
        return [_answering(*both) for both in zip(items, first, strict=True)]
    if mode.name == "labels":
        return [replace(item, control=item.gold or "") for item in items]
    longest = sorted(items, key=lambda item: -len(item.texts[task.target].split()))
    broken = _without(first, longest[CONTROLS // 2 :])
    shuffled = {
        item.id: item for item in _changed(task, "shuffle", broken, classifier, seed, CONTROLS)
    }
    return [
        replace(shuffled.get(item.id, item), control=INVALID if item.id in shuffled else VALID)
        for item in items
    ]


def _answering(item: Item, example: Any) -> Item:
    """Return the sentence of a passage that holds the answer, as what is to be judged."""
    passage, answer = example.passage, example.answers[0]
    begin = passage.rfind(". ", 0, answer.start) + 1
    end = passage.find(". ", answer.start + len(answer.text)) + 1 or len(passage)
    texts = {**item.texts, "passage": passage[begin + bool(begin) : end]}
    return replace(item, texts=texts, before={**texts, "passage": ""}, control=DROPPED)


class AnnotationSet:
    """A survey that asks people about items.

    `answers` are what people choose from, `votes` how many judge each item, `items` all by id,
    controls too, and `batches` the ids of the items of each batch.
    """

    def __init__(self, survey: Survey) -> None:
        """Read a survey's content."""
        self.survey, content = survey, survey.content
        self.task: Task = TASKS[content["task"]]
        self.mode = MODES[content["mode"]]
        self.answers = self.mode.answers(self.task)
        self.votes = int(content["votes"])
        self.items = {values["id"]: Item(**values) for values in content["items"]}
        self.batches: Sequence[Sequence[str]] = content["batches"]

    def passed(self, batch: int, answers: Mapping[str, str]) -> bool:
        """Whether a batch's control items got their answers."""
        controls = (self.items[item] for item in self.batches[batch] if self.items[item].control)
        return all(answers.get(item.id) == item.control for item in controls)


def create_set(
    store: Store,
    owner: str,
    task: Task,
    mode: Mode,
    items: Sequence[Item],
    *,
    votes: int = VOTES,
    source: str = "",
    title: str = "",
    seed: int = 0,
) -> AnnotationSet:
    """Store items and controls as a set; `source` says where they come from. Raises SurveyError."""
    controls = [item for item in items if item.control]
    content = {
        "task": task.name,
        "mode": mode.name,
        "votes": votes,
        "source": source,
        "items": [asdict(item) for item in items],
        "batches": into_batches(_without(items, controls), controls, BATCH, seed),
    }
    return AnnotationSet(create_survey(store, owner, "annotation", title or mode.title, content))


def into_batches(
    items: Sequence[Item], controls: Sequence[Item], size: int, seed: int = 0
) -> list[list[str]]:
    """Return the ids of each batch: `size` items at most, one of them a control at a drawn place.

    Without controls all are items.
    """
    per_batch = size - 1 if controls else size
    rng, batches = random.Random(f"{seed}|batches"), []
    for number, start in enumerate(range(0, len(items), per_batch)):
        ids = [item.id for item in items[start : start + per_batch]]
        if controls:
            ids.insert(rng.randint(0, len(ids)), controls[number % len(controls)].id)
        batches.append(ids)
    return batches


def annotation_set(store: Store, survey_id: str) -> AnnotationSet:
    """Return the set behind a link. Raises SurveyError."""
    return AnnotationSet(survey_of(store, survey_id, "annotation"))


def set_control(store: Store, owner: str, survey_id: str, item: str, answer: str) -> None:
    """Change the answer that a control item must get. Raises SurveyError once there are answers."""
    annotated = AnnotationSet(own_survey(store, owner, survey_id, "annotation"))
    control = annotated.items.get(item)
    if control is None or not control.control or answer not in annotated.answers:
        raise SurveyError("this is no control of the set, or none of its answers")
    if responses(store, survey_id):
        raise SurveyError("people have answered already, so that the controls stay as they are")
    items = {**annotated.items, item: replace(control, control=answer)}
    content = {**annotated.survey.content, "items": [asdict(each) for each in items.values()]}
    change_survey(store, owner, survey_id, content=content)


def key(batch: int, item: str) -> str:
    """Return by what an answer is stored: a control item stands in several batches."""
    return f"{batch}:{item}"


RESERVED_SECONDS = 15 * 60
"""For so long nobody else is given the place of a batch that somebody has begun."""


def next_batch(store: Store, annotated: AnnotationSet, visitor: str) -> int | None:
    """Give a respondent a batch that is still to be judged, None where there is none for them.

    The one that they have begun, else of those that need people the one with the most. Raises
    SurveyError where the set has ended or they have not opened its link.
    """
    survey, token = annotated.survey, as_token(visitor)
    require_respondent(store, survey, visitor)
    with store.database.session() as session:
        rows = session.scalars(select(AssignmentRow).where(AssignmentRow.survey == survey.id)).all()
        answered = session.scalars(select(ResponseRow).where(ResponseRow.survey == survey.id))
        given = {(row.visitor, row.item): row.answer for row in answered}
    mine = {row.batch: row for row in rows if row.visitor == token}
    taken = dict.fromkeys(range(len(annotated.batches)), 0)
    for row in rows:
        answers = {
            item: given.get((row.visitor, key(row.batch, item)), "")
            for item in annotated.batches[row.batch]
        }
        reserved = row.given > time.time() - RESERVED_SECONDS
        taken[row.batch] += annotated.passed(row.batch, answers) if row.finished else reserved
    begun = [batch for batch, row in mine.items() if not row.finished]
    wanting = [batch for batch in taken if batch not in mine and taken[batch] < annotated.votes]
    batch = max(begun or wanting, key=lambda batch: (taken[batch], -batch), default=None)
    if batch is not None:
        row = AssignmentRow(survey=survey.id, visitor=token, batch=batch, given=time.time())
        # another page of the same visitor may be quicker
        with suppress(IntegrityError), store.database.writing() as session:
            session.merge(row)
    return batch


def submit_batch(
    store: Store, annotated: AnnotationSet, visitor: str, batch: int, answers: Mapping[str, str]
) -> None:
    """Store a respondent's answers to a batch that they were given, by the ids of its items.

    Raises SurveyError where one is missing or is none of the answers, and where the batch is not
    theirs or was sent before.
    """
    survey, token = annotated.survey, as_token(visitor)
    require_open(survey)
    numbered = enumerate(annotated.batches[batch], 1)
    if missing := [str(at) for at, item in numbered if answers.get(item) not in annotated.answers]:
        numbers = ", ".join(missing)
        raise SurveyError(f"answer every text first: still open is number {numbers}")
    # another page of the same visitor may be quicker
    with suppress(IntegrityError), store.database.writing() as session:
        row = session.get(AssignmentRow, (survey.id, token, batch))
        if row is None:
            raise SurveyError("these were not given to you; open the link again")
        if not row.finished:
            row.finished = time.time()
            keyed = {key(batch, item): answers[item] for item in annotated.batches[batch]}
            add_responses(session, survey.id, token, keyed)


def sent_batches(store: Store, annotated: AnnotationSet, visitor: str) -> int:
    """Return how many batches a respondent has sent."""
    sent = select(func.count()).where(
        AssignmentRow.survey == annotated.survey.id,
        AssignmentRow.visitor == as_token(visitor),
        AssignmentRow.finished > 0,
    )
    with store.database.session() as session:
        return session.scalar(sent.select_from(AssignmentRow)) or 0
