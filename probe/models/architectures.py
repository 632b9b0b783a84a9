"""What is known of each architecture: one row for every `model_type` that needs one.

Rows are data. Who reads a field interprets it: `probe.models.embedding_hook` the embedding,
`probe.models.checkpoint` the post-processor, `finetune.training.frozen_layers`
the frozen part, `finetune.training.recipes` the recipe.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Embedding = Literal["lookup", "external", "encoder_decoder", "normalised", "quantised"]
"""Where token vectors enter: looked up once in the word embeddings; looked up outside the model,
which takes vectors; looked up by an encoder and a decoder; taken behind the norm of the words;
looked up as whole numbers, which have no gradient."""


@dataclass(frozen=True)
class Recipe:
    """How an architecture was trained: an inoculation keeps all of it but the learning rate.

    `lr` is for training all weights, `fast_lr` for the upper ones alone; gradients are cut to a
    norm, or each to a value; `settings` are further arguments of the optimiser. With `average` a
    moving average of the weights of that decay is measured and kept.
    """

    optimiser: Literal["adamw", "adam", "adagrad"] = "adamw"
    lr: float = 2e-5
    fast_lr: float = 1e-3
    batch: int = 32
    clip_norm: float | None = 1.0
    clip_value: float | None = None
    settings: Mapping[str, float | tuple[float, float]] = field(default_factory=dict)
    average: float | None = None


@dataclass(frozen=True)
class EncoderLayers:
    """Where the layers of a transformer lie, below its base model; the lower ones can be frozen.

    `shared` parts serve all layers, so that they are frozen too; `bypassed` and `removed` parts
    belong to the embeddings or the first layer: trained layers take their input as it is, or go
    without them. `first_token` says how the last layer computes its first token alone, where the
    head looks: by BERT's attention, from any attention's result, or not at all.
    """

    layers: str = "encoder.layer"
    shared: tuple[str, ...] = ()
    bypassed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    first_token: Literal["bert", "any"] | None = "bert"


@dataclass(frozen=True)
class WordLayers:
    """The frozen part of a word model: its embeddings and what encodes each word behind them.

    With `by_side` the encoder takes premise and hypothesis apart, as
    `probe.models.word_models.layers.stack_sides` does.
    """

    embeddings: str
    encoder: str
    by_side: bool = False


@dataclass(frozen=True)
class Architecture:
    """The facts of one architecture.

    `segment_ids`: its tokenizer gives them only when asked. `own_post_processor`: its tokenizer
    class forgets how its files join two texts. `padded_positions`: positions are numbered from
    padding_idx + 1 and pass over padding. `norm` is the norm right behind the words of one that
    normalises them bare, `embedding_layer` the part that puts out words, positions and segments as
    one vector: both below the base model, of an encoder and decoder below each. `frozen` is None
    where fast mode cannot divide it. `word_table` is the parameter that holds a word model's own
    trained vectors. `stateless`: a pass leaves nothing in the network, so that several threads may
    run it at once. `ignores_padding`: a pass says the same of a text that is padded; elsewhere only
    texts of one length are a batch.
    """

    embedding: Embedding = "lookup"
    segment_ids: bool = False
    own_post_processor: bool = False
    padded_positions: bool = False
    norm: str = ""
    embedding_layer: str = "embeddings"
    frozen: EncoderLayers | WordLayers | None = None
    recipe: Recipe = Recipe()
    word_table: str = ""
    stateless: bool = True
    ignores_padding: bool = True


DEFAULT = Architecture(stateless=False, ignores_padding=False)  # not known
_PADDED = Architecture(stateless=False)
_ROBERTA = Architecture(padded_positions=True, frozen=EncoderLayers())
_ROBERTA_LIKE = Architecture(padded_positions=True, stateless=False)
_SEGMENTED = Architecture(segment_ids=True)
_READ_TWICE = Architecture("encoder_decoder", stateless=False)

ARCHITECTURES: dict[str, Architecture] = {
    **dict.fromkeys(("biogpt", "ernie", "falcon", "gemma", "gemma2"), _PADDED),
    **dict.fromkeys(("gpt_neo", "gpt_neox", "gptj", "llama", "megatron-bert"), _PADDED),
    **dict.fromkeys(("mistral", "mobilebert", "mpt", "opt", "phi", "phi3"), _PADDED),
    **dict.fromkeys(("qwen2", "qwen3", "squeezebert"), _PADDED),
    **dict.fromkeys(("data2vec-text", "longformer", "luke"), _ROBERTA_LIKE),
    **dict.fromkeys(("roberta-prelayernorm", "xlm-roberta-xl", "xmod"), _ROBERTA_LIKE),
    **dict.fromkeys(("mt5", "mvp", "plbart", "t5", "umt5"), _READ_TWICE),
    "albert": _SEGMENTED,  # one layer again and again: none of it can be frozen
    "bart": Architecture("encoder_decoder", embedding_layer="layernorm_embedding"),
    "bert": Architecture(frozen=EncoderLayers()),
    "bidaf": Architecture(
        recipe=Recipe("adam", 1e-3, 1e-3, batch=40, clip_norm=5.0, settings={"betas": (0.9, 0.9)}),
        word_table="embeddings.words.table",
    ),
    "bloom": Architecture("normalised", norm="word_embeddings_layernorm", stateless=False),
    "camembert": _ROBERTA,
    "deberta": Architecture(
        "normalised",
        norm="embeddings.LayerNorm",
        own_post_processor=True,
        frozen=EncoderLayers(shared=("encoder.rel_embeddings",), first_token="any"),
    ),
    "deberta-v2": Architecture(
        "normalised",
        norm="embeddings.LayerNorm",
        frozen=EncoderLayers(
            shared=("encoder.rel_embeddings", "encoder.LayerNorm"),
            removed=("encoder.conv",),
            first_token="any",
        ),
    ),
    "decomposable": Architecture(
        frozen=WordLayers("words", "projection"),
        recipe=Recipe("adagrad", 0.01, 0.01, batch=64, clip_norm=None, clip_value=5.0),
        word_table="words.table",
    ),
    "distilbert": Architecture(frozen=EncoderLayers("transformer.layer", first_token=None)),
    "electra": Architecture(frozen=EncoderLayers(bypassed=("embeddings_project",))),
    "esim": Architecture(
        frozen=WordLayers("embeddings", "encoding", by_side=True),
        recipe=Recipe("adam", 4e-4, 4e-4, clip_norm=10.0),
        word_table="embeddings.words.table",
    ),
    "funnel": Architecture(  # keeps lengths of its input
        "normalised", norm="embeddings.layer_norm", segment_ids=True, stateless=False
    ),
    "gpt2": Architecture(embedding_layer="drop", stateless=False),
    "ibert": Architecture("quantised", padded_positions=True, stateless=False),
    "mbart": Architecture(
        "encoder_decoder", embedding_layer="layernorm_embedding", stateless=False
    ),
    "modernbert": Architecture("normalised", norm="embeddings.norm", stateless=False),
    "modernbert-decoder": Architecture("normalised", norm="embeddings.norm", stateless=False),
    "mpnet": Architecture(
        padded_positions=True,
        frozen=EncoderLayers(shared=("encoder.relative_attention_bias",), first_token="any"),
    ),
    "qanet": Architecture(
        recipe=Recipe(
            "adam",
            1e-3,
            1e-3,
            batch=25,
            clip_norm=5.0,
            settings={"betas": (0.8, 0.999), "eps": 1e-7, "weight_decay": 2e-7},
            average=0.9999,
        ),
        word_table="embeddings.words.table",
    ),
    "rembert": _SEGMENTED,
    "roberta": _ROBERTA,
    "roformer": _SEGMENTED,
    "xlm-roberta": _ROBERTA,
    "xlnet": Architecture("external", segment_ids=True),
}
"""By `model_type`, as `python -m benchmarks.architectures` checks them; word models as Liu et al.
2019 trained them, in AllenNLP."""


def architecture(model_type: str) -> Architecture:
    """Return the row of a `model_type`, DEFAULT where it has none."""
    return ARCHITECTURES.get(model_type, DEFAULT)
