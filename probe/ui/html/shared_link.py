"""A link to a view, shown to be copied: the browser completes it and says what became of it.

assets/page.js completes it as soon as it is shown.
"""

from urllib.parse import quote

import segno
from markupsafe import Markup

from probe.ui.html.elements import NOTHING, note

MAX_LINK = 4_000
"""Characters of a link above which programs that pass it on begin to cut it."""
VIEW = "Link to this view"
MODELS_SHARED = "It lets others use models of yours and read their runs; My data takes it back."


def shared_link(query: str, grants: bool, file: str = "", label: str = VIEW) -> Markup:
    """Show a link whose part after the address is `query`; `grants` says that it opens models.

    `file` is the text of a file that says the same; it stands for a link that would be too long.
    """
    cut = file and len(query) > MAX_LINK
    return Markup('<div class="share card">{}{}{}</div>').format(
        _too_long(len(query)) if cut else _link(query, label),
        note(MODELS_SHARED) if grants else NOTHING,
        _file(file) if file else NOTHING,
    )


def qr_code(link: str) -> Markup:
    """Draw a whole address as a QR code (ISO/IEC 18004), black on white in dark mode too."""
    drawn = segno.make(link, micro=False).svg_inline(omitsize=True, light="white", title=link)
    return Markup('<div class="qr">{}</div>').format(Markup(drawn))


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
  const framed = window.parent !== window, told = share.querySelector(".told");
  if (!framed) window.history.replaceState(null, "", link);
  const bar = framed ? "" : " It is in the address bar, too.";
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
