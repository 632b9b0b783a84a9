"""Paraphrase: do two texts say the same? As on Quora Question Pairs and MRPC."""

from dataclasses import dataclass

from probe.tasks.task import Label, LabelForm, Task, negated, register, spelt

PARAPHRASE: Label = "paraphrase"
NON_PARAPHRASE: Label = "non-paraphrase"
LABELS: tuple[Label, ...] = (PARAPHRASE, NON_PARAPHRASE)


@dataclass(frozen=True)
class TextPair:
    """Two texts that may say the same. `id` names the row it came from and seeds its chance."""

    text1: str
    text2: str
    gold: Label | None = None
    id: str = ""


SPELLINGS = {
    **spelt(PARAPHRASE, "paraphrase duplicate is-duplicate equivalent same yes true"),
    **spelt(NON_PARAPHRASE, "not-a-paraphrase different no false"),
    **dict.fromkeys(negated("paraphrase", "duplicate", "equivalent"), NON_PARAPHRASE),
}
"""How people and data sets spell gold labels."""
FORMS = (LabelForm("GLUE, PAWS and Quora", {"0": NON_PARAPHRASE, "1": PARAPHRASE}),)
SANITY_PAIRS = (
    TextPair("How can I learn to cook?", "What is the best way to learn cooking?", PARAPHRASE),
    TextPair("Why is the sky blue?", "What makes the sky look blue?", PARAPHRASE),
    TextPair("How old is the earth?", "What is the age of the earth?", PARAPHRASE),
    TextPair("How can I learn to cook?", "How do I sell a used car?", NON_PARAPHRASE),
    TextPair("Why is the sky blue?", "Which films are on tonight?", NON_PARAPHRASE),
    TextPair("How old is the earth?", "How do I tie a tie?", NON_PARAPHRASE),
)
PARAPHRASE_IDENTIFICATION = register(
    Task(
        "paraphrase",
        "Paraphrase identification",
        example=TextPair,
        fields=("text1", "text2"),
        target="text2",
        source="text1",
        labels=LABELS,
        golds=LABELS,
        default_label=PARAPHRASE,
        spellings=SPELLINGS,
        forms=FORMS,
        columns={
            "text1": ("text1", "sentence1", "question1", "text_a", "sentence_a", "s1", "#1 string"),
            "text2": ("text2", "sentence2", "question2", "text_b", "sentence_b", "s2", "#2 string"),
        },
        gold_columns=("is_duplicate", "quality"),
        bundled="paraphrase.csv",
        translated=LABELS,
        sanity_examples=SANITY_PAIRS,
        choice="Paraphrase",
        question="Do the two texts say the same?",
        titles={"text1": "First text", "text2": "Second text"},
        unit="pair",
        showcase=TextPair(
            "How can I sell 48 old tickets for the evening concert?",
            "What is the best way to sell tickets for an old concert quickly?",
            NON_PARAPHRASE,
        ),
        meanings={
            "text1": "The text that the other is compared with.",
            "text2": "The text that is changed and compared with the first.",
            PARAPHRASE: "Both texts say the same, in whatever words.",
            NON_PARAPHRASE: "The texts say different things, however many words they share.",
        },
    )
)
