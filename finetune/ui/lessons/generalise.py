"""Lesson: did the model learn the skill, or the set? (Rozen et al. 2019)."""

from functools import partial

from finetune.ui.lessons import generalise_live as live
from probe.tasks.nli import NLI
from probe.ui.lessons.lesson import Guess, Lesson, Question, Step

KNOWS = Guess(
    "How many will the model get right?",
    ("Most: more than 70 %", "About half: 40 to 70 %", "Few: 40 % or less"),
)
KEEPS = Guess(
    "How well does it do on the kind of sentence on which it does worst?",
    (
        "Nearly as well as on what it was trained on: less than 10 points are lost",
        "Much worse: 10 points or more are lost",
    ),
)
QUESTIONS = (
    Question(
        "A model is right on nearly all examples of the kind that it was trained on. What does "
        "that say of the skill?",
        "That it can fit such examples. Whether it learnt the skill shows only where the examples "
        "differ from what it saw: other sentences, other words, other numbers.",
    ),
    Question(
        "Why may no template be both trained and tested on?",
        "Pairs of one template differ in a few words only. A model that remembers the template "
        "would be right without the skill, and the test would not notice.",
    ),
    Question(
        "Inoculation closed the gap on numbers. Does that contradict what you saw here?",
        "No. There the test came from the same set as the few training examples. A closed gap "
        "shows that such examples were missing; it does not show that the skill was learnt.",
    ),
    Question(
        "The accuracy on the original set falls while the skill is trained. Why?",
        "The new examples look alike and have their own habits, and nothing reminds the model of "
        "the old ones. What is learnt last overwrites some of what was there; how much depends "
        "on the learning rate and on which weights learn.",
    ),
    Question(
        "The verdict has a limit of 10 points. Who set it, and what would another one change?",
        "We did; Rozen et al. draw the line by eye. With 5 points more runs would be called learnt "
        "the set, with 20 fewer. Near the limit the figures say more than the badge.",
    ),
)
STEPS = (
    Step(
        "before",
        "What it knows",
        (
            "A model for natural language inference (NLI) says whether a hypothesis follows from "
            "a premise. Here the answer hangs on numbers, in simple, medium and complex "
            "sentences, which templates make as many of as one likes.",
            "You let the model answer 240 of them as it is. Choose a model that you inoculated, "
            "if you have one, to see what it learnt.",
        ),
        exhibit=partial(live.show_kinds, "numerical"),
        guess=KNOWS,
        live=live.answered("numerical", "before.numerical.bert"),
    ),
    Step(
        "numbers",
        "Trained on one kind",
        (
            "Rozen et al. train on one kind of sentence alone and test on every kind. A model "
            "that learnt to compare numbers can do so in any sentence; one that learnt its "
            "training set does only what it saw.",
            "This run of the app's gallery trained MiniLM on 1,000 examples of each kind, two "
            "times, and tested on templates that it never saw.",
        ),
        guess=KEEPS,
        live=live.from_gallery("numerical"),
        finished=True,
    ),
    Step(
        "giving",
        "Giving and receiving",
        (
            "The second skill: who gives what to whom. “The brewer got a well” follows from “the "
            "engineer built the brewer a well”, and “the engineer built the brewer” does not. "
            "First let the model answer as it is.",
        ),
        exhibit=partial(live.show_kinds, "dative"),
        guess=KNOWS,
        live=live.answered("dative", "before.dative.bert"),
    ),
    Step(
        "giving-trained",
        "Learnt, or memorised?",
        (
            "Now the gallery's run on giving and receiving: again trained on one kind of "
            "sentence, tested on all.",
        ),
        guess=KEEPS,
        live=live.from_gallery("dative"),
        finished=True,
    ),
    Step(
        "questions",
        "Questions",
        ("Talk about these with your neighbour before you unfold an answer.",),
        questions=QUESTIONS,
    ),
)
GENERALISE = Lesson(
    "generalise",
    "Learn or memorise",
    20,
    "A model that is right on what it was trained on may have learnt the set and not the skill.",
    "Rozen, Shwartz, Aharoni and Dagan 2019, Diversify Your Datasets",
    {NLI.name: STEPS},
)
