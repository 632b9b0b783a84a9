"""A link to a view, shown to be copied: the browser completes it and says what became of it.

assets/page.js completes it as soon as it is shown.
"""

from functools import lru_cache
from urllib.parse import quote

import gradio as gr
import segno
from markupsafe import Markup

from probe.ui.html.elements import NOTHING, note
from probe.ui.links import address_for_others

MAX_LINK = 4_000
"""Characters of a link above which programs that pass it on begin to cut it."""
VIEW = "Link to this view"
MODELS_SHARED = (
    "Whoever has this link sees it, uses models of yours and reads their runs, until you take the "
    "link back in Mine."
)
SEEN = "Whoever has this link, and reaches this app, sees the same; it opens no file of yours."

CLASSROOM = Markup(
    '<section class="card classroom"><div class="guesses"><div class="strip"><h2>{title}</h2>'
    '<span class="badge plain">{people}</span><span class="grow"></span>'
    '<span class="tiny soft">{until}</span></div>{shown}<div class="strip tools">{buttons}'
    "</div></div>{hand_out}</section>"
)
"""What comes from a class, to be projected, beside what is handed out."""
PROJECT = Markup('<button type="button" class="btn" data-large="guesses">Project it</button>')
HAND_OUT = Markup(
    '<div class="of-group">{qr}<div><p class="tiny soft">{who}</p>'
    '<p class="address">{typed}</p><p class="strip"><button type="button" class="btn" '
    'data-copy="{address}">Copy link</button><button type="button" class="btn" '
    'data-large="of-group">Show large</button></p><p class="tiny soft" role="status"></p>'
    '<p class="tiny soft">{says} {notice}</p></div></div>'
)


def handed_out(link: str, request: gr.Request, who: str, says: str) -> Markup:
    """Show a link within the app to who is to open it: its QR code, and both large on a press."""
    reached, notice = address_for_others(request)
    address = reached + link
    return HAND_OUT.format(
        qr=qr_code(address), address=address, typed=address.partition("://")[2], who=who,
        says=says, notice=notice,
    )  # fmt: skip


def shared_link(
    query: str, grants: bool = False, file: str = "", label: str = VIEW, who: str = ""
) -> Markup:
    """Show a link whose part after the address is `query`, and who may see what it opens.

    `grants` says that it opens models of the visitor's, `who` is said in its place. `file` is the
    text of a file that says the same; it stands for a link that would be too long.
    """
    cut = file and len(query) > MAX_LINK
    return Markup('<div class="share card">{}{}{}</div>').format(
        _too_long(len(query)) if cut else _link(query, label),
        note(who or (MODELS_SHARED if grants else SEEN)),
        _file(file) if file else NOTHING,
    )


@lru_cache(maxsize=64)
def qr_code(link: str) -> Markup:
    """Draw a whole address as a QR code (ISO/IEC 18004), black on white in dark mode too."""
    rows = [bytes(row) for row in segno.make(link, micro=False).matrix_iter(border=4)]
    dark = ((x, y) for y, row in enumerate(rows) for x, module in enumerate(row) if module)
    return Markup(
        '<div class="qr"><svg role="img" aria-label="QR code of {link}" '
        'viewBox="0 0 {size} {size}"><rect width="{size}" height="{size}" fill="#fff"/>'
        '<path d="{path}" fill="#000"/></svg></div>'
    ).format(link=link, size=len(rows), path="".join(f"M{x} {y}h1v1h-1z" for x, y in dark))


def _link(query: str, label: str) -> Markup:
    return Markup(
        '<label><span class="tiny soft">{}</span>'
        '<input type="text" readonly value="{}"></label><p class="told" role="status"></p>'
    ).format(label, query)


def _file(text: str) -> Markup:
    return Markup(
        '<a class="tiny" download="probe-view.json" '
        'href="data:application/json;charset=utf-8,{}">Save this view as a file</a>'
    ).format(quote(text))


def _too_long(length: int) -> Markup:
    return Markup(
        '<p class="told" role="status">A link to this view would have {:,} characters, and many '
        "programs cut links beyond {:,}. Save it as a file; under Settings it is opened again.</p>"
    ).format(length, MAX_LINK)


def copy_script(elem_id: str) -> str:
    """Return what completes and copies the link in a component, and says only what happened.

    There is no clipboard on plain HTTP, and a frame may be refused it.
    """
    return f"""async () => {{
  const share = document.querySelector("#{elem_id} .share"), field = share?.querySelector("input");
  if (!field) return;
  const link = new URL(field.value, window.location.href);
  field.value = link.href;
  const told = share.querySelector(".told");
  // a frame's address is not the one that a person sees; another page's is not this one's
  const here = window.parent === window && link.pathname === window.location.pathname;
  if (here) window.history.replaceState(null, "", link);
  const bar = here ? " It is in the address bar, too." : "";
  try {{
    await navigator.clipboard.writeText(link.href);
    told.textContent = "The link is on the clipboard." + bar;
  }} catch {{
    field.focus();
    field.select();
    told.textContent = "This browser keeps pages from the clipboard here: copy the link yourself, "
      + "it is selected." + bar;
  }}
}}"""
