"""An annotation set: items in batches, what people are asked about them, how many votes each."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from probe.analysis.transformed import transform_all
from probe.errors import ArgumentError, ExampleError, SurveyError
from probe.models.library import AnyModel
from probe.runs.run import Json
from probe.runs.store import Store
from probe.surveys.survey import Survey, own_survey, responses, set_content, survey_of
from probe.tasks.task import TASKS, Label, Task

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


def _labelled(task: Task) -> bool:
    return bool(task.labels)


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
            _labelled,
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
            _labelled,
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


@dataclass(frozen=True)
class Item:
    """One text to judge. `texts` are the example's by field, `before` those before any change.

    `transform` is "" where nothing was changed, `control` the answer that a control item must get,
    "" for all others. `gold` is the label of the example before the change.
    """

    id: str
    texts: Mapping[str, str]
    before: Mapping[str, str]
    transform: str = ""
    gold: Label | None = None
    control: str = ""


def example_of(task: Task, item: Item, before: bool = False) -> Any:  # Any: the task's own class
    """Return an item as an example of its task, changed or as it was."""
    texts = item.before if before else item.texts
    return task.example(**texts, gold=item.gold, id=item.id)


def shown_texts(task: Task, mode: Mode, item: Item) -> dict[str, str]:
    """Return what people see of an item: the texts by their titles."""
    if task.has_spans:
        question, sentence = item.texts["question"], _sentence(item)
        return {task.title_of("question"): question, "Sentence": sentence}
    if not mode.whole:
        return {"Text": item.texts[task.target]}
    return {task.title_of(field): item.texts[field] for field in task.fields}


def _sentence(item: Item) -> str:
    """Return what a distractor added to the passage; of a control the sentence that it holds."""
    before, after = item.before["passage"], item.texts["passage"]
    if not before:
        return after
    return after.removeprefix(before).removesuffix(before).strip() or after


def draw_items(
    task: Task,
    mode: Mode,
    examples: Sequence[Any],
    transforms: Sequence[str],
    each: int,
    classifier: AnyModel,
    seed: int = 0,
) -> tuple[list[Item], list[Item]]:
    """Draw items and control items from examples; the same seed draws the same.

    Of each transform there are `each` texts that it did change. For the question whether a text is
    valid as many are untouched, as in Gupta et al. 2021; for the task itself `each` are; of
    distractors none. No example serves twice while there are others. Raises ExampleError where
    there are too few, and what transforms raise.
    """
    pool = list(examples)
    random.Random(f"{seed}|annotation").shuffle(pool)
    controls = _controls(task, mode, pool, classifier, seed)
    set_aside = {item.id for item in controls}
    pool = [example for example in pool if example.id not in set_aside]
    drawn: list[Item] = []
    for name in transforms:
        changed = _changed(task, name, pool, each, classifier, seed)
        drawn += changed
        used = {item.id for item in changed}
        pool = [example for example in pool if example.id not in used] + [
            example for example in pool if example.id in used
        ]
    whole = {"valid": len(drawn) or each, "labels": each}.get(mode.name, 0)
    if len(pool) < whole:
        raise ExampleError(
            f"the controls left {len(pool)} examples, too few for {whole} untouched ones"
        )
    drawn += [_untouched(task, example) for example in pool[:whole]]
    random.Random(f"{seed}|order").shuffle(drawn)
    return _numbered(drawn, ""), _numbered(controls, "c")


def _numbered(items: Sequence[Item], prefix: str) -> list[Item]:
    return [replace(item, id=f"{prefix}{number}") for number, item in enumerate(items, 1)]


def _untouched(task: Task, example: Any) -> Item:
    texts = task.texts(example)
    return Item(example.id, texts, texts, gold=example.gold)


def _changed(
    task: Task, name: str, pool: Sequence[Any], n: int, classifier: AnyModel, seed: int
) -> list[Item]:
    """Return the first n of the pool that a transform changes. Raises ExampleError for fewer."""
    transformed = _transformed(task, name, pool, classifier, seed, n)
    found = list(islice(transformed, n))
    if len(found) < n:
        raise ExampleError(
            f"{name} changes {len(found)} of the {len(pool)} examples that the controls left, "
            f"fewer than {n}"
        )
    return found


def _transformed(
    task: Task, name: str, pool: Sequence[Any], classifier: AnyModel, seed: int, together: int
) -> Iterator[Item]:
    """Yield the examples that a transform changes; so many are transformed together."""
    for start in range(0, len(pool), together):
        chunk = pool[start : start + together]
        predictions = classifier.predict(chunk)
        rows = transform_all(classifier, chunk, predictions, [name], seed)[name]
        for example, row in zip(chunk, rows, strict=True):
            if (result := row[0].result).changed:
                yield Item(
                    example.id,
                    task.texts(result.example),
                    task.texts(example),
                    name,
                    example.gold,
                )


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
    if mode.name == "distractor":
        return [_answering(task, example) for example in first]
    items = [_untouched(task, example) for example in first]
    if mode.name == "labels":
        return [replace(item, control=item.gold or "") for item in items]
    longest = sorted(items, key=lambda item: -len(item.texts[task.target].split()))
    broken = {item.id for item in longest[: CONTROLS // 2]}
    examples = [example for example in first if example.id in broken]
    transformed = _transformed(task, "shuffle", examples, classifier, seed, CONTROLS)
    shuffled = {item.id: item for item in transformed}
    return [
        replace(shuffled[item.id], control=INVALID)
        if item.id in shuffled
        else replace(item, control=VALID)
        for item in items
    ]


def _answering(task: Task, example: Any) -> Item:
    """Return the sentence of a passage that holds the answer, as what is to be judged."""
    passage, answer = example.passage, example.answers[0]
    start = passage.rfind(". ", 0, answer.start)
    begin = 0 if start < 0 else start + 2
    end = passage.find(". ", answer.start + len(answer.text))
    sentence = passage[begin:] if end < 0 else passage[begin : end + 1]
    texts = {**task.texts(example), "passage": sentence}
    return Item(example.id, texts, {**texts, "passage": ""}, gold=example.gold, control=DROPPED)


BATCH, VOTES = 5, 3
"""Items of a batch, its control among them, and people who judge each item: the paper's."""


