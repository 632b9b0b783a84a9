"""The transforms that translate the premise."""

import random

import pytest

from probe.pbsmt.translate import (
    MAX_WORDS,
)
from probe.tasks.nli import LABELS, NLI, Pair
from probe.tasks.task import Label
from probe.transforms import REGISTRY, Options
from probe.transforms.registry import Tools


def apply(name: str, premise: str, label: Label | None = None) -> tuple[str, str] | None:
    """Return the new hypothesis and why it is not exact; None where the transform is not for it."""
    tools = Tools(random.Random(0), Options(), labels=(label,) if label else ())
    changed = REGISTRY[name].make(Pair(premise, "old", "neutral", "r1"), NLI, tools)
    return (changed.examples[0].hypothesis, changed.why) if changed else None


def test_without_a_label_there_is_no_system_to_choose() -> None:
    assert apply("pbsmt", "A man sat.") is None


@pytest.mark.parametrize(
    ("label", "name"),
    zip(LABELS, ["pbsmt_e", "pbsmt_n", "pbsmt_c"], strict=True),
)
def test_the_label_chooses_the_system(label: Label, name: str) -> None:
    text = "The woman in the old house never reads a letter to her friends."
    assert apply("pbsmt", text, label) == apply(name, text)


def test_the_systems_differ() -> None:
    text = "The woman in the old house never reads a letter to her friends."
    assert len({apply(name, text) for name in ("pbsmt_e", "pbsmt_n", "pbsmt_c")}) == 3


def test_of_a_very_long_premise_the_first_words_are_translated() -> None:
    assert apply("pbsmt_e", "zqxv " * (MAX_WORDS + 1)) == (
        " ".join(["zqxv"] * MAX_WORDS),
        f"only the first {MAX_WORDS} words of the premise were translated",
    )
