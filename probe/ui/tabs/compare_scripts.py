"""What the Compare tab does in the browser: results of another question are dimmed."""

from probe.ui.events import in_focus, scroll_to
from probe.ui.tabs.compare_run import UNCHANGED

TO_ROWS = scroll_to("compare-rows", "nearest")
ASKED = """(...values) => {
  const results = document.getElementById("compare-results");
  if (results.querySelector("#compare-say .say")) results.classList.add("stale");
  delete results.dataset.changed;
  return values;
}"""
CHANGED = """() => {
  const results = document.getElementById("compare-results");
  results.classList.add("stale");
  results.dataset.changed = "yes";
}"""
TYPED = f"""() => {{
  if ({in_focus("compare-models", "compare-one")}) ({CHANGED})();
}}"""
FRESH = f"""progress => {{
  const results = document.getElementById("compare-results");
  const unchanged = progress?.includes("{UNCHANGED}");
  if (!unchanged && !("changed" in results.dataset)) results.classList.remove("stale");
}}"""
"""Results are dimmed from a question, or a change of it, until its first figures are there; where
none came, or it was changed after it was asked, they stay dimmed."""
TWO_CHOSEN = """
element.addEventListener("change", ({ target }) => {
  if (target.matches("select.two-models")) trigger("click", { cell: target.value });
});"""
"""Lets a picture report which two models were chosen, as a press on them."""
