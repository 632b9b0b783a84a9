"""Tiny random models of some 60 architectures, each saved and loaded as a person's own is.

    python -m benchmarks.architectures [KIND ...]

A line for each: how far the probabilities of three pairs, together in a batch, lie from those of
plain transformers, one pair at a time; how far the importance of tokens (gradient x input) lies
from a backward pass of our own; how many tokens stand where their text says. What is refused or
cannot be explained says why. Nothing is downloaded: tokenizers are made of the pairs' words. The
command fails where figures that should be the same are not.
"""

import json
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import torch
import transformers
import typer
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from torch.func import functional_call
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertTokenizer,
    FunnelTokenizer,
    GemmaTokenizer,
    MPNetTokenizer,
    OpenAIGPTTokenizer,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)

from probe.analysis.importance import attribute
from probe.errors import UserError
from probe.models.classifier import Classifier
from probe.models.embedding_hook import embedding_hook
from probe.models.library import load
from probe.tasks.nli import LABELS, Pair

PAIRS = (
    Pair("A man walks slowly to the old park.", "The baker is not happy!"),
    Pair("She reads her letter, and then she writes some music.", "He was here."),
    Pair("No.", "Yes, I do like tea very much."),
)
CLOSE = 1e-4
"""Probabilities or scores that differ by less are the same: they are sums in fp32."""
WORDS = sorted({word.strip(".,!") for p in PAIRS for word in f"{p.premise} {p.hypothesis}".split()})
LETTERS = [*string.ascii_letters, *".,!'"]
BERT = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ROBERTA = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
SIZES: Mapping[str, object] = {
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "dim", "emb_dim", "embedding_size"), 32),
    **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers"), 2),
    **dict.fromkeys(("encoder_layers", "decoder_layers", "num_decoder_layers"), 2),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads"), 4),
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 4),
    **dict.fromkeys(("intermediate_size", "d_ff", "d_inner", "hidden_dim", "ffn_dim"), 64),
    **dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim", "dff"), 64),
    **dict.fromkeys(("initializer_range", "init_std", "embed_init_std", "initializer_std"), 0.2),
    **dict.fromkeys(("max_position_embeddings", "n_positions", "max_seq_len"), 130),
    **{"num_key_value_heads": 2, "head_dim": 8, "d_kv": 8, "d_head": 8},
}
"""Of every model, where its config has such a number; the range is ten times the usual, with which
all probabilities would be near 1/3."""


