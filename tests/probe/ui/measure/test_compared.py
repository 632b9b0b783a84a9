"""What Compare shows: text is escaped, cells lead to their pairs, links are complete."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl

from finetune.trials.inoculation import Cell
from finetune.ui.html.inoculation import outcome
from probe.analysis.comparison import Row
from probe.analysis.slices import slices_of
from probe.analysis.transformed import examine
from probe.models.classifier import Prediction
from probe.models.reader import SpanPrediction
from probe.tasks.nli import LABELS, NLI, TWO_WAY, Pair
from probe.tasks.reading import READING, Question
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import Label, Task
from probe.ui.links import link_to_measure
from probe.ui.measure.compared import (
    Pressed,
    agreement_on_one,
    chosen,
    empty,
    matrix,
    numbers,
    parts,
    rows_of,
    sentence,
    side_by_side,
    slices,
    tiles,
)
from probe.ui.measure.compared import tests as in_sentences
from probe.ui.measure.rows import PAGE_ROWS
from tests.support.cases import each
from tests.support.models.tiny_models import shared, tiny_classifier
from tests.support.runs.points import make_point, make_run

NAMES = ["<b>one", "two"]
KEY = "key"
AT = Pressed(KEY)
PASSAGE = "Thirty <i>blue</i> boats lay in Rome in 1956."


def row(number: int, gold: Label | None, *said: Label) -> Row:
    predictions = tuple(
        Prediction(label, tuple(0.8 if each == label else 0.1 for each in LABELS), LABELS)
        for label in said
    )
    pair = Pair("<i>A man</i> walks.", "He <u>moves</u>.", gold)
    return Row(number, NLI, pair, predictions, "", (False,) * len(said))


def answer(text: str) -> SpanPrediction:
    return SpanPrediction(text, (0.9,), (text,), 0, len(text), 1)


def asked(number: int, gold: str | None, *said: str) -> Row:
    question = Question("What <u>lay</u> there?", PASSAGE, gold, str(number))
    return Row(number, READING, question, tuple(map(answer, said)), "", (False,) * len(said))


PAIRS = [
    row(0, "entailment", "entailment", "neutral"),
    row(1, "neutral", "neutral", "neutral"),
    Row(2, NLI, error="the premise <is> empty"),
]
QUESTIONS = [
    asked(0, "blue boats", "blue boats", "boats"),
    asked(1, "1956", "Thirty", "1956"),
    asked(2, "1956", "1956", "1956."),
    asked(3, "Rome", "Thirty", "1956"),
]


def slice_called(task: Task, name: str) -> str:
    return f"slice|{[each.name for each in slices_of(task)].index(name)}"


@each("rows", [PAIRS, QUESTIONS])
def test_nothing_of_names_and_texts_is_markup(rows: list[Row]) -> None:
    shown = sentence(rows, NAMES) + tiles(rows, NAMES, "fp32")
    for draw in (parts, matrix, numbers):
        shown += draw(rows, NAMES, AT)
    shown += rows_of(rows, NAMES, Pressed(KEY, cell="gold|all"))
    assert not [each for each in ("<b>one", "<i>", "<u>", "<is>") if each in shown]


@each(
    ("cell", "numbers"),
    [
        ("answers|entailment|neutral", [0]),
        ("answers|neutral|neutral", [1]),
        (f"{slice_called(NLI, 'up to 5 words')}|all", [0, 1]),
        (f"{slice_called(NLI, 'up to 5 words')}|entailment", [0]),
        ("differ", [0]),
        ("gold|all", [0, 1]),
        ("gold|non-entailment", [1]),
        *((nothing, []) for nothing in ("gold|nosuch", "slice|99|all", "slice|x|all", "no", "")),
        *((f"slice|{at}", []) for at in ("9" * 5000 + "|all", "-1|all", "|", "||")),
    ],
)
def test_a_pressed_cell_leads_to_its_pairs(cell: str, numbers: list[int]) -> None:
    assert [row.number for row in chosen(PAIRS, NAMES, 0, 1, cell)[1]] == numbers


@each(
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
        (f"{slice_called(READING, 'what')}|all", [0, 1, 2, 3]),
    ],
)
def test_a_pressed_cell_leads_to_its_questions(cell: str, numbers: list[int]) -> None:
    assert [each.number for each in chosen(QUESTIONS, NAMES, 0, 1, cell)[1]] == numbers


def test_pairs_come_in_pages_and_open_in_probe_with_the_model() -> None:
    many = [row(number, None, "neutral", "neutral") for number in range(PAGE_ROWS + 1)]
    shown = rows_of(many, NAMES, Pressed(KEY, page=9, cell="same"))
    assert f"{PAGE_ROWS + 1} pairs, page 2 of 2" in shown
    assert f'data-cell="{Pressed(KEY, page=1, cell="same")}"' in shown
    assert shown.count("<tr>") == 2  # the head and the last pair
    shown = rows_of(PAIRS[:1], NAMES, Pressed(KEY))
    premise, hypothesis = "%3Ci%3EA+man%3C%2Fi%3E+walks.", "He+%3Cu%3Emoves%3C%2Fu%3E."
    query = f"./?task=nli&amp;premise={premise}&amp;hypothesis={hypothesis}&amp;gold=entailment"
    assert f'href="{query}&amp;model=two"' in shown


def test_without_gold_labels_the_page_says_why_nothing_is_called_right() -> None:
    unknown = [row(0, None, "entailment", "neutral")]
    assert "no right answers, so no accuracy" in tiles(unknown, NAMES, "fp32")
    assert "nothing can be called right" in in_sentences(unknown, NAMES)
    assert slices(unknown, NAMES, AT) == ""
    said = (("Rome", "1956"), ("Rome", "in Rome"), ("a", ""))
    unknown = [asked(at, None, *both) for at, both in enumerate(said)]
    shown = matrix(unknown, NAMES, AT)
    assert "2 of 3 questions differ." in shown
    assert all(f'data-cell="{AT.of(cell)}"' in shown for cell in ("same", "differ"))
    assert "no right answers, so no F1" in tiles(unknown, NAMES, "fp32")
    assert "F1, the paired bootstrap and slices are not shown" in in_sentences(unknown, NAMES)
    assert slices(unknown, NAMES, AT) == "" and parts(unknown, NAMES, AT) == ""


def test_a_link_names_the_models_and_the_texts_of_one_example_and_its_grants() -> None:
    text = {"text": "Fine & dry."}
    link = link_to_measure("compare", SENTIMENT, ["a", "b&1"], ["token"], on="one", **text)
    path, _, query = link.partition("?")
    said = {"view": "compare", "task": "sentiment", "models": "a,b&1", "on": "one", **text}
    assert (path, dict(parse_qsl(query))) == ("measure", said | {"grant": "token"})


def test_a_finished_inoculation_links_to_the_comparison_with_its_parent() -> None:
    points = [make_point(80, 60), make_point(79, 78, cell=Cell(50, 2e-5, 0))]
    run = replace(make_run(points), kept="minilm-kept")
    link = "measure?view=compare&amp;task=nli&amp;models=minilm%2Cminilm-kept"
    assert link in outcome(run)
    assert "view=compare" not in outcome(replace(run, kept=""))


def test_a_pair_is_shown_for_models_of_three_and_of_two_labels_and_told_in_a_sentence() -> None:
    pair = Pair("A man walks.", "He <u>moves</u>.")
    models = (shared("bert"), tiny_classifier("distilbert", order=TWO_WAY))
    examined = [examine(model, pair) for model in models]
    shown = side_by_side(examined)
    assert shown.count("<section") == 2 and "<u>" not in shown
    assert 'class="label tone-last"' in shown
    other = replace(examined[0], prediction=Prediction("neutral", (0.1, 0.8, 0.1), LABELS))
    unlike = replace(other, prediction=Prediction("entailment", (0.8, 0.1, 0.1), LABELS))
    assert agreement_on_one([other, other]) == "Both say neutral."
    assert agreement_on_one([unlike, other]).startswith("They differ: ")


def test_one_answer_in_other_words_is_another_and_in_other_spelling_the_same() -> None:
    def examined(name: str, said: str) -> Any:  # Any: as much of one as the sentence reads
        model = SimpleNamespace(name=name, task=READING)
        return SimpleNamespace(model=model, prediction=answer(said))

    same = [examined("a", "The boats"), examined("b", "boats.")]
    assert agreement_on_one(same) == "Both say The boats."
    unlike = [examined("a", "boats"), examined("b", "Rome")]
    assert agreement_on_one(unlike) == "They differ: a says boats, b says Rome."


def test_the_matrix_counts_where_two_of_the_models_differ_and_who_is_right() -> None:
    shown = matrix(PAIRS, NAMES, AT)
    assert shown.count('class="share') == 9 and "<select" not in shown
    assert shown.count("data-cell=") == 2  # none without pairs
    three = [row(0, "neutral", "neutral", "entailment", "neutral")]
    chosen_two = matrix(three, [*NAMES, "three"], Pressed(KEY, 0, 2))
    assert '<option value="key|0|2|1|differ" selected>' in chosen_two
    shown = matrix(QUESTIONS, NAMES, AT)
    assert "3 of 4 questions differ" in shown
    assert all(f'data-cell="{AT.of(f"right|{cell}")}"' in shown for cell in ("1|0", "0|1", "0|0"))
    assert shown.count("data-cell=") == 3  # none for both right: the third row is the same answer


def test_each_task_has_its_measure_its_parts_and_its_test() -> None:
    drawn = parts(PAIRS, NAMES, AT)
    assert all(f">{part}</span>" in drawn for part in ("All pairs", "Entailed", "Not entailed"))
    assert "More than 10 words" not in drawn  # no pair has so many
    tiled = tiles(QUESTIONS, NAMES, "fp32")
    # F1 of two: 2/3, 1, 1, 0; exact match 2 of 4
    assert "66.7 %" in tiled and "50.0 %" in tiled and "right," not in tiled
    assert tiled.count("exact match") == 2
    drawn = parts(QUESTIONS, NAMES, AT)
    titles = ("F1, overall and in parts", "All questions", "Exact match", "What …")
    assert all(title in drawn for title in titles)
    assert "Accuracy" not in drawn and "a guess" not in drawn
    shown = numbers(QUESTIONS, NAMES, AT)
    assert "Paired bootstrap" in shown and '<th scope="col">Bootstrap</th>' in shown
    assert not [each for each in ("McNemar", "HANS", "gold", "Accuracy") if each in shown]
    promised = {task: empty(task, 2, 150) for task in (READING, NLI)}
    assert "a paired bootstrap of F1" in promised[READING] and "McNemar" not in promised[READING]
    assert "McNemar" in promised[NLI] and "bootstrap" not in promised[NLI]


def test_how_exactly_the_models_computed_is_explained_where_it_stands() -> None:
    assert 'aria-label="fp32: How exactly a model computes' in tiles(PAIRS, NAMES, "fp32")


def test_a_question_has_both_answers_the_right_one_and_its_passage_folded() -> None:
    shown = rows_of(QUESTIONS[:1], NAMES, AT)
    assert shown.count('<th scope="col">') == 4  # question, right, one, two
    assert "<summary>Passage</summary>" in shown and "lay in Rome" in shown
    assert "wrong, F1 0.67" in shown and shown.count("right <a") == 1
