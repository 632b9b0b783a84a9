"""Importance against plain autograd, on tiny models of three kinds."""

from collections.abc import Callable

import pytest
import torch

from probe.analysis import importance
from probe.analysis.importance import (
    FIRST,
    FIRST_LONG,
    METHODS,
    BaselineToken,
    Importance,
    Method,
    attribute,
    first_method,
)
from probe.errors import AttributionError
from probe.models.classifier import Classifier
from probe.tasks.nli import LABELS, NLI, Pair
from probe.tasks.task import Label
from tests.support.models.tiny_models import MODELS, shared, tiny_classifier

KINDS = pytest.mark.parametrize("kind", MODELS)
PAIR = Pair("A man walks slowly to the old park.", "The baker isn't happy!")
LONGER = Pair("She reads her letter, and then she writes some music.", "He was here.")
SHORT = Pair("No.", "Yes, I do like tea very much.")
PAIRS = (PAIR, LONGER, SHORT)
Embedded = Callable[[torch.Tensor], torch.Tensor]


def reading(classifier: Classifier, pair: Pair) -> tuple[torch.Tensor, list[int | None]]:
    """Return the ids of a pair, and which side each belongs to.  # (tokens,)"""
    encoded = classifier.tokenizer(pair.premise, pair.hypothesis)
    return torch.tensor(encoded["input_ids"]), encoded.sequence_ids(0)


def log_probability(classifier: Classifier, pair: Pair, label: Label) -> Embedded:
    """Return log p(label) as a function of the word embeddings.  # (tokens, width) -> ()"""
    encoded = classifier.tokenizer(pair.premise, pair.hypothesis, return_tensors="pt")
    others = {name: value for name, value in encoded.items() if name != "input_ids"}

    def f(embedded: torch.Tensor) -> torch.Tensor:
        logits = classifier.model(inputs_embeds=embedded[None], **others).logits[0]
        return torch.log_softmax(logits, -1)[LABELS.index(label)]

    return f


def embeddings(classifier: Classifier, ids: torch.Tensor) -> torch.Tensor:
    """Look the word embeddings up.  # (tokens, width)"""
    return classifier.model.get_input_embeddings()(ids).detach()


def gradient(
    classifier: Classifier, pair: Pair, label: Label
) -> tuple[torch.Tensor, torch.Tensor, list[int | None]]:
    """Return embeddings, the gradient of log p(label) and the sides.  # (tokens, width) each"""
    ids, sides = reading(classifier, pair)
    embedded = embeddings(classifier, ids).requires_grad_()
    log_probability(classifier, pair, label)(embedded).backward()
    assert embedded.grad is not None
    return embedded.detach(), embedded.grad, sides


def of_words(values: torch.Tensor, sides: list[int | None]) -> list[float]:
    """Return the values of premise and hypothesis, special tokens left out."""
    return [float(v) for v, side in zip(values, sides, strict=True) if side is not None]


def scores(importance: Importance) -> list[float]:
    """Return the scores of both sides in order."""
    return [token.score for side in importance.fields.values() for token in side]


def ids(importance: Importance, side: str) -> list[int]:
    """Return the sub-words of a side."""
    return [token.id for token in importance.tokens(side)]


def baseline_ids(classifier: Classifier, pair: Pair, baseline: BaselineToken) -> torch.Tensor:
    """Return the ids with every word replaced.  # (tokens,)"""
    ids, sides = reading(classifier, pair)
    token = getattr(classifier.tokenizer, f"{baseline}_token_id")
    plain = [id_ if s is None else token for id_, s in zip(ids.tolist(), sides, strict=True)]
    return torch.tensor(plain)


@KINDS
@pytest.mark.parametrize("label", LABELS)
def test_gradient_x_input_is_that_of_plain_autograd(kind: str, label: Label) -> None:
    classifier = shared(kind)
    for pair in PAIRS:
        embedded, slope, sides = gradient(classifier, pair, label)
        found = scores(attribute(classifier, [pair], [label])[0])
        by_hand = of_words((embedded * slope).sum(-1), sides)
        assert found == pytest.approx(by_hand, abs=1e-5)


