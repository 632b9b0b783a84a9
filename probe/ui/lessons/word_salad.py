"""Lesson: does a model notice that a text has lost its meaning? (Gupta et al. 2021)."""

from functools import partial

from probe.tasks.nli import NLI
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import Task
from probe.ui.html.elements import uncapitalised
from probe.ui.lessons import word_salad_live as live
from probe.ui.lessons.bundled_scores import ROWS
from probe.ui.lessons.lesson import Guess, Lesson, Question, Step


def _ranges(words: live.Words) -> tuple[str, ...]:
    """Return the choices that `_place` tells apart."""
    few, many = round(100 * words.few), round(100 * words.many)
    return (
        f"Fewer than {few} %: not far from chance",
        f"{few} to {many} %",
        f"More than {many} %",
    )


def _answers(words: live.Words) -> tuple[str, ...]:
    """Return each label with its meaning, as an answer to choose."""
    return tuple(f"{label}: {uncapitalised(said)}" for label, said in words.meanings.items())


QUESTIONS = (
    Question(
        "The model has no answer that says “this is nonsense”. Is it fair to blame it for giving "
        "one of the answers that it has?",
        "It must choose a label, but it need not be sure: a model that notices would spread its "
        "probability evenly, as a person would guess. That it stays sure is the finding. Gupta et "
        "al. repair it by a further class for invalid texts, or by training the model to be unsure "
        "of them, at little cost on whole texts. So it is a habit of training, no law.",
    ),
    Question(
        "Which words of the sorted text could have told the model its answer?",
        "Single words that go with a label in the training data: nobody, never, not for "
        "contradiction; words shared by both texts for entailment or paraphrase; praise and blame "
        "for sentiment. None of them needs an order. Lesson 5 asks the model which they were.",
    ),
    Question(
        "Go back to “Is it a rule?”, choose the model Decomposable Attention, if it is offered, "
        "and run it again. What do you expect of a model that compares words two by two and knows "
        "no order at all?",
        "Nearly every answer stays and the confidence is the same: decomposable attention sums "
        "over words, so sorting changes nothing but capitals. The more another model comes near "
        "to it, the less use it seems to make of order.",
    ),
    Question(
        "Sorting left the answer to your pair as it was, yet other answers changed. Does that show "
        "that the model understood those?",
        "Not yet. An answer may change since a sorted text is unlike anything it was trained on, "
        "or because a name was torn apart. Agreement bounds how much order matters from one side "
        "only: what stays did not need it.",
    ),
    Question(
        f"The share is from {ROWS} texts. How much would you trust it from 24?",
        "At 80 % the 95 % interval is about 75 to 85 with 240 texts and about 60 to 91 with 24. "
        "Ten times the texts make it about three times as narrow.",
    ),
)


def _steps(task: Task) -> tuple[Step, ...]:
    words = live.WORDS[task.name]
    return (
        Step(
            "task",
            "What the task is",
            (
                words.explanation,
                "Read the examples and the answer that each was written for. People who build "
                "such models say that the task needs understanding: who did what to whom, and "
                "what excludes what. Models get most examples right. This lesson asks whether "
                "they do so by reading.",
            ),
            exhibit=partial(live.show_samples, task),
        ),
        Step(
            "guess",
            "Your own guess",
            ("Before the model: you. Read this example and choose the answer yourself.",),
            exhibit=partial(live.show_asked, task),
            guess=Guess("What is your answer?", _answers(words)),
            live=live.answer,
        ),
        Step(
            "break",
            "Break the text",
            (
                f"Below, the words of {words.target} are put into alphabetical order. Read it "
                "aloud. What should a model that understands answer, and what will this one "
                "answer?",
            ),
            exhibit=partial(live.show_sorted, task),
            guess=Guess(
                "What will the model do?",
                (
                    "It gives the same answer again",
                    "It changes its mind",
                    f"The same answer, but unsure: confidence below {live.UNSURE:.2f}",
                ),
            ),
            live=live.break_text,
        ),
        Step(
            "rule",
            "Is it a rule?",
            (
                f"One {words.unit} may be an accident. Now the same is done to {ROWS} of the "
                f"{words.unit}s that come with this app: sorted, reversed and shuffled, every "
                "answer compared with the one before. Gupta et al. call the share of answers that "
                "stay the agreement.",
                f"A model that answered by chance would keep {100 * words.chance:.0f} % of its "
                "answers.",
            ),
            guess=Guess("How many answers stay when the words are sorted?", _ranges(words)),
            live=live.many,
        ),
        Step(
            "sure",
            "Is it sure?",
            (
                "Perhaps the model keeps its answer but doubts it. Each answer comes with a "
                "probability, the confidence. Somebody who guesses should be unsure.",
            ),
            guess=Guess(
                "On sorted text, how sure is the model on average?",
                (
                    f"Much less sure, by more than {live.FAR:.2f}",
                    f"A little less sure, by {live.CLOSE:.2f} to {live.FAR:.2f}",
                    f"About as sure as before, within {live.CLOSE:.2f}",
                ),
            ),
            live=live.sure,
        ),
        Step(
            "people",
            "What people say",
            (
                "Gupta et al. showed such texts to people and asked whether they mean anything. "
                "Whole texts were among them, as a check on the people.",
            ),
            guess=Guess(
                "How many sorted texts do people call meaningless?",
                ("Fewer than half", "From half to nine in ten", "More than nine in ten"),
            ),
            live=live.people,
        ),
        Step(
            "questions",
            "Questions",
            (
                "Talk about these with your neighbour before you unfold an answer. Then make the "
                "experiment again with another model: other figures, and perhaps another opinion.",
            ),
            questions=QUESTIONS,
        ),
    )


WORD_SALAD = Lesson(
    "word_salad",
    "Word salad",
    20,
    "Models answer texts whose words are in no order as they answered the whole ones, and as sure.",
    "Gupta, Kvernadze and Srikumar 2021, BERT & Family Eat Word Salad",
    {task.name: _steps(task) for task in (NLI, PARAPHRASE_IDENTIFICATION, SENTIMENT)},
)
