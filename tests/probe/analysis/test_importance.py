"""Importance against plain autograd and leaving tokens out, in architectures of every kind."""

from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import nn
from transformers import PreTrainedModel

from probe.analysis import importance
from probe.analysis.importance import (
    FIRST,
    FIRST_LONG,
    METHODS,
    BaselineToken,
    Check,
    Importance,
    Method,
    attribute,
    check,
    checked,
    first_method,
    known_check,
)
from probe.analysis.transformed import examine
from probe.errors import AttributionError
from probe.models import architectures
from probe.models.classifier import Classifier
from probe.models.library import AnyModel
from probe.models.reader import Reader
from probe.tasks.nli import LABELS, NLI, Pair
from probe.tasks.reading import READING
from tests.support.files.questions import asked
from tests.support.models.tiny_models import (
    FAMILY,
    MODELS,
    POSITIONS,
    RELATIVES,
    SHAPE,
    byte_pairs,
    shared,
    tiny_classifier,
)
from tests.support.pages.lessons import setting

PAIR = Pair("A man walks slowly to the old park.", "The baker isn't happy!")
LONGER = Pair("She reads her letter, and then she writes some music.", "He was here.")
SHORT = Pair("No.", "Yes, I like tea.")
PAIRS = (PAIR, LONGER, SHORT)
BASELINES: tuple[BaselineToken, ...] = ("pad", "mask", "unk")


def scores(importance: Importance) -> torch.Tensor:
    """Return the scores of all words, in the order in which the model reads them."""
    sides = importance.fields
    fields = ("question", "passage") if "question" in sides else sides
    return torch.tensor([token.score for field in fields for token in sides[field]]).double()


QUESTION = asked("Anna fixed it.", "Who fixed the mill?", (), "1")
BERT_LIKE = {"intermediate_size": 64, "max_position_embeddings": POSITIONS + 2, **SHAPE}
TWO_LAYERS = {"n_layer": 2, "n_head": 2}
SMALL = {"num_labels": 3, "pad_token_id": 1, "eos_token_id": 2, "initializer_range": 0.2}
T5_LIKE = {"d_kv": 16, "d_ff": 64, "num_layers": 2, "num_heads": 2, "decoder_start_token_id": 1}
FUNNEL_LIKE = {"block_sizes": [1, 1], "n_head": 2, "d_head": 16, "d_inner": 64}
FURTHER: dict[str, dict[str, Any]] = {
    "GPT2": {"n_positions": POSITIONS, "n_embd": 32, **TWO_LAYERS},
    "Bloom": {"hidden_size": 32, **TWO_LAYERS},
    "ModernBert": {**BERT_LIKE, "cls_token_id": 0, "sep_token_id": 2},
    "Funnel": {"d_model": 32, **FUNNEL_LIKE},
    "Longformer": {"attention_window": 8, **BERT_LIKE},
    "T5": {"d_model": 32, **T5_LIKE},
}
"""Networks that tell labels, by the name that transformers gives them."""
READERS = ("Roberta", "XLMRoberta", "Longformer")
"""Networks that find answers."""
KINDS = [*FAMILY, "mpnet", *FURTHER, *(f"{name} reader" for name in READERS)]
NORMALISED = ("Bloom", "ModernBert", "Funnel", "deberta", "deberta-v2")


@cache
def tiny(kind: str) -> AnyModel:
    """Return a model of random weights, the same each time."""
    if kind in FAMILY | RELATIVES:
        return tiny_classifier(kind)
    tokenizer = byte_pairs()
    name, _, reader = kind.partition(" ")
    values = BERT_LIKE if reader else FURTHER[name]
    made: type[PreTrainedModel] = getattr(
        transformers, f"{name}For{'QuestionAnswering' if reader else 'SequenceClassification'}"
    )
    asked = {**SMALL, **({"num_labels": 2} if reader else {}), **values}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        assert made.config_class
        model = made(made.config_class(vocab_size=len(tokenizer), **asked)).eval()
        for parameter in model.parameters():  # T5 and Funnel draw in ways of their own
            parameter.data += 0.05 * torch.randn(parameter.shape)
    if reader:
        return Reader(kind, model, tokenizer)
    return Classifier(kind, model, tokenizer, NLI, LABELS)


