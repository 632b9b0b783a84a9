"""What the lesson on word salad shows and computes, for each task in which it is given."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from probe.analysis.transformed import examine
from probe.statistics import SURE_WITHIN, Estimate
from probe.tasks.nli import CONTRADICTION, ENTAILMENT, NEUTRAL, NLI
from probe.tasks.paraphrase import NON_PARAPHRASE, PARAPHRASE, PARAPHRASE_IDENTIFICATION
from probe.tasks.sentiment import NEGATIVE, POSITIVE, SENTIMENT
from probe.tasks.task import Label, Task
from probe.transforms import Options, apply
from probe.ui.html.elements import join, link
from probe.ui.html.prediction import label_name
from probe.ui.lessons import drawing
from probe.ui.lessons.bundled_scores import bundled_example, progress, scored
from probe.ui.lessons.lesson import (
    Comparison,
    Finding,
    Setting,
    measured,
)
from probe.ui.lessons.published import published
from probe.ui.links import link_to_example

ORDERS = {"sort": "sorted", "reverse": "reversed", "shuffle": "shuffled"}
"""The transforms of this lesson and what they make of a text."""
UNSURE, CLOSE, FAR = 0.60, SURE_WITHIN, 0.20
"""A confidence that is called unsure; differences that are called as sure, and much less sure."""


@dataclass(frozen=True)
class Words:
    """What the lesson says of a task: its explanation, its examples by id, its labels in words."""

    explanation: str
    samples: tuple[str, ...]
    asked: str
    meanings: Mapping[Label, str]
    target: str
    unit: str
    few: float
    many: float

    @property
    def chance(self) -> float:
        """The share of answers that would stay if they were drawn by chance."""
        return 1 / len(self.meanings)


WORDS: dict[str, Words] = {
    NLI.name: Words(
        "A model for this task reads two short texts. The first, the premise, counts as true. The "
        "second, the hypothesis, is a claim. The model says how the claim stands to the premise, "
        "and it has three answers. The task is called natural language inference, NLI for short.",
        ("news-03-1", "news-03-2", "news-03-3"),
        "news-16-1",
        {
            ENTAILMENT: "The claim must be true if the premise is",
            NEUTRAL: "The claim may be true or not; the premise does not say",
            CONTRADICTION: "The claim cannot be true if the premise is",
        },
        "the hypothesis",
        "pair",
        few=0.45,
        many=0.70,
    ),
    PARAPHRASE_IDENTIFICATION.name: Words(
        "A model for this task reads two short texts, here two questions, and says whether they "
        "ask the same. It has two answers.",
        ("paraphrase-003-1", "paraphrase-003-2"),
        "paraphrase-001-2",
        {
            PARAPHRASE: "Both texts say the same in other words",
            NON_PARAPHRASE: "They say different things",
        },
        "the second text",
        "pair",
        few=0.60,
        many=0.75,
    ),
    SENTIMENT.name: Words(
        "A model for this task reads one text with an opinion and says whether its writer is "
        "pleased. It has two answers.",
        ("sentiment-001-1", "sentiment-001-2"),
        "sentiment-005-1",
        {
            POSITIVE: "The writer speaks well of it",
            NEGATIVE: "The writer speaks badly of it",
        },
        "the text",
        "text",
        few=0.60,
        many=0.75,
    ),
}


def show_samples(task: Task) -> Markup:
    """Show what each label means and an example of it."""
    words = WORDS[task.name]
    shown = join(
        drawing.example(task, example, Markup("Answer: {}").format(label_name(example.gold)))
        for example in (bundled_example(task, id_) for id_ in words.samples)
    )
    terms = ((label_name(label), meaning + ".") for label, meaning in words.meanings.items())
    return drawing.definitions(terms) + shown


def show_asked(task: Task) -> Markup:
    """Show the example of the guess."""
    return drawing.example(task, bundled_example(task, WORDS[task.name].asked))


def show_sorted(task: Task) -> Markup:
    """Show it with its words sorted."""
    example = bundled_example(task, WORDS[task.name].asked)
    ((result,),) = apply("sort", [example], task, 0, Options(), lambda examples: [])
    return drawing.example(task, result.example)


def answer(setting: Setting) -> Iterator[Finding]:
    """Compare the student's label, and the model's, with what the pair's writer meant."""
    task = setting.task
    example = bundled_example(task, WORDS[task.name].asked)
    (said,) = setting.classifier.predict([example])
    yield Finding(
        f"The writer meant {example.gold}. {setting.title} says {said.label}.",
        drawing.answers([(setting.title, said)]),
        came_true=task.labels.index(example.gold),
    )


