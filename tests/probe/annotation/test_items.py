"""Items are drawn by seed: as many of each transform, controls with plain answers, no text lost."""

from collections import Counter
from pathlib import Path

import pytest

from probe.errors import ArgumentError, ExampleError, FileError, LabelError
from probe.models.classifier import Classifier
from probe.models.library import load_any
from probe.surveys.annotation_results import items_frame, read_items, write_table
from probe.surveys.annotation_set import (
    MODES,
    draw_items,
    example_of,
    item_from,
    mode_for,
    modes_for,
    shown_texts,
)
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI
from probe.tasks.reading import READING
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import offered_tasks
from tests.support.runs.annotation import items

EXAMPLES = bundled_examples(NLI)[:60]
SALAD = ("sort", "shuffle", "copyone")


@pytest.mark.parametrize(("mode", "whole"), [("valid", 9), ("labels", 3)])
def test_there_are_as_many_of_each_and_untouched_ones_as_in_the_paper(
    classifier: Classifier, mode: str, whole: int
) -> None:
    drawn, controls = draw_items(NLI, MODES[mode], EXAMPLES, SALAD, 3, classifier)
    assert Counter(item.transform for item in drawn) == {"": whole, **dict.fromkeys(SALAD, 3)}
    assert len(controls) == 5 and all(item.control for item in controls)
    assert not any(item.control for item in drawn)
    names = [item.id for item in [*drawn, *controls]]
    assert len(set(names)) == len(names)
    texts = [tuple(item.before.values()) for item in [*drawn, *controls]]
    assert len(set(texts)) == len(texts)  # no example serves twice


def test_the_same_seed_draws_the_same(classifier: Classifier) -> None:
    first, again, other = (
        draw_items(NLI, MODES["valid"], EXAMPLES, SALAD, 2, classifier, seed) for seed in (1, 1, 2)
    )
    assert first == again != other


def test_controls_have_the_answers_that_are_plain(classifier: Classifier) -> None:
    _, controls = draw_items(NLI, MODES["valid"], EXAMPLES, ["sort"], 1, classifier)
    for item in controls:
        assert (item.control == "invalid") == (item.texts != item.before)
    assert {item.control for item in controls} == {"valid", "invalid"}
    _, controls = draw_items(NLI, MODES["labels"], EXAMPLES, ["sort"], 1, classifier)
    assert [item.control for item in controls] == [item.gold for item in controls]


def test_only_the_changed_text_is_seen_where_it_is_to_be_valid(classifier: Classifier) -> None:
    drawn, _ = draw_items(NLI, MODES["labels"], EXAMPLES, ["sort"], 1, classifier)
    item = next(item for item in drawn if item.transform)
    assert shown_texts(NLI, MODES["valid"], item) == {"Text": item.texts["hypothesis"]}
    assert list(shown_texts(NLI, MODES["labels"], item)) == ["Premise", "Hypothesis"]
    assert example_of(NLI, item).hypothesis == item.texts["hypothesis"]
    assert example_of(NLI, item, before=True).hypothesis == item.before["hypothesis"]
    assert item_from(item.json) == item


def test_of_a_distractor_the_question_and_the_new_sentence_are_seen() -> None:
    reader = load_any("minilm_reader", task=READING)
    mode = MODES["distractor"]
    drawn, controls = draw_items(READING, mode, bundled_examples(READING), ["addsent"], 2, reader)
    for item in drawn:
        sentence = shown_texts(READING, mode, item)["Sentence"]
        assert item.texts["passage"] == f"{item.before['passage']} {sentence}"
    for item in controls:
        assert item.control == "no"
        answers = str(item.gold).split(" | ")
        assert any(answer in shown_texts(READING, mode, item)["Sentence"] for answer in answers)


def test_too_few_examples_are_told_of(classifier: Classifier) -> None:
    with pytest.raises(ExampleError, match="can be controls"):
        draw_items(NLI, MODES["valid"], EXAMPLES[:3], ["sort"], 1, classifier)
    with pytest.raises(
        ExampleError, match=r"of the 5 examples that the controls left, fewer than 9"
    ):
        draw_items(NLI, MODES["valid"], EXAMPLES[:10], ["sort"], 9, classifier)
    with pytest.raises(ExampleError, match="the controls left 5 examples, too few for 6 untouched"):
        draw_items(NLI, MODES["valid"], EXAMPLES[:10], ["sort", "shuffle"], 3, classifier)


def test_each_task_has_its_modes() -> None:
    names = {task.name: [mode.name for mode in modes_for(task)] for task in offered_tasks()}
    two = ["valid", "labels"]
    assert names == {"nli": two, "paraphrase": two, "sentiment": two, "reading": ["distractor"]}
    with pytest.raises(ArgumentError, match="it has: distractor"):
        mode_for(READING, "valid")


def test_items_come_back_from_a_file_as_they_were(tmp_path: Path) -> None:
    write_table(items_frame(SENTIMENT, items()), path := tmp_path / "items.csv")
    assert read_items(path, SENTIMENT, MODES["valid"]) == items()


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        ("words\na\n", "no column 'text'"),
        ("text\na\n''\n", ""),
        ("text,control\na,perhaps\n", "row 1 .* control 'perhaps'"),
        ("id,text\n1,a\n1,b\n", "the same id"),
        ("id,text\n1, \n", "row 1 .* an empty text"),
    ],
)
def test_a_wrong_file_of_items_is_told_of(tmp_path: Path, text: str, trouble: str) -> None:
    path = tmp_path / "items.csv"
    path.write_text(text)
    if not trouble:
        assert len(read_items(path, SENTIMENT, MODES["valid"])) == 2
        return
    with pytest.raises(FileError, match=trouble):
        read_items(path, SENTIMENT, MODES["valid"])


def test_an_unknown_gold_label_is_told_of(tmp_path: Path) -> None:
    (path := tmp_path / "items.csv").write_text("text,gold\na,sideways\n")
    with pytest.raises(LabelError, match="sideways"):
        read_items(path, SENTIMENT, MODES["valid"])