@KINDS
def test_saliency_is_the_length_of_the_gradient(kind: str) -> None:
    classifier = shared(kind)
    _, slope, sides = gradient(classifier, PAIR, "neutral")
    found = attribute(classifier, [PAIR], ["neutral"], "saliency")[0]
    assert scores(found) == pytest.approx(of_words(slope.norm(dim=-1), sides), abs=1e-5)
    assert found.sign == "abs"


@KINDS
@pytest.mark.parametrize("baseline", ["pad", "mask", "unk"])
def test_integrated_gradients_add_up_to_the_change_from_the_baseline(
    kind: str, baseline: BaselineToken
) -> None:
    classifier = shared(kind)
    f = log_probability(classifier, PAIR, "entailment")
    with torch.no_grad():
        here = f(embeddings(classifier, reading(classifier, PAIR)[0]))
        there = f(embeddings(classifier, baseline_ids(classifier, PAIR, baseline)))
    found = attribute(
        classifier, [PAIR], ["entailment"], "integrated_gradients", baseline=baseline, steps=200
    )[0]
    assert sum(scores(found)) == pytest.approx(float(here - there), abs=2e-3)
    assert found.delta == pytest.approx(0, abs=2e-3)


@KINDS
def test_steps_are_doubled_until_the_sum_is_right_and_else_it_is_said(kind: str) -> None:
    few, many = (
        attribute(
            shared(kind), [PAIR], ["entailment"], "integrated_gradients", steps=1, most_steps=most
        )[0]
        for most in (1, 320)
    )
    assert few.delta is not None and many.delta is not None
    assert abs(few.delta) > abs(many.delta)
    assert "After 1 steps the scores add up to" in few.remarks[0] and not many.remarks


@KINDS
@pytest.mark.parametrize("baseline", ["pad", "mask"])
def test_occlusion_is_the_change_when_the_token_is_replaced(
    kind: str, baseline: BaselineToken
) -> None:
    classifier = shared(kind)
    ids, sides = reading(classifier, PAIR)
    f = log_probability(classifier, PAIR, "contradiction")
    changes = torch.zeros(len(ids))
    with torch.no_grad():
        for at, side in enumerate(sides):
            if side is None:
                continue
            other = ids.clone()
            other[at] = getattr(classifier.tokenizer, f"{baseline}_token_id")
            changes[at] = f(embeddings(classifier, ids)) - f(embeddings(classifier, other))
    found = attribute(classifier, [PAIR], ["contradiction"], "occlusion", baseline=baseline)[0]
    assert scores(found) == pytest.approx(of_words(changes, sides), abs=1e-5)


@KINDS
def test_gupta_is_the_other_sign_of_support(kind: str) -> None:
    support, gupta, size = (
        scores(attribute(shared(kind), [PAIR], ["neutral"], sign=sign)[0])
        for sign in ("support", "gupta", "abs")
    )
    assert gupta == pytest.approx([-score for score in support], abs=1e-7)
    assert size == pytest.approx([abs(score) for score in support], abs=1e-7)


@KINDS
@pytest.mark.parametrize("method", METHODS)
def test_other_weights_give_other_scores(kind: str, method: Method) -> None:
    one, other = (
        scores(attribute(tiny_classifier(kind, seed), [PAIR], ["neutral"], method)[0])
        for seed in (0, 1)
    )
    assert max(abs(a - b) for a, b in zip(one, other, strict=True)) > 1e-2


@KINDS
def test_another_head_alone_gives_other_scores(kind: str) -> None:
    classifier = tiny_classifier(kind)
    before = scores(attribute(classifier, [PAIR], ["neutral"])[0])
    head = [p for p in classifier.model.parameters() if p.shape == (3, 32)][-1]
    with torch.no_grad():
        head.copy_(head.flip(1))
    after = scores(attribute(classifier, [PAIR], ["neutral"])[0])
    assert max(abs(a - b) for a, b in zip(before, after, strict=True)) > 1e-3