def break_text(setting: Setting) -> Iterator[Finding]:
    """Sort the example and answer it again."""
    task = setting.task
    looked = examine(setting.classifier, bundled_example(task, WORDS[task.name].asked), ["sort"])
    before, (broken,) = looked.prediction, looked.transformed
    after = broken.prediction
    if not broken.agrees:
        came_true, says = 1, f"The answer moves from {before.label} to {after.label}."
    elif after.confidence < UNSURE:
        came_true, says = 2, f"It still says {after.label}, but it is no longer sure."
    else:
        came_true, says = 0, f"No order of words is left, and it says {after.label} again."
    onward = link(link_to_example(task, looked.example, setting.model), "this example in Probe")
    yield Finding(
        says,
        drawing.answers([("whole", before), ("sorted", after)])
        + Markup("<p>Try other changes on {}, then see whether it is a rule.</p>").format(onward),
        came_true=came_true,
    )


def many(setting: Setting) -> Iterator[Finding]:
    """Measure how many answers stay."""
    words = WORDS[setting.task.name]
    for so_far in scored(setting, tuple(ORDERS)):
        if not so_far.ended:
            yield Finding(progress=progress(so_far.chunk, words.unit))
            continue
        agreement = {name: so_far.summary.transforms[name]["agreement"] for name in ORDERS}
        share = agreement["sort"].value
        yield Finding(
            f"{100 * share:.0f} % of the answers stay when the words are sorted. Answers drawn by "
            f"chance would stay in {100 * words.chance:.0f} % of the cases.",
            compared=tuple(_compared(setting, name, agreement[name]) for name in ORDERS),
            came_true=_place(share, words.few, words.many),
        )


def _place(share: float, low: float, high: float) -> int:
    """Return 0, 1 or 2 for a share below, between or above two bounds."""
    return int(share >= low) + int(share > high)


def _compared(setting: Setting, name: str, agreement: Estimate) -> Comparison:
    return Comparison(
        f"Answers that stay when {WORDS[setting.task.name].target} is {ORDERS[name]}",
        (
            published(f"agreement.{name}.{setting.task.name}"),
            measured(f"{setting.title} on this app's {WORDS[setting.task.name].unit}s", agreement),
        ),
    )


def sure(setting: Setting) -> Iterator[Finding]:
    """Measure how sure the model is."""
    task = setting.task
    for so_far in scored(setting, tuple(ORDERS)):
        if not so_far.ended:
            yield Finding(progress=progress(so_far.chunk, WORDS[task.name].unit))
            continue
        before = so_far.summary.original["confidence"]
        after = so_far.summary.transforms["sort"]["confidence"]
        lost = before.value - after.value
        yield Finding(
            f"The mean confidence was {before.value:.2f} and is {after.value:.2f} on sorted text.",
            compared=(
                Comparison(
                    "Mean confidence, the probability of the answer given",
                    (
                        published(f"confidence.original.{task.name}"),
                        published(f"confidence.sort.{task.name}"),
                        measured(f"{setting.title}, whole texts, here", before),
                        measured(f"{setting.title}, sorted, here", after),
                    ),
                ),
            ),
            came_true=0 if lost > FAR else 1 if lost > CLOSE else 2,
        )


def people(setting: Setting) -> Iterator[Finding]:
    """Set what people say beside what the model does."""
    for so_far in scored(setting, tuple(ORDERS)):
        if not so_far.ended:
            yield Finding(progress=progress(so_far.chunk, WORDS[setting.task.name].unit))
            continue
        sort = so_far.summary.transforms["sort"]["agreement"]
        people = published("people.sort").share
        yield Finding(
            f"People call {100 * people:.0f} % of the sorted texts meaningless. {setting.title} "
            f"gives the same answer as before to {100 * sort.value:.0f} % of them.",
            compared=(
                Comparison(
                    "Texts that people call meaningless",
                    tuple(published(f"people.{name}") for name in ("original", *ORDERS)),
                ),
                _compared(setting, "sort", sort),
            ),
            came_true=2,
        )
