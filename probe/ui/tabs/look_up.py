"""Look up: one search over changes, templates, rules that read nothing, and words.

Each has a definition, an example and a way to try it; an address names one, or a part of them.
"""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import gradio as gr
from markupsafe import Markup

from probe.analysis.transformed import ImportanceReader
from probe.baselines import BASELINES, baselines_for
from probe.errors import UserError
from probe.glossary import SECTIONS, glossary
from probe.models.library import AnyModel
from probe.runs.access import ModelAccess
from probe.tasks.examples import bundled_examples, random_example
from probe.tasks.task import Example, Task, task_named
from probe.templates import Request, generate, kinds, template_ids
from probe.templates.grammar import grammar
from probe.terms import Titled, Word
from probe.transforms import REGISTRY, Options, Result, apply
from probe.transforms.registry import (
    FAMILIES,
    SubWords,
    Transform,
    missing,
    ready,
    source_of,
    summary_of,
)
from probe.ui.answers.answering import SharedAnswers, model_key
from probe.ui.events import QUIET
from probe.ui.html.edits import edited_line
from probe.ui.html.elements import NOTHING, alert, hint, join, link, term, twin
from probe.ui.html.prediction import label_name
from probe.ui.links import link_to, link_to_example
from probe.ui.page import Page

ROOT = Path(__file__).resolve().parents[3]
GATHERED = "Look up: the changes, templates and words of this task are being gathered …"
MAX_EXAMPLES = 3
"""Examples that are shown of what a transform or a template made."""
CARDS = frozenset({"families", "transforms", "templates", "baselines"})
"""The sections of the glossary whose terms have parts of their own here."""
Made = Mapping[str, Sequence[Result]]
PAGE = Markup(
    '<div class="look-up"><div class="strip"><h2>Look up</h2><span class="tiny soft">{said}</span>'
    '<span class="grow"></span><input type="search" aria-label="Search" '
    'placeholder="negation, WordNet, Gupta"></div><div class="chips" role="group" '
    'aria-label="Parts">{chips}</div><p class="tiny soft" role="status"></p>'
    '<div class="card entries">{intros}{rows}</div></div>'
)
CHIP = Markup(
    '<button type="button" class="btn small" aria-pressed="false" data-look="{}">{} {}</button>'
)
INTRO = Markup('<p class="soft tiny intro" data-part="{}">{}</p>')
ROW = Markup(
    '<article class="entry" id="term-{id}" data-part="{part}"><h3>{title} {code}</h3>'
    '<div class="about"><p>{summary}</p>{example}<p class="facts">{facts}</p>{more}</div></article>'
)
SCRIPT = """const parts = () => [...element.querySelectorAll("[data-look]")];
const here = () => new URL(window.location.href);
const asked = () => here().searchParams.get("look")
  || (here().hash.startsWith("#term-") ? here().hash.slice(6) : "");
const plain = text => text.toLowerCase().replaceAll("×", "times");
const known = look => element.querySelector(`[data-look="${CSS.escape(look)}"]`)
  || document.getElementById(`term-${look}`);
const show = (look, typed = "") => {
  const words = plain(typed).split(/\\s+/).filter(Boolean);
  const named = parts().map(part => part.dataset.look);
  const entries = [...element.querySelectorAll(".entry")];
  const one = entries.find(entry => entry.id === `term-${look}`);
  const part = words.length ? "" : one ? null : named.includes(look) ? look : named[1];
  const holds = text => words.every(word => text.includes(word));
  for (const entry of entries) {
    const titled = holds(plain(entry.querySelector("h3").textContent));
    entry.style.order = words.length && titled ? -1 : 0;
    entry.hidden = words.length ? !holds(plain(entry.textContent))
      : one ? entry !== one : part !== "all" && entry.dataset.part !== part;
  }
  for (const intro of element.querySelectorAll(".intro")) {
    intro.hidden = intro.dataset.part !== part;
  }
  for (const each of parts()) each.ariaPressed = String(each.dataset.look === part);
  const shown = entries.filter(entry => !entry.hidden).length;
  const told = element.querySelector("[role=status]"), said = words.length
    ? `${shown} of ${entries.length}` + (shown ? "" : ": try fewer or other words") : "";
  if (told.textContent !== said) told.textContent = said;
};
element.addEventListener("click", ({ target }) => {
  const look = target.closest("[data-look]")?.dataset.look;
  if (!look) return;
  element.querySelector("input").value = "";
  show(look);
  window.writeAddress({ look, view: "" });
});
element.addEventListener("input", ({ target }) => {
  show(asked(), target.value);
  window.writeAddress({ look: target.value, view: "" });
});
window.lookUp = () => {
  if (asked() || here().searchParams.get("view")) element.scrollIntoView();
};
const filled = () => {
  const input = element.querySelector("input"), look = asked();
  if (!input) return;
  if (look && !known(look)) input.value = look;
  show(look, input.value);
};
new MutationObserver(filled).observe(element, { childList: true, subtree: true });
filled();"""
"""Shows a part of the entries, one that the address names, or those that hold all words typed."""


