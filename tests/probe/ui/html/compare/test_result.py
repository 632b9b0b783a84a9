"""What the Compare tab shows: text is escaped, cells lead to their pairs, links are complete."""

from dataclasses import replace
from urllib.parse import parse_qsl

import pytest

from finetune.trials.inoculation import Cell
from finetune.ui.html.inoculation import outcome
from probe.analysis.comparison import Row
from probe.analysis.slices import slices_of
from probe.analysis.transformed import examine
from probe.models.classifier import Prediction
from probe.tasks.nli import LABELS, NLI, TWO_WAY, Pair
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import Label
from probe.ui.html.compare.cells import chosen, numbers, page, slices
from probe.ui.html.compare.pictures import matrix, parts
from probe.ui.html.compare.result import agreement_on_one, sentence, side_by_side, tiles
from probe.ui.html.compare.result import tests as mcnemar_tests
from probe.ui.links import link_to_compare
from probe.ui.results.row_numbers import PAGE_ROWS
from tests.support.models.tiny_models import shared, tiny_classifier
from tests.support.runs.points import make_point, make_run

NAMES = ["<b>one", "two"]


def row(number: int, gold: Label | None, *said: Label) -> Row:
    predictions = tuple(
        Prediction(label, tuple(0.8 if each == label else 0.1 for each in LABELS), LABELS)
        for label in said
    )
    pair = Pair("<i>A man</i> walks.", "He <u>moves</u>.", gold)
    return Row(number, NLI, pair, predictions, "", (False,) * len(said))


ROWS = [
    row(0, "entailment", "entailment", "neutral"),
    row(1, "neutral", "neutral", "neutral"),
    Row(2, NLI, error="the premise <is> empty"),
]


def test_nothing_of_names_and_texts_is_markup() -> None:
    shown = (
        sentence(ROWS, NAMES)
        + tiles(ROWS, NAMES, "fp32")
        + parts(ROWS, NAMES)
        + matrix(ROWS, NAMES, 0, 1)
        + numbers(ROWS, NAMES, 0, 1)
        + page("<s>words", ROWS[:2], NAMES, 1)[0]
    )
    for markup in ("<b>one", "<i>", "<u>", "<is>", "<s>"):
        assert markup not in shown


def test_a_cell_without_pairs_cannot_be_pressed() -> None:
    shown = matrix(ROWS, NAMES, 0, 1)
    assert shown.count('class="share') == 9
    assert shown.count("data-cell=") == 2


@pytest.mark.parametrize(
    ("cell", "numbers"),
    [
        ("answers|entailment|neutral", [0]),
        ("answers|neutral|neutral", [1]),
        (f"slice|{[each.name for each in slices_of(NLI)].index('up to 5 words')}|all", [0, 1]),
        (f"slice|{[each.name for each in slices_of(NLI)].index('up to 5 words')}|entailment", [0]),
        ("differ", [0]),
        ("gold|all", [0, 1]),
        ("gold|non-entailment", [1]),
        ("gold|nosuch", []),
        ("slice|99|all", []),
        ("slice|x|all", []),
        ("nonsense", []),
        ("", []),
    ],
)
def test_a_pressed_cell_leads_to_its_pairs(cell: str, numbers: list[int]) -> None:
    assert [row.number for row in chosen(ROWS, NAMES, 0, 1, cell)[1]] == numbers


def test_pairs_come_in_pages() -> None:
    many = [row(number, None, "neutral", "neutral") for number in range(PAGE_ROWS + 1)]
    shown, pager = page("all", many, NAMES, 9)
    assert f"{PAGE_ROWS + 1} pairs, page 2 of 2" in pager
    assert shown.count("<tr>") == 2  # the head and the last pair
    assert f"all: {PAGE_ROWS + 1}" in shown


def test_a_pair_opens_in_probe_with_the_model() -> None:
    shown, _ = page("all", ROWS[:1], NAMES, 1)
    premise, hypothesis = "%3Ci%3EA+man%3C%2Fi%3E+walks.", "He+%3Cu%3Emoves%3C%2Fu%3E."
    query = f"./?task=nli&amp;premise={premise}&amp;hypothesis={hypothesis}&amp;gold=entailment"
    assert f'href="{query}&amp;model=two"' in shown


def test_without_gold_labels_the_page_says_why_there_is_no_accuracy() -> None:
    unknown = [row(0, None, "entailment", "neutral")]
    assert "no gold labels, so no accuracy" in tiles(unknown, NAMES, "fp32")
    assert "nothing can be called right" in mcnemar_tests(unknown, NAMES)
    assert slices(unknown, NAMES, 0, 1) == ""


def test_a_link_names_the_models_and_the_texts_of_one_example_and_its_grants() -> None:
    link = link_to_compare(["a", "b&1"], SENTIMENT, "one", {"text": "Fine & dry."}, ["token"])
    path, _, query = link.partition("?")
    asked = {"view": "compare", "task": "sentiment", "models": "a,b&1"}
    asked |= {"on": "one", "text": "Fine & dry.", "grant": "token"}
    assert (path, dict(parse_qsl(query))) == ("measure", asked)


def test_a_finished_inoculation_links_to_the_comparison_with_its_parent() -> None:
    points = [make_point(80, 60), make_point(79, 78, cell=Cell(50, 2e-5, 0))]
    run = replace(make_run(points), kept="minilm-kept")
    link = "measure?view=compare&amp;task=nli&amp;models=minilm%2Cminilm-kept"
    assert link in outcome(run)
    assert "view=compare" not in outcome(replace(run, kept=""))


def test_a_pair_is_shown_for_models_of_three_and_of_two_labels() -> None:
    pair = Pair("A man walks.", "He <u>moves</u>.")
    models = (shared("bert"), tiny_classifier("distilbert", order=TWO_WAY))
    shown = side_by_side([examine(model, pair) for model in models])
    assert shown.count("<section") == 2
    assert "<u>" not in shown
    assert 'class="label tone-last"' in shown


def test_one_example_is_told_in_a_sentence_by_answer() -> None:
    pair = Pair("A man walks.", "He moves.")
    one = examine(shared("bert"), pair)
    other = replace(one, prediction=Prediction("neutral", (0.1, 0.8, 0.1), LABELS))
    same = replace(one, prediction=other.prediction)
    assert agreement_on_one([same, other]) == "Both say neutral."
    unlike = replace(one, prediction=Prediction("entailment", (0.8, 0.1, 0.1), LABELS))
    assert agreement_on_one([unlike, other]).startswith("They differ: ")


def test_two_of_three_models_are_chosen_in_the_matrix() -> None:
    three = [row(0, "neutral", "neutral", "entailment", "neutral")]
    shown = matrix(three, [*NAMES, "three"], 0, 2)
    assert '<option value="two|0|2" selected>' in shown
    assert "<select" not in matrix(ROWS, NAMES, 0, 1)


def test_the_picture_of_parts_names_every_part_that_has_pairs() -> None:
    shown = parts(ROWS, NAMES)
    for title in ("All pairs", "Entailed", "Not entailed"):
        assert f">{title}</span>" in shown
    assert "More than 10 words" not in shown
