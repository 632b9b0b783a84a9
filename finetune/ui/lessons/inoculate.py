"""Lesson: is it the data's fault or the model's? (Liu et al. 2019)."""

from functools import partial

from finetune.ui.lessons import inoculate_live as live
from probe.tasks.nli import NLI
from probe.ui.lessons.bundled_scores import ROWS
from probe.ui.lessons.lesson import Guess, Lesson, Question, Step

OUTCOME = Guess(
    "Which outcome do you expect?",
    (
        "1: the gap closes and the original accuracy stays",
        "2: the gap stays",
        "3: the original accuracy suffers",
    ),
)
QUESTIONS = (
    Question(
        "The gap closed with a hundred examples. Has the model learnt what “and” means?",
        "It has learnt to answer such pairs. Whether it ignores any added clause or only these "
        "words, another test must say: Inoculate tests a control set with other words that are "
        "true of themselves. Liu et al. say the same: an easily closed gap is a weakness of the "
        "data and no proof of understanding.",
    ),
    Question(
        "Why is the original test set measured after each dose as well?",
        "A model may buy the challenge with what it knew. Without the original accuracy outcome 3 "
        "looks like outcome 1.",
    ),
    Question(
        "Spelling mistakes stay hard for a model of whole words, however many it sees. Why?",
        "A misspelt word is not in its vocabulary and is read as the one unknown word, so what "
        "was written is lost before the model begins. More examples cannot bring it back. A model "
        "that reads characters or pieces of words can do better; compare the two forms of ESIM.",
    ),
    Question(
        "In the numerical challenge a rule that only looks for “more than” and “less than” gets "
        "82 % right. What does that do to the meaning of a closed gap?",
        "The model may have learnt the rule and not the numbers: the labels can be guessed from "
        "how the pairs were made. Liu et al. show this rule in an appendix, and it is why a good "
        "score on a challenge is only as good as the challenge.",
    ),
    Question(
        "The outcomes have limits: 80 % closed, 3 points lost. Who set them?",
        "We did. Liu et al. give examples and no limits. Each run shows its figures with their "
        "intervals, and Inoculate lets you set other limits; near a limit the name of the outcome "
        "says less than the figures.",
    ),
)
STEPS = (
    Step(
        "stress",
        "A test that stresses",
        (
            "A model for natural language inference (NLI) says whether a hypothesis follows from "
            "a premise. Naik et al. add words that change nothing, as below: the right answer is "
            "what it was. Such sets of changed pairs are called challenges or stress tests.",
            f"You run the model on {ROWS} pairs as they are and with the added words.",
        ),
        exhibit=partial(live.show_changed, live.STRESSED),
        guess=Guess(
            "How far does its accuracy fall?",
            ("Hardly: less than 2 points", "By 2 to 10 points", "By more than 10 points"),
        ),
        live=live.stress,
    ),
    Step(
        "dose",
        "A small dose",
        (
            "Why does a model fail a stress test? Either its training data had no such pairs, or "
            "the model cannot do it. Liu et al. tell the two apart as a doctor would, by "
            "inoculation: show the model a few examples of the challenge, train it a little, and "
            "test it again, on the challenge and on the original pairs. How much worse it does on "
            "the challenge than on the original pairs is the gap. There are three outcomes.",
            "First the test from before, on a finished run of this app's gallery.",
        ),
        exhibit=live.show_outcomes,
        guess=OUTCOME,
        live=live.from_gallery(live.STRESSED, live.STRESSED_CLAIM),
        finished=True,
    ),
    Step(
        "spelling",
        "Spelling mistakes",
        (
            "Now the hypotheses have a spelling mistake each, and again there is a finished run. "
            "Choose ESIM as the model if you want one like the paper's: it reads whole words.",
        ),
        exhibit=partial(live.show_changed, "spelling"),
        guess=OUTCOME,
        live=live.from_gallery("spelling"),
        finished=True,
    ),
    Step(
        "numbers",
        "Numbers",
        (
            "The third challenge, again as a finished run, needs arithmetic: does “The shop sold "
            "less than 70 lamps” follow from “The shop sold 40 lamps”? Its pairs are made by rules "
            "from word problems and look like no other pair that the model was trained on.",
        ),
        guess=OUTCOME,
        live=live.from_gallery("numerical", "closed.numerical.esim"),
        finished=True,
    ),
    Step(
        "own",
        "Your own dose",
        (
            "Now you inoculate. The model is shown 10 and then 100 pairs of the first challenge "
            "and tested on about 600 changed and 600 original pairs, in fast mode, where only its "
            "upper layers learn. It takes a minute or two on an idle machine and several on a busy "
            "one. It goes on if you leave: you find it again in Inoculate, under your runs.",
            "Fewer examples and other settings than in the gallery: will the outcome be the same?",
        ),
        exhibit=partial(live.show_changed, live.STRESSED),
        guess=OUTCOME,
        live=live.own_run,
    ),
    Step(
        "questions",
        "Questions",
        ("Talk about these with your neighbour before you unfold an answer.",),
        questions=QUESTIONS,
    ),
)
INOCULATE = Lesson(
    "inoculate",
    "Inoculate",
    20,
    "A few examples tell whether a model fails for lack of data or for lack of ability.",
    "Liu, Schwartz and Smith 2019, Inoculation by Fine-Tuning",
    {NLI.name: STEPS},
)