@dataclass(frozen=True)
class Row:
    """One entry: its id, title and sentence; further names, badges, examples, links, and code."""

    id: str
    title: str
    summary: str | Markup
    code: str = ""
    badges: tuple[Markup, ...] = ()
    example: Markup = NOTHING
    tries: tuple[tuple[str, str], ...] = ()
    source: str = ""
    more: Markup = NOTHING


@dataclass(frozen=True)
class Part:
    """A part of the entries, under a name for addresses."""

    name: str
    title: str
    intro: str
    rows: Sequence[Row]


def show(models: ModelAccess, answers: SharedAnswers, visitor: str, task_name: str) -> Markup:
    """Show what there is for a task, its transforms applied to the task's own example."""
    task = task_named(task_name)
    try:
        # the first model for the task reads the tokens
        name = next(iter(models.names(visitor, task)), None)
        model = models.get(visitor, name, task) if name else None
        key = task.name, model_key(model) if model else None
        (shown,) = answers.get(key, lambda: (described(task, made_of(task, model)),))
    except UserError as trouble:
        return alert(trouble)
    return shown


def show_first(task_name: str) -> Markup:
    """Show the same before the transforms are applied, which takes a while the first time."""
    return described(task_named(task_name), None)


def made_of(task: Task, model: AnyModel | None) -> Made:
    """Return what transforms make of the task's example; without a model none that reads tokens."""
    reader = ImportanceReader(model, Options()) if model else unread
    able = [name for name in ready(task) if model or "model" not in REGISTRY[name].needs]
    example = task.showcase or random_example(task, 0)
    return {name: apply(name, [example], task, 0, Options(), reader)[0] for name in able}


def described(task: Task, made: Made | None) -> Markup:
    """Show all entries of a task; without `made` those of transforms have no example yet."""
    parts = list(parts_of(task, made))
    by_name = {part.name: len(part.rows) for part in parts}
    others = {"templates": "templates", "rules": "rules that read nothing", "glossary": "words"}
    changes = sum(by_name.values()) - sum(by_name.get(name, 0) for name in others)
    said = [f"{by_name[name]} {words}" for name, words in others.items() if name in by_name]
    chips = [CHIP.format("all", "All", sum(by_name.values()))]
    chips += [CHIP.format(part.name, part.title, len(part.rows)) for part in parts]
    return PAGE.format(
        said=", ".join([f"{changes} changes", *said]),
        chips=join(chips),
        intros=join(INTRO.format(part.name, part.intro) for part in parts),
        rows=join(_row(part.name, row, task) for part in parts for row in part.rows),
    )


def _row(part: str, row: Row, task: Task) -> Markup:
    facts = [Markup('<span class="badge plain">{}</span>').format(badge) for badge in row.badges]
    facts += [link(address, words) for words, address in row.tries]
    facts += [Markup('<span class="soft">{}</span>').format(row.source)] if row.source else []
    facts += [link(link_to("learn", look=row.id, task=task.name), "link")]
    code = Markup("<code>{}</code>").format(row.code) if row.code else NOTHING
    return ROW.format(
        part=part, id=row.id, title=row.title, code=code, summary=row.summary,
        example=row.example, facts=join(facts, Markup(" ")), more=row.more,
    )  # fmt: skip


def parts_of(task: Task, made: Made | None) -> Iterator[Part]:
    """Yield what there is: each family of changes, templates, rules, the glossary."""
    example = task.showcase or random_example(task, 0)
    texts = " ".join(f"“{text}”" for text in task.texts(example).values())
    for family, words in FAMILIES.items():
        entries = [entry for entry in REGISTRY.values() if entry.suits(task)]
        rows = [
            _change(task, entry, None if made is None else made.get(entry.name, ()))
            for entry in entries
            if entry.family == family
        ]
        if rows:
            intro = f"{words.summary} The examples change {texts}"
            yield Part(words.title.lower().replace(" ", "-"), words.title, intro, rows)
    if kinds(task):
        intro = "Sentences with slots make as many examples as one likes, and the right answer too."
        yield Part("templates", "Templates", intro, [_kind(task, kind) for kind in kinds(task)])
    if rules := baselines_for(task):
        intro = (
            "A baseline is what a model is held against. These are rules that understand nothing; "
            "a set that they solve says little about a model."
        )
        rows = [
            Row(
                f"baseline-{name}", BASELINES[name].title, BASELINES[name].summary, name,
                tries=(("Measure it", link_to("measure", task=task.name, view="score")),),
                source=BASELINES[name].source,
            )
            for name in rules
        ]  # fmt: skip
        yield Part("rules", "Rule baselines", intro, rows)
    yield Part("glossary", "Glossary", "What the words on these pages mean.", list(words_of(task)))


def unread(examples: Sequence[Example]) -> list[SubWords | str]:
    """Read no tokens."""
    return []


