"""A link to a view, shown to be copied: the browser completes it and says what became of it."""

from markupsafe import Markup

from probe.ui.html.elements import NOTHING, note

MODELS_SHARED = "It lets others use models of yours and read their runs; My data takes it back."


def shared_link(query: str, grants: bool) -> Markup:
    """Show a link whose part after the address is `query`; `grants` says that it opens models."""
    return Markup(
        '<div class="share card"><label><span class="tiny soft">Link to this view</span>'
        '<input type="text" readonly value="{}"></label><p class="told" role="status"></p>{}</div>'
    ).format(query, note(MODELS_SHARED) if grants else NOTHING)


def copy_script(elem_id: str) -> str:
    """Return what completes and copies the link in a component, and says only what happened.

    There is no clipboard on plain HTTP, and a frame may be refused it.
    """
    return f"""async () => {{
  const share = document.querySelector("#{elem_id} .share"), field = share?.querySelector("input");
  if (!field) return;
  const link = new URL(window.location.href);
  link.search = field.value;
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
