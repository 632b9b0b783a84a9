"""Lesson: does a model notice that a text has lost its meaning? (Gupta et al. 2021)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from markupsafe import Markup

from probe.analysis.summary import Summary
from probe.analysis.transformed import examine
from probe.statistics import SURE_WITHIN, Estimate
from probe.tasks.nli import CONTRADICTION, ENTAILMENT, NEUTRAL, NLI
from probe.tasks.paraphrase import NON_PARAPHRASE, PARAPHRASE, PARAPHRASE_IDENTIFICATION
from probe.tasks.sentiment import NEGATIVE, POSITIVE, SENTIMENT
from probe.tasks.task import Label, Task
from probe.transforms import Options, apply
from probe.transforms.options import PUBLISHED
from probe.ui.html.elements import join, link, uncapitalised
from probe.ui.html.prediction import label_name
from probe.ui.lessons import drawing
from probe.ui.lessons.lesson import (
    Compared,
    Finding,
    Lesson,
    Setting,
    Step,
    as_choices,
    measured,
    published,
    written,
)
from probe.ui.lessons.live import ROWS, bundled_example, on_bundled
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


@on_bundled(*ORDERS, options=PUBLISHED)
def many(setting: Setting, summary: Summary) -> Finding:
    """Measure how many answers stay."""
    words = WORDS[setting.task.name]
    agreement = {name: summary.transforms[name]["agreement"] for name in ORDERS}
    share = agreement["sort"].value
    return Finding(
        f"{100 * share:.0f} % of the answers stay when the words are sorted. Answers drawn by "
        f"chance would stay in {100 * words.chance:.0f} % of the cases.",
        compared=_compared(setting, agreement),
        came_true=int(share >= words.few) + int(share > words.many),
    )


def _compared(setting: Setting, agreement: Mapping[str, Estimate]) -> Compared:
    task = setting.task
    return {
        f"Answers that stay when {WORDS[task.name].target} is {ORDERS[name]}": (
            published(f"agreement.{name}.{task.name}"),
            measured(f"{setting.title} on this app's {task.unit}s", stays),
        )
        for name, stays in agreement.items()
    }


@on_bundled(*ORDERS, options=PUBLISHED)
def sure(setting: Setting, summary: Summary) -> Finding:
    """Measure how sure the model is."""
    task = setting.task.name
    before, after = summary.original["confidence"], summary.transforms["sort"]["confidence"]
    lost = before.value - after.value
    figures = (
        published(f"confidence.original.{task}"),
        published(f"confidence.sort.{task}"),
        measured(f"{setting.title}, whole texts, here", before),
        measured(f"{setting.title}, sorted, here", after),
    )
    return Finding(
        f"The mean confidence was {before.value:.2f} and is {after.value:.2f} on sorted text.",
        compared={"Mean confidence, the probability of the answer given": figures},
        came_true=0 if lost > FAR else 1 if lost > CLOSE else 2,
    )


@on_bundled(*ORDERS, options=PUBLISHED)
def people(setting: Setting, summary: Summary) -> Finding:
    """Set what people say beside what the model does."""
    sort = summary.transforms["sort"]["agreement"]
    said = tuple(published(f"people.{name}") for name in ("original", *ORDERS))
    return Finding(
        f"People call {100 * published('people.sort').share:.0f} % of the sorted texts "
        f"meaningless. {setting.title} gives the same answer as before to {100 * sort.value:.0f} % "
        "of them.",
        compared={"Texts that people call meaningless": said, **_compared(setting, {"sort": sort})},
        came_true=2,
    )


def _steps(task: Task) -> tuple[Step, ...]:
    words = WORDS[task.name]
    few, most = round(100 * words.few), round(100 * words.many)
    labels = as_choices(f"{label}: {uncapitalised(said)}" for label, said in words.meanings.items())
    return written(
        f"""
# task: What the task is
{words.explanation}

