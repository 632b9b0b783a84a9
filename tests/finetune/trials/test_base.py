"""What all kinds share: what a plan must not ask for, how runs are stored, read and taken over."""

import json
import pickle
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

import pytest

from finetune.trials import (
    calibration,
    debiasing,
    generalisation,
    inoculation,
    mitigation,
    transfer,
)
from finetune.trials.base import MAX_EPOCHS, MAX_SEED, Training, TrialKind, refuse, row_json
from finetune.trials.datasets import Sets
from finetune.trials.params import PARAMS
from finetune.trials.planning import EXPERIMENTS, register_experiments
from probe.errors import ExperimentError
from probe.glossary import glossary
from probe.runs.gallery import gallery_runs
from probe.runs.run import Json
from probe.tasks.task import Task, offered_tasks
from tests.support.cases import failures
from tests.support.glossary import require_plain, undefined
from tests.support.runs import generalisation as generalised
from tests.support.runs import repairs
from tests.support.runs.clean_source import TRAINING, clean_source
from tests.support.runs.points import make_point

SOURCE = clean_source()
KINDS: Mapping[str, TrialKind[Any, Any, Any, Any]] = {
    each.name: each
    for each in (
        inoculation.TRIALS, generalisation.TRIALS, calibration.TRIALS, mitigation.TRIALS,
        debiasing.TRIALS, transfer.TRIALS,
    )
}  # fmt: skip
INOCULATED = inoculation.Plan("tiny", "negation", (6, 12), (1e-3,), (0,))
CALIBRATED = calibration.Plan("tiny", TRAINING, sizes=(24,), seeds=(0, 1), tests=6)
MENDED = mitigation.Plan("tiny", TRAINING, sizes=(12,), seeds=(0,), tests=6)
DEBIASED = debiasing.Plan(
    "tiny", TRAINING, sizes=(12,), seeds=(0,), tests=4, challenges=("negation",)
)
TAUGHT = transfer.Plan("tiny", TRAINING, ("sort", "drop"), sizes=(12,), seeds=(0,), tests=6)
NAN, INF = float("nan"), float("inf")
OF_SWEEPS: list[tuple[dict[str, object], str]] = [
    ({"sizes": ()}, "at least one size"),
    ({"seeds": ()}, "at least one size"),
    ({"sizes": (0,)}, "each size must be"),
    *(({"lrs": (1e-3, lr)}, "learning rate must be above 0") for lr in (0.0, -1.0, 10.5, NAN, INF)),
    *(({"seeds": (seed,)}, "each seed must be a whole number") for seed in (-1, MAX_SEED + 1)),
    ({"patience": 0}, "patience must be 1 or more"),
    ({"max_epochs": MAX_EPOCHS + 1}, "epochs must be at most"),
    ({"mode": "slow"}, "mode must be one of full, fast"),
    ({"precision": "int8"}, "precision must be one of auto, fp32, bf16"),
]
OF_REPAIRS: list[tuple[dict[str, object], str]] = [
    ({"sizes": (25,)}, "each size must be from 1 to 24"),
    ({"seeds": ()}, "at least one size and one seed"),
    ({"seeds": (-1,)}, "each seed must be"),
    ({"tests": 0}, "at least one test pair"),
    ({"task": "sentiment"}, "the examples are of nli"),
    ({"training": replace(TRAINING, lr=0.0)}, "learning rate must be above 0"),
    ({"training": replace(TRAINING, epochs=0)}, "epochs must be from 1"),
    ({"training": replace(TRAINING, batch=0)}, "batch must be 1 or more"),
]
WRONG: list[tuple[Any, Callable[[Any, Sets], object], list[tuple[dict[str, object], str]]]] = [
    (
        INOCULATED, inoculation.check,
        [
            *OF_SWEEPS,
            ({"sizes": (inoculation.ALL,)}, "each size must be 1 or more"),
            ({"sizes": (31,)}, "has 30 pairs; no size can be larger"),
            ({"challenge": "mine\ud800"}, "half of a character"),
            ({"task": "sentiment"}, "the task sentiment, the challenge is one of nli"),
            *(
                ({"thresholds": inoculation.Thresholds(**{name: share})}, "must be a share from 0")
                for name in ("gap", "cured", "majority")
                for share in (-0.1, 2.0, NAN, INF)
            ),
            (
                {"thresholds": inoculation.Thresholds(cured=0.1, uncured=0.9)},
                "must be at least that for Outcome 2",
            ),
        ],
    ),
    (
        generalised.PLAN, lambda plan, _: generalisation.check(plan),
        [
            *OF_SWEEPS,
            ({"sizes": (100_001,)}, "each size must be a whole number from 1 to 100,000"),
            ({"tests": 0}, "test pairs of a condition"),
            ({"thresholds": generalisation.Thresholds(0.0)}, "the loss from which it learnt"),
            ({"rows": ()}, "at least one condition"),
        ],
    ),
    (
        CALIBRATED, lambda plan, _: calibration.check(plan, SOURCE),
        [
            *OF_REPAIRS,
            *(({"methods": names}, "methods are some of") for names in ((), ("baseline",))),
            ({"epsilon": 1.0}, "label smoothing must be"),
            *(({"gamma": gamma}, "gamma must be") for gamma in (-1.0, NAN, INF)),
        ],
    ),
    (
        MENDED, lambda plan, _: mitigation.check(plan, SOURCE),
        [
            *OF_REPAIRS,
            ({"methods": ()}, "methods are some of"),
            ({"share": 0.0}, "shares that are destroyed"),
            ({"gradient_share": 1.5}, "shares that are destroyed"),
            *(
                ({"transforms": names}, "transforms are some of sort")
                for names in (("negation",), ("sort", "sort"))
            ),
            ({"transforms": ("drop",), "gradient_share": 0.0}, "share that these destroy"),
            *(({"weight": weight}, "entropic term must be") for weight in (-1.0, NAN, INF)),
            ({"tolerance": 2.0}, "tolerance must be"),
        ],
    ),
    (
        DEBIASED, lambda plan, _: debiasing.check(plan, SOURCE),
        [
            *OF_REPAIRS,
            ({"methods": ("invalid",)}, "methods are some of poe, reweight"),
            ({"challenges": ("nosuch",)}, "challenges are some of"),
            ({"challenges": ("numerical",)}, "suits the challenge numerical"),
            ({"weak": "premise"}, "there is no weak model 'premise'"),
            ({"augment": "nosuch"}, "there is no challenge 'nosuch'"),
        ],
    ),
    (
        TAUGHT, lambda plan, _: transfer.check(plan, SOURCE),
        [
            *OF_REPAIRS,
            *(({"transforms": n}, "transforms are some of sort") for n in ((), ("negation",))),
            ({"share": 0.0}, "share that is destroyed"),
        ],
    ),
]  # fmt: skip


