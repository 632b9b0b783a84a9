"""What Measure does in the browser: results of another question are dimmed."""

from probe.ui.events import in_focus

UNCHANGED = "data-unchanged"
"""Marks what is said where nothing was measured: earlier results are still those of before."""
CHANGED = """() => {
  for (const results of document.querySelectorAll(".measured")) {
    results.classList.add("stale");
    results.dataset.changed = "yes";
  }
}"""
TYPED = f"""() => {{
  if ({in_focus("choice", "batch-transforms")}) ({CHANGED})();
}}"""


def asked(results: str) -> str:
    """Return what dims the earlier results, by their element's id, once a question is asked."""
    return f"""(...values) => {{
  const results = document.getElementById("{results}");
  if (results?.querySelector(".say")) results.classList.add("stale");
  delete results?.dataset.changed;
  document.getElementById("choice").classList.add("folded");
  return values;
}}"""


def fresh(results: str) -> str:
    """Return what lights results again once the first figures of a question are there.

    Where none came, or it was changed after it was asked, they stay dimmed.
    """
    return f"""progress => {{
  const results = document.getElementById("{results}");
  const unchanged = progress?.includes("{UNCHANGED}");
  if (unchanged) document.getElementById("choice").classList.remove("folded");
  if (!unchanged && !("changed" in (results?.dataset ?? {{}}))) results?.classList.remove("stale");
}}"""
