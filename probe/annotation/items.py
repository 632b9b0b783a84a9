"""The items of an annotation: texts drawn by seed, some changed and some as they were."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any

from probe.analysis.transformed import transform_all
from probe.annotation.modes import DROPPED, INVALID, VALID, Mode
from probe.errors import ExampleError
from probe.models.library import AnyModel
from probe.runs.run import Json
from probe.tasks.task import Label, Task

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

    @property
    def json(self) -> Json:
        """The item as JSON values."""
        return asdict(self)


def item_from(values: Json) -> Item:
    """Read an item back."""
    return Item(**values)


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
