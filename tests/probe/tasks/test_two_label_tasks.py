"""Paraphrase identification and sentiment classification: labels, columns, what applies to them."""

import pytest

from probe.data.rows import guess
from probe.errors import LabelError, Unavailable
from probe.tasks.nli import NLI_TWO_WAY
from probe.tasks.paraphrase import NON_PARAPHRASE, PARAPHRASE, PARAPHRASE_IDENTIFICATION, TextPair
from probe.tasks.sentiment import NEGATIVE, POSITIVE, SENTIMENT, Review
from probe.tasks.task import Task, read_outputs
from probe.transforms import REGISTRY
from probe.transforms.registry import default_of, require_ready
from tests.support.cases import each

COPIES = {"copysort", "copyone"}
SALAD = {"sort", "reverse", "shuffle", "drop", "repeat", "replace", "pbsmt"}
STRESS = {"word_overlap", "negation", "spelling"}


@each(
    ("task", "spelling", "label"),
    [
        (PARAPHRASE_IDENTIFICATION, "Not_Duplicate", NON_PARAPHRASE),
        (PARAPHRASE_IDENTIFICATION, "not paraphrase", NON_PARAPHRASE),
        (SENTIMENT, "Neg", NEGATIVE),
        (SENTIMENT, "", None),
    ],
)
def test_labels_are_read_as_data_sets_spell_them(
    task: Task, spelling: object, label: str | None
) -> None:
    assert task.read_gold(spelling) == label


def test_a_label_of_another_task_is_not_known() -> None:
    with pytest.raises(LabelError, match="use positive or negative"):
        SENTIMENT.read_gold("entailment")


@each(
    ("outputs", "task"),
    [
        (["NEGATIVE", "POSITIVE"], SENTIMENT),
        (["not_duplicate", "duplicate"], PARAPHRASE_IDENTIFICATION),
        (["not_equivalent", "equivalent"], PARAPHRASE_IDENTIFICATION),
        (["not_entailment", "entailment"], NLI_TWO_WAY),
    ],
)
def test_a_models_outputs_tell_its_task(outputs: list[str], task: Task) -> None:
    found, order = read_outputs(outputs)
    assert found is task
    assert order == (task.labels[1], task.labels[0])


@each(
    ("names", "texts"),
    [
        (["question1", "question2", "label"], {"text1": "question1", "text2": "question2"}),
        (["sentence1", "sentence2", "gold"], {"text1": "sentence1", "text2": "sentence2"}),
    ],
)
def test_columns_are_found_by_their_names(names: list[str], texts: dict[str, str]) -> None:
    columns = guess(names, PARAPHRASE_IDENTIFICATION)
    assert (dict(columns.texts), columns.gold) == (texts, names[2])
    assert dict(guess(["sentence", "label"], SENTIMENT).texts) == {"text": "sentence"}


def suited(task: Task) -> set[str]:
    return {name for name, entry in REGISTRY.items() if entry.suits(task)}


def test_word_salad_and_stress_tests_act_on_both_tasks_and_copies_on_pairs_alone() -> None:
    assert suited(SENTIMENT) & suited(PARAPHRASE_IDENTIFICATION) >= SALAD | STRESS
    assert suited(PARAPHRASE_IDENTIFICATION) >= COPIES
    assert not COPIES & suited(SENTIMENT)
    assert default_of("copysort", PARAPHRASE_IDENTIFICATION) == PARAPHRASE


@each("task", [PARAPHRASE_IDENTIFICATION, SENTIMENT])
@each("name", ["hnounant", "neghyp", "antonym", "numerical", "pbsmt_e"])
def test_what_speaks_of_inference_alone_is_refused_by_name(name: str, task: Task) -> None:
    with pytest.raises(Unavailable, match=f"{name} is not for the task {task.name}"):
        require_ready(name, task)


def test_their_examples_have_the_texts_that_models_read() -> None:
    pair, review = TextPair("a", "b", PARAPHRASE), Review("c", POSITIVE)
    assert PARAPHRASE_IDENTIFICATION.texts(pair) == {"text1": "a", "text2": "b"}
    assert SENTIMENT.texts(review) == {"text": "c"}
