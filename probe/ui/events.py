"""Settings that events of all tabs share."""

from typing import Any

QUIET: dict[str, Any] = {
    "api_visibility": "private",
    "show_progress": "hidden",
    "show_progress_on": [],
}
"""An event of the page alone: no endpoint over HTTP, no spinner over what it changes.

Without the empty list gradio keeps a progress, though hidden, for each part that an event has ever
changed, and at every step of any event looks for each of them through the whole page (6.31).
"""

WAITED_FOR: dict[str, Any] = {"api_visibility": "private", "show_progress": "minimal"}
"""An event of the page alone that takes a while: what it changes shows that something is done."""


def in_turn(queue: str) -> dict[str, Any]:
    """Return the settings of events that come one after the other, in the order they were sent.

    What the opened page shows must not come after what was chosen on it since.
    """
    return {"concurrency_id": queue, "concurrency_limit": 1, **QUIET}


PRESSED = """element.addEventListener("click", event => {
  const pressed = event.target.closest("button[data-cell]");
  if (pressed) trigger("click", {cell: pressed.dataset.cell});
});"""
"""Lets a component of HTML report which of its buttons was pressed."""
CHANGING: dict[str, Any] = {"allow_custom_value": True}
"""A list whose choices an event brings: the app does not remember what it has offered to whom, and
gradio would refuse it. Who takes the choice checks it."""
CHOSEN = """element.addEventListener("change", event => {
  if (event.target.closest("select[data-value]")) trigger("select", {});
});"""
"""Lets a component of HTML report that something was chosen in one of its lists."""
