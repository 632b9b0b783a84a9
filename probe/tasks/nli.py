"""Natural language inference: does the hypothesis follow from the premise? In three or two labels.

A model of two classes merges neutral and contradiction; files of either kind can be read for both.
"""

from dataclasses import dataclass
from functools import partial

from probe.tasks.label_rules import COMPUTED, KEEP, UNDEFINED, Rule
from probe.tasks.task import INVALID, Group, Label, LabelForm, Task, negated, register, spelt

ENTAILMENT: Label = "entailment"
NEUTRAL: Label = "neutral"
CONTRADICTION: Label = "contradiction"
NON_ENTAILMENT: Label = "non-entailment"
LABELS: tuple[Label, ...] = (ENTAILMENT, NEUTRAL, CONTRADICTION)
"""Our label order; every array of probabilities has its last axis in this order."""
TWO_WAY: tuple[Label, ...] = (ENTAILMENT, NON_ENTAILMENT)
"""The order for a model of two outputs."""
GOLDS: tuple[Label, ...] = (*LABELS, NON_ENTAILMENT)
"""What a gold label can be."""


@dataclass(frozen=True)
class Pair:
    """One NLI example. `id` names the row it came from and seeds its chance."""

    premise: str
    hypothesis: str
    gold: Label | None = None
    id: str = ""


FLIP = Rule(
    "flip",
    "The label flips",
    "entailment becomes non-entailment, contradiction becomes entailment, neutral stays",
    {ENTAILMENT: NON_ENTAILMENT, NEUTRAL: NEUTRAL, CONTRADICTION: ENTAILMENT},
)
NOT_ENTAILED = Rule(
    "non_entailment",
    "Not entailed",
    "the new pair is not entailed",
    dict.fromkeys(GOLDS, NON_ENTAILMENT),
    unknown=NON_ENTAILMENT,
)
LABEL_RULES = {rule.name: rule for rule in (KEEP, FLIP, NOT_ENTAILED, UNDEFINED, COMPUTED)}


def matches(predicted: Label, gold: Label) -> bool:
    """Whether a prediction is right; non-entailment on either side compares two classes.

    That a pair is invalid is never right of one with a gold label.
    """
    if INVALID not in (predicted, gold) and NON_ENTAILMENT in (predicted, gold):
        return (predicted == ENTAILMENT) == (gold == ENTAILMENT)
    return predicted == gold