def word_piece(make: Any = BertTokenizer, special: Sequence[str] = BERT) -> PreTrainedTokenizerBase:
    """Return a tokenizer of whole words and letters. Any: each class takes what it likes."""
    pieces = [*special, *map(str.lower, (*LETTERS, *WORDS)), *(f"##{one}" for one in LETTERS)]
    ids = {piece: id_ for id_, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer: PreTrainedTokenizerBase = make(vocab=ids)
    return tokenizer


def merged_pairs(words: Iterable[str], size: int, special: Sequence[str]) -> dict[str, Any]:
    """Return the vocabulary and the merges of byte pairs.  # Any: as a tokenizer takes them"""
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trained.train_from_iterator(
        words,
        trainers.BpeTrainer(
            vocab_size=size,
            special_tokens=list(special),
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    merges = [tuple(pair) for pair in json.loads(trained.to_str())["model"]["merges"]]
    return {"vocab": trained.get_vocab(), "merges": merges}


def byte_pairs(kind: str, special: Sequence[str] = ROBERTA) -> PreTrainedTokenizerBase:
    """Return a byte-level tokenizer of a class of transformers."""
    make: Any = getattr(transformers, kind)  # Any: each class takes what it likes
    tokenizer: PreTrainedTokenizerBase = make(**merged_pairs(WORDS, 500, special))
    return tokenizer


def unigram(kind: str, special: Sequence[str], **options: object) -> PreTrainedTokenizerBase:
    """Return a Unigram tokenizer of a class of transformers: a mark for a blank begins words."""
    words = [(f"▁{word}", -2.0) for word in dict.fromkeys((*WORDS, *map(str.lower, WORDS)))]
    pieces = [*((name, 0.0) for name in special), *words, ("▁", -9.0)]
    make: Any = getattr(transformers, kind)
    vocab = [*pieces, *((letter, -10.0) for letter in LETTERS)]
    tokenizer: PreTrainedTokenizerBase = make(vocab=vocab, **options)
    return tokenizer


def plain_fast(make: Callable[[], PreTrainedTokenizerBase]) -> PreTrainedTokenizerBase:
    """Return a tokenizer under the generic class, as people save one that they trained."""
    one = make()
    tokenizer: PreTrainedTokenizerBase = PreTrainedTokenizerFast(
        tokenizer_object=one._tokenizer,
        **{name: str(value) for name, value in one.special_tokens_map.items()},
    )
    return tokenizer


def metaspace() -> PreTrainedTokenizerBase:
    """Return a tokenizer as Gemma's: BPE over characters, blanks written as a mark."""
    pieces = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "▁", *LETTERS, "th", "he"]
    ids = {piece: id_ for id_, piece in enumerate(dict.fromkeys(pieces))}
    return GemmaTokenizer(vocab=ids, merges=[("t", "h"), ("h", "e")])


def end_of_word() -> PreTrainedTokenizerBase:
    """Return a tokenizer as GPT's: BPE over characters, the last one of a word marked."""
    pieces = ["<unk>", *LETTERS, *(f"{letter}</w>" for letter in LETTERS), "th", "the</w>"]
    ids = {piece: id_ for id_, piece in enumerate(pieces)}
    return OpenAIGPTTokenizer(vocab=ids, merges=[("t", "h"), ("th", "e</w>")])


def code_points(kind: str) -> PreTrainedTokenizerBase:
    """Return a tokenizer that has no vocabulary."""
    tokenizer: PreTrainedTokenizerBase = getattr(transformers, kind)()
    return tokenizer


@dataclass(frozen=True)
class Kind:
    """A tokenizer and what a config has beside SIZES; what plain transformers must be told.

    `edit` changes the tokenizer_config.json of the saved folder; None leaves an entry out.
    """

    tokenizer: Callable[[], PreTrainedTokenizerBase]
    config: Mapping[str, object] = field(default_factory=dict)
    model_type: str = ""
    plain: Mapping[str, object] = field(default_factory=dict)
    edit: Mapping[str, object] = field(default_factory=dict)


SEGMENTS: Mapping[str, object] = {"return_token_type_ids": True}
"""transformers 5 leaves them out where its version 4 gave them (issue 48128)."""
ALBERT = ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")
XLNET = ("<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>", "<eod>", "<eop>")
DEBERTA = ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]")
T5 = ("<pad>", "</s>", "<unk>")
END = ("<|endoftext|>",)
OF_ROBERTA = Kind(partial(byte_pairs, "RobertaTokenizer"), {"pad_token_id": 1})
OF_XLM_R = Kind(partial(unigram, "XLMRobertaTokenizer", ROBERTA), {"pad_token_id": 1})
OF_BERT = Kind(word_piece)
OF_GPT2 = Kind(partial(byte_pairs, "GPT2Tokenizer", END))
OF_QWEN = Kind(partial(byte_pairs, "Qwen2Tokenizer", END), {"pad_token_id": 0})
OF_GPT_NEOX = Kind(partial(byte_pairs, "GPTNeoXTokenizer", END), {"pad_token_id": 0})
OF_LLAMA = Kind(metaspace, {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 1})
OF_T5 = Kind(partial(unigram, "T5Tokenizer", T5, extra_ids=0), {"decoder_start_token_id": 0})
NO_SEGMENTS: Mapping[str, object] = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "model_input_names": None,
}
KINDS: dict[str, Kind] = {
    "albert": Kind(partial(unigram, "AlbertTokenizer", ALBERT), plain=SEGMENTS),
    "bart": OF_ROBERTA,
    "bert": OF_BERT,
    "bert of transformers 4": Kind(
        partial(plain_fast, word_piece), {}, "bert", SEGMENTS, NO_SEGMENTS
    ),
    "big_bird": Kind(
        partial(
            unigram,
            "BigBirdTokenizer",
            ("<pad>", "</s>", "<s>", "<unk>", "[SEP]", "[MASK]", "[CLS]"),
        ),
        {"attention_type": "original_full"},
    ),
    "biogpt": OF_QWEN,
    "bloom": OF_GPT_NEOX,
    "camembert": Kind(
        partial(
            unigram,
            "CamembertTokenizer",
            (
                "<s>NOTUSED",
                "<pad>",
                "</s>NOTUSED",
                "<unk>",
                "<unk>NOTUSED",
                "<mask>",
                "<s>",
                "</s>",
            ),
        ),
        {"pad_token_id": 1},
    ),
    "canine": Kind(
        partial(code_points, "CanineTokenizer"),
        {
            "upsampling_kernel_size": 4,
            "downsampling_rate": 4,
            "local_transformer_stride": 128,
            "num_hash_buckets": 16384,
        },
    ),
    "convbert": Kind(word_piece, {"head_ratio": 2}),
    "data2vec-text": OF_ROBERTA,
    "deberta": Kind(
        partial(byte_pairs, "DebertaTokenizer", DEBERTA),
        {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "type_vocab_size": 0},
    ),
    "deberta-v2": Kind(
        partial(unigram, "DebertaV2Tokenizer", DEBERTA, unk_id=3),
        {
            "relative_attention": True,
            "position_biased_input": False,
            "type_vocab_size": 0,
            "pos_att_type": ["p2c", "c2p"],
        },
    ),
    "distilbert": OF_BERT,
    "electra": OF_BERT,
    "ernie": OF_BERT,
    "falcon": OF_GPT_NEOX,
    "fnet": Kind(partial(unigram, "FNetTokenizer", ALBERT), plain=SEGMENTS),
    "funnel": Kind(
        partial(word_piece, FunnelTokenizer, ("<pad>", "<unk>", "<cls>", "<sep>", "<mask>")),
        {"block_sizes": [1, 1]},
        plain=SEGMENTS,
    ),
    "gemma": OF_LLAMA,
    "gemma2": OF_LLAMA,
    "gpt2": Kind(OF_GPT2.tokenizer, {"pad_token_id": None}),
    "gpt_neo": Kind(
        OF_GPT2.tokenizer, {"attention_types": [[["global", "local"], 1]], "pad_token_id": None}
    ),
    "gpt_neox": OF_GPT_NEOX,
    "gptj": Kind(OF_GPT2.tokenizer, {"rotary_dim": 4, "pad_token_id": None}),
    "ibert": OF_ROBERTA,
    "llama": Kind(metaspace, {"pad_token_id": None, "bos_token_id": 2, "eos_token_id": 1}),
    "longformer": Kind(OF_ROBERTA.tokenizer, {"pad_token_id": 1, "attention_window": 16}),
    "luke": OF_ROBERTA,
    "mbart": Kind(
        partial(unigram, "MBartTokenizer", ROBERTA, src_lang="en_XX"), {"pad_token_id": 1}
    ),
    "megatron-bert": OF_BERT,
    "mistral": OF_LLAMA,
    "mobilebert": Kind(
        word_piece, {"embedding_size": 32, "intra_bottleneck_size": 32, "true_hidden_size": 32}
    ),
    "modernbert": Kind(
        partial(plain_fast, word_piece), {"pad_token_id": 0, "cls_token_id": 2, "sep_token_id": 3}
    ),
    "mpnet": Kind(partial(word_piece, MPNetTokenizer, ROBERTA), {"pad_token_id": 1}),
    "mpt": OF_GPT_NEOX,
    "mra": OF_ROBERTA,
    "mt5": OF_T5,
    "nystromformer": Kind(
        partial(unigram, "AlbertTokenizer", ALBERT),
        {"segment_means_seq_len": 130, "num_landmarks": 130},
    ),
    "openai-gpt": Kind(end_of_word, {"pad_token_id": None}),
    "opt": Kind(OF_GPT2.tokenizer, {"word_embed_proj_dim": 32, "pad_token_id": 0}),
    "perceiver": Kind(
        partial(code_points, "PerceiverTokenizer"), {"d_latents": 32, "num_latents": 8}
    ),
    "phi": OF_GPT2,
    "phi3": OF_LLAMA,
    "plbart": OF_ROBERTA,
    "qwen2": OF_QWEN,
    "qwen3": OF_QWEN,
    "rembert": Kind(
        partial(unigram, "RemBertTokenizer", ALBERT), {"input_embedding_size": 32}, plain=SEGMENTS
    ),
    "roberta": OF_ROBERTA,
    "roberta-prelayernorm": OF_ROBERTA,
    "roformer": Kind(partial(plain_fast, word_piece), plain=SEGMENTS),
    "squeezebert": OF_BERT,
    "t5": OF_T5,
    "t5 of bytes": Kind(partial(code_points, "ByT5Tokenizer"), {"decoder_start_token_id": 0}, "t5"),
    "umt5": OF_T5,
    "xlm-roberta": OF_XLM_R,
    "xlm-roberta-xl": OF_XLM_R,
    "xlnet": Kind(partial(unigram, "XLNetTokenizer", XLNET), {"pad_token_id": 5}, plain=SEGMENTS),
    "xmod": Kind(OF_XLM_R.tokenizer, {"pad_token_id": 1, "default_language": "en_XX"}),
    "yoso": Kind(partial(unigram, "AlbertTokenizer", ALBERT), {"use_expectation": True}),
}


