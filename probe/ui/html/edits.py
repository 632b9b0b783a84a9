"""What a transform changed in a text, marked word by word."""

from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup

from probe.text.difference import Edit, edits
from probe.text.words import tokenise
from probe.transforms.apply import Result, Step
from probe.ui.html.elements import join

MOST_KEPT, CONTEXT = 24, 8
"""Words that are kept in a row and still all shown in a line, and how many of more are."""
TEXT = Markup('<p class="text"><span class="name">{}</span> {}</p>')
TEMPLATES = {
    "kept": Markup('<span class="kept">{}</span>'),
    "moved": Markup('<span class="moved">{}</span>'),
    "removed": Markup('<del class="removed">{}</del>'),
    "added": Markup('<ins class="added">{}</ins>'),
}


def diff(stretches: Sequence[Edit]) -> Markup:
    """Show removed words struck and new ones marked."""
    return join((TEMPLATES[edit.kind].format(edit.text) for edit in stretches), Markup(" "))


def short_diff(stretches: Sequence[Edit]) -> Markup:
    """Show what changed as `diff` does, with no more of the rest than what is near."""
    return diff(list(_near(stretches)))


def _near(stretches: Sequence[Edit]) -> Iterator[Edit]:
    """Yield the edits with what is kept far from all changes left out."""
    for at, edit in enumerate(stretches):
        words = edit.text.split(" ")
        if edit.kind != "kept" or len(words) <= MOST_KEPT:
            yield edit
            continue
        behind = words[:CONTEXT] if at or len(stretches) == 1 else []
        before = words[-CONTEXT:] if at + 1 < len(stretches) else []
        yield Edit("kept", " ".join([*behind, "…", *before]))


def changes(made: Result | Step) -> Markup:
    """Show what changed in each field, each in a paragraph under its title."""
    return join(
        TEXT.format(made.task.title_of(field), diff(stretches))
        for field, stretches in changed_fields(made).items()
    )


def edited_line(made: Result) -> Markup:
    """Show what changed as one line; a field is named where it is not the target alone."""
    shown = changed_fields(made)
    named = tuple(shown) != (made.task.target,)
    return join(
        Markup('<span class="edit">{}{}</span>').format(
            Markup('<span class="soft">{}:</span> ').format(made.task.title_of(field))
            if named
            else "",
            short_diff(stretches),
        )
        for field, stretches in shown.items()
    )


def changed_fields(made: Result | Step) -> Mapping[str, Sequence[Edit]]:
    """Return the edits of each field that changed; a target made from the source beside it."""
    before = made.original if isinstance(made, Result) else made.before
    old, new = made.task.texts(before), made.task.texts(made.example)
    source, target = made.task.source, made.task.target
    shown = dict(made.edits)
    moved = source and new[target] != old[target]
    if source and moved and _from_source(new[target], new[source], old[target]):
        shown[target] = edits(new[source], new[target])
    return {
        field: stretches
        for field, stretches in shown.items()
        if any(edit.kind != "kept" for edit in stretches)
    }


def _from_source(new: str, source: str, old: str) -> bool:
    """Whether the new text shares more words with the source than with the old text."""
    words, of_source, of_old = (set(tokenise(text.lower())) for text in (new, source, old))
    return len(words & of_source) > len(words & of_old)
