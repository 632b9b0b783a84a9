"""What the Compare tab shows of readers: F1, exact match, who is right where they differ."""

from types import SimpleNamespace
from typing import Any

import pytest

from probe.analysis.comparison import Row
from probe.analysis.slices import slices_of
from probe.models.reader import SpanPrediction
from probe.tasks.nli import NLI
from probe.tasks.reading import READING, Question
from probe.ui.html.compare.cells import chosen, numbers, page, slices
from probe.ui.html.compare.pictures import matrix, parts
from probe.ui.html.compare.result import agreement_on_one, empty, tiles
from probe.ui.html.compare.result import tests as in_sentences

NAMES = ["<b>one", "two"]
PASSAGE = "Thirty <i>blue</i> boats lay in Rome in 1956."


def answer(text: str) -> SpanPrediction:
    return SpanPrediction(text, (0.9,), (text,), 0, len(text), 1)


def row(number: int, gold: str | None, *said: str) -> Row:
    asked = Question("What <u>lay</u> there?", PASSAGE, gold, str(number))
    return Row(number, READING, asked, tuple(map(answer, said)), "", (False,) * len(said))


ROWS = [
    row(0, "blue boats", "blue boats", "boats"),
    row(1, "1956", "Thirty", "1956"),
    row(2, "1956", "1956", "1956."),
    row(3, "Rome", "Thirty", "1956"),
]


def test_the_empty_page_promises_the_test_of_its_task() -> None:
    reading, inference = empty(READING, 2, 150), empty(NLI, 2, 150)
    assert "a paired bootstrap of F1" in reading and "McNemar" not in reading
    assert "McNemar" in inference and "bootstrap" not in inference


def test_a_tile_has_f1_with_the_exact_match_under_it() -> None:
    shown = tiles(ROWS, NAMES, "fp32")
    # F1 of two: 2/3, 1, 1, 0; exact match 2 of 4
    assert "66.7 %" in shown and "50.0 %" in shown
    assert shown.count("exact match") == 2
    assert "right," not in shown


def test_the_picture_is_of_f1_beside_the_exact_match() -> None:
    shown = parts(ROWS, NAMES)
    for title in ("F1, overall and in parts", "All questions", "Exact match", "What …"):
        assert title in shown
    assert "Accuracy" not in shown and "a guess" not in shown


def test_the_numbers_speak_of_the_bootstrap_and_no_gold_labels() -> None:
    shown = numbers(ROWS, NAMES, 0, 1)
    assert "Paired bootstrap" in shown and '<th scope="col">Bootstrap</th>' in shown
    for other in ("McNemar", "HANS", "gold", "Accuracy"):
        assert other not in shown


def test_the_matrix_counts_who_is_right_where_they_differ() -> None:
    shown = matrix(ROWS, NAMES, 0, 1)
    assert "3 of 4 questions differ" in shown
    cells = ["right|1|0", "right|0|1", "right|0|0"]
    assert [f'data-cell="{cell}"' in shown for cell in cells] == [True] * 3
    assert shown.count("data-cell=") == 3  # none for both right: the third row is the same answer


@pytest.mark.parametrize(
    ("cell", "numbers"),
    [
        ("right|1|0", [0]),
        ("right|0|1", [1]),
        ("right|0|0", [3]),
        ("right|1|1", []),
        ("right|2|0", []),
        ("differ", [0, 1, 3]),
        ("same", [2]),
        ("gold|all", [0, 1, 2, 3]),
        (f"slice|{[each.name for each in slices_of(READING)].index('what')}|all", [0, 1, 2, 3]),
    ],
)
def test_a_pressed_cell_leads_to_its_questions(cell: str, numbers: list[int]) -> None:
    assert [each.number for each in chosen(ROWS, NAMES, 0, 1, cell)[1]] == numbers


def test_a_question_has_both_answers_the_right_one_and_its_passage_folded() -> None:
    shown, _ = page("they differ", ROWS[:1], NAMES, 1)
    assert shown.count('<th scope="col">') == 4  # question, right, one, two
    assert "<summary>Passage</summary>" in shown and "lay in Rome" in shown
    assert "wrong, F1 0.67" in shown
    assert shown.count("right <a") == 1


def test_nothing_of_names_and_texts_is_markup() -> None:
    shown = (
        tiles(ROWS, NAMES, "fp32")
        + parts(ROWS, NAMES)
        + matrix(ROWS, NAMES, 0, 1)
        + numbers(ROWS, NAMES, 0, 1)
        + page("<s>words", ROWS, NAMES, 1)[0]
    )
    for markup in ("<b>one", "<i>", "<u>", "<s>"):
        assert markup not in shown


def test_without_right_answers_the_matrix_says_how_often_they_differ() -> None:
    unknown = [row(0, None, "Rome", "1956"), row(1, None, "Rome", "in Rome"), row(2, None, "a", "")]
    shown = matrix(unknown, NAMES, 0, 1)
    assert "2 of 3 questions differ." in shown
    assert 'data-cell="same"' in shown and 'data-cell="differ"' in shown
    assert "no right answers, so no F1" in tiles(unknown, NAMES, "fp32")
    assert "F1, the paired bootstrap and slices are not shown" in in_sentences(unknown, NAMES)
    assert slices(unknown, NAMES, 0, 1) == "" and parts(unknown, NAMES) == ""


def examined(name: str, said: str) -> Any:  # Any: as much of an Examination as the sentence reads
    return SimpleNamespace(model=SimpleNamespace(name=name, task=READING), prediction=answer(said))


def test_one_answer_in_other_words_is_another_and_in_other_spelling_the_same() -> None:
    same = [examined("a", "The boats"), examined("b", "boats.")]
    assert agreement_on_one(same) == "Both say The boats."
    unlike = [examined("a", "boats"), examined("b", "Rome")]
    assert agreement_on_one(unlike) == "They differ: a says boats, b says Rome."
