"""An annotation set: items in batches, what people are asked about them, how many votes each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

from probe.annotation.items import Item, item_from
from probe.annotation.modes import MODES, Mode
from probe.errors import SurveyError
from probe.runs.run import Json
from probe.runs.store import Store
from probe.surveys.survey import Survey, own_survey, responses, set_content, survey_of
from probe.tasks.task import TASKS, Task

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
        return {values["id"]: item_from(values) for values in self.survey.content["items"]}

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
        "items": [item.json for item in items],
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
