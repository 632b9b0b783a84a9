"""No figure is an average of right answers in two classes and in three: all are read in two."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

from finetune.trials.challenges import UserFiles
from finetune.trials.datasets import Sets, SourceData, labelled, source_artefacts
from finetune.trials.generalisation import read_data
from finetune.trials.inoculation import BASE, Cell, Plan, Point, conclude, run_request
from finetune.trials.trial import fresh, run_cell
from probe.checkup.conclusions import families_of, findings
from probe.checkup.measuring import Asked, Subject, measure_part
from probe.models.library import load
from probe.statistics import calibration
from probe.tasks.nli import ENTAILMENT, NLI, NON_ENTAILMENT
from probe.tasks.task import IN_COMMON, WHY_IN_COMMON, Label, in_common_classes
from probe.transforms import Options, apply
from tests.support.models.tiny_bert import tiny_pairs

FLIPPED, UNTOUCHED = "hverbant", "negation"
PAIRS = tuple(
    replace(pair, premise=f"{pair.premise} The bus did not arrive.", hypothesis="The bus arrives.")
    for pair in tiny_pairs(12)
)
MIXED = tuple(
    replace(pair, gold=NON_ENTAILMENT) if at % 4 == 1 else pair for at, pair in enumerate(PAIRS)
)
PLAN = Plan("tiny", "mine", (4,), (1e-3,), (0,), batch=4, max_epochs=1, precision="fp32")


def in_two(answers: Sequence[Label], golds: Sequence[Label | None]) -> float:
    """Return the share of answers that are right of entailed or not."""
    return fmean(
        (a == ENTAILMENT) == (b == ENTAILMENT) for a, b in zip(answers, golds, strict=True)
    )


def test_each_score_of_a_checkup_is_in_two_classes_or_in_three_and_says_so(model: str) -> None:
    predict = load(model).predict
    for pairs, mixed in ((PAIRS, False), (MIXED, True)):
        subject = Subject(load(model), pairs, Asked(n=len(pairs), precision="fp32"))
        parts = [measure_part(subject, part) for part in ("plain", FLIPPED, UNTOUCHED)]
        found = {figure.name: figure for part in parts for figure in part.figures}
        scored = {"accuracy" if mixed else "accuracy.merged": pairs}
        for name in (FLIPPED, UNTOUCHED):
            made = [each for several in apply(name, pairs, NLI, 0, Options(), lambda _: [])
                    for each in several if each.changed and each.gold]  # fmt: skip
            scored[name] = tuple(replace(each.example, gold=each.gold) for each in made)
        for name, examples in scored.items():
            answers, right = [each.label for each in predict(examples)], [e.gold for e in examples]
            merged = mixed or name != UNTOUCHED
            assert found[name].merged == merged == found[name].title.endswith(f", {IN_COMMON}")
            plain = sum(a == b for a, b in zip(answers, right, strict=True)) / len(right)
            share = in_two(answers, right) if merged else plain
            assert found[name].value == pytest.approx(share), name
        said = findings(NLI, "mine", found, families_of(NLI, found, {}))[0].sentence
        assert said.endswith(f"pairs {IN_COMMON}.") == mixed != ("label.neutral" in found)


def test_an_inoculation_scores_all_its_sets_in_two_classes_and_says_so(model: str) -> None:
    sets = Sets(PAIRS, PAIRS, MIXED, MIXED, control=PAIRS)
    points = []
    for cell in (BASE, Cell(4, 1e-3, 0)):
        *_, point = run_cell(PLAN, sets, cell, fresh(load(model)))
        assert isinstance(point, Point)
        points.append(point)
    answers = [each.label for each in load(model).predict(PAIRS)]
    assert points[0].original == points[0].control == in_two(answers, [p.gold for p in PAIRS])
    assert points[0].challenge == in_two(answers, [pair.gold for pair in MIXED])
    verdict = conclude(PLAN, sets, points)
    assert verdict.measure == f"accuracy {IN_COMMON}"
    assert verdict.warnings[0] == WHY_IN_COMMON
    other = Sets(PAIRS, PAIRS, PAIRS, PAIRS)
    assert WHY_IN_COMMON not in conclude(PLAN, other, points).warnings
    hashes = [run_request(PLAN, each).artefacts["sets"]["original_test"] for each in (sets, other)]
    assert hashes[0] != hashes[1]  # no figure of an earlier run in three classes is taken over


def test_what_repairs_and_generalisations_test_is_in_the_same_classes(tmp_path: Path) -> None:
    assert in_common_classes(NLI, PAIRS, PAIRS[:2]) == (PAIRS, PAIRS[:2])
    source = labelled(SourceData(PAIRS, MIXED, PAIRS))
    assert {pair.gold for pair in (*source.dev, *source.test)} == {ENTAILMENT, NON_ENTAILMENT}
    assert source.pool == PAIRS
    assert source_artefacts(None, source)["measure"].endswith(IN_COMMON)
    file = tmp_path / "mine.csv"
    lines = [f"{p.premise} {at},{p.hypothesis},{p.gold},{at % 2}" for at, p in enumerate(MIXED)]
    file.write_text("\n".join(["premise,hypothesis,label,condition", *lines]))
    data = read_data(UserFiles(), file, "condition")
    golds = {pair.gold for pairs in (data.original, *data.rows.values()) for pair in pairs}
    assert golds == {ENTAILMENT, NON_ENTAILMENT}


def test_labels_that_are_only_right_together_are_one_class_of_a_calibration() -> None:
    probabilities = np.array([[0.2, 0.45, 0.35], [0.4, 0.3, 0.3]])
    two = calibration(probabilities, np.array([[False, True, True], [True, False, False]]))
    assert two.confidence == pytest.approx((0.8 + 0.4) / 2)
    assert two.brier == pytest.approx((2 * 0.2**2 + 2 * 0.6**2) / 2)
    three = calibration(probabilities, np.eye(3, dtype=bool)[[1, 0]])
    assert three.confidence == pytest.approx((0.45 + 0.4) / 2)
