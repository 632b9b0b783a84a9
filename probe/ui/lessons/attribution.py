"""Lesson: which words did an answer hang on, and whom to believe? (Gupta et al., Feng et al.)."""

from probe.tasks.nli import NLI
from probe.ui.lessons import attribution_live as live
from probe.ui.lessons.bundled_scores import ROWS
from probe.ui.lessons.lesson import Guess, Lesson, Question, Step

QUESTIONS = (
    Question(
        "Four methods, four rankings, and no column “true importance”. What made the test able to "
        "decide at all?",
        "It asks the model itself: what is important should be missed when it is gone. That turns "
        "an opinion into a prediction that can fail. Chance is in the table since any deletion "
        "changes some answers.",
    ),
    Question(
        "A text without half of its words is no sentence any more. What may go wrong with the "
        "test?",
        "The model was never trained on such texts, so an answer may change since the text is "
        "strange and not because the word mattered. Chance measures a part of that. Feng et al. "
        "show the other side: models stay sure of what is left when hardly any word is.",
    ),
    Question(
        "Leaving each token out asks the model once for each, integrated gradients many times for "
        "a path, the other two once. Is the best method worth its price?",
        f"Compare the intervals: where two overlap widely, {live.PAIRS} pairs do not tell the "
        "methods apart, and the cheap one is enough for a first look. For one pair that matters, "
        "take the better one.",
    ),
    Question(
        "Saliency has no sign. Why may that hurt it here?",
        "It ranks tokens that speak for the answer and tokens that speak against it alike. "
        "Taking out one that speaks against the answer makes the answer firmer, so fewer change.",
    ),
    Question(
        "The less important half could go and most answers stayed. Is that good news?",
        "For the method yes: it found tokens that the model does not need. For the model it is "
        "the claim of Gupta et al.: it answers what is left as surely, though a person would "
        "call it nonsense.",
    ),
)

STEPS = (
    Step(
        "blame",
        "Which words mattered?",
        (
            "A model for natural language inference (NLI) reads a premise, which counts as true, "
            "and a hypothesis, and says whether the hypothesis follows, contradicts it, or "
            "neither. It calls this hypothesis a contradiction, if it answers as most models do. "
            "An attribution method gives each token, a word or a piece of one, a score for its "
            "part in that answer.",
        ),
        exhibit=live.show_pair,
        guess=Guess("Which part of the hypothesis will it blame most?", live.CHOICES),
        live=live.one_method,
    ),
    Step(
        "methods",
        "Four methods, one pair",
        (
            "There are many such methods. Here are four, on the same model, the same pair and the "
            "same answer. A gradient says how the answer moves when the numbers that stand for a "
            "token, its vector, move a little.",
        ),
        exhibit=live.show_methods,
        guess=Guess(
            "Do they put the same token first?",
            ("All four do", "Three of them do", "No more than two do"),
        ),
        live=live.four_methods,
    ),
    Step(
        "test",
        "A test that decides",
        (
            "If a method is right about what matters, its favourite tokens should be missed. So "
            f"take half of the hypothesis away, the half that it calls important, on {live.PAIRS} "
            "pairs, and count the answers that change. Half of the tokens drawn by chance show "
            "what any deletion does.",
            f"The pairs are the {live.PAIRS} shortest of this app's test pairs. The figures grow "
            "while they are computed: two minutes on an idle machine, more on a busy one. The path "
            f"of integrated gradients has {live.PATH_STEPS} steps here.",
        ),
        guess=Guess(
            "Whose favourites are missed most?", tuple(row.title for row in live.SHOWN.values())
        ),
        live=live.decide,
    ),
    Step(
        "rest",
        "The other half",
        (
            "Gupta et al. turn it round: they drop the half that gradient × input calls less "
            f"important and look how many answers stay. You do so with {ROWS} pairs, by the "
            "transform Drop of the other tabs.",
        ),
        guess=Guess(
            "How many answers stay?", ("Fewer than half", "From half to three quarters", "More")
        ),
        live=live.lower_half,
    ),
    Step(
        "questions",
        "Questions",
        ("Talk about these with your neighbour before you unfold an answer.",),
        questions=QUESTIONS,
    ),
)

ATTRIBUTION = Lesson(
    "attribution",
    "Which attribution?",
    20,
    "The words that a gradient calls unimportant can go, and the answer stays; methods disagree on "
    "which these are.",
    "Gupta et al. 2021, section 3.1; Feng et al. 2018, Pathologies of Neural Models",
    {NLI.name: STEPS},
)
