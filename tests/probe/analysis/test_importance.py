"""Importance against plain autograd and leaving tokens out, in architectures of every kind."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path

import pytest
import torch
from torch import nn
from transformers import (
    BloomConfig,
    BloomForSequenceClassification,
    FunnelConfig,
    FunnelForSequenceClassification,
    GPT2Config,
    GPT2ForSequenceClassification,
    LongformerConfig,
    LongformerForQuestionAnswering,
    LongformerForSequenceClassification,
    ModernBertConfig,
    ModernBertForSequenceClassification,
    PreTrainedModel,
    RobertaForQuestionAnswering,
    T5Config,
    T5ForSequenceClassification,
    XLMRobertaForQuestionAnswering,
)

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
from probe.tasks.task import Label
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

PAIR = Pair("A man walks slowly to the old park.", "The baker isn't happy!")
LONGER = Pair("She reads her letter, and then she writes some music.", "He was here.")
SHORT = Pair("No.", "Yes, I do like tea very much.")
PAIRS = (PAIR, LONGER, SHORT)
BASELINES: tuple[BaselineToken, ...] = ("pad", "mask", "unk")
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


QUESTION = asked("The old mill stood by the river. Anna fixed it.", "Who fixed the mill?", (), "1")
BERT_LIKE = {"intermediate_size": 64, "max_position_embeddings": POSITIONS + 2, **SHAPE}
Build = Callable[[int], PreTrainedModel]
SMALL = {"num_labels": 3, "pad_token_id": 1, "eos_token_id": 2, "initializer_range": 0.2}
FURTHER: dict[str, Build] = {
    "gpt2": lambda size: GPT2ForSequenceClassification(
        GPT2Config(vocab_size=size, n_positions=POSITIONS, n_embd=32, n_layer=2, n_head=2, **SMALL)
    ),
    "bloom": lambda size: BloomForSequenceClassification(
        BloomConfig(vocab_size=size, hidden_size=32, n_layer=2, n_head=2, **SMALL)
    ),
    "modernbert": lambda size: ModernBertForSequenceClassification(
        ModernBertConfig(vocab_size=size, **BERT_LIKE, **SMALL, cls_token_id=0, sep_token_id=2)
    ),
    "funnel": lambda size: FunnelForSequenceClassification(
        FunnelConfig(
            vocab_size=size,
            block_sizes=[1, 1],
            d_model=32,
            n_head=2,
            d_head=16,
            d_inner=64,
            **SMALL,
        )
    ),
    "longformer": lambda size: LongformerForSequenceClassification(
        LongformerConfig(vocab_size=size, attention_window=8, **BERT_LIKE, **SMALL)
    ),
    "t5": lambda size: T5ForSequenceClassification(
        T5Config(
            vocab_size=size,
            d_model=32,
            d_kv=16,
            d_ff=64,
            num_layers=2,
            num_heads=2,
            decoder_start_token_id=1,
            **SMALL,
        )
    ),
}
READERS: dict[str, Build] = {
    kind.__name__: lambda size, kind=kind: kind(  # type: ignore[misc]  # bound at once
        kind.config_class(vocab_size=size, **BERT_LIKE, **(SMALL | {"num_labels": 2}))
    )
    for kind in (
        RobertaForQuestionAnswering,
        XLMRobertaForQuestionAnswering,
        LongformerForQuestionAnswering,
    )
}
KINDS = [*FAMILY, "mpnet", *FURTHER, *READERS]
NORMALISED = ("bloom", "modernbert", "funnel", "deberta", "deberta-v2")


def tiny(kind: str) -> AnyModel:
    """Return a model of random weights, the same each time."""
    if kind in FAMILY | RELATIVES:
        return tiny_classifier(kind)
    tokenizer, device = byte_pairs(), torch.device("cpu")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = (FURTHER | READERS)[kind](len(tokenizer)).eval()
        for parameter in model.parameters():  # T5 and Funnel draw in ways of their own
            parameter.data += 0.05 * torch.randn(parameter.shape)
    if kind in READERS:
        return Reader(kind, model, tokenizer, device)
    return Classifier(kind, model, tokenizer, NLI, LABELS, device)


def log_probabilities(
    model: AnyModel, vectors_of: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
) -> torch.Tensor:
    """Return log p of the example where each word is a word of its own, with other vectors.

    The vocabulary is longer then, so that no id is that of padding. `vectors_of` makes the vectors
    of several copies from the words' usual ones and padding's.  # (words, size), (size,) ->
    (copies, words, size); returns (copies,)
    """
    example, label = (PAIR, "neutral") if isinstance(model, Classifier) else (QUESTION, "Anna")
    prepared = model.explainable([example], [label])
    words = [at for at, place in enumerate(prepared.places[0]) if place]
    weight = model.model.get_input_embeddings().weight
    table, ids = weight.data, prepared.inputs["input_ids"]
    tied = [each for each in model.model.parameters() if each.data_ptr() == table.data_ptr()]
    own = ids.clone()
    own[0, words] = torch.arange(len(words)) + len(table)
    found = []
    for vectors in vectors_of(table[ids[0, words]], table[model.tokenizer.pad_token_id]):
        for each in tied:
            each.data = torch.cat([table, vectors])
        with torch.no_grad():
            found.append(prepared.log_probability(model, {**prepared.inputs, "input_ids": own})[0])
    for each in tied:
        each.data = table
    return torch.stack(found).double()


def word_scores(model: AnyModel, method: Method) -> torch.Tensor:
    """Return the scores of all words, in the order in which the model reads them."""
    example, label = (PAIR, "neutral") if isinstance(model, Classifier) else (QUESTION, "Anna")
    (found,) = attribute(model, [example], [label], method)
    fields = model.task.fields if isinstance(model, Classifier) else ("question", "passage")
    return torch.tensor([token.score for field in fields for token in found.tokens(field)]).double()


def without_each(words: torch.Tensor, nothing: torch.Tensor) -> torch.Tensor:
    """Return the words as they are, then without each."""
    copies = words.repeat(len(words) + 1, 1, 1)
    copies[1 + torch.arange(len(words)), torch.arange(len(words))] = nothing
    return copies


def far(found: Sequence[float], by_hand: Sequence[float] | torch.Tensor, within: float) -> float:
    """Return how far scores are from those by hand, 0 within a bound."""
    gap = (torch.tensor(found).double() - torch.as_tensor(by_hand).double()).abs().max()
    return 0.0 if len(found) == len(by_hand) and gap <= within else float(gap)


def test_each_method_is_what_its_definition_says() -> None:
    wrong: list[object] = []
    for kind in MODELS:
        classifier = shared(kind)
        for pair, label in product(PAIRS, LABELS):
            embedded, slope, sides = gradient(classifier, pair, label)
            found = scores(attribute(classifier, [pair], [label])[0])
            wrong.append(
                (kind, label, far(found, of_words((embedded * slope).sum(-1), sides), 1e-5))
            )
        _, slope, sides = gradient(classifier, PAIR, "neutral")
        found = attribute(classifier, [PAIR], ["neutral"], "saliency")[0]
        assert found.sign == "abs"
        wrong.append(
            (kind, "saliency", far(scores(found), of_words(slope.norm(dim=-1), sides), 1e-5))
        )
        support, gupta, size = (
            scores(attribute(classifier, [PAIR], ["neutral"], sign=sign)[0])
            for sign in ("support", "gupta", "abs")
        )
        wrong.append((kind, "gupta", far(gupta, [-score for score in support], 1e-7)))
        wrong.append((kind, "abs", far(size, [abs(score) for score in support], 1e-7)))
    assert [each for each in wrong if each[-1]] == []  # type: ignore[index]  # rows of three


def replaced(
    classifier: Classifier, f: Embedded, ids: torch.Tensor, token: int, places: Sequence[int]
) -> float:
    """Return what the function is where words are another token."""
    other = ids.clone()
    other[list(places)] = token
    with torch.no_grad():
        return float(f(embeddings(classifier, other)))


def test_with_a_baseline_scores_are_the_change_to_it() -> None:
    wrong = []
    for kind, baseline in product(MODELS, BASELINES):
        classifier, f = shared(kind), log_probability(shared(kind), PAIR, "entailment")
        ids, sides = reading(classifier, PAIR)
        token = getattr(classifier.tokenizer, f"{baseline}_token_id")
        value = partial(replaced, classifier, f, ids, token)
        words = [at for at, side in enumerate(sides) if side is not None]

        whole = value([])
        occluded = attribute(classifier, [PAIR], ["entailment"], "occlusion", baseline=baseline)[0]
        by_hand = [whole - value([at]) for at in words]
        added = attribute(
            classifier, [PAIR], ["entailment"], "integrated_gradients", baseline=baseline, steps=200
        )[0]
        wrong += [
            (kind, baseline, "occlusion", far(scores(occluded), by_hand, 1e-5)),
            (kind, baseline, "sum", far([sum(scores(added))], [whole - value(words)], 2e-3)),
            (kind, baseline, "delta", far([added.delta or 0.0], [0.0], 2e-3)),
        ]
    assert [each for each in wrong if each[-1]] == []


def test_steps_are_doubled_until_the_sum_is_right_and_else_it_is_said() -> None:
    for kind in MODELS:
        few, many = (
            attribute(
                shared(kind),
                [PAIR],
                ["entailment"],
                "integrated_gradients",
                steps=1,
                most_steps=most,
            )[0]
            for most in (1, 320)
        )
        assert few.delta is not None and many.delta is not None
        assert abs(few.delta) > abs(many.delta), kind
        assert "After 1 steps the scores add up to" in few.remarks[0] and not many.remarks, kind


def test_other_weights_and_another_head_give_other_scores() -> None:
    alike = []
    for kind, method in product(MODELS, METHODS):
        one, other = (
            scores(attribute(tiny_classifier(kind, seed), [PAIR], ["neutral"], method)[0])
            for seed in (0, 1)
        )
        if max(abs(a - b) for a, b in zip(one, other, strict=True)) < 1e-2:
            alike.append((kind, method))
    for kind in MODELS:
        classifier = tiny_classifier(kind)
        before = scores(attribute(classifier, [PAIR], ["neutral"])[0])
        head = [p for p in classifier.model.parameters() if p.shape == (3, 32)][-1]
        with torch.no_grad():
            head.copy_(head.flip(1))
        after = scores(attribute(classifier, [PAIR], ["neutral"])[0])
        if max(abs(a - b) for a, b in zip(before, after, strict=True)) < 1e-3:
            alike.append((kind, "head"))
    assert alike == []


def test_every_word_is_scored_at_its_place_in_its_own_text_alone_or_among_others() -> None:
    labels = list(LABELS)
    for kind, method in product(MODELS, METHODS):
        classifier = shared(kind)
        special = {*classifier.tokenizer.all_special_ids}
        together = attribute(classifier, PAIRS, labels, method)
        for pair, label, found in zip(PAIRS, labels, together, strict=True):
            alone = attribute(classifier, [pair], [label], method)[0]
            assert scores(found) == pytest.approx(scores(alone), abs=1e-5), (kind, method)
            assert found.label == label
            read = classifier.tokenizer(pair.premise, pair.hypothesis)["input_ids"]
            both = [*ids(found, "premise"), *ids(found, "hypothesis")]
            assert both == [id_ for id_ in read if id_ not in special], (kind, method)
            for name, text in NLI.texts(pair).items():
                side = found.tokens(name)
                for token in side:
                    spelt = token.token.removeprefix("##").removeprefix("Ġ")
                    cut = text[token.start : token.end].strip()
                    assert cut.lower() == spelt.lower(), (kind, method)
                assert side[-1].end == len(text)


def test_what_cannot_be_read_is_refused_and_the_model_is_left_as_it_was() -> None:
    classifier = tiny_classifier()
    before = {name: value.clone() for name, value in classifier.model.state_dict().items()}
    for method in METHODS:
        attribute(classifier, [PAIR], ["neutral"], method)
    assert all(torch.equal(before[n], v) for n, v in classifier.model.state_dict().items())
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
    assert scores(shown[1]) == scores(attribute(shared(), [short], ["neutral"], FIRST)[0])


STEP = 0.001


def scaled_each(words: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
    """Return the words with each a little longer, then with each a little shorter."""
    factors = 1 + STEP * torch.eye(len(words))
    return torch.cat([words * factors[..., None], words * (2 - factors)[..., None]])


def test_leaving_a_token_out_moves_no_other() -> None:
    for kind in KINDS:
        model = tiny(kind)
        whole, *others = log_probabilities(model, without_each)
        by_hand = torch.stack([whole - each for each in others])
        assert by_hand.abs().max() > 1e-3, kind
        assert word_scores(model, "occlusion") == pytest.approx(by_hand, abs=1e-5), kind


def test_gradient_x_input_is_what_longer_vectors_change_or_is_taken_behind_the_norm() -> None:
    for kind in [*KINDS, "deberta-v2"]:
        model = tiny(kind)
        longer, shorter = log_probabilities(model, scaled_each).chunk(2)
        by_hand, found = (longer - shorter) / (2 * STEP), word_scores(model, "gradient_x_input")
        if kind not in NORMALISED:
            assert found == pytest.approx(by_hand, rel=0.02, abs=2e-3), kind
        elif kind != "deberta":
            assert by_hand.abs().max() < 1e-2, kind  # the length of a word means nothing
            (one,) = attribute(model, [PAIR], ["neutral"])
            assert one.where == "behind the norm of the word vectors" and not one.vanishes, kind
            assert found.abs().max() > 1e-2, kind


def test_integrated_gradients_come_from_the_text_without_its_vectors() -> None:
    methods = [name for name in METHODS if "integrated" in name]
    for kind in ["bert", "mpnet", *FURTHER, *READERS]:
        model = tiny(kind)
        whole, empty = log_probabilities(
            model, lambda words, nothing: torch.stack([words, nothing.expand_as(words)])
        )
        for method in methods:
            found = float(word_scores(model, method).sum())
            expected = pytest.approx(float(whole - empty), rel=0.06, abs=2e-3)
            assert found == expected, (kind, method)


def test_nothing_is_said_of_a_network_that_is_read_rightly() -> None:
    assert {kind: said for kind in KINDS if (said := check(tiny(kind)).sentences)} == {}


def test_a_network_that_reads_tokens_in_a_further_way_is_said() -> None:
    classifier = tiny_classifier()
    further = nn.Embedding(classifier.model.config.vocab_size, 32)
    embeddings = classifier.model.base_model.embeddings
    plain = embeddings.forward
    embeddings.forward = lambda input_ids=None, **others: (  # type: ignore[method-assign]
        plain(input_ids=input_ids, **others) + further(input_ids)
    )
    (said,) = check(classifier).sentences
    assert "reads tokens in a further way that importance does not see" in said


def test_a_gradient_that_is_not_the_slope_is_said() -> None:
    classifier = tiny_classifier()
    embeddings = classifier.model.base_model.embeddings
    embeddings.LayerNorm.register_forward_hook(lambda _, __, out: 0.5 * out + 0.5 * out.detach())
    (said,) = check(classifier).sentences
    assert "so do not rest on its gradients" in said


def test_gradients_that_vanish_are_said_and_rank_no_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(architectures.ARCHITECTURES, "modernbert")  # its norm is not known then
    model = tiny("modernbert")
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