def test_a_plan_that_cannot_run_is_refused_and_no_other(sets: Sets) -> None:
    def refused(plan: Any, check: Callable[..., object], change: Any, sentence: str) -> None:
        with pytest.raises(ExperimentError, match=sentence):
            check(replace(plan, **change), sets)

    for plan, check, _ in WRONG:
        check(plan, sets)
    refuse({"too many": False, "too late": None})
    with pytest.raises(ExperimentError, match=r"^too few$"):  # the first that is true
        refuse({"too many": False, "too few": True, "too late": True})
    cases = [(plan, check, *wrong) for plan, check, wrongs in WRONG for wrong in wrongs]
    assert failures(refused, cases) == {}


EPOCH = {"epoch": 1, "loss": 0.5, "dev": 0.5, "examples_per_second": 9.0}


def test_plans_and_points_come_back_from_their_json() -> None:
    def comes_back(kind: str, plan: Any, point: Any) -> None:
        trials = KINDS[kind]
        assert trials.plan_from(json.loads(json.dumps(asdict(plan)))) == plan
        stored = json.loads(json.dumps(row_json(point)))
        assert stored == row_json(point)
        assert trials.point_from(asdict(point.cell), stored) == point
        # a model's texts are counted before the first epoch, and beside one
        assert trials.epoch_from(asdict(point.cell), {"texts": 3}) is None
        assert trials.epoch_from(asdict(point.cell), {**EPOCH, "texts": 3}).epoch == 1

    cases = [
        (inoculation.KIND, INOCULATED, make_point(8, 6, 10)),
        (
            generalisation.KIND, generalised.PLAN,
            generalised.make_point(generalisation.base_cell(0), (30, 60, 90)),
        ),
        (calibration.KIND, CALIBRATED, repairs.CALIBRATED[1]),
        (mitigation.KIND, MENDED, repairs.MITIGATED[2]),
        (debiasing.KIND, DEBIASED, repairs.DEBIASED[1]),
        (transfer.KIND, TAUGHT, repairs.TRANSFERRED[0]),
    ]  # fmt: skip
    assert failures(comes_back, cases) == {}
    # plans of before a field begin with its default
    added = ((INOCULATED, ("task", "labels", "mode", "thresholds")), (MENDED, ("transforms",)))
    for plan, newer in added:
        (trials,) = (each for each in KINDS.values() if type(plan) is each.plan)
        old = {name: value for name, value in asdict(plan).items() if name not in newer}
        assert trials.plan_from(old) == plan


