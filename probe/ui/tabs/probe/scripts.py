"""What Probe does in the browser: pauses, its address, rows opened and sorted."""

from probe.ui.events import in_focus

STALE = 'for (const id of ["answer", "rows"]) document.getElementById(id)?.classList.add("stale");'
FRESH = """() => {
  for (const id of ["answer", "rows"]) document.getElementById(id)?.classList.remove("stale");
  const address = document.querySelector("#said [data-address]")?.dataset.address;
  const pressed = navigator.userActivation?.hasBeenActive;
  if (address && pressed) window.history.replaceState(null, "", address);
}"""
"""What is on the page is dimmed until the answer is there; then the page's address says what is
shown, once somebody has typed or pressed anything."""


UNCHECKED = """(...values) =>
  document.querySelector("#importance-check [data-unchecked]") ? values : new Promise(() => {})"""
"""Asks for a check where the answer says that there was none."""
UNANSWERED = """(...values) =>
  window.lastKey || !document.querySelector("#rows .result") ? values : new Promise(() => {})"""
"""Asks for an answer where there is none, or anything was changed since the page was opened."""


def after_pause(milliseconds: int) -> str:
    """Return what lets an event wait for a pause; one that another follows waits for ever.

    Its promise is dropped then, with nothing to tell. What the opened page fills is answered with
    it.
    """
    return f"""async (...values) => {{
  const filled = !window.opened && !navigator.userActivation?.hasBeenActive;
  if (filled) return new Promise(() => {{}});
  {STALE} const key = window.lastKey = {{}};
  await new Promise(done => setTimeout(done, {milliseconds}));
  return window.lastKey === key ? values : new Promise(() => {{}});
}}"""


OPENED = """() => {
  window.opened = true;
  document.body.classList.add("answered");
  const input = document.querySelector("#transforms input");
  if (input) input.placeholder = "Search, or join two with +";
}"""
OPEN = f"""(...values) => {{
  const linked = !document.body.classList.contains("answered");
  if (linked || window.returning || !document.querySelector("#rows .result")) return values;
  ({OPENED})();
  return new Promise(() => {{}});
}}"""
"""Asks what a link or a visitor's own models change, unless there is neither: the page is sent with
what it begins with, and with its answer."""

FORGET_GOLD = f"""() => {{
  const kept = {{ __type__: "update" }};
  if (!({in_focus("probe-both")})) return [kept, kept, kept];
  return window.saidGold ? [kept, kept, null] : ["", "", null];
}}"""
"""Empties the title of the example, and its right answer unless a person has said it."""

SWAP = "(first, second, ...others) => [second, first, ...others, '', '']"
"""Puts two texts in each other's place; the right answer is another then."""


def toggle_settings(parts: int) -> str:
    """Return what shows the settings and hides them again; its parts stay visible in them."""
    return f"""() => {{
  const button = document.getElementById("settings-button"), change = {{ __type__: "update" }};
  const visible = !document.getElementById("probe-settings")?.checkVisibility();
  const first = !window.settingsOpened;
  window.settingsOpened = true;
  button.setAttribute("aria-expanded", String(visible));
  const inside = Array({parts}).fill(first ? {{ ...change, visible }} : change);
  return [{{ ...change, visible }}, ...inside];
}}"""


HINT = """
const KEY = "nli-clinic-hint-dismissed";
const stored = () => { try { return localStorage.getItem(KEY); } catch { return null; } };
if (stored()) element.style.display = "none";
element.addEventListener("click", ({ target }) => {
  if (!target.closest("[data-dismiss]")) return;
  try { localStorage.setItem(KEY, "yes"); } catch {}
  element.style.display = "none";
  document.querySelector("#model input")?.focus();
});
"""

ROWS = """
element.addEventListener("toggle", ({ target }) => {
  if (!target.open || !target.matches(".result, .flip") || target.dataset.asked) return;
  target.dataset.asked = "yes";
  const { transform, number } = target.dataset;
  trigger("click", { transform, number });
}, true);
element.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-sort]");
  if (!button) return;
  const key = button.dataset.sort, list = element.querySelector(".results");
  for (const other of element.querySelectorAll("[data-sort]"))
    other.setAttribute("aria-pressed", String(other === button));
  const parts = [...list.children];
  parts.forEach((part, at) => { part.dataset.place ??= at; });
  const value = (part) => key === "place" ? Number(part.dataset.place)
    : key === "title" ? part.dataset.title : -Number(part.dataset[key]);
  const compare = (a, b) => {
    if (key === "place") return value(a) - value(b);
    const rows = b.matches(".result") - a.matches(".result");
    return rows || (key === "title" ? value(a).localeCompare(value(b)) : value(a) - value(b));
  };
  list.classList.toggle("sorted", key !== "place");
  list.append(...parts.sort(compare));
});
"""
"""Asks for what a row holds when it is opened first, and sorts the rows."""

PUT_FULL = """(markup) => {
  const part = document.createElement("template");
  part.innerHTML = markup;
  const view = part.content.firstElementChild, { transform, number } = view?.dataset ?? {};
  for (const row of document.querySelectorAll("#rows .result, #rows .flip"))
    if (row.dataset.transform === transform && row.dataset.number === number)
      row.querySelector(".full").replaceChildren(...view.childNodes);
}"""
"""Puts what was asked for into its row, which stays where it is."""

LIVE = """
element.setAttribute("role", "status");
element.setAttribute("aria-live", "polite");
"""