@KINDS
@pytest.mark.parametrize("method", METHODS)
def test_offsets_cut_each_sides_own_text(kind: str, method: Method) -> None:
    for pair in PAIRS:
        found = attribute(shared(kind), [pair], ["neutral"], method)[0]
        for name, text in NLI.texts(pair).items():
            side = found.tokens(name)
            for token in side:
                spelt = token.token.removeprefix("##").removeprefix("Ġ")
                cut = text[token.start : token.end].strip()
                assert cut.lower() == spelt.lower()
            assert side[-1].end == len(text)


@KINDS
def test_the_sides_change_places_when_the_texts_do(kind: str) -> None:
    swapped = Pair(PAIR.hypothesis, PAIR.premise)
    one, other = (attribute(shared(kind), [pair], ["neutral"])[0] for pair in (PAIR, swapped))
    assert ids(one, "premise") == ids(other, "hypothesis")
    assert ids(one, "hypothesis") == ids(other, "premise")


@KINDS
def test_no_special_token_is_scored(kind: str) -> None:
    classifier = shared(kind)
    ids = classifier.tokenizer(PAIR.premise, PAIR.hypothesis)["input_ids"]
    special = set(classifier.tokenizer.all_special_ids)
    found = attribute(classifier, [PAIR], ["neutral"])[0]
    both = [token.id for token in (*found.tokens("premise"), *found.tokens("hypothesis"))]
    assert both == [id_ for id_ in ids if id_ not in special]


@KINDS
@pytest.mark.parametrize("method", METHODS)
def test_a_pair_scores_the_same_alone_and_among_others(kind: str, method: Method) -> None:
    labels = [LABELS[n % 3] for n in range(len(PAIRS))]
    together = attribute(shared(kind), PAIRS, labels, method)
    for pair, label, found in zip(PAIRS, labels, together, strict=True):
        alone = attribute(shared(kind), [pair], [label], method)[0]
        assert ids(found, "premise") == ids(alone, "premise")
        assert scores(found) == pytest.approx(scores(alone), abs=1e-5)
        assert found.label == label


def test_training_mode_is_refused() -> None:
    classifier = tiny_classifier()
    classifier.model.train()
    with pytest.raises(ValueError, match="the model is in training mode"):
        attribute(classifier, [PAIR], ["neutral"])


@pytest.mark.parametrize("method", ["integrated_gradients", "occlusion"])
def test_a_missing_baseline_token_is_named(method: Method) -> None:
    classifier = tiny_classifier()
    classifier.tokenizer.mask_token = None
    with pytest.raises(
        AttributionError, match="this model has no mask token; choose another baseline"
    ):
        attribute(classifier, [PAIR], ["neutral"], method, baseline="mask")


def test_the_model_is_left_as_it_was() -> None:
    classifier = tiny_classifier()
    before = {name: value.clone() for name, value in classifier.model.state_dict().items()}
    for method in METHODS:
        attribute(classifier, [PAIR], ["neutral"], method)
    assert all(torch.equal(before[n], v) for n, v in classifier.model.state_dict().items())


def test_no_pair_has_no_scores() -> None:
    assert attribute(shared(), [], []) == []


def test_the_method_shown_first_leaves_tokens_out_while_that_is_quick(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert first_method(20, 110_000_000) == FIRST  # a base BERT reads a short text so
    assert first_method(120, 110_000_000) == FIRST_LONG == first_method(129, 0)
    monkeypatch.setattr(importance, "FIRST_TOKENS", 64)  # the tiny model reads no more than 128
    words = "the man walks slowly to the old park and she reads her letter "
    short, long = Pair(words, words), Pair(words * 5, words * 5)
    shown = attribute(shared(), [long, short], ["neutral"] * 2, "auto")
    assert [each.method for each in shown] == [FIRST_LONG, FIRST]
    assert "takes too long for a first look at 12" in shown[0].remarks[0] and not shown[1].remarks
    assert scores(shown[1]) == scores(attribute(shared(), [short], ["neutral"], FIRST)[0])
