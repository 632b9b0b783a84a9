"""The models that come with the repository, in words."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Bundled:
    """A model's title, one sentence on what it is, and the folder beside its own that it needs."""

    title: str
    summary: str
    shares: str


VECTORS = "assets/vectors"
EMBEDDINGS = "assets/models/word_embeddings"
BUNDLED: Mapping[str, Bundled] = {
    "minilm": Bundled(
        "MiniLM",
        "A small transformer of six layers, trained on human-labelled inference pairs: the model "
        "to start with.",
        EMBEDDINGS,
    ),
    "da": Bundled(
        "Decomposable Attention",
        "Compares the words of both texts one by one and never sees their order "
        "(Parikh et al. 2016).",
        VECTORS,
    ),
    "esim": Bundled(
        "ESIM",
        "Reads both texts word by word with recurrent networks and aligns them (Chen et al. 2017).",
        VECTORS,
    ),
    "esim_char": Bundled(
        "ESIM with characters",
        "ESIM that also reads the letters of each word, so that a misspelt word is not unknown "
        "(Liu et al. 2019).",
        VECTORS,
    ),
    "minilm_qqp": Bundled(
        "MiniLM, paraphrase (Quora)",
        "The same transformer, trained on pairs of questions that people asked on Quora.",
        EMBEDDINGS,
    ),
    "minilm_mrpc": Bundled(
        "MiniLM, paraphrase (MRPC)",
        "The same transformer, trained on pairs of sentences from news about the same events.",
        EMBEDDINGS,
    ),
    "minilm_sst2": Bundled(
        "MiniLM, sentiment (SST-2)",
        "The same transformer, trained on sentences and phrases from film reviews.",
        EMBEDDINGS,
    ),
    "minilm_reader": Bundled(
        "MiniLM reader",
        "The same transformer, trained on questions about passages that people asked: the reader "
        "to start with.",
        EMBEDDINGS,
    ),
    "bidaf": Bundled(
        "BiDAF",
        "Reads words and their letters with recurrent networks, the passage and the question each "
        "in the light of the other (Seo et al. 2017).",
        VECTORS,
    ),
    "qanet": Bundled(
        "QANet",
        "Reads words and their letters with convolutions and self-attention (Yu et al. 2018); "
        "trained for a short time, it finds few answers yet.",
        VECTORS,
    ),
}
"""By name, of each task first the one to start with; a wheel may leave some out, and a clone
without Git LFS has only pointers to them."""


def title_of(name: str) -> str:
    """Return what a person calls a model: its title where it is bundled, or else its name."""
    return BUNDLED[name].title if name in BUNDLED else name
