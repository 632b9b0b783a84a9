"""What a transform changed in a text, marked word by word."""

from collections.abc import Sequence

from markupsafe import Markup

from probe.tasks.nli import Pair
from probe.text.tokens import Edit, edits, tokenise
from probe.transforms.apply import Result, Step
from probe.ui.html.elements import join

TEMPLATES = {
    "kept": Markup('<span class="kept">{}</span>'),
    "moved": Markup('<span class="moved">{}</span>'),
    "removed": Markup('<del class="removed">{}</del>'),
    "added": Markup('<ins class="added">{}</ins>'),
}


def diff(stretches: Sequence[Edit]) -> Markup:
    """Show removed words struck and new ones marked."""
    return join((TEMPLATES[edit.kind].format(edit.text) for edit in stretches), Markup(" "))


def changes(made: Result | Step) -> Markup:
    """Show what changed on each side; a hypothesis made from the premise beside the premise."""
    before = made.original if isinstance(made, Result) else made.before
    after = made.pair
    shown = dict(made.edits)
    if after.hypothesis != before.hypothesis and _from_premise(before, after):
        shown["hypothesis"] = edits(after.premise, after.hypothesis)
    return join(
        Markup('<p class="text"><span class="name">{}</span> {}</p>').format(side, diff(stretches))
        for side, stretches in shown.items()
        if any(edit.kind != "kept" for edit in stretches)
    )


def _from_premise(before: Pair, after: Pair) -> bool:
    """Whether the new hypothesis shares more with its premise than with the old hypothesis."""
    new, premise, old = (
        set(tokenise(text.lower())) for text in (after.hypothesis, after.premise, before.hypothesis)
    )
    return len(new & premise) > len(new & old)
