"""Which of the scored rows are shown."""

import pytest

from probe.ui.batch_tables import ALL, ANY, LEAST_SURE, PAGE_ROWS, Record, Selection, page


def row(number: int, gold: str, confidence: float | None, wrong: bool, agrees: bool) -> Record:
    """Return a scored row with one change; without a confidence it was not scored."""
    made = {"label": "x", "confidence": 0.5, "agrees": agrees, "changed": True, "text": ""}
    return {
        "row": number,
        "texts": {},
        "gold": gold,
        "label": "x",
        "confidence": confidence,
        "error": "" if confidence else "empty",
        "wrong": wrong,
        "made": {"sort": [made] if confidence else []},
    }


ROWS = [
    row(1, "entailment", 0.9, wrong=False, agrees=True),
    row(2, "neutral", 0.4, wrong=True, agrees=False),
    row(3, "entailment", 0.6, wrong=True, agrees=True),
    row(4, "", None, wrong=False, agrees=True),
]


@pytest.mark.parametrize(
    ("selection", "numbers"),
    [
        (Selection(), [1, 2, 3, 4]),
        (Selection("Wrong"), [2, 3]),
        (Selection("Answer changed"), [2]),
        (Selection(LEAST_SURE), [2, 3, 1]),
        (Selection("Not scored"), [4]),
        (Selection(ALL, "entailment"), [1, 3]),
        (Selection("Wrong", "entailment"), [3]),
        (Selection(ALL, ANY, "sort"), [1, 3]),
    ],
)
def test_a_filter_a_label_and_a_change_choose_rows(
    selection: Selection, numbers: list[int]
) -> None:
    assert [each["row"] for each in page(ROWS, selection, 1)[0]] == numbers


def test_a_page_beyond_the_last_is_the_last() -> None:
    rows = ROWS * PAGE_ROWS
    part, number, last, count = page(rows, Selection(), 99)
    assert (len(part), number, last, count) == (PAGE_ROWS, 4, 4, 4 * PAGE_ROWS)
