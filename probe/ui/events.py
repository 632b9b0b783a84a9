"""Settings that events of all views share."""

import json
from typing import Any

import gradio as gr

QUIET: dict[str, Any] = {
    "api_visibility": "private",
    "show_progress": "hidden",
    "show_progress_on": [],
}
"""An event of the page alone: no endpoint over HTTP, no spinner over what it changes.

Without the empty list gradio keeps a progress, though hidden, for each part that an event has ever
changed, and at every step of any event looks for each of them through the whole page (6.31).
"""

LAST: dict[str, Any] = {"trigger_mode": "always_last"}
"""A choice: gradio drops one that is made while the one before is answered, this answers it then.
"""

EACH: dict[str, Any] = {"trigger_mode": "multiple"}
"""Presses that say what was pressed: of two quick ones gradio drops the second, and with `LAST` it
would answer the first one twice. Those that show the same have to come in turn."""

WAITED_FOR: dict[str, Any] = {"api_visibility": "private", "show_progress": "minimal"}
"""An event of the page alone that takes a while: what it changes shows that something is done."""


def in_turn(queue: str) -> dict[str, Any]:
    """Return the settings of events that come one after the other, in the order they were sent.

    What the opened page shows must not come after what was chosen on it since.
    """
    return {"concurrency_id": queue, "concurrency_limit": 1, **QUIET}


PRESSED = """element.addEventListener("click", event => {
  const pressed = event.target.closest("button[data-cell]");
  if (pressed) trigger(pressed.dataset.event || "click", {cell: pressed.dataset.cell});
});"""
"""Lets a component of HTML report which of its buttons was pressed, by the event that it names."""


def cell_of(event: gr.EventData) -> str:
    """Return what a component reported by `PRESSED` or `CHOSEN`."""
    return str(getattr(event, "cell", ""))


def scroll_to(elem_id: str, block: str = "start", after: int = 0) -> str:
    """Return the script that brings a part of the page into sight, after so many milliseconds."""
    scroll = f"document.getElementById({json.dumps(elem_id)})?.scrollIntoView({{block: '{block}'}})"
    return f"() => setTimeout(() => {scroll}, {after})"


def hidden(count: int) -> str:
    """Return the script that empties and hides so many outputs, which tell of another view."""
    gone = '{__type__: "update", value: null, visible: false}'
    return f"() => [{', '.join([gone] * count)}]"


ENABLED = '{ __type__: "update", interactive: true }'
GIVE_BACK = f"() => ({ENABLED})"
"""Gives back a button that began something, however that ended."""
GIVE_BACK_AND_HIDE = f'() => [{ENABLED}, {{ __type__: "update", visible: false }}]'
"""The same, and hides the button that stops it."""

EMPTY = "() => ''"
"""Empties an output, which tells of another view."""


def in_focus(*elem_ids: str) -> str:
    """Return the condition, as a script, that a person is in one of these fields.

    What is typed into a list of several, or taken out by a key, gradio tells as a change alone, as
    it does what a link or the app sets there.
    """
    fields = ", ".join(f"#{elem_id}" for elem_id in elem_ids)
    return f"document.activeElement?.closest({json.dumps(fields)})"


CHANGING: dict[str, Any] = {"allow_custom_value": True}
"""A list whose choices an event brings: the app does not remember what it has offered to whom, and
gradio would refuse it. Who takes the choice checks it."""
CHOSEN = """element.addEventListener("change", event => {
  const list = event.target.closest("select[data-value]");
  if (list) trigger("select", {cell: list.dataset.value + "=" + list.value});
});"""
"""Lets a component of HTML report what was chosen in one of its lists."""
FORM = """let typed = null, timer = 0;
const ask = (button = null) => {
  const form = element.querySelector("form");
  const said = form && Object.fromEntries(new FormData(form, button));
  if (said) trigger("click", { cell: JSON.stringify(said) });
};
element.addEventListener("submit", event => { event.preventDefault(); ask(event.submitter); });
element.addEventListener("change", ({ target }) => target.type === "search" || ask());
element.addEventListener("input", ({ target }) => {
  if (target.type !== "search") return;
  typed = target;
  clearTimeout(timer);
  timer = setTimeout(ask, 400);
});
element.addEventListener("focusout", ({ relatedTarget }) => { if (relatedTarget) typed = null; });
new MutationObserver(() => {
  const field = element.querySelector("input[type=search]");
  if (!typed || !field || typed === field) return;
  field.value = typed.value;
  field.focus({ preventScroll: true });
  field.setSelectionRange(typed.selectionStart, typed.selectionEnd);
  typed = field;
}).observe(element, { childList: true, subtree: true });"""
"""Lets a form in a component of HTML report what stands in its fields, whichever was changed or
pressed, as JSON. Who types into its search goes on typing once the answer is there."""
