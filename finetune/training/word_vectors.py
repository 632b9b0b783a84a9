"""Word vectors distilled from an encoder: each word encoded alone, then PCA."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from transformers import AutoModel, AutoTokenizer

from probe.errors import TrainingError
from probe.models.checkpoint import loading
from probe.models.weights import VECTORS
from probe.models.word_models.word_tokenizer import SPECIAL, splitter

COMPONENT_RMS = 0.4
"""Root mean square of a component, as in GloVe's 840B vectors, which the configurations expect."""


@dataclass(frozen=True)
class Reduced:
    """Vectors (words, size) by PCA and the share of the variance that they explain."""

    vectors: torch.Tensor
    explained: float


def words_of(vectors: str) -> list[str]:
    """Return the words of assets/vectors/NAME.txt. Raises TrainingError where it is not there."""
    known = sorted(path.stem for path in VECTORS.glob("*.txt"))
    if vectors not in known:
        raise TrainingError(f"there are no word vectors {vectors!r}; there are: {', '.join(known)}")
    return (VECTORS / f"{vectors}.txt").read_text(encoding="utf-8").split("\n")[:-1]


def vocabulary(texts: Iterable[str], size: int, lower: bool = True) -> list[str]:
    """Return SPECIAL and the most frequent words, `size` in all; ties by code point."""
    normalizer, pre_tokenizer = splitter(lower)
    counts: Counter[str] = Counter()
    for text in texts:
        words = pre_tokenizer.pre_tokenize_str(normalizer.normalize_str(text))
        counts.update(word for word, _ in words)
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    return [*SPECIAL, *[word for word in ranked if word not in SPECIAL][: size - len(SPECIAL)]]


@torch.inference_mode()
def embed_words(words: Sequence[str], encoder: str, batch: int = 256) -> torch.Tensor:
    """Return the mean of the encoder's last states over each word's sub-words.  # (words, width)"""
    with loading:
        tokenizer = AutoTokenizer.from_pretrained(encoder, trust_remote_code=False)
        model = AutoModel.from_pretrained(
            encoder, dtype=torch.float32, use_safetensors=True, trust_remote_code=False
        ).eval()
    rows = []
    for start in range(0, len(words), batch):
        inputs = tokenizer(list(words[start : start + batch]), padding=True, return_tensors="pt")
        states = model(**inputs).last_hidden_state  # (batch, sub-words, width)
        mask = inputs["attention_mask"][..., None]
        rows.append((states * mask).sum(1) / mask.sum(1))
    return torch.cat(rows)


def reduce_by_pca(vectors: torch.Tensor, size: int) -> Reduced:
    """Centre, keep the `size` directions of most variance, scale to COMPONENT_RMS; in float64.

    Raises TrainingError where there are fewer directions.
    """
    if size > min(vectors.shape):
        words, width = vectors.shape
        raise TrainingError(
            f"{words} words and an encoder of width {width} give at most {min(words, width)} "
            f"components, not {size}"
        )
    centred = vectors.double() - vectors.double().mean(0)
    variances, directions = torch.linalg.eigh(centred.T @ centred)  # ascending
    components = directions[:, -size:].flip(1)  # (width, size)
    peaks = components.gather(0, components.abs().argmax(0, keepdim=True))
    projected = centred @ (components * peaks.sign())  # the sign of a direction is arbitrary
    scaled = projected * (COMPONENT_RMS / projected.pow(2).mean().sqrt())
    return Reduced(scaled.float(), float(variances[-size:].sum() / variances.sum()))


def with_special(vectors: torch.Tensor, seed: int = 0) -> torch.Tensor:
    """Put rows for SPECIAL first: zeros for padding, random the others, as AllenNLP does."""
    generator = torch.Generator().manual_seed(seed)
    rows = COMPONENT_RMS * torch.randn(len(SPECIAL), vectors.shape[1], generator=generator)
    rows[0] = 0.0
    return torch.cat([rows, vectors])
