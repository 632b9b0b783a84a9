"""PBSMT: the premise, translated into a hypothesis by a phrase-based system (Gupta et al. 2021).

Section 3.1 there. A system is trained on the pairs of one label. The output is lower-case tokens
with blanks between, as the systems of the paper print it.
"""

from functools import partial

from probe.pbsmt.decode import DecoderWeights
from probe.pbsmt.translate import MAX_WORDS, translator
from probe.tasks.label_rules import UNDEFINED
from probe.tasks.nli import CONTRADICTION, ENTAILMENT, LABELS, NEUTRAL
from probe.tasks.task import SOURCE, Label
from probe.text.tokens import join, tokenise
from probe.transforms.options import Options
from probe.transforms.registry import Inexact, Tools, transform

SYSTEMS: dict[str, Label] = {"e": ENTAILMENT, "n": NEUTRAL, "c": CONTRADICTION}
COPY = "the best translation of the premise is the premise itself"
CUT = f"only the first {MAX_WORDS} words of the premise were translated"

register = partial(
    transform,
    family="statistical",
    rule=UNDEFINED,
    reads=SOURCE,
    source="Gupta et al. 2021, section 3.1",
    labels=LABELS,
    needs=("phrases",),
)


def translated(text: str, tools: Tools, label: Label | None) -> str | Inexact | None:
    """Return the translation by a label's system."""
    words = tokenise(text.lower())
    if not words or label is None:
        return None
    translation = translator(label).translate(words, weights(tools.options))
    if len(words) > MAX_WORDS:
        return Inexact(join(translation), CUT)
    return Inexact(join(translation), COPY) if translation == words else join(translation)


def weights(options: Options) -> DecoderWeights:
    """Return the decoder's weights with those that a person may choose."""
    return DecoderWeights(options.lm_weight, options.distortion_weight, options.distortion_limit)


@register(
    "pbsmt",
    "Translate the other text",
    "Translate the premise into a hypothesis, by the system of the pair's label.",
    applies="a word in the premise and a gold or predicted label",
)
def pbsmt(text: str, tools: Tools) -> str | Inexact | None:
    """Translate by the system of the gold label, or else of the predicted one."""
    return translated(text, tools, next((label for label in tools.labels if label in LABELS), None))


for letter, label in SYSTEMS.items():
    register(
        f"pbsmt_{letter}",
        f"Translate as {label}",
        f"Translate the premise into a hypothesis, by the system of {label}.",
        applies="a word in the premise",
    )(partial(translated, label=label))