def save(kind: Kind, name: str, folder: Path) -> None:
    """Write a model with random weights, always the same."""
    tokenizer = kind.tokenizer()
    model_type = kind.model_type or name
    usual = AutoConfig.for_model(model_type)
    labels = dict(enumerate(LABELS))
    known = {name: value for name, value in SIZES.items() if name in usual.to_dict()}
    config = AutoConfig.for_model(
        model_type, **{"vocab_size": len(tokenizer), **known, "id2label": labels, **kind.config}
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = AutoModelForSequenceClassification.from_config(config)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    path = folder / "tokenizer_config.json"
    facts = json.loads(path.read_text(encoding="utf-8")) | kind.edit
    path.write_text(json.dumps({key: each for key, each in facts.items() if each is not None}))


def plain_logits(folder: Path, kind: Kind) -> tuple[torch.Tensor, ...]:
    """Return what transformers alone says of the pairs, one at a time.  # (pairs, labels)"""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32).eval()
    rows = []
    with torch.inference_mode():
        for pair in PAIRS:
            options = {"split_special_tokens": False, **kind.plain}
            inputs = tokenizer(pair.premise, pair.hypothesis, return_tensors="pt", **options)
            rows.append(model(**inputs).logits[0])
    return torch.stack(rows)


def own_scores(classifier: Classifier, pair: Pair, label: str) -> list[float]:
    """Return gradient x input of the sub-words: each has a row of its own in the embeddings."""
    encoded = dict(classifier.encode([pair]))
    sides = classifier.encode([pair]).sequence_ids(0)
    places = [at for at, side in enumerate(sides) if side is not None]
    table = classifier.model.get_input_embeddings().weight.detach()
    if "norm" in embedding_hook(classifier.model).where:
        return _behind_the_norm(classifier, encoded, places, label)
    names = [
        name
        for name, value in classifier.model.named_parameters()
        if value.data_ptr() == table.data_ptr()
    ]
    rows = table[encoded["input_ids"][0, places]].clone().requires_grad_()
    encoded["input_ids"][0, places] = torch.arange(len(places)) + len(table)
    longer = dict.fromkeys(names, torch.cat([table, rows]))
    logits = functional_call(classifier.model, longer, kwargs=encoded).logits[0]
    logits.log_softmax(-1)[classifier.order.index(label)].backward()
    assert rows.grad is not None
    scores: list[float] = (rows.detach() * rows.grad).sum(-1).tolist()
    return scores


