"""Which task a file is for."""

from pathlib import Path

import pytest

from probe.data.fitting_task import fitting_task
from probe.data.tables import read_table
from probe.tasks.nli import NLI
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import Task

TASKS = (NLI, PARAPHRASE_IDENTIFICATION, SENTIMENT)


@pytest.mark.parametrize(
    ("header", "row", "asked", "fitting"),
    [
        ("premise,hypothesis,label", "A.,B.,neutral", SENTIMENT, NLI),
        ("sentence1,sentence2,label", "A.,B.,contradiction", PARAPHRASE_IDENTIFICATION, NLI),
        ("question1,question2,is_duplicate", "A?,B?,1", NLI, PARAPHRASE_IDENTIFICATION),
        ("review,label", "Good.,pos", NLI, SENTIMENT),
        ("sentence1,sentence2,label", "A.,B.,1", NLI, None),
        ("review,label", "Good.,five stars", NLI, SENTIMENT),
        ("text,label", "Good.,spam", SENTIMENT, None),
    ],
)
def test_a_file_is_told_by_its_columns_and_its_labels(
    tmp_path: Path, header: str, row: str, asked: Task, fitting: Task | None
) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(f"{header}\n{row}\n")
    assert fitting_task(read_table(path), asked, TASKS) is fitting
