"""Lesson: does a model read, or does it count shared words? (McCoy et al. 2019, fritz)."""

from probe.tasks.nli import NLI
from probe.templates.generate import HEURISTICS as NAMES
from probe.ui.lessons import heuristics_live as live
from probe.ui.lessons.bundled_scores import ROWS
from probe.ui.lessons.lesson import Guess, Lesson, Question, Step

QUESTIONS = (
    Question(
        "Why are the pairs that follow and those that do not never put into one accuracy?",
        "Half of the pairs follow. A model that always says entailment would reach 50 %, which "
        "looks like half an understanding. Apart, the two figures read 100 and 0 and show that it "
        "reads nothing. McCoy et al. report them apart for that reason.",
    ),
    Question(
        "Where would a model have learnt that shared words mean entailment?",
        "From its training pairs: people who are asked for a sentence that follows like to repeat "
        "the premise's words, and those asked for one that does not bring new ones. On such pairs "
        "the shortcut is nearly always right, so nothing in training speaks against it.",
    ),
    Question(
        "fritz counts every fragment of a premise as not entailed. Is that always so?",
        "No. “The old man laughed” may be cut out of “The old man laughed and sat down” and does "
        "follow. So the right share has a ceiling below 100 %, and a low one is worth less than "
        "on the templates, whose labels are certain. A label rule is a claim to be checked too.",
    ),
    Question(
        "Go back to “Two kinds of pairs”, choose another model and run it again. Which of them "
        "would you trust more, and are 1,200 pairs enough to say so?",
        "Compare the intervals: 600 pairs of a kind give about plus or minus 4 points. Where they "
        "do not overlap the models differ on these templates. Other sentences may say otherwise, "
        "since all pairs of a sub-case come from four templates.",
    ),
    Question(
        "Name a shortcut that a person uses when reading quickly.",
        "Skipping function words, trusting names, taking the first noun for the one who acts. "
        "Most of the time it works, which is why it exists; the difference is that we can stop "
        "and read again.",
    ),
)

STEPS = (
    Step(
        "words",
        "The same words",
        (
            "A model for natural language inference (NLI) reads a premise, which counts as true, "
            "and a hypothesis, and says whether the hypothesis follows: entailment, or not. Here "
            "the hypothesis has the words of the premise and no other. Read both slowly.",
        ),
        exhibit=live.show_swapped,
        guess=Guess("Does the hypothesis follow from the premise?", ("It follows", "It does not")),
        live=live.swap,
    ),
    Step(
        "kinds",
        "Two kinds of pairs",
        (
            "McCoy et al. wrote templates that make pairs of two kinds: in both the hypothesis "
            "consists of words of the premise, but only in one does it follow. Somebody who only "
            "looks whether the words are there answers both kinds alike.",
            f"You run {30 * live.PER_SUBCASE:,} such pairs, half of each kind, made from our own "
            "templates after theirs.",
        ),
        guess=Guess(
            "Of the pairs that do not follow, how many will the model get right?",
            ("Fewer than one in ten", "From one in ten to half", "More than half"),
        ),
        live=live.both_kinds,
    ),
    Step(
        "heuristics",
        "Three shortcuts",
        (
            "The pairs fall into three groups, each for one shortcut, a heuristic: a rule that "
            "is quick and often right.",
        ),
        exhibit=live.show_heuristics,
        guess=Guess(
            "Which shortcut fools the model most?", tuple(live.TITLES[name] for name in NAMES)
        ),
        live=live.by_heuristic,
    ),
    Step(
        "cut",
        "A piece of the premise",
        (
            "Now without templates. fritz cuts a piece out of an ordinary premise and makes it "
            "the hypothesis. Often the piece says nothing at all, as here.",
            f"The same is done to {ROWS} pairs that come with this app.",
        ),
        exhibit=live.show_cut,
        guess=Guess(
            "How many of the pieces will the model call entailed?",
            ("Fewer than half", "From half to three quarters", "More than three quarters"),
        ),
        live=live.cut,
    ),
    Step(
        "questions",
        "Questions",
        ("Talk about these with your neighbour before you unfold an answer.",),
        questions=QUESTIONS,
    ),
)

HEURISTICS = Lesson(
    "heuristics",
    "Heuristics",
    20,
    "Models call a hypothesis entailed because its words stand in the premise, whether it follows "
    "or not.",
    "McCoy, Pavlick and Linzen 2019, Right for the Wrong Reasons; Dickerson, fritz",
    {NLI.name: STEPS},
)
