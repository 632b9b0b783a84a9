"""What the tabs of runs do in the browser itself."""

COPY_LINK = """query => {
  if (!query.startsWith("?")) return query;
  const link = new URL(query, window.location.href).href;
  navigator.clipboard?.writeText(link);
  return link;
}"""
LIVE = 'element.setAttribute("aria-live", "polite");'
"""Lets a component of HTML tell a screen reader what is new in it."""
RULES = """element.addEventListener("change", event => {
  const rule = event.target.closest("input[data-rule]");
  if (rule) trigger("submit", {run: rule.dataset.rule, value: rule.value});
});"""
"""Lets a component of HTML report that the rule was changed by which a run in it is judged."""
TO_RULE = """() => setTimeout(() => {
  document.querySelector(".runs-tab input[data-rule]")?.focus({preventScroll: true});
})"""
"""Gives the focus back to the rule once what it brought is drawn."""
TELL = "html => window.tellProgress(html)"
"""Says in the tab's title how far runs are, and tells their end where that is allowed."""


def to_trouble(elem_id: str) -> str:
    """Return what brings into sight what is wrong with the link that opened the tab, if any."""
    trouble = f'document.querySelector("#{elem_id} [role=alert]")'
    return f'() => {trouble}?.scrollIntoView({{block: "center"}})'


def ask_to_tell(elem_id: str) -> str:
    """Return what asks whether to notify, and says in the button of this id what will be done."""
    return f"""async () => {{
  const may = window.Notification ? await Notification.requestPermission() : "denied";
  const button = document.getElementById("{elem_id}");
  const told = may === "granted" ? "You will be told" : "The tab's title will say so";
  if (button) button.textContent = told;
}}"""
