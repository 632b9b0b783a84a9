"""The methods of attribution, each with the place where it reads, and which one is shown first.

Figures that say which explain best: `python -m benchmarks.importance`, docs/importance.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from probe.terms import Term

Kind = Literal["occlusion", "gradient_x_input", "saliency", "integrated_gradients"]
Place = Literal["words", "embeddings"]
Method = Literal[
    "occlusion",
    "gradient_x_input",
    "embedding_gradient_x_input",
    "saliency",
    "embedding_saliency",
    "integrated_gradients",
    "embedding_integrated_gradients",
]
AskedMethod = Literal["auto", Method]
MOST_STEPS = 320
"""Of integrated gradients, whose steps are doubled until their sum is right."""
AUTO: Literal["auto"] = "auto"
"""The method that is shown first, by the length of the text."""
BaselineToken = Literal["pad", "mask", "unk"]


@dataclass(frozen=True)
class AttributionMethod(Term):
    """A method in words, what it computes and where. Saliency is a length and has no sign."""

    kind: Kind
    place: Place = "words"

    @property
    def signed(self) -> bool:
        """Whether it tells tokens that speak for the answer from those against it."""
        return self.kind != "saliency"

    @property
    def replaces(self) -> bool:
        """Whether it puts a token that means nothing in the place of others."""
        return self.kind in ("occlusion", "integrated_gradients")


METHODS: Mapping[Method, AttributionMethod] = {
    "occlusion": AttributionMethod(
        "Leaving each token out",
        "How much the answer changes when the token's vector is replaced by that of a token that "
        "means nothing, and all else stays where it is (occlusion).",
        "occlusion",
    ),
    "gradient_x_input": AttributionMethod(
        "Gradient × input",
        "Multiplies each token's word vector by the gradient of the loss: what the token adds to "
        "the answer (Gupta et al. 2021).",
        "gradient_x_input",
    ),
    "embedding_gradient_x_input": AttributionMethod(
        "Gradient × input, whole embedding",
        "Gradient × input where word, position and segment are one vector already, the place of "
        "Captum's tutorial on BERT.",
        "gradient_x_input",
        "embeddings",
    ),
    "saliency": AttributionMethod(
        "Saliency",
        "The length of the gradient: how strongly a token moves the answer, without saying in "
        "which direction.",
        "saliency",
    ),
    "embedding_saliency": AttributionMethod(
        "Saliency, whole embedding",
        "Saliency where word, position and segment are one vector already.",
        "saliency",
        "embeddings",
    ),
    "integrated_gradients": AttributionMethod(
        "Integrated gradients",
        "Adds up the gradients on the way from an empty text to this one, so that the scores add "
        "up to the change of the answer.",
        "integrated_gradients",
    ),
    "embedding_integrated_gradients": AttributionMethod(
        "Integrated gradients, whole embedding",
        "Integrated gradients where word, position and segment are one vector already.",
        "integrated_gradients",
        "embeddings",
    ),
}

PAPER: Method = "gradient_x_input"
"""By which Gupta et al. 2021 rank the tokens that their transforms keep."""
FIRST: Method = "occlusion"
"""The method that is shown first: of those within 1.5 times the time that gradient × input takes
from a key to the rows, the one without whose favourites most answers change."""
FIRST_LONG: Method = "saliency"
FIRST_TOKENS = 128
"""The longest text, in tokens, on which `FIRST` is; behind it one pass of gradients is shown."""
FIRST_WORK = FIRST_TOKENS**2 * 11_000_000
"""The most that it may cost on a CPU, in tokens read times weights: as so many of `minilm`, whose
encoder has 11 million. A network ten times as large would let a person wait ten times as long."""
FIRST_TITLE = f"The best that is quick: {METHODS[FIRST].title.lower()}"


def first_method(tokens: int, weights: int) -> Method:
    """Return the method that is shown first of so many tokens, by a network of so many weights.

    Embeddings, of which a token reads one row, are not among these, and on a GPU none is counted.
    """
    quick = tokens <= FIRST_TOKENS and tokens**2 * weights <= FIRST_WORK
    return FIRST if quick else FIRST_LONG
