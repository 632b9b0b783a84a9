"""Distractors: a sentence in the passage that seems to answer the question (Jia and Liang 2017).

Raw AddSent: no person has repaired a sentence or checked that it answers nothing.
"""

from dataclasses import replace

from probe.addsent.generate import Distractor, distractor, insert
from probe.tasks.label_rules import KEEP
from probe.tasks.reading import Question, joined
from probe.transforms.registry import Changed, Need, Tools, transform

SOURCE = "Jia and Liang 2017, AddSent without its human steps"
FIELDS = ("passage", "question")
NEEDS: tuple[Need, ...] = ("wordnet", "tagger")
APPLIES = "an answer, and a word in the question that another can stand for"


@transform(
    "addsent",
    "Add a false look-alike",
    "Puts a sentence at the end of the passage that answers a question much like this one, "
    "falsely. No person has checked it.",
    family="distractor",
    rule=KEEP,
    source=SOURCE,
    applies=APPLIES,
    fields=FIELDS,
    needs=NEEDS,
    options=("look_alike",),
    language="English",
)
def addsent(question: Question, tools: Tools) -> Changed | None:
    """Add a distractor at the end."""
    return _distracted(question, tools, None)


@transform(
    "addsent_first",
    "A false look-alike in front",
    "Puts the same sentence before the passage: a model that has only learnt to pass over the "
    "last sentence falls for it.",
    family="distractor",
    rule=KEEP,
    source=SOURCE,
    applies=APPLIES,
    fields=FIELDS,
    needs=NEEDS,
    options=("look_alike",),
    language="English",
)
def addsent_first(question: Question, tools: Tools) -> Changed | None:
    """Add a distractor in front."""
    return _distracted(question, tools, 0)


@transform(
    "addsent_other",
    "Another false look-alike",
    "Adds the sentence with a false answer of a second list: a model that has only learnt the "
    "first list's answers falls for it.",
    family="distractor",
    rule=KEEP,
    source=SOURCE,
    applies=APPLIES,
    fields=FIELDS,
    needs=NEEDS,
    options=("look_alike",),
    language="English",
)
def addsent_other(question: Question, tools: Tools) -> Changed | None:
    """Add a distractor with a fake answer of the second list."""
    return _distracted(question, tools, None, second=True)


def _distracted(
    question: Question, tools: Tools, place: int | None, second: bool = False
) -> Changed | None:
    """Add a distractor for the gold answer, or for the predicted one where none is known."""
    known = question.references or tools.labels
    if not known:
        return None
    asked = replace(question, gold=joined(list(known)), answers=())
    made = distractor(asked, second, tools.options.look_alike == "any")
    if made is None:
        return None
    return Changed((insert(question, made.sentence, place),), note=_rules(made))


def _rules(made: Distractor) -> str:
    """Say which rules made a sentence."""
    altered = ", ".join(f"{each.old} → {each.new}" for each in made.alterations)
    return f"false answer: {made.fake.text} ({made.fake.rule}); altered: {altered}"
