"""Batches of every architecture, one after the other and side by side."""

from collections.abc import Iterator
from threading import get_ident

import numpy as np
import pytest

from probe.models.architectures import architecture
from probe.models.classifier import Classifier, Precision
from probe.tasks.nli import Pair
from tests.support.models.tiny_models import FAMILY, RELATIVES, tiny_classifier
from tests.support.models.tiny_word_models import CONFIGS, word_classifier
from tests.support.models.tiny_word_readers import CONFIGS as READERS
from tests.support.models.tiny_word_readers import QUESTIONS, word_reader
from tests.support.torch_threads import torch_threads

WORDS = ["a", "man", "woman", "dog", "is", "sleeping", "here", "there"]
# more of each length than a batch has
PAIRS = [
    Pair(" ".join(WORDS[n % 5 :]), " ".join(WORDS[: 1 + n % 7]), "neutral", str(n))
    for n in range(900)
]


@pytest.fixture
def two_threads() -> Iterator[None]:
    """Let torch have two threads here."""
    with torch_threads(2):
        yield


def threads_of(classifier: Classifier) -> set[int]:
    """Return the threads in which the network runs over the pairs."""
    threads: set[int] = set()
    hook = classifier.model.register_forward_pre_hook(lambda *_: threads.add(get_ident()))
    classifier.predict(PAIRS)
    hook.remove()
    return threads


@pytest.mark.parametrize("kind", [*FAMILY, *RELATIVES, *CONFIGS])
@pytest.mark.parametrize(("precision", "error"), [("fp32", 0.001), ("bf16", 0.25)])
def test_side_by_side_a_model_answers_as_one_batch_after_the_other(
    kind: str, precision: Precision, error: float, request: pytest.FixtureRequest
) -> None:
    classifier = word_classifier(kind) if kind in CONFIGS else tiny_classifier(kind)
    alone = classifier.probabilities(PAIRS, precision)
    request.getfixturevalue("two_threads")
    together = classifier.probabilities(PAIRS, precision)
    # answers out of order would differ by as much as answers do
    assert np.abs(together - alone).max() < error * np.ptp(alone, axis=0).max()


@pytest.mark.parametrize("kind", READERS)
def test_side_by_side_a_reader_answers_as_one_batch_after_the_other(
    kind: str, request: pytest.FixtureRequest
) -> None:
    reader = word_reader(kind, trained=True)
    alone = reader.predict(QUESTIONS)
    request.getfixturevalue("two_threads")
    together = reader.predict(QUESTIONS)
    assert [answer.label for answer in together] == [answer.label for answer in alone]
    assert len({answer.label for answer in alone}) > 1


def test_batches_are_computed_in_other_threads_than_the_callers(two_threads: None) -> None:
    assert threads_of(tiny_classifier()) - {get_ident()}


@pytest.mark.parametrize("kind", ["funnel", "not known"])
def test_a_network_that_keeps_something_of_its_input_runs_in_one_thread(
    kind: str, two_threads: None
) -> None:
    classifier = tiny_classifier()
    classifier.model.config.model_type = kind
    assert not architecture(kind).stateless
    assert threads_of(classifier) == {get_ident()}