def _behind_the_norm(
    classifier: Classifier, encoded: dict[str, torch.Tensor], places: list[int], label: str
) -> list[float]:
    """Do the same where vectors are normalised, of which the gradient at the table sums to 0."""
    norm = classifier.model.base_model.get_submodule(classifier.architecture.norm)
    outputs: list[torch.Tensor] = []

    def keep(_: object, __: object, vectors: torch.Tensor) -> torch.Tensor:
        outputs.append(vectors.detach().requires_grad_())
        return outputs[0]

    hook = norm.register_forward_hook(keep)
    logits = classifier.model(**encoded).logits[0]
    hook.remove()
    logits.log_softmax(-1)[classifier.order.index(label)].backward()
    assert outputs[0].grad is not None
    scores: list[float] = (outputs[0] * outputs[0].grad)[0].sum(-1)[places].tolist()
    return scores


def importance(classifier: Classifier) -> tuple[float, int, int]:
    """Return the largest difference to `own_scores`, the tokens that are aligned, and all."""
    worst, aligned, total = 0.0, 0, 0
    for pair, label in zip(PAIRS, LABELS, strict=True):
        (one,) = attribute(classifier, [pair], [label], "gradient_x_input")
        tokens = {name: one.tokens(name) for name in ("premise", "hypothesis")}
        ours = [token.score for each in tokens.values() for token in each]
        theirs = own_scores(classifier, pair, label)
        worst = max(worst, *(abs(a - b) for a, b in zip(ours, theirs, strict=True)))
        for name, each in tokens.items():
            text = getattr(pair, name)
            spelt = [text[token.start : token.end].strip().lower() for token in each]
            read = [classifier.decode([token.id]).strip().lower() for token in each]
            aligned += sum(a == b.removeprefix("##") for a, b in zip(spelt, read, strict=True))
            total += len(each)
    return worst, aligned, total


