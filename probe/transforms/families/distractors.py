"""Distractors: a sentence in the passage that seems to answer the question (Jia and Liang 2017).

Raw AddSent: no person has repaired a sentence or checked that it answers nothing.
"""

from dataclasses import replace
from functools import partial
from typing import Any

from probe.addsent.statements import distractor, insert
from probe.tasks.label_rules import KEEP
from probe.tasks.reading import Question, joined
from probe.transforms.registry import Changed, Tools, transform

KINDS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "addsent": (
        "Add a false look-alike",
        "Puts a sentence at the end of the passage that answers a question much like this one, "
        "falsely. No person has checked it.",
        {},
    ),
    "addsent_first": (
        "A false look-alike in front",
        "Puts the same sentence before the passage: a model that has only learnt to pass over the "
        "last sentence falls for it.",
        {"place": 0},
    ),
    "addsent_other": (
        "Another false look-alike",
        "Adds the sentence with a false answer of a second list: a model that has only learnt the "
        "first list's answers falls for it.",
        {"second": True},
    ),
}
"""Titles, summaries, and what of `distracted` is not as usual."""


def distracted(
    question: Question, tools: Tools, place: int | None = None, second: bool = False
) -> Changed | None:
    """Add a distractor for the gold answer, or for the predicted one where none is known."""
    known = question.references or tools.labels
    if not known:
        return None
    asked = replace(question, gold=joined(list(known)), answers=())
    made = distractor(asked, second, tools.options.look_alike == "any")
    if made is None:
        return None
    altered = ", ".join(f"{each.old} → {each.new}" for each in made.alterations)
    note = f"false answer: {made.fake.text} ({made.fake.rule}); altered: {altered}"
    return Changed(insert(question, made.sentence, place), note=note)


for name, (title, summary, unusual) in KINDS.items():
    transform(
        name,
        title,
        summary,
        family="distractor",
        rule=KEEP,
        source="Jia and Liang 2017, AddSent without its human steps",
        applies="an answer, and a word in the question that another can stand for",
        fields=("passage", "question"),
        needs=("wordnet", "tagger"),
        options=("look_alike",),
        language="English",
    )(partial(distracted, **unusual))
