"""PBSMT: the other text, translated into the target by a phrase-based system (Gupta et al. 2021).

Section 3.1 there. A system is trained on the examples of one label: premise to hypothesis, question
to question, and where a task has one text its first half to its second. The output is lower-case
tokens with blanks between, as the systems of the paper print it.
"""

from functools import partial

from probe.pbsmt import MAX_WORDS, DecoderWeights, trained, translation
from probe.tasks.label_rules import UNDEFINED
from probe.tasks.nli import CONTRADICTION, ENTAILMENT, LABELS, NEUTRAL
from probe.tasks.task import ORIGIN, SOURCE, Label
from probe.text.words import join, tokenise
from probe.transforms.options import Options
from probe.transforms.registry import Changed, Tools, transform

SYSTEMS: dict[str, Label] = {"e": ENTAILMENT, "n": NEUTRAL, "c": CONTRADICTION}
COPY = "the best translation of the {} is the {} itself"
WEIGHTS = ("lm_weight", "distortion_weight", "distortion_limit")
CUT = "only the first {} words of the {} were translated"

register = partial(
    transform,
    family="statistical",
    rule=UNDEFINED,
    source="Gupta et al. 2021, destructive transformations",
    needs=("phrases",),
    language="English",
    options=WEIGHTS,
)


def translated(text: str, tools: Tools, label: Label | None) -> Changed | None:
    """Return the translation by a label's system."""
    words, halved = tuple(tokenise(text.lower())), tools.field == tools.edited
    words = words[: len(words) // 2] if halved else words
    if not words or label is None:
        return None
    made = translation(label, words, weights(tools.options))
    name = f"{tools.field}'s first half" if halved else tools.field
    kept = words if halved and tools.options.keep_first_half else ()
    new = join([*kept, *made])
    if len(words) > MAX_WORDS:
        return Changed(new, CUT.format(MAX_WORDS, name))
    return Changed(new, COPY.format(name, name) if made == words else "")


def weights(options: Options) -> DecoderWeights:
    """Return the decoder's weights with those that a person may choose."""
    return DecoderWeights(options.lm_weight, options.distortion_weight, options.distortion_limit)


@register(
    "pbsmt",
    "Translate by phrases",
    "Replaces {target} by what a phrase-based translator for its label makes of {origin}.",
    applies="a word to translate and a gold or predicted label",
    reads=ORIGIN,
    options=(*WEIGHTS, "keep_first_half"),
)
def pbsmt(text: str, tools: Tools) -> Changed | None:
    """Translate by the system of the gold label, or else of the predicted one."""
    return translated(text, tools, next(filter(trained, tools.labels), None))


for letter, label in SYSTEMS.items():
    register(
        f"pbsmt_{letter}",
        f"Translate as {label}",
        f"Replaces {{target}} by what the phrase-based translator for {label} makes of {{source}}.",
        applies="a word in {source}",
        reads=SOURCE,
        labels=LABELS,
    )(partial(translated, label=label))
