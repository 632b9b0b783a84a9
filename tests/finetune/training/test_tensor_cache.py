"""What cells share is computed once, and never taken for something else."""

import pytest
import torch

from finetune.training.encoded import encode, right, said
from finetune.training.tensor_cache import TensorCache, prepare
from probe.models.classifier import Classifier
from probe.runs.stopping import Cancelled
from probe.tasks.nli import LABELS, Pair
from tests.support.tiny_bert import tiny_pairs
from tests.support.tiny_models import FAMILY, tiny_classifier
from tests.support.tiny_word_models import word_classifier

PAIRS = (*tiny_pairs(7), Pair("A man.", "He is not very happy in the park today.", "neutral"))


def kept(folder_of_models: TensorCache, key: str, words: int) -> bool:
    """Ask for 4 * words bytes under a key; return whether they were there."""
    asked = []
    folder_of_models.get(key, lambda: asked.append(1) or torch.zeros(words))  # type: ignore[func-returns-value]  # a list's append
    return not asked


def test_a_shelf_keeps_what_it_was_given() -> None:
    folder_of_models = TensorCache(100)
    assert [
        kept(folder_of_models, "a", 10),
        kept(folder_of_models, "a", 10),
        kept(folder_of_models, "b", 10),
    ] == [
        False,
        True,
        False,
    ]


def test_a_full_shelf_lets_go_of_what_was_not_used_longest() -> None:
    folder_of_models = TensorCache(100)
    for key in ("a", "b", "a", "c"):  # each 40 bytes: two have room
        kept(folder_of_models, key, 10)
    assert [kept(folder_of_models, "a", 10), kept(folder_of_models, "c", 10)] == [True, True]
    assert not kept(folder_of_models, "b", 10)


def test_what_is_larger_than_the_shelf_is_given_but_not_kept() -> None:
    folder_of_models = TensorCache(100)
    assert len(folder_of_models.get("a", lambda: torch.ones(50))) == 50
    assert not kept(folder_of_models, "a", 50)


@pytest.mark.parametrize("kind", [*FAMILY, "da", "esim_char"])
def test_an_encoded_batch_is_what_the_tokenizer_makes(kind: str) -> None:
    classifier = tiny_classifier(kind) if kind in FAMILY else word_classifier(kind)
    rows = [2, 7, 0]
    found, _ = encode(classifier, PAIRS, 64, classifier.device).batch(rows)
    expected = classifier.encode([PAIRS[row] for row in rows])
    assert set(found) == set(expected)
    for name, value in expected.items():
        assert torch.equal(found[name], value.long()), name


def test_an_encoded_pair_is_cut_as_the_tokenizer_cuts_it() -> None:
    classifier = tiny_classifier()
    assert encode(classifier, PAIRS, 9, classifier.device).lengths == [9] * 8


def test_right_counts_non_entailment_in_two_classes() -> None:
    classifier = tiny_classifier()
    pairs = [Pair("A.", "B.", gold) for gold in (*LABELS, "non-entailment", None)]
    data = encode(classifier, pairs, 64, classifier.device)
    assert right(data, torch.tensor([0, 0, 0, 0, 0])) == (True, False, False, False, False)
    assert right(data, torch.tensor([2, 2, 2, 2, 2])) == (False, False, True, True, False)


def test_said_is_what_the_model_predicts() -> None:
    classifier = tiny_classifier(order=("contradiction", "entailment", "neutral"))
    data = encode(classifier, PAIRS, 64, classifier.device)
    numbers = said(classifier, data).tolist()
    assert [LABELS[number] for number in numbers] == [p.label for p in classifier.predict(PAIRS)]


def counted(classifier: Classifier) -> list[int]:
    """Return a list that grows with every pass through the model."""
    passes: list[int] = []
    classifier.model.register_forward_hook(lambda *_: passes.append(1))
    return passes


def test_the_untrained_model_is_asked_once_for_all_cells() -> None:
    one, other = tiny_classifier(seed=5), tiny_classifier(seed=5)
    first = prepare(one, "full", "fp32")
    answers = first.at_start(first.encoded(PAIRS, 64))
    passes = counted(other)
    second = prepare(other, "full", "fp32")
    assert torch.equal(second.at_start(second.encoded(PAIRS, 64)), answers)
    assert passes == []


def test_a_trained_model_is_asked_anew() -> None:
    classifier = tiny_classifier(seed=6)
    ready = prepare(classifier, "full", "fp32")
    ready.at_start(ready.encoded(PAIRS, 64))
    passes = counted(classifier)
    with torch.no_grad():
        classifier.model.get_parameter("classifier.bias").add_(1.0)
    ready.at_start(ready.encoded(PAIRS, 64))
    assert len(passes) == 1


def test_what_was_stopped_is_not_kept() -> None:
    ready = prepare(tiny_classifier(seed=7), "fast", "fp32")
    with pytest.raises(Cancelled):
        ready.encoded(PAIRS, 64, lambda: True)
    assert len(ready.encoded(PAIRS, 64).lengths) == 8
