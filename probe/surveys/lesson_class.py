"""A class at a lesson: what its visitors guess at each step, for a day, without names."""

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from probe.runs.owners import DAY
from probe.runs.store import Store
from probe.surveys.survey import Survey, create_survey, has_joined, join, respond, responses


def start_class(store: Store, owner: str, title: str, lesson: str, task: str, model: str) -> Survey:
    """Make a class that fixes lesson, task and model, and ends after a day. Raises SurveyError."""
    content = {"lesson": lesson, "task": task, "model": model}
    return create_survey(store, owner, "lesson", title, content, DAY)


def record_guess(store: Store, survey: Survey, visitor: str, step: str, choice: int) -> None:
    """Keep what a visitor chose at a step, by the number of the choice; the first guess stays.

    Raises SurveyError where the class has ended.
    """
    if not has_joined(store, survey, visitor):
        join(store, survey, visitor)
    respond(store, survey, visitor, {step: str(choice)})


def guesses(store: Store, survey_id: str, step: str, choices: int) -> list[int]:
    """Return how many guessed each choice of a step."""
    counts = Counter(row.answer for row in responses(store, survey_id) if row.item == step)
    return [counts[str(choice)] for choice in range(choices)]


def guesses_frame(store: Store, survey_id: str) -> pd.DataFrame:
    """Return all guesses of a class as a table: respondent, step and the number of the choice."""
    rows: Sequence[dict[str, object]] = [
        {"respondent": row.respondent, "step": row.item, "choice": int(row.answer) + 1}
        for row in responses(store, survey_id)
    ]
    return pd.DataFrame(rows, columns=["respondent", "step", "choice"])
