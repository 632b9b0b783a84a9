"""What the Catalogue tab shows: a card for each transform, template and rule; the glossary."""

import inspect
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path

from markupsafe import Markup

from probe.baselines import BASELINES, baselines_for
from probe.tasks.task import Example, Task
from probe.templates import Request, generate, kinds, template_ids
from probe.templates.grammar import grammar
from probe.transforms import REGISTRY, Result
from probe.transforms.registry import FAMILIES, Transform, missing, summary_of
from probe.ui.html.edits import TEXT, changes
from probe.ui.html.elements import NOTHING, each, hint, join, term, twin
from probe.ui.html.glossary import shown_glossary
from probe.ui.html.prediction import label_name

ROOT = Path(__file__).resolve().parents[3]
MAX_EXAMPLES = 3
"""Examples that a card shows of what a transform or a template made."""
PAGE = Markup(
    '<div class="catalogue"><p class="say">{say}</p>'
    '<div class="card shown-on"><p class="soft tiny">The examples below change this {unit}</p>'
    "{texts}</div>"
    '<div class="search"><label>Search <input type="search" placeholder="negation, WordNet, Gupta">'
    '</label><span class="soft tiny" role="status"></span></div>'
    '<nav class="parts" aria-label="Parts of the catalogue">{links}</nav>{parts}</div>'
)
PART = Markup(
    '<section class="part-of-page" id="{id}"><h2 class="title">{title}</h2>'
    '<p class="soft">{summary}</p><div class="cards">{cards}</div></section>'
)
CARD = Markup(
    '<article class="card entry searched" id="term-{id}"><div class="about"><h3>{title} '
    "<code>{name}</code></h3><p>{summary}</p>{facts}</div>{rest}</article>"
)


def catalogue(task: Task, example: Example, made: Mapping[str, Sequence[Result]]) -> Markup:
    """Show everything there is for a task; `made` holds what transforms made of the example."""
    entries = [entry for entry in REGISTRY.values() if entry.suits(task)]
    by_family = {
        family: [entry for entry in entries if entry.family == family] for family in FAMILIES
    }
    parts = {
        f"term-family-{family}": (FAMILIES[family].title, _family(task, family, members, made))
        for family, members in by_family.items()
        if members
    }
    if kinds(task):
        parts["templates"] = ("Templates", _templates(task))
    if baselines_for(task):
        parts["rules"] = ("Rule baselines", _rules(task))
    parts["glossary"] = ("Glossary", shown_glossary(task))
    return PAGE.format(
        say=f"{len(entries)} ways to change a text, and what each does to the right answer",
        unit=task.unit,
        texts=join(
            TEXT.format(task.title_of(field), text) for field, text in task.texts(example).items()
        ),
        links=join(
            Markup('<a href="#{}">{}</a>').format(id, title) for id, (title, _) in parts.items()
        ),
        parts=join(part for _, part in parts.values()),
    )


def _family(
    task: Task, family: str, members: Sequence[Transform], made: Mapping[str, Sequence[Result]]
) -> Markup:
    cards = join(_transform(task, entry, made.get(entry.name, ())) for entry in members)
    words = FAMILIES[family]
    return PART.format(
        id=f"term-family-{family}", title=words.title, summary=words.summary, cards=cards
    )


def _transform(task: Task, entry: Transform, made: Sequence[Result]) -> Markup:
    lacks = missing(entry, task)
    shown = [_example(result) for result in made[:MAX_EXAMPLES]]
    if lacks:
        shown = [Markup('<p class="problem">Not available here: {}</p>').format(lacks)]
    elif not made:
        shown = [hint("Its example needs a model of this task, and none is here.")]
    return CARD.format(
        id=entry.name,
        title=entry.title,
        name=entry.name,
        summary=summary_of(entry, task),
        facts=_facts(task, entry),
        rest=join([*shown, _code(entry)]),
    )


def _facts(task: Task, entry: Transform) -> Markup:
    badges = [term(entry.rule.title, entry.rule.summary)]
    if entry.default:
        words = "The answer to a copy is compared with this label, not with the answer before."
        badges.append(term(f"Compared with {task.default_label}", words))
    return Markup('<p class="facts">{} <span class="soft tiny">{}</span></p>').format(
        each(Markup('<span class="badge plain">{}</span>'), badges), entry.source
    )


def _example(result: Result) -> Markup:
    if not result.changed:
        return hint(f"This {result.task.unit} stays as it is: {result.note}.")
    gold = (
        Markup('<p class="tiny soft">right answer now: {}</p>').format(label_name(result.gold))
        if result.gold and result.of > 1
        else NOTHING
    )
    return Markup('<div class="edit">{}{}</div>').format(changes(result), gold)


def _code(entry: Transform) -> Markup:
    text, place = source(entry.name)
    return twin(f"code: {place}", Markup('<pre tabindex="0">{}</pre>').format(text))


@cache
def source(name: str) -> tuple[str, str]:
    """Return the code of a transform and where it stands: file and line."""
    registered = REGISTRY[name].function
    function = registered.func if isinstance(registered, partial) else registered
    lines, start = inspect.getsourcelines(function)
    file = Path(inspect.getsourcefile(function) or "").resolve()
    place = file.relative_to(ROOT) if file.is_relative_to(ROOT) else file.name  # somebody's own
    return inspect.cleandoc("\n" + "".join(lines)), f"{place}, line {start}"


def _templates(task: Task) -> Markup:
    where = Markup(
        "Sentences with slots make as many examples as one likes, and the right answer with each. "
        "Measure makes files of them, as does <code>python -m probe templates</code>."
    )
    return PART.format(
        id="templates", title="Templates", summary=where, cards=join(map(_kind, kinds(task)))
    )


@cache
def _kind(kind: str) -> Markup:
    entry, pairs = grammar(kind), generate(Request(kind), MAX_EXAMPLES, 0)
    return CARD.format(
        id=f"templates-{kind}",
        title=entry.title,
        name=kind,
        summary=entry.summary,
        facts=Markup('<p class="facts"><span class="badge plain">{} templates</span></p>').format(
            len(template_ids(kind))
        ),
        rest=join(
            Markup('<p class="text">{} {}</p>').format(
                " ▸ ".join(entry.task.texts(pair).values()), label_name(pair.gold)
            )
            for pair in pairs
        ),
    )


def _rules(task: Task) -> Markup:
    where = Markup(
        "Rules that understand nothing; a set that they solve says little about a model. The Batch "
        "tab shows them beside the model, as does <code>python -m probe rules</code>."
    )
    cards = join(
        CARD.format(
            id=f"baseline-{name}",
            title=BASELINES[name].title,
            name=name,
            summary=BASELINES[name].summary,
            facts=Markup('<p class="facts soft tiny">{}</p>').format(BASELINES[name].source),
            rest=NOTHING,
        )
        for name in baselines_for(task)
    )
    return PART.format(id="rules", title="Rule baselines", summary=where, cards=cards)