@dataclass(frozen=True)
class AnnotationSet:
    """A survey that asks people about items."""

    survey: Survey

    @cached_property
    def task(self) -> Task:
        """The task of the items."""
        return TASKS[self.survey.content["task"]]

    @property
    def mode(self) -> Mode:
        """What people are asked."""
        return MODES[self.survey.content["mode"]]

    @property
    def answers(self) -> tuple[str, ...]:
        """What people choose from."""
        return self.mode.answers(self.task)

    @property
    def address(self) -> str:
        """The part of the link behind the page's address."""
        return "?" + urlencode({"tab": "annotate", "task": self.task.name, "set": self.survey.id})

    @property
    def votes(self) -> int:
        """How many people judge each item."""
        return int(self.survey.content["votes"])

    @cached_property
    def items(self) -> dict[str, Item]:
        """The items and controls by id."""
        return {values["id"]: Item(**values) for values in self.survey.content["items"]}

    @cached_property
    def batches(self) -> tuple[tuple[str, ...], ...]:
        """The ids of the items of each batch."""
        return tuple(map(tuple, self.survey.content["batches"]))

    def passed(self, batch: int, answers: Mapping[str, str]) -> bool:
        """Whether a batch's control items got their answers."""
        controls = (self.items[item] for item in self.batches[batch] if self.items[item].control)
        return all(answers.get(item.id) == item.control for item in controls)


def content_of(
    task: Task,
    mode: Mode,
    items: Sequence[Item],
    batches: Sequence[Sequence[str]],
    votes: int = VOTES,
    source: str = "",
) -> Json:
    """Return the content of a survey; `source` says where the items come from."""
    return {
        "task": task.name,
        "mode": mode.name,
        "votes": votes,
        "source": source,
        "items": [asdict(item) for item in items],
        "batches": [list(batch) for batch in batches],
    }


def annotation_set(store: Store, survey_id: str) -> AnnotationSet:
    """Return the set behind a link. Raises SurveyError."""
    return AnnotationSet(survey_of(store, survey_id, "annotation"))


def key(batch: int, item: str) -> str:
    """Return by what an answer is stored: a control item stands in several batches."""
    return f"{batch}:{item}"


def from_key(stored: str) -> tuple[int, str]:
    """Return batch and item of a stored answer."""
    batch, _, item = stored.partition(":")
    return int(batch), item


def set_control(store: Store, owner: str, survey_id: str, item: str, answer: str) -> None:
    """Change the answer that a control item must get. Raises SurveyError once there are answers."""
    annotated = AnnotationSet(own_survey(store, owner, survey_id))
    control = annotated.items.get(item)
    if control is None or not control.control or answer not in annotated.answers:
        raise SurveyError("this is no control of the set, or none of its answers")
    if responses(store, survey_id):
        raise SurveyError("people have answered already, so that the controls stay as they are")
    items = [
        {**values, "control": answer} if values["id"] == item else values
        for values in annotated.survey.content["items"]
    ]
    set_content(store, owner, survey_id, {**annotated.survey.content, "items": items})
