"""Challenges to choose from, and a few pairs of one."""

from collections.abc import Mapping, Sequence
from html import escape

from finetune.experiments.inoculation.challenges import TEMPLATES, catalogue, challenged, make_sets
from finetune.experiments.inoculation.datasets import SourceData, bundled
from probe.errors import ExperimentError
from probe.tasks.label_rules import COMPUTED
from probe.tasks.nli import Pair
from probe.text.tokens import edits
from probe.transforms.registry import rule_of
from probe.ui.html.elements import diff
from probe.ui.widgets import alert

SAMPLES = 5
LOOKED_AT = 100  # pairs among which the samples are sought: some challenges leave most out
FAMILIES = {"stress": "stress test", "heuristic": "heuristic", "template": "template"}


def challenge_choices() -> list[tuple[str, str]]:
    """Return (words, name) of each challenge, those of a family together."""
    found = [
        ("template" if one.kind == "template" else one.family, one.name) for one in catalogue()
    ]
    order = list(dict.fromkeys([*FAMILIES, *(family for family, _ in found)]))
    found.sort(key=lambda one: order.index(one[0]))
    return [(f"{FAMILIES.get(family, family)} · {name}", name) for family, name in found]


def samples(challenge: str | Sequence[str]) -> str:
    """Show a few pairs of the first challenge, their edits marked where it changes pairs."""
    name = challenge if isinstance(challenge, str) else next(iter(challenge), "")
    if not name:
        return '<p class="fine">Choose at least one pathogen.</p>'
    try:
        made = _made(name)
    except ExperimentError as trouble:
        return alert(trouble)
    shown = "".join(
        f'<li>{text} <span class="label {new.gold}">{new.gold}</span></li>' for text, new in made
    )
    about = next((f" {escape(one.words)}" for one in catalogue() if one.name == name), "")
    return (
        f'<p class="fine">{len(made)} pairs of {escape(name)}.{about}</p>'
        f'<ul class="samples">{shown}</ul>'
    )


def _made(name: str) -> list[tuple[str, Pair]]:
    if name in TEMPLATES:
        pairs = _spread(make_sets(name, SourceData((), (), ())).challenge_train, SAMPLES)
        return [(_plain(pair), pair) for pair in pairs]
    pool = bundled().pool
    before = {pair.id: pair for pair in _spread(pool, LOOKED_AT)}
    made = _spread(challenged(name, list(before.values())), SAMPLES)
    new_text = rule_of(name) is COMPUTED  # the new hypothesis is none of the old one's words
    return [(_plain(new) if new_text else _changed(_origin(before, new), new), new) for new in made]


def _origin(before: Mapping[str, Pair], new: Pair) -> Pair:
    """Return the pair that a new one was made of; of several made from one the ids are numbered."""
    return before.get(new.id) or before[new.id.rpartition("-")[0]]


def _spread(pairs: Sequence[Pair], n: int) -> Sequence[Pair]:
    return pairs[:: max(1, len(pairs) // n)][:n]


def _plain(pair: Pair) -> str:
    return f"{escape(pair.premise)} ▸ {escape(pair.hypothesis)}"


def _changed(old: Pair, new: Pair) -> str:
    return (
        f"{diff(edits(old.premise, new.premise))} ▸ {diff(edits(old.hypothesis, new.hypothesis))}"
    )