def examine(name: str, kind: Kind) -> tuple[str, bool]:
    """Return a line of the table, and whether all is as it should be."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        save(kind, name, folder)
        plain = plain_logits(folder, kind).softmax(-1)
        try:
            classifier = load(str(folder), LABELS)
            ours = torch.tensor(classifier.probabilities(PAIRS)).float()
        except UserError as problem:
            return f"{'':>9} {'':>10} {'':>9} {problem}".replace(place, name), False
        apart = float((ours - plain).abs().max())
        try:
            worst, aligned, total = importance(classifier)
        except UserError as problem:
            return f"{apart:9.1e} {'':>10} {'':>9} {problem}".replace(place, name), apart < CLOSE
        same = apart < CLOSE and worst < CLOSE and aligned == total
        return (
            f"{apart:9.1e} {worst:10.1e} {aligned:4}/{total:<4} {'' if same else 'DIFFERS'}",
            same,
        )


def main(names: Annotated[list[str] | None, typer.Argument(metavar="KIND ...")] = None) -> None:
    """Print the table."""
    print(f"transformers {transformers.__version__}, torch {torch.__version__}")
    print(f"{'':24} {'answers':>9} {'importance':>10} tokens")
    wrong = []
    for name in names or KINDS:
        line, right = examine(name, KINDS[name])
        wrong += [] if right else [name]
        print(f"{name:24} {line}", flush=True)
    if wrong:
        raise SystemExit(f"not as they should be: {', '.join(wrong)}")


if __name__ == "__main__":
    typer.run(main)
