"""A view to give to others: its link to be copied, or its file where a link would be too long."""

from urllib.parse import quote

from markupsafe import Markup

from probe.ui.html.elements import NOTHING, note

MAX_LINK = 4_000
"""Characters of a link above which programs that pass it on begin to cut it."""
MODEL_SHARED = "It lets others use this model and read its run; My data takes it back."


def share(query: str, file: str, grants: bool) -> Markup:
    """Show the link, which the browser completes and copies, and the file that says the same.

    `grants` says that the link lets others use a model of one's own.
    """
    return Markup('<div class="share card">{}{}{}</div>').format(
        _too_long(len(query)) if len(query) > MAX_LINK else _link(query),
        note(MODEL_SHARED) if grants else NOTHING,
        Markup(
            '<a class="tiny" download="probe-view.json" '
            'href="data:application/json;charset=utf-8,{}">Save this view as a file</a>'
        ).format(quote(file)),
    )


def _link(query: str) -> Markup:
    return Markup(
        '<label><span class="tiny soft">Link to this view</span>'
        '<input type="text" readonly value="{}"></label><p class="told" role="status"></p>'
    ).format(query)


def _too_long(length: int) -> Markup:
    return Markup(
        '<p class="told" role="status">A link to this view would have {:,} characters, and many '
        "programs cut links beyond {:,}. Save it as a file; under Settings it is opened again.</p>"
    ).format(length, MAX_LINK)