def log_probabilities(
    model: AnyModel,
    vectors_of: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    baseline: BaselineToken = "pad",
) -> torch.Tensor:
    """Return log p of the example where each word is a word of its own, with other vectors.

    The vocabulary is longer then, so that no id is that of padding. `vectors_of` makes the vectors
    of several copies from the words' usual ones and the baseline's.  # (words, size), (size,) ->
    (copies, words, size); returns (copies,)
    """
    example, label = (SHORT, "neutral") if isinstance(model, Classifier) else (QUESTION, "Anna")
    prepared = model.explainable([example], [label])
    words = [at for at, place in enumerate(prepared.places[0]) if place]
    weight = model.model.get_input_embeddings().weight
    table, ids = weight.data, prepared.inputs["input_ids"]
    tied = [each for each in model.model.parameters() if each.data_ptr() == table.data_ptr()]
    own = ids.clone()
    own[0, words] = torch.arange(len(words)) + len(table)
    found = []
    nothing = table[getattr(model.tokenizer, f"{baseline}_token_id")]
    for vectors in vectors_of(table[ids[0, words]], nothing):
        for each in tied:
            each.data = torch.cat([table, vectors])
        with torch.no_grad():
            found.append(prepared.log_probability(model, {**prepared.inputs, "input_ids": own})[0])
    for each in tied:
        each.data = table
    return torch.stack(found).double()


def word_scores(model: AnyModel, method: Method) -> torch.Tensor:
    """Return the scores of the example's words."""
    example, label = (SHORT, "neutral") if isinstance(model, Classifier) else (QUESTION, "Anna")
    return scores(attribute(model, [example], [label], method)[0])


def without_each(words: torch.Tensor, nothing: torch.Tensor) -> torch.Tensor:
    """Return the words as they are, none of them, then without each."""
    gone = torch.eye(len(words)).bool()
    every = torch.cat([gone[:2] & False, gone])
    every[1] = True
    return torch.where(every[..., None], nothing, words)


STEP = 0.001


