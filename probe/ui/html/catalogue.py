"""What the Catalogue tab shows: transforms with facts, code and examples; templates; rules."""

import inspect
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path

from markupsafe import Markup

from probe.analysis.transformed import Transformed
from probe.baselines import BASELINES
from probe.tasks.nli import NLI
from probe.templates import Request, generate, kinds, template_ids
from probe.templates.grammar import grammar
from probe.transforms import REGISTRY
from probe.transforms.availability import missing
from probe.transforms.registry import FAMILIES, Transform
from probe.transforms.wording import summary_of
from probe.ui.html.edits import changes
from probe.ui.html.elements import NOTHING, join, note, twin
from probe.ui.html.prediction import verdict

ROOT = Path(__file__).resolve().parents[3]
COMPARED = "compared with {} instead of the prediction before"
ENTRY = Markup('<article class="entry"><h3><code>{}</code> {}</h3>{}</article>')
SECTION = Markup('<section><h2 class="title">{}</h2>{}</section>')


def catalogue(examples: Mapping[str, Sequence[Transformed]]) -> Markup:
    """Show every transform with what it made of a pair, the templates, the rule baselines."""
    return join(
        [*(_family(family, examples) for family in FAMILIES), templates(), rule_baselines()]
    )


def _family(family: str, examples: Mapping[str, Sequence[Transformed]]) -> Markup:
    entries = [entry for entry in REGISTRY.values() if entry.family == family]
    shown = join(_entry(entry, examples.get(entry.name, ())) for entry in entries)
    return SECTION.format(FAMILIES[family].title, shown)


def _entry(entry: Transform, examples: Sequence[Transformed]) -> Markup:
    parts = [_facts(entry), _lacks(entry), *map(_example, examples), _code(entry)]
    return ENTRY.format(entry.name, summary_of(entry, NLI), join(parts))


def _facts(entry: Transform) -> Markup:
    edited = entry.edited(NLI)
    facts = {
        "changes": " and ".join(edited) if len(edited) > 1 else f"the {edited[0]}",
        "works on": f"{entry.level}s",
        "gold label": entry.rule.words,
        "source": entry.source,
    } | ({"agreement": COMPARED.format(NLI.default_label)} if entry.default else {})
    listed = join(
        Markup("<div><dt>{}</dt> <dd>{}</dd></div>").format(name, text)
        for name, text in facts.items()
    )
    return Markup('<dl class="facts">{}</dl>').format(listed)


def _lacks(entry: Transform) -> Markup:
    lacks = missing(entry)
    if not lacks:
        return NOTHING
    return Markup('<p class="problem">Not available here: {}</p>').format(lacks)


def _example(transformed: Transformed) -> Markup:
    result = transformed.result
    if not result.changed:
        return note(f"this pair is left unchanged; {result.note}")
    gold = f" · gold label {result.gold}" if result.gold else ""
    return Markup('<div class="new-text">{}<p>{}{}</p></div>').format(
        changes(result), verdict(transformed.prediction), gold
    )


def _code(entry: Transform) -> Markup:
    text, place = source(entry.name)
    return twin(f"code: {place}", Markup("<pre>{}</pre>").format(text))


@cache
def source(name: str) -> tuple[str, str]:
    """Return the code of a transform and where it stands: file and line."""
    registered = REGISTRY[name].function
    function = registered.func if isinstance(registered, partial) else registered
    lines, start = inspect.getsourcelines(function)
    file = Path(inspect.getsourcefile(function) or "").resolve().relative_to(ROOT)
    return inspect.cleandoc("\n" + "".join(lines)), f"{file}, line {start}"


@cache
def templates() -> Markup:
    """Show each kind of template with its size and a few pairs."""
    return SECTION.format(
        "Templates (Rozen et al., McCoy et al.)",
        note(
            Markup(
                "The Batch tab makes pairs from them, as does "
                "<code>python -m probe templates</code>."
            )
        )
        + join(map(_template, kinds())),
    )


def _template(kind: str) -> Markup:
    pairs = join(
        Markup('<p class="text">{} <span class="fine">{}</span></p>').format(
            " ▸ ".join(grammar(kind).task.texts(pair).values()), pair.gold
        )
        for pair in generate(Request(kind), 3, 0)
    )
    return ENTRY.format(kind, f"{len(template_ids(kind))} templates", pairs)


@cache
def rule_baselines() -> Markup:
    """Show the rule baselines."""
    shown = join(
        ENTRY.format(name, rule.summary, note(rule.source)) for name, rule in BASELINES.items()
    )
    where = Markup(
        "The Batch tab shows them beside the model, as does <code>python -m probe rules</code>."
    )
    return SECTION.format("Rule baselines", note(where) + shown)
