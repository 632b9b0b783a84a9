"""Sentiment: does a text speak well or badly of its subject? As on SST-2."""

from dataclasses import dataclass

from probe.tasks.task import Label, LabelForm, Task, register, spelt

POSITIVE: Label = "positive"
NEGATIVE: Label = "negative"
LABELS: tuple[Label, ...] = (POSITIVE, NEGATIVE)


@dataclass(frozen=True)
class Review:
    """A text with an opinion. `id` names the row it came from and seeds its chance."""

    text: str
    gold: Label | None = None
    id: str = ""


SPELLINGS = {**spelt(POSITIVE, "positive pos +ve good"), **spelt(NEGATIVE, "negative neg -ve bad")}
"""How people and data sets spell gold labels."""
FORMS = (
    LabelForm("GLUE and IMDb", {"0": NEGATIVE, "1": POSITIVE}, signs=frozenset({"0"})),
    LabelForm("Sentiment140", {"0": NEGATIVE, "2": None, "4": POSITIVE}, signs=frozenset({"4"})),
    LabelForm(
        "Amazon's polarity",
        {"1": NEGATIVE, "2": POSITIVE},
        signs=frozenset({"1", "2"}),
        columns=frozenset({"title", "content"}),
    ),
)
MERGED_OUTPUTS = {
    **spelt(NEGATIVE, "1-star 2-stars very-negative somewhat-negative"),
    **spelt(POSITIVE, "4-stars 5-stars very-positive somewhat-positive"),
    **spelt("", "neutral neu mixed 3-stars"),
}
"""What the outputs of finer models count as; between the two labels they say neither."""
SANITY_REVIEWS = (
    Review("A wonderful film, funny and moving.", POSITIVE),
    Review("The food was excellent and the service friendly.", POSITIVE),
    Review("I love this book.", POSITIVE),
    Review("A terrible film, dull and far too long.", NEGATIVE),
    Review("The food was awful and the service rude.", NEGATIVE),
    Review("I hate this book.", NEGATIVE),
)
SENTIMENT = register(
    Task(
        "sentiment",
        "Sentiment classification",
        example=Review,
        fields=("text",),
        target="text",
        labels=LABELS,
        golds=LABELS,
        spellings=SPELLINGS,
        forms=FORMS,
        merged_outputs=MERGED_OUTPUTS,
        columns={"text": ("text", "sentence", "review", "content", "comment")},
        gold_columns=("sentiment", "polarity"),
        bundled="sentiment.csv",
        translated=LABELS,
        sanity_examples=SANITY_REVIEWS,
        choice="Sentiment",
        question="Does the text speak well or badly of its subject?",
        titles={"text": "Text"},
        unit="text",
        showcase=Review(
            "The old hall was cold, but the singer was wonderful and we soon forgot the weather.",
            POSITIVE,
        ),
        meanings={
            "text": "The review or remark whose opinion is asked for.",
            POSITIVE: "The text speaks well of its subject.",
            NEGATIVE: "The text speaks badly of its subject.",
        },
    )
)
