"""Precision, the bf16 copy that a model computes with, and batches side by side."""

from collections.abc import Callable
from dataclasses import replace
from itertools import cycle
from threading import Barrier, Event, get_ident
from time import sleep

import numpy as np
import pytest
import torch

from probe.models import hardware
from probe.models.architectures import architecture
from probe.models.classifier import Classifier
from probe.models.hardware import (
    MOST_BATCHES,
    Precision,
    batches_at_once,
    fast_bf16,
    resolve,
    side_by_side,
)
from probe.tasks.nli import Pair
from tests.support.cases import each
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.models.tiny_models import FAMILY, MODELS, shared, tiny_classifier
from tests.support.models.tiny_word_models import (
    CONFIGS,
    QUESTIONS,
    READERS,
    word_classifier,
    word_reader,
)
from tests.support.torch_threads import torch_threads

WAIT_SECONDS = 20


@each(
    "native, quicker, chosen", [(False, True, "fp32"), (True, False, "fp32"), (True, True, "bf16")]
)
def test_bf16_is_chosen_where_it_is_native_and_quicker(
    monkeypatch: pytest.MonkeyPatch, native: bool, quicker: bool, chosen: str
) -> None:
    monkeypatch.setattr(hardware, "native_bf16", lambda: native)
    times = cycle((0.0, 2.0, 0.0, 1.0) if quicker else (0.0, 1.0, 0.0, 2.0))  # fp32, then bf16
    monkeypatch.setattr(hardware, "perf_counter", lambda: next(times))
    monkeypatch.setattr(hardware, "fast_bf16", fast_bf16.__wrapped__)
    monkeypatch.setattr(hardware, "has_gpu", lambda: False)
    assert resolve("auto") == chosen
    assert resolve("bf16") == "bf16" and resolve("fp32") == "fp32"


PAIRS = tiny_pairs(5)


def logits(classifier: Classifier) -> torch.Tensor:
    inputs, model = classifier.encode(PAIRS), classifier.at("bf16")
    with torch.inference_mode():
        return model.unscaled_logits(inputs)


@each("kind", MODELS)
def test_the_copy_follows_the_weights_and_leaves_them_as_they_are(kind: str) -> None:
    one, other = tiny_classifier(kind), tiny_classifier(kind)
    before = {name: value.clone() for name, value in one.model.state_dict().items()}
    first = logits(one)
    assert one.at("bf16").model is one.at("bf16").model is not one.model
    assert all(torch.equal(value, one.model.state_dict()[name]) for name, value in before.items())
    own = {weight.data_ptr() for weight in one.model.parameters()}
    assert {weight.data_ptr() for weight in one.at("fp32").model.parameters()} == own
    with torch.no_grad():  # as a training does
        for weight in (*one.model.parameters(), *other.model.parameters()):
            weight.mul_(0.5)
    assert torch.equal(logits(one), logits(other)) and not torch.equal(logits(one), first)
    one.model.load_state_dict(before)
    assert torch.equal(logits(one), first)


def test_the_copy_s_output_layer_stays_in_fp32_and_it_counts_among_the_bytes() -> None:
    classifier = tiny_classifier()
    weights = dict(classifier.at("bf16").model.named_parameters())
    for name in ("classifier.weight", "classifier.bias"):
        assert weights.pop(name).dtype == torch.float32
    assert {value.dtype for value in weights.values()} == {torch.bfloat16}
    other = replace(classifier, model=tiny_classifier("roberta").model)
    assert classifier.at("bf16").model is not other.at("bf16").model
    assert classifier.bf16_bytes == 4 * classifier.model.num_parameters()
    words = word_classifier("esim")
    assert words.at("bf16").model is words.model and words.bf16_bytes == 0


@each("threads", [2, 3])
def test_batches_are_computed_at_once_in_their_order_each_with_a_thread_of_torch(
    threads: int,
) -> None:
    together, failed, ended = Barrier(threads), Event(), list[int]()

    def meet(number: int) -> tuple[int, int]:
        together.wait(WAIT_SECONDS)
        return number, torch.get_num_threads()

    def fail(number: int) -> None:
        if number == 0:
            failed.set()
            raise ValueError("the first fails")
        assert failed.wait(WAIT_SECONDS)
        sleep(0.1)  # well behind the failure
        ended.append(number)

    with torch_threads(threads):
        assert side_by_side(meet, range(threads)) == [(number, 1) for number in range(threads)]
        assert torch.get_num_threads() == threads
        alone = side_by_side(lambda _: (get_ident(), torch.get_num_threads()), [0])
        assert alone == [(get_ident(), threads)]
        with pytest.raises(ValueError, match="the first fails"):
            side_by_side(fail, range(threads))
    assert sorted(ended) == list(range(1, threads))  # the error comes after the others


def test_threads_are_divided_among_the_most_batches_and_without_them_the_caller_computes() -> None:
    assert torch.get_num_threads() == 1
    assert side_by_side(lambda _: get_ident(), [0, 1]) == [get_ident()] * 2
    with torch_threads(2 * MOST_BATCHES):
        assert batches_at_once() == MOST_BATCHES
        shares = side_by_side(lambda _: torch.get_num_threads(), range(MOST_BATCHES))
        assert shares == [2] * MOST_BATCHES


WORDS = ["a", "man", "woman", "dog", "is", "sleeping", "here", "there"]
# more of each length than a batch has
MANY = [
    Pair(" ".join(WORDS[n % 5 :]), " ".join(WORDS[: 1 + n % 7]), "neutral", str(n))
    for n in range(400)
]
BOTH: list[tuple[Precision, float]] = [("fp32", 0.001), ("bf16", 0.25)]


SEVERAL = [kind for kind in FAMILY if architecture(kind).stateless]


@each("kind", [*SEVERAL, *CONFIGS, *READERS])
def test_side_by_side_a_model_answers_as_one_batch_after_the_other(kind: str) -> None:
    if kind in READERS:
        reader = word_reader(kind, trained=True)
        before = [answer.label for answer in reader.predict(QUESTIONS)]
        with torch_threads(2):
            assert [answer.label for answer in reader.predict(QUESTIONS)] == before
        assert len({*before}) > 1
        return
    classifier = word_classifier(kind) if kind in CONFIGS else shared(kind)
    for precision, error in BOTH if kind in ("bert", "esim_char") else BOTH[:1]:
        alone = classifier.probabilities(MANY, precision)
        with torch_threads(2):
            together = classifier.probabilities(MANY, precision)
        # answers out of order would differ by as much as answers do
        assert np.abs(together - alone).max() < error * np.ptp(alone, axis=0).max(), precision


@each(
    "kind, in_others",
    [("bert", bool), ("funnel", lambda of: not of), ("not known", lambda of: not of)],
)
def test_a_network_that_may_keep_something_of_its_input_runs_in_one_thread(
    kind: str, in_others: Callable[[set[int]], bool]
) -> None:
    classifier, used = tiny_classifier(), set[int]()
    classifier.model.config.model_type = kind
    classifier.model.register_forward_pre_hook(lambda *_: used.add(get_ident()))
    with torch_threads(2):
        classifier.predict(MANY)
    assert in_others(used - {get_ident()})
    assert architecture(kind).stateless is (kind == "bert")
