"""Rows that come back from a worker are shown as those that were scored here."""

from collections.abc import Sequence

import pandas as pd
import pytest

from probe.analysis.batch import score
from probe.data.rows import Columns, guess, of_frame, read_rows
from probe.models.library import AnyModel
from probe.scoring.files import ScoringRequest, pack, part_of, read_packed_values
from probe.tasks.nli import NLI
from probe.tasks.reading import READING
from probe.tasks.task import Task
from probe.ui.results.batch_tables import view
from probe.ui.results.part_rows import part_view
from tests.support.models.tiny_models import shared
from tests.support.models.tiny_word_models import word_reader

PAIRS = pd.DataFrame(
    [
        ("Tim has 350 stamps.", "Tim is glad.", "neutral"),
        ("A man walks.", "He moves.", "perhaps"),
        ("A man walks.", "He sleeps now.", ""),
        ("", "He moves.", "neutral"),
        ("A man walks.", "He does not walk.", "2"),
    ],
    columns=["premise", "hypothesis", "label"],
    dtype=object,
)
QUESTIONS = pd.DataFrame(
    [("Ann saw Tim in Rome.", "Whom did Ann see?", "Tim"), ("", "Who?", "Tim")],
    columns=["context", "question", "answers"],
    dtype=object,
)


@pytest.mark.parametrize(
    ("frame", "task", "model", "names"),
    [
        (PAIRS, NLI, shared(), ("numerical", "negation+reverse", "sort")),
        (PAIRS, NLI, shared(), ()),
        (QUESTIONS, READING, word_reader("bidaf"), ("sort",)),
    ],
)
def test_a_part_is_shown_as_the_rows_that_it_came_of(
    frame: pd.DataFrame, task: Task, model: AnyModel, names: Sequence[str]
) -> None:
    table = of_frame(frame, "csv")
    columns: Columns = guess(table.names, task)
    rows = [row for chunk in score(table, columns, model, names) for row in chunk.rows]
    request = ScoringRequest(Columns({}), tuple(names), precision="fp32")
    part = read_packed_values(pack(vars(part_of(rows, model, request))))
    shown = part_view(read_rows(table, columns, task), columns, part, task, names)
    assert shown == view(rows, names, columns)
    assert [bool(row["error"]) for row in shown] == [not row.prediction for row in rows]
