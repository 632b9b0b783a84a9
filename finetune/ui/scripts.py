"""What the tabs of runs do in the browser itself."""

COPY_LINK = """query => {
  if (!query.startsWith("?")) return query;
  const link = new URL(query, window.location.href).href;
  navigator.clipboard?.writeText(link);
  return link;
}"""
TO_CARD = """opened => {
  for (const button of document.querySelectorAll("#inoculation-results button[data-cell]"))
    button.closest(".panel, tr")?.classList.toggle("opened", button.dataset.cell === opened);
  document.getElementById("outcome")?.scrollIntoView({block: "nearest"});
}"""
"""Marks what was pressed, where it stands, so that the focus stays there; shows the card."""
LIVE = 'element.setAttribute("aria-live", "polite");'
"""Lets a component of HTML tell a screen reader what is new in it."""
TELL = """async () => {
  const may = window.Notification ? await Notification.requestPermission() : "denied";
  const button = document.getElementById("tell");
  const told = may === "granted" ? "You will be told" : "The tab's title will say so";
  if (button) button.textContent = told;
}"""
TELL = "html => window.tellProgress(html)"
"""Says in the tab's title how far runs are, and tells their end where that is allowed."""


def ask_to_tell(elem_id: str) -> str:
    """Return what asks whether to notify, and says in the button of this id what will be done."""
    return f"""async () => {{
  const may = window.Notification ? await Notification.requestPermission() : "denied";
  const button = document.getElementById("{elem_id}");
  const told = may === "granted" ? "You will be told" : "The tab's title will say so";
  if (button) button.textContent = told;
}}"""
