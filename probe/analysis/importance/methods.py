"""The methods of attribution, and the tokens that some of them set in the place of others."""

from collections.abc import Mapping
from typing import Literal

from probe.terms import Term

Method = Literal["gradient_x_input", "integrated_gradients", "saliency", "occlusion"]
BaselineToken = Literal["pad", "mask", "unk"]
METHODS: Mapping[Method, Term] = {
    "gradient_x_input": Term(
        "Gradient × input",
        "Multiplies each token's vector by the gradient of the loss: what the token adds to the "
        "answer (Gupta et al. 2021).",
    ),
    "integrated_gradients": Term(
        "Integrated gradients",
        "Adds up the gradients on the way from an empty text to this one, so that the scores add "
        "up to the change of the answer.",
    ),
    "saliency": Term(
        "Saliency",
        "The length of the gradient: how strongly a token moves the answer, without saying in "
        "which direction.",
    ),
    "occlusion": Term(
        "Occlusion",
        "How much the answer changes when the token is replaced by a token that means nothing.",
    ),
}