def test_the_shipped_runs_open_with_their_own_types_and_are_written_alike() -> None:
    def opens(run: Any) -> None:
        trials, experiment = KINDS[run.kind], EXPERIMENTS[run.kind]
        typed = trials.run(run)
        assert isinstance(typed.plan, trials.plan) and typed.results
        for cell, point in zip(run.cells, typed.results, strict=True):
            assert isinstance(point, trials.point)
            written = row_json(point)
            assert {name: written[name] for name in cell.result} == json.loads(
                json.dumps(cell.result)
            )
        assert [cell.key for cell in typed.cells] == list(trials.cells(typed.plan))
        assert experiment.title(run.plan) and set(experiment.brief(None).values()) == {None}
        if run.kind != inoculation.KIND:  # these have no sets in the gallery
            verdict = experiment.conclude(run, {})
            assert verdict is not None and verdict["name"] == run.verdict["name"]

    runs = [run for run in gallery_runs() if run.kind in KINDS]
    assert set(KINDS) - {run.kind for run in runs} <= {debiasing.KIND}  # which has none yet
    assert failures(opens, runs) == {}


SAME: Json = {"model": "ab12", "sets": {"test": "cd34"}}


def test_all_cells_are_taken_over_but_those_whose_model_is_kept() -> None:
    made = repairs.calibration_run(artefacts=SAME), repairs.mitigation_run(artefacts=SAME)
    calibrated, mended = repairs.CALIBRATION_PLAN, repairs.MITIGATION_PLAN
    known, known_mended = calibration.known_results, mitigation.known_results
    # the model as it was, temperature (first, so its model is kept), smoothing
    assert set(known(made, calibrated, SAME)) == {0, 2}
    # the model as it was, threshold, the class with two seeds (kept), entropic with two
    assert set(known_mended(made, mended, SAME)) == {0, 1, 4, 5}
    other = replace(calibrated, methods=("focal", "temperature", "smoothing"))
    methods = {calibration.cells(other)[number].method for number in known(made, other, SAME)}
    assert methods == {"baseline", "temperature", "smoothing"}
    assert not known(made, calibrated, {**SAME, "model": "ef56"})
    assert not known(made, calibrated, {**SAME, "sets": {}})
    assert not known(made, replace(calibrated, tests=7), SAME)
    assert not known(made[1:], calibrated, SAME)
    assert not known_mended(made, replace(mended, transforms=("sort",)), SAME)
    by_kinds = made[1].plan | {"entropy_by": "kinds"}  # as before it was a field of the plan
    assert mitigation.plan_from(by_kinds) == mitigation.plan_from(
        {name: value for name, value in by_kinds.items() if name != "entropy_by"}
    )
    assert [typed.id for typed in mitigation.TRIALS.runs(made)] == ["mitigation"]  # no other kind


def test_each_kind_has_parameters_whose_defaults_are_its_plans() -> None:
    assert list(EXPERIMENTS) == list(KINDS) and set(PARAMS) == set(KINDS)
    seen = 0
    for kind, params in PARAMS.items():
        for param in params:
            plan, name = KINDS[kind].plan, (param.field or param.name).removeprefix("thresholds.")
            of = type(plan.thresholds) if param.field else plan if hasattr(plan, name) else Training
            if param.type and not param.reads and name != "train" and hasattr(of, name):
                assert param.default == getattr(of, name), (kind, name)
                seen += 1
    assert seen > 20


def test_the_words_of_all_experiments_are_plain_and_defined() -> None:
    register_experiments()

    def plain(task: Task) -> None:
        terms = {id: term for section in glossary(task).values() for id, term in section.items()}
        require_plain(terms)
        assert undefined(terms) == []
        assert len(terms) == sum(map(len, glossary(task).values()))  # no id twice
        assert {"outcome-1", "gap", "generalisation-data-set", "condition"} <= set(terms)
        assert ("vary-range" in terms) == (task.name == "nli")  # templates are inference's

    assert failures(plain, offered_tasks()) == {}


def test_what_computes_a_cell_is_sent_to_workers_by_name() -> None:
    for kind in KINDS.values():
        assert pickle.loads(pickle.dumps(kind.run_cell)).__self__ == kind
