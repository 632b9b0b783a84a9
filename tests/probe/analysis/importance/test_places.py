"""Leaving tokens out, and where gradients are taken, in architectures that read ids otherwise."""

from collections.abc import Callable

import pytest
import torch
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

from probe.analysis.importance import METHODS, Method, attribute
from probe.models.classifier import Classifier
from probe.models.library import AnyModel
from probe.models.reader import Reader
from probe.tasks.nli import LABELS, NLI, Pair
from tests.support.files.questions import asked
from tests.support.models.tiny_models import (
    FAMILY,
    POSITIONS,
    RELATIVES,
    SHAPE,
    byte_pairs,
    tiny_classifier,
)

PAIR = Pair("A man walks slowly to the old park.", "The baker isn't happy!")
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


def scores(model: AnyModel, method: Method) -> torch.Tensor:
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


@pytest.mark.parametrize("kind", [*FAMILY, "mpnet", *FURTHER, *READERS])
def test_leaving_a_token_out_moves_no_other(kind: str) -> None:
    model = tiny(kind)
    whole, *others = log_probabilities(model, without_each)
    by_hand = torch.stack([whole - each for each in others])
    assert by_hand.abs().max() > 1e-3
    assert scores(model, "occlusion") == pytest.approx(by_hand, abs=1e-5)


STEP = 0.001


def scaled_each(words: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
    """Return the words with each a little longer, then with each a little shorter."""
    factors = 1 + STEP * torch.eye(len(words))
    return torch.cat([words * factors[..., None], words * (2 - factors)[..., None]])


@pytest.mark.parametrize(
    "kind", [kind for kind in (*FAMILY, "mpnet", *FURTHER, *READERS) if kind not in NORMALISED]
)
def test_gradient_x_input_is_what_longer_vectors_change(kind: str) -> None:
    model = tiny(kind)
    longer, shorter = log_probabilities(model, scaled_each).chunk(2)
    by_hand = (longer - shorter) / (2 * STEP)
    assert scores(model, "gradient_x_input") == pytest.approx(by_hand, rel=0.02, abs=2e-3)


@pytest.mark.parametrize("kind", ["bloom", "modernbert", "funnel", "deberta-v2"])
def test_of_words_that_are_normalised_bare_it_is_taken_behind_the_norm(kind: str) -> None:
    model = tiny(kind)
    longer, shorter = log_probabilities(model, scaled_each).chunk(2)
    assert (longer - shorter).abs().max() < 1e-2 * STEP  # the length of a word means nothing
    (found,) = attribute(model, [PAIR], ["neutral"])
    assert found.where == "behind the norm of the word vectors" and not found.vanishes
    assert scores(model, "gradient_x_input").abs().max() > 1e-2


@pytest.mark.parametrize("kind", ["bert", "mpnet", *FURTHER, *READERS])
@pytest.mark.parametrize("method", [name for name, row in METHODS.items() if "integrated" in name])
def test_integrated_gradients_come_from_the_text_without_its_vectors(
    kind: str, method: Method
) -> None:
    model = tiny(kind)
    whole, empty = log_probabilities(
        model, lambda words, nothing: torch.stack([words, nothing.expand_as(words)])
    )
    change = float(whole - empty)
    assert float(scores(model, method).sum()) == pytest.approx(change, rel=0.06, abs=2e-3)
