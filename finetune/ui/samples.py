"""Challenges to choose from, and a few pairs of one."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from finetune.experiments.inoculation.challenges import (
    catalogue,
    challenged,
    make_sets,
    template_challenges,
)
from finetune.experiments.inoculation.datasets import SourceData, bundled
from probe.errors import ExperimentError
from probe.tasks.label_rules import COMPUTED
from probe.tasks.nli import Pair
from probe.text.difference import edits
from probe.transforms.registry import rule_of
from probe.ui.html.edits import diff
from probe.ui.html.elements import alert, join, note
from probe.ui.html.prediction import label_name

SAMPLES = 5
SAMPLED_PAIRS = 100  # pairs among which the samples are sought: some challenges leave most out
FAMILIES = {"stress": "stress test", "heuristic": "heuristic", "template": "template"}


def challenge_choices() -> list[tuple[str, str]]:
    """Return (words, name) of each challenge, those of a family together."""
    choices = [
        ("template" if choice.kind == "template" else choice.family, choice.name)
        for choice in catalogue()
    ]
    order = list(dict.fromkeys([*FAMILIES, *(family for family, _ in choices)]))
    choices.sort(key=lambda choice: order.index(choice[0]))
    return [(f"{FAMILIES.get(family, family)} · {name}", name) for family, name in choices]


def samples(challenge: str | Sequence[str]) -> Markup:
    """Show a few pairs of the first challenge, their edits marked where it changes pairs."""
    name = challenge if isinstance(challenge, str) else next(iter(challenge), "")
    if not name:
        return note("Choose at least one challenge.")
    try:
        shown = _shown(name)
    except ExperimentError as trouble:
        return alert(trouble)
    lines = join(
        Markup("<li>{} {}</li>").format(text, label_name(pair.gold or "")) for text, pair in shown
    )
    about = next((f" {entry.summary}" for entry in catalogue() if entry.name == name), "")
    return Markup('{}<ul class="samples">{}</ul>').format(
        note(f"{len(shown)} pairs of {name}.{about}"), lines
    )


def _shown(name: str) -> list[tuple[Markup, Pair]]:
    """Return pairs of a challenge with their texts as they are shown."""
    if name in template_challenges():
        pairs = _spread(make_sets(name, SourceData((), (), ())).challenge_train, SAMPLES)
        return [(_plain(pair), pair) for pair in pairs]
    pool = bundled().pool
    before = {pair.id: pair for pair in _spread(pool, SAMPLED_PAIRS)}
    examples = _spread(challenged(name, list(before.values())), SAMPLES)
    new_text = rule_of(name) is COMPUTED  # the new hypothesis is none of the old one's words
    return [
        (_plain(new) if new_text else _changed(_origin(before, new), new), new) for new in examples
    ]


def _origin(before: Mapping[str, Pair], new: Pair) -> Pair:
    """Return the pair that a new one was made of; of several made from one the ids are numbered."""
    return before.get(new.id) or before[new.id.rpartition("-")[0]]


def _spread(pairs: Sequence[Pair], n: int) -> Sequence[Pair]:
    return pairs[:: max(1, len(pairs) // n)][:n]


def _plain(pair: Pair) -> Markup:
    return Markup("{} ▸ {}").format(pair.premise, pair.hypothesis)


def _changed(old: Pair, new: Pair) -> Markup:
    return Markup("{} ▸ {}").format(
        diff(edits(old.premise, new.premise)), diff(edits(old.hypothesis, new.hypothesis))
    )
