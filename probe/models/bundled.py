"""The models that come with the repository, in words."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Bundled:
    """A model's title, and one sentence on what it is."""

    title: str
    summary: str


BUNDLED: Mapping[str, Bundled] = {
    "minilm": Bundled(
        "MiniLM",
        "A small transformer of six layers, trained on human-labelled inference pairs: the model "
        "to start with.",
    ),
    "da": Bundled(
        "Decomposable Attention",
        "Compares the words of both texts one by one and never sees their order "
        "(Parikh et al. 2016).",
    ),
    "esim": Bundled(
        "ESIM",
        "Reads both texts word by word with recurrent networks and aligns them (Chen et al. 2017).",
    ),
    "esim_char": Bundled(
        "ESIM with characters",
        "ESIM that also reads the letters of each word, so that a misspelt word is not unknown "
        "(Liu et al. 2019).",
    ),
    "minilm_qqp": Bundled(
        "MiniLM, paraphrase (Quora)",
        "The same transformer, trained on pairs of questions that people asked on Quora.",
    ),
    "minilm_mrpc": Bundled(
        "MiniLM, paraphrase (MRPC)",
        "The same transformer, trained on pairs of sentences from news about the same events.",
    ),
    "minilm_sst2": Bundled(
        "MiniLM, sentiment (SST-2)",
        "The same transformer, trained on sentences and phrases from film reviews.",
    ),
    "minilm_reader": Bundled(
        "MiniLM reader",
        "The same transformer, trained on questions about passages that people asked: the reader "
        "to start with.",
    ),
    "bidaf": Bundled(
        "BiDAF",
        "Reads words and their letters with recurrent networks, the passage and the question each "
        "in the light of the other (Seo et al. 2017).",
    ),
    "qanet": Bundled(
        "QANet",
        "Reads words and their letters with convolutions and self-attention (Yu et al. 2018); "
        "trained for a short time, it finds few answers yet.",
    ),
}
"""By name, of each task first the one to start with; a wheel may leave some out, and a clone
without Git LFS has only pointers to them."""


def shared_folder(name: str) -> str:
    """Return the folder beside a bundled model's own that it needs: of its word vectors."""
    return "assets/models/word_embeddings" if name.startswith("minilm") else "assets/vectors"


def title_of(name: str) -> str:
    """Return what a person calls a model: its title where it is bundled, or else its name."""
    return BUNDLED[name].title if name in BUNDLED else name
