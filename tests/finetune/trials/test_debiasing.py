"""What a debiasing trains and tests, and what is said of it."""

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from finetune.trials import debiasing
from finetune.trials.base import CONTROL, Training
from finetune.trials.datasets import SourceData
from finetune.trials.debiasing import ORIGINAL, Cell, Plan
from finetune.trials.mitigation import Found
from finetune.trials.trial import trial
from probe.errors import TrainingError
from probe.models.classifier import Classifier
from probe.stopping import never
from probe.tasks.label_rules import KEEP
from probe.tasks.nli import NLI, Pair
from probe.transforms.registry import REGISTRY, Tools, transform
from tests.support.models.tiny_models import tiny_classifier
from tests.support.runs.clean_source import TRAINING, clean_source
from tests.support.runs.repairs import DEBIASED, DEBIASING_PLAN, debiased

NOUNS = ["man", "woman", "dog", "cat", "horse", "girl", "boy"]
TOLD = " today"
"""What gives a label away: entailed hypotheses have it in training, others in the test."""


def give_away(n: int, telling: float, right: float, seed: int) -> tuple[Pair, ...]:
    """Return pairs whose label is whether the premise has no "not", but for some errors.

    So large a share of the hypotheses have the give-away word by their label.
    """
    rng = random.Random(seed)
    made = []
    for at in range(n):
        label = rng.random() < 0.5
        negated = " not" * (label is not (rng.random() < right))
        told = TOLD * (label is (rng.random() < telling))
        premise = f"The {rng.choice(NOUNS)} is{negated} here at {at % 40}."
        gold = "entailment" if label else "contradiction"
        made.append(Pair(premise, f"It is here{told}.", gold, str(at)))
    return tuple(made)


SOURCE = SourceData(
    give_away(40, 0.95, 0.9, 1), give_away(200, 0.05, 1, 2), give_away(400, 0.95, 0.9, 3)
)
HOW = Training(3e-3, "full", epochs=6, batch=16, precision="fp32")


@pytest.fixture
def swap_told() -> Iterator[str]:
    """A transform that takes the give-away word away, or adds it."""

    @transform(
        "swap_told",
        "Swap",
        "Swap a word in {target}.",
        family="stress",
        rule=KEEP,
        source="made up",
        applies="any text",
    )
    def swap(text: str, tools: Tools) -> str:
        return text.replace(TOLD, "") if TOLD in text else text.replace(" here", f" here{TOLD}")

    yield "swap_told"
    del REGISTRY["swap_told"]


def trained(method: str, before: Classifier, augment: str = "negation") -> tuple[Classifier, float]:
    """Return what a method makes of a model, and how probable that holds the test's labels."""
    size = len(SOURCE.pool)
    plan = Plan(
        "tiny", HOW, (method,), (size,), (0,), tests=5, augment=augment, challenges=("negation",)
    )
    model, rows = trial(debiasing.KIND, plan, SOURCE, Cell(method, size, 0), before, never)
    *_, point = rows
    assert point.clusters[ORIGINAL]
    said = model.probabilities(SOURCE.test)
    gold = [model.labels.index(str(each.gold)) for each in SOURCE.test]
    return model, float(said[range(len(gold)), gold].mean())


def test_a_short_cut_is_mended_by_each_method(swap_told: str) -> None:
    begun, _ = trained(CONTROL, tiny_classifier())
    _, usual = trained(CONTROL, begun)
    assert usual < 0.3  # the test tells the other way round
    for method in (*debiasing.AGAINST_WEAK, "augment"):
        assert trained(method, begun, swap_told)[1] > usual + 0.1, method


def test_what_is_tested_is_the_original_set_and_challenges_in_their_classes() -> None:
    plan = Plan("tiny", TRAINING, tests=8, challenges=("templates_hans", "negation"))
    sets = debiasing.tested_sets(plan, clean_source())
    assert {name: len(tests) for name, tests in sets.items()} == {
        ORIGINAL: 12, "templates_hans": 40, "negation": 8,
    }  # fmt: skip
    assert {each.gold for each in sets["templates_hans"]} == {"entailment", "non-entailment"}
    first = [*debiasing.tested_sets(replace(plan, challenges=()), clean_source())]
    assert first[:3] == [ORIGINAL, "templates_hans", "word_overlap"]
    with pytest.raises(TrainingError, match="drop asks a model"):
        debiasing.check(replace(plan, sizes=(12,), augment="drop", relabel=False), clean_source())


def test_a_verdict_says_what_is_mended_and_what_it_costs() -> None:
    before, poe, usual = debiasing.outcomes(DEBIASED, NLI)
    part = debiasing.telling(before)
    assert part == ("templates_hans", "non-entailment")  # 8 of 100 are right, the fewest
    assert (poe.right[part].value, poe.right[part].n) == (0.6, 100)
    assert poe.change[part].value == pytest.approx(0.48)  # beside further training as usual
    assert usual.change[part].value == pytest.approx(0.04)  # beside the model as it was
    verdict = debiasing.conclude(DEBIASING_PLAN, DEBIASED)
    assert verdict is not None and not verdict["warnings"]
    said = verdict["explanation"]
    assert said.startswith(
        "Product of experts against “one text alone”: of “Shared words: non-entailment” 60.0 % ("
    )
    assert "“Shared words: entailment” 88.0 % (" in said and "original set 76.0 % (" in said
    assert "more than the same training as usual: +48.0 (" in said
    assert debiasing.conclude(DEBIASING_PLAN, DEBIASED[1:]) is None
    assert debiasing.conclude(DEBIASING_PLAN, DEBIASED[:1]) is None
    same = debiasing.conclude(
        DEBIASING_PLAN, (DEBIASED[0], DEBIASED[3], debiased("poe", 100, 0, (96, 12), 80))
    )
    assert same is not None and "nothing is certain" in same["explanation"]
    weak = replace(DEBIASED[1], weak=Found(42, 100))
    (warning,) = (debiasing.conclude(DEBIASING_PLAN, (DEBIASED[0], weak)) or {})["warnings"]
    assert "knows no short cut" in warning