def scaled_each(words: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
    """Return the words with each a little longer, then with each a little shorter."""
    factors = 1 + STEP * torch.eye(len(words))
    return torch.cat([words * factors[..., None], words * (2 - factors)[..., None]])


def test_each_method_is_what_its_definition_says() -> None:
    for kind, pair, label in product(MODELS, PAIRS, LABELS):
        classifier = shared(kind)
        encoded = classifier.tokenizer(pair.premise, pair.hypothesis, return_tensors="pt")
        words = torch.tensor([side is not None for side in encoded.sequence_ids(0)])
        looked_up = classifier.model.get_input_embeddings()(encoded.pop("input_ids"))
        embedded = looked_up.detach().requires_grad_()
        logits = classifier.model(inputs_embeds=embedded, **encoded).logits[0]
        torch.log_softmax(logits, -1)[LABELS.index(label)].backward()
        assert embedded.grad is not None
        gradient, vectors = embedded.grad[0][words], embedded[0][words].detach()
        by_hand = (vectors * gradient).sum(-1)
        for options, expected in (
            ({}, by_hand),
            ({"sign": "gupta"}, -by_hand),
            ({"sign": "abs"}, by_hand.abs()),
            ({"method": "saliency"}, gradient.norm(dim=-1)),
        ):
            (found,) = attribute(shared(kind), [pair], [label], **options)  # type: ignore[arg-type]
            assert scores(found) == pytest.approx(expected, abs=1e-5), (kind, label, options)
            assert found.sign == ("abs" if "method" in options else options.get("sign", "support"))


def test_scores_beside_a_baseline_add_up_in_steps_that_are_doubled_until_they_do() -> None:
    for kind, baseline in product(MODELS, BASELINES):
        whole, empty, *others = log_probabilities(shared(kind), without_each, baseline)
        left_out, many = (
            attribute(shared(kind), [SHORT], ["neutral"], method, "support", baseline, 200)[0]
            for method in ("occlusion", "integrated_gradients")
        )
        few, more = (
            attribute(
                *(shared(kind), [PAIR], ["entailment"], "integrated_gradients", "support"),
                *(baseline, 1, most),
            )[0]
            for most in (1, 320)
        )
        by_hand = [float(whole - each) for each in others]
        assert scores(left_out) == pytest.approx(by_hand, abs=1e-5), (kind, baseline)
        change = pytest.approx(float(whole - empty), abs=2e-3)
        assert float(scores(many).sum()) == change, (kind, baseline)
        assert many.delta == pytest.approx(0, abs=2e-3), (kind, baseline)
        assert few.delta is not None and more.delta is not None
        assert abs(few.delta) > abs(more.delta) and not more.remarks, kind
        if baseline == "pad":
            assert "After 1 steps the scores add up to" in few.remarks[0], kind


def test_every_word_is_scored_at_its_place_in_its_own_text_alone_or_among_others() -> None:
    for kind, method in product(MODELS, METHODS):
        classifier = shared(kind)
        together = attribute(classifier, PAIRS, LABELS, method)
        for pair, label, found in zip(PAIRS, LABELS, together, strict=True):
            (alone,) = attribute(classifier, [pair], [label], method)
            assert scores(found) == pytest.approx(scores(alone), abs=1e-5), (kind, method)
            assert found.label == label
            ids = classifier.tokenizer(pair.premise, pair.hypothesis)["input_ids"]
            both = [token.id for side in found.fields.values() for token in side]
            assert both == [id_ for id_ in ids if id_ not in classifier.tokenizer.all_special_ids]
            for name, text in NLI.texts(pair).items():
                for token in found.tokens(name):
                    spelt = token.token.removeprefix("##").removeprefix("Ġ")
                    cut = text[token.start : token.end].strip()
                    assert cut.lower() == spelt.lower(), (kind, method)
                assert token.end == len(text)


def test_why_this_and_not_that_is_one_label_s_scores_less_the_other_s() -> None:
    (kind, *_), pair = MODELS, PAIRS[0]
    for method, facts in METHODS.items():
        how: dict[str, Any] = {"steps": 100, "most_steps": 100}  # as many of each
        first, second = (
            attribute(shared(kind), [pair], [label], method, **how)[0] for label in LABELS[:2]
        )
        (apart,) = attribute(shared(kind), [pair], LABELS[:1], method, **how, against=LABELS[1])
        assert (apart.label, apart.against) == LABELS[:2]
        assert apart.target == f"{LABELS[0]} − {LABELS[1]}" and first.target == LABELS[0]
        linear = torch.allclose(scores(apart), scores(first) - scores(second), atol=1e-5)
        assert linear == facts.signed, method  # saliency is a length
        (turned,) = attribute(shared(kind), [pair], LABELS[1:2], method, **how, against=LABELS[0])
        assert scores(turned) == pytest.approx(
            scores(apart) * (-1 if facts.signed else 1), abs=1e-5
        )


def test_what_cannot_be_read_is_refused() -> None:
    classifier = tiny_classifier()
    for against, labels in (("neutral", ["neutral"]), ("neutral", ["entailment", "neutral"])):
        with pytest.raises(AttributionError, match="“neutral” is set against itself"):
            attribute(classifier, [PAIR] * len(labels), labels, against=against)
    with pytest.raises(AttributionError, match="is asked of labels"):
        attribute(setting(READING).classifier, [QUESTION], ["Anna"], against="Bo")
    assert attribute(classifier, [], []) == []
    classifier.tokenizer.mask_token = None
    for method in ("integrated_gradients", "occlusion"):
        with pytest.raises(AttributionError, match="has no mask token; choose another baseline"):
            attribute(classifier, [PAIR], ["neutral"], method, baseline="mask")
    classifier.model.train()
    with pytest.raises(ValueError, match="the model is in training mode"):
        attribute(classifier, [PAIR], ["neutral"])


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
    (alone,) = attribute(shared(), [short], ["neutral"], FIRST)
    assert scores(shown[1]) == pytest.approx(scores(alone), abs=1e-7)


def test_leaving_out_longer_vectors_and_the_empty_text_are_what_the_scores_say() -> None:
    for kind in [*KINDS, "deberta-v2"]:
        model = tiny(kind)
        whole, empty, *others = log_probabilities(model, without_each)
        by_hand = torch.stack([whole - each for each in others])
        assert by_hand.abs().max() > 1e-3, kind
        assert word_scores(model, "occlusion") == pytest.approx(by_hand, abs=1e-5), kind
        longer, shorter = log_probabilities(model, scaled_each).chunk(2)
        by_hand, found = (longer - shorter) / (2 * STEP), word_scores(model, "gradient_x_input")
        if kind not in NORMALISED:
            assert found == pytest.approx(by_hand, rel=0.02, abs=2e-3), kind
        elif kind != "deberta":
            assert by_hand.abs().max() < 1e-2, kind  # the length of a word means nothing
            (one,) = attribute(model, [PAIR], ["neutral"])
            assert one.where == "behind the norm of the word vectors" and not one.vanishes, kind
            assert found.abs().max() > 1e-2, kind
        if kind in ("bert", "mpnet", *FURTHER, *KINDS[-3:]):
            for method in ("integrated_gradients", "embedding_integrated_gradients"):
                added = float(word_scores(model, method).sum())  # type: ignore[arg-type]  # one
                expected = pytest.approx(float(whole - empty), rel=0.06, abs=2e-3)
                assert added == expected, (kind, method)


def test_nothing_is_said_of_a_network_that_is_read_rightly() -> None:
    assert {kind: said for kind in KINDS if (said := check(tiny(kind)).sentences)} == {}


def test_a_network_that_reads_tokens_otherwise_or_whose_gradient_is_no_slope_is_said() -> None:
    first, second = tiny_classifier(), tiny_classifier()
    further = nn.Embedding(first.model.config.vocab_size, 32)
    embeddings = first.model.base_model.embeddings
    plain = embeddings.forward
    embeddings.forward = lambda input_ids=None, **others: (  # type: ignore[method-assign]
        plain(input_ids=input_ids, **others) + further(input_ids)
    )
    second.model.base_model.embeddings.LayerNorm.register_forward_hook(
        lambda _, __, out: 0.5 * out + 0.5 * out.detach()
    )
    for classifier, words in (
        (first, "reads tokens in a further way that importance does not see"),
        (second, "so do not rest on its gradients"),
    ):
        (said,) = check(classifier).sentences
        assert words in said


def test_gradients_that_vanish_are_said_and_rank_no_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(architectures.ARCHITECTURES, "modernbert")  # its norm is not known then
    model = tiny.__wrapped__("ModernBert")
    assert "nothing but rounding" in check(model).sentences[0]
    found = examine(model, PAIR, ["drop", "replace", "copyone", "sort"], method="gradient_x_input")
    assert found.importance and "nothing but rounding" in found.importance.remarks[0]
    for each in found.transformed:
        refused = "cannot rank the tokens" in each.result.note
        assert refused == (each.result.transform != "sort") == (not each.result.changed)


def test_a_check_is_made_once_for_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLI_CLINIC_HOME", str(tmp_path))
    first, again, other = tiny_classifier(), tiny_classifier(), tiny_classifier(seed=1)
    found, calls = checked(first), list[Classifier]()
    assert known_check(first) == found and known_check(again) is None

    def counted(model: Classifier) -> Check:
        calls.append(model)
        return found

    monkeypatch.setattr(importance, "check", counted)
    assert [checked(model) for model in (again, other, other)] == [found] * 3
    assert calls == [other]
    assert len(list(tmp_path.rglob("*.json"))) == 2


def test_where_importance_is_not_to_be_had_the_answer_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    classifier = tiny_classifier()

    def hidden() -> nn.Module:
        raise NotImplementedError("this network hides its embeddings")

    monkeypatch.setattr(classifier.model, "get_input_embeddings", hidden)
    found = examine(classifier, PAIR, ["drop", "sort"])
    assert found.importance is None and "hides its embeddings" in found.no_importance
    assert found.prediction.label
    drop, sort = found.transformed
    assert "hides its embeddings" in drop.result.note and sort.result.changed