def _change(task: Task, entry: Transform, made: Sequence[Result] | None) -> Row:
    badges = [term(entry.rule.title, entry.rule.summary)]
    if entry.default:
        words = "The answer to a copy is compared with this label, not with the answer before."
        badges.append(term(f"Compared with {task.default_label}", words))
    lacks = missing(entry, task)
    if lacks:
        shown = Markup('<p class="problem">Not available here: {}</p>').format(lacks)
    elif made is None:
        shown = hint("Its example is being made …")
    elif not made:
        shown = hint("Its example needs a model of this task, and none is here.")
    else:
        shown = join(map(_example, made[:MAX_EXAMPLES]))
    tries = (
        ("Probe it", link_to("", task=task.name, transforms=entry.name)),
        ("Measure it", link_to("measure", task=task.name, changes=entry.name)),
    )
    return Row(
        entry.name, entry.title, summary_of(entry, task), entry.name, tuple(badges), shown,
        () if lacks else tries, source_of(entry, task), _code(entry.name),
    )  # fmt: skip


def _example(result: Result) -> Markup:
    if not result.changed:
        return hint(f"This {result.task.unit} stays as it is: {result.note}.")
    of_several = result.gold if result.of > 1 else None
    gold = Markup(" → {}").format(label_name(of_several)) if of_several else NOTHING
    return Markup('<p class="example">{}{}</p>').format(edited_line(result), gold)


@cache
def source(name: str) -> tuple[str, str]:
    """Return the code of a transform and where it stands: file and line."""
    registered = REGISTRY[name].function
    function = registered.func if isinstance(registered, partial) else registered
    lines, start = inspect.getsourcelines(function)
    file = Path(inspect.getsourcefile(function) or "").resolve()
    place = file.relative_to(ROOT) if file.is_relative_to(ROOT) else file.name  # somebody's own
    return inspect.cleandoc("\n" + "".join(lines)), f"{place}, line {start}"


def _code(name: str) -> Markup:
    text, place = source(name)
    return twin(f"code: {place}", Markup('<pre tabindex="0">{}</pre>').format(text))


def _kind(task: Task, kind: str) -> Row:
    entry, pairs = grammar(kind), generate(Request(kind), MAX_EXAMPLES, 0)
    lines = Markup('<p class="example">{} → {}</p>')
    shown = (
        lines.format(" ▸ ".join(task.texts(pair).values()), label_name(pair.gold)) for pair in pairs
    )
    return Row(
        f"templates-{kind}", entry.title, entry.summary, kind,
        (Markup("{} templates").format(len(template_ids(kind))),), join(shown),
        (("Measure it", link_to("measure", task=task.name, texts="templates", templates=kind)),),
    )  # fmt: skip


def words_of(task: Task) -> Iterator[Row]:
    """Yield the terms of the glossary, those with parts of their own left out."""
    for name, terms in glossary(task).items():
        if name not in CARDS:
            for id, titled in terms.items():
                example, tried = _tried(task, name, id, titled)
                badge = Markup("{}").format(SECTIONS[name].title)
                yield Row(
                    id, titled.title, titled.summary, badges=(badge,), example=example,
                    tries=(tried,),
                )  # fmt: skip


def _tried(task: Task, section: str, id: str, titled: Titled) -> tuple[Markup, tuple[str, str]]:
    """Return an example of a word, and where it is tried: in words, and the address."""
    shown, place = titled.example if isinstance(titled, Word) else "", SECTIONS[section].place
    words = {"": "Probe it", "measure": "Measure it", "train": "Train it"}
    tried = (
        words[place.partition("?")[0]],
        f"{place or './'}{'&' if '?' in place else '?'}task={task.name}",
    )
    of_label = next((each for each in bundled_examples(task) if each.gold == id), None)
    of_rule = next(
        (
            each
            for each in REGISTRY.values()
            if each.suits(task) and id == f"rule-{each.rule.name.replace('_', '-')}"
        ),
        None,
    )
    if section == "task" and of_label:
        shown = " ▸ ".join(task.texts(of_label).values())
        tried = "Probe it", link_to_example(task, of_label, "")
    elif section == "task" and id in task.fields:
        shown = task.texts(task.showcase or random_example(task, 0))[id]
    elif of_rule:
        shown = f"{of_rule.title}: {summary_of(of_rule, task)}"
        tried = "Probe it", link_to("", task=task.name, transforms=of_rule.name)
    elif section == "models":
        tried = "Probe it", link_to("", task=task.name, model=id.removeprefix("model-"))
    elif section == "methods":
        tried = "Probe it", link_to("", task=task.name, method=id)
    return Markup('<p class="example">{}</p>').format(shown) if shown else NOTHING, tried


def build(page: Page) -> None:
    """Put the part of the page together; it is filled when the page is opened."""
    listed = gr.HTML(hint(GATHERED), elem_id="entries", padding=False, js_on_load=SCRIPT)
    first = page.on_open(show_first, page.task, listed)
    first.then(None, js="() => window.lookUp()", **QUIET)
    fill = partial(show, page.core.models, SharedAnswers())
    first.then(fill, [page.owner, page.task], listed, concurrency_id="probe", **QUIET)