Read the examples and the answer that each was written for. People who build such models say that
the task needs understanding: who did what to whom, and what excludes what. Models get most examples
right. This lesson asks whether they do so by reading.

# guess: Your own guess
Before the model: you. Read this example and choose the answer yourself.
? What is your answer?
{labels}

# break: Break the text
Below, the words of {words.target} are put into alphabetical order. Read it aloud. What should a
model that understands answer, and what will this one answer?
? What will the model do?
- It gives the same answer again
- It changes its mind
- The same answer, but unsure: confidence below {UNSURE:.2f}

# rule: Is it a rule?
One {task.unit} may be an accident. Now the same is done to {ROWS} of the {task.unit}s that come
with this app: sorted, reversed and shuffled, every answer compared with the one before. Gupta et
al. call the share of answers that stay the agreement.

A model that answered by chance would keep {100 * words.chance:.0f} % of its answers.
? How many answers stay when the words are sorted?
- Fewer than {few} %: not far from chance
- {few} to {most} %
- More than {most} %

# sure: Is it sure?
Perhaps the model keeps its answer but doubts it. Each answer comes with a probability, the
confidence. Somebody who guesses should be unsure.
? On sorted text, how sure is the model on average?
- Much less sure, by more than {FAR:.2f}
- A little less sure, by {CLOSE:.2f} to {FAR:.2f}
- About as sure as before, within {CLOSE:.2f}

# people: What people say
Gupta et al. showed such texts to people and asked whether they mean anything. Whole texts were
among them, as a check on the people.
? How many sorted texts do people call meaningless?
- Fewer than half
- From half to nine in ten
- More than nine in ten

# questions: Questions
Talk about these with your neighbour before you unfold an answer. Then make the experiment again
with another model: other figures, and perhaps another opinion.
? The model has no answer that says “this is nonsense”. Is it fair to blame it for giving one of the
answers that it has?
> It must choose a label, but it need not be sure: a model that notices would spread its probability
evenly, as a person would guess. That it stays sure is the finding. Gupta et al. repair it by a
further class for invalid texts, or by training the model to be unsure of them, at little cost on
whole texts. So it is a habit of training, no law.
? Which words of the sorted text could have told the model its answer?
> Single words that go with a label in the training data: nobody, never, not for contradiction;
words shared by both texts for entailment or paraphrase; praise and blame for sentiment. None of
them needs an order. Lesson 5 asks the model which they were.
? Go back to “Is it a rule?”, choose the model Decomposable Attention, if it is offered, and run it
again. What do you expect of a model that compares words two by two and knows no order at all?
> Nearly every answer stays and the confidence is the same: decomposable attention sums over words,
so sorting changes nothing but capitals. The more another model comes near to it, the less use it
seems to make of order.
? Sorting left the answer to your pair as it was, yet other answers changed. Does that show that the
model understood those?
> Not yet. An answer may change since a sorted text is unlike anything it was trained on, or because
a name was torn apart. Agreement bounds how much order matters from one side only: what stays did
not need it.
? The share is from {ROWS} texts. How much would you trust it from 24?
> At 80 % the 95 % interval is about 75 to 85 with {ROWS} texts and about 60 to 91 with 24. Ten
times the texts make it about three times as narrow.
""",
        exhibit={
            "task": partial(show_samples, task),
            "guess": partial(show_asked, task),
            "break": partial(show_sorted, task),
        },
        live={
            "guess": answer, "break": break_text, "rule": many, "sure": sure, "people": people,
        },
    )  # fmt: skip


WORD_SALAD = Lesson(
    "word_salad",
    "Word salad",
    20,
    "Models answer texts whose words are in no order as they answered the whole ones, and as sure.",
    "Gupta, Kvernadze and Srikumar 2021, BERT & Family Eat Word Salad",
    {task.name: _steps(task) for task in (NLI, PARAPHRASE_IDENTIFICATION, SENTIMENT)},
)
