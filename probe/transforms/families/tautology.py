"""The stress tests' distractors (Naik et al. 2018): a tautology that changes no label.

The clause goes before the mark that ends the text and all the rest stays. The released code
(`tautology="naik_code"`) puts it before the first of all marks and drops what comes after, so "Mr.
Hale left." ends at "Mr" and "It cost 3.5 dollars." at "3"; a text in which no mark ends a word gets
it at its end.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial

from probe.tasks.label_rules import KEEP
from probe.tasks.nli import NLI
from probe.tasks.task import SOURCE
from probe.transforms.options import Tautology
from probe.transforms.registry import Tools, transform

register = partial(
    transform,
    family="stress",
    rule=KEEP,
    source="Naik et al. 2018, section 3",
    options=("tautology",),
    home=NLI.name,
    language="English",
)
MARKS, CLOSERS = ".!?", "\"'”’)]"
FIRST_MARK, ENDING_MARK = re.compile(r"[.!?]"), re.compile(r"[.!?](?=[\s)]|\Z)")


def append(text: str, clause: str) -> str | None:
    """Insert a clause before the final marks of a text, None where the text is empty."""
    whole = text.rstrip()
    bare = whole.rstrip(CLOSERS)
    ends = bare.endswith(tuple(MARKS))
    cut = len(bare.rstrip(MARKS).rstrip()) if ends else len(whole)
    return f"{whole[:cut]} {clause}{whole[cut:]}".strip() if cut else None


def append_first(text: str, clause: str) -> str | None:
    """Insert a clause before the first mark and end there, None where no text is before it."""
    mark = FIRST_MARK.search(text) if ENDING_MARK.search(text) else None
    sentence = text[: mark.end()] if mark else text.rstrip()
    bare = sentence[: mark.start()].rstrip() if mark else sentence
    return f"{bare} {clause}{sentence[len(bare) :]}".strip() if bare.strip() else None


APPENDERS: Mapping[Tautology, Callable[[str, str], str | None]] = {
    "end": append,
    "naik_code": append_first,
}
TARGET_TEXT = "text in {target}"


@register(
    "word_overlap",
    "Add a tautology",
    'Adds "and true is true" at the end of {target}, which changes nothing of its meaning.',
    applies=TARGET_TEXT,
)
def word_overlap(text: str, tools: Tools) -> str | None:
    """Lower the word overlap."""
    return _appended(text, tools, "and true is true")


@register(
    "negation",
    "Add a negation",
    'Adds "and false is not true" at the end of {target}, which changes nothing of its meaning.',
    applies=TARGET_TEXT,
)
def negation(text: str, tools: Tools) -> str | None:
    """Add a negation that does not change the meaning."""
    return _appended(text, tools, "and false is not true")


@register(
    "length_mismatch",
    "Lengthen the other text",
    'Adds "and true is true" five times at the end of {source}, which changes nothing.',
    reads=SOURCE,
    edits=SOURCE,
    applies="text in {source}",
)
def length_mismatch(text: str, tools: Tools) -> str | None:
    """Lengthen the premise."""
    return _appended(text, tools, " ".join(["and true is true"] * 5))


@register(
    "control_tautology",
    "Add another tautology",
    'Adds "and green is not red" at the end of {target}, to see whether any tautology is ignored.',
    applies=TARGET_TEXT,
)
def control_tautology(text: str, tools: Tools) -> str | None:
    """Test a fine-tuned model on another tautology (Naik et al. 2018, table 5)."""
    return _appended(text, tools, "and green is not red")


def _appended(text: str, tools: Tools, clause: str) -> str | None:
    return APPENDERS[tools.options.tautology](text, clause)