SPELLINGS = {
    **spelt(ENTAILMENT, "entailment entail entails entailed e yes supports supported"),
    **spelt(NEUTRAL, "neutral n maybe unknown not-enough-info nei"),
    **spelt(CONTRADICTION, "contradiction contradict contradicts contradictory c no"),
    **spelt(CONTRADICTION, "refutes refuted"),
    **dict.fromkeys(negated("entailment", "entailed", "entail"), NON_ENTAILMENT),
}
"""How people and data sets spell gold labels. Whole numbers are none of them: MNLI's 0, 1, 2 are
entailment, neutral, contradiction, CB's are entailment, contradiction, neutral, and of two classes
WNLI's 1 is entailment and RTE's is not."""
NUMBERED = {"0": ENTAILMENT, "1": NEUTRAL, "2": CONTRADICTION}
FORMS = (
    LabelForm("MultiNLI on the hub", NUMBERED, columns=frozenset({"promptid", "pairid"})),
    LabelForm("ANLI on the hub", NUMBERED, columns=frozenset({"uid", "reason"})),
    LabelForm(
        "HANS on the hub",
        {"0": ENTAILMENT, "1": NON_ENTAILMENT},
        columns=frozenset({"heuristic", "subcase", "template"}),
    ),
    LabelForm("RTE", {"yes": ENTAILMENT, "no": NON_ENTAILMENT}),
    LabelForm("RTE", {"true": ENTAILMENT, "false": NON_ENTAILMENT}),
    LabelForm(
        "ASSIN",
        {"entailment": ENTAILMENT, "paraphrase": ENTAILMENT, "none": NON_ENTAILMENT},
        signs=frozenset({"entailment", "none"}),
    ),
    LabelForm(
        "SciTail",
        {"entails": ENTAILMENT, "neutral": NON_ENTAILMENT},
        signs=frozenset({"entails"}),
    ),
)
OUTPUTS_OF_THREE = {"true": ENTAILMENT, "neither": NEUTRAL, "false": CONTRADICTION}
"""The choices of lm-evaluation-harness."""
OUTPUTS_OF_TWO = {**spelt(NON_ENTAILMENT, "no false"), **spelt(ENTAILMENT, "true")}
"""What these names say where there is nothing between yes and no."""
SANITY_PAIRS = (
    Pair("A woman in a blue coat is riding a horse.", "A woman is riding a horse.", ENTAILMENT),
    Pair("Two boys are eating apples in the kitchen.", "Two boys are eating fruit.", ENTAILMENT),
    Pair("A man is waiting at the station.", "The man is waiting for his sister.", NEUTRAL),
    Pair("A girl is reading a book.", "The book was a present from her teacher.", NEUTRAL),
    Pair("The shop is open today.", "The shop is closed today.", CONTRADICTION),
    Pair("A dog is asleep on the sofa.", "The dog is running across a field.", CONTRADICTION),
)
task = partial(
    Task,
    example=Pair,
    fields=("premise", "hypothesis"),
    target="hypothesis",
    source="premise",
    golds=GOLDS,
    default_label=ENTAILMENT,
    spellings=SPELLINGS,
    forms=FORMS,
    columns={
        "premise": (
            *("premise", "sentence1", "text_a", "text1", "sentence_a", "context", "evidence", "s1"),
        ),
        "hypothesis": (
            *("hypothesis", "hypo", "sentence2", "text_b", "text2", "sentence_b"),
            *("statement", "claim", "s2"),
        ),
    },
    gold_columns=("entailment_judgment", "entailment_label", "verdict"),
    sanity_examples=SANITY_PAIRS,
    question="Does the second text follow from the first?",
    titles={"premise": "Premise", "hypothesis": "Hypothesis"},
    unit="pair",
    meanings={
        "premise": "The text that is taken to be true.",
        "hypothesis": "The text of which the model says whether it follows from the premise.",
        ENTAILMENT: "The hypothesis is true if the premise is.",
        NEUTRAL: "The hypothesis may be true or false; the premise does not settle it.",
        CONTRADICTION: "The hypothesis is false if the premise is true.",
        NON_ENTAILMENT: "Neutral or contradiction: the hypothesis does not follow.",
    },
    showcase=Pair(
        "Maria sold 48 tickets for the evening concert, and the old hall was full.",
        "Maria quickly sold the tickets, and her success filled the large hall.",
        NEUTRAL,
    ),
    matches=matches,
    bundled="nli.csv",
    translated=LABELS,
    groups={
        "entailed": Group(
            frozenset({ENTAILMENT}),
            ENTAILMENT,
            "Accuracy, entailed",
            "How often a pair whose hypothesis follows is called entailment.",
        ),
        "non_entailed": Group(
            frozenset(GOLDS) - {ENTAILMENT},
            NON_ENTAILMENT,
            "Accuracy, not entailed",
            "How often a pair whose hypothesis does not follow is called anything but entailment.",
        ),
    },
)
NLI = register(
    task(
        "nli",
        "Natural language inference",
        labels=LABELS,
        output_spellings=OUTPUTS_OF_THREE,
        choice="Inference",
        settled=(ENTAILMENT, CONTRADICTION),
    )
)
NLI_TWO_WAY = register(
    task(
        "nli_two_way",
        "Natural language inference in two classes",
        labels=TWO_WAY,
        settled=(ENTAILMENT,),
        output_spellings=OUTPUTS_OF_TWO,
        note="One of the models tells only entailment from non-entailment, so all are held to two "
        "classes.",
    )
)
