"""What is typed into the forms that start runs becomes runs, or one sentence."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from finetune.trials import calibration, generalisation, inoculation, mitigation, transfer
from finetune.trials.generalisation import FILE
from finetune.trials.inoculation import THRESHOLDS, Thresholds
from finetune.trials.planning import Planned, planned
from finetune.trials.word_salad import salad_names
from finetune.ui.generalise import form as generalise
from finetune.ui.inoculate import plan_form as inoculate
from finetune.ui.repair import form as repair
from finetune.ui.repair.titles import ALL
from probe.errors import UserError
from probe.tasks.sentiment import SENTIMENT
from tests.support.cases import failures
from tests.support.runs.condition_files import written
from tests.support.runs.forms import inoculate_values

GENERALISE: dict[str, Any] = {
    **{"model": "minilm", "skill": "numerical", "file": None, "column": None, "vary": "range"},
    **{"sizes": ["20"], "repeats": 2, "lrs": "1e-3", "mode": "fast", "max_loss": 10},
}
REPAIR: dict[str, Any] = {
    **{"model": "minilm", "method": "invalid", "transforms": [ALL], "sizes": ["20"], "repeats": 2},
    **{"lr": "1e-3", "compare": True, "share": 50, "gradient_share": 30, "mode": "fast"},
}
"""What the components hold, in the order of the fields."""


def inoculations(**changed: Any) -> tuple[Planned, ...]:
    return inoculate.jobs_of(inoculate.choices(*inoculate_values(**changed)))


def generalised(**changed: Any) -> Planned:
    asked = planned(generalise.choices(*(GENERALISE | changed).values()), bounded=True)
    asked.request()  # draws, which may find too few
    return asked


def repaired(**changed: Any) -> Planned:
    return planned(repair.choices(*(REPAIR | changed).values()), bounded=True)


def challenge_file(path: Path, rows: int, split: bool = False) -> str:
    """Write a challenge of so many pairs, half of them to test on where it has a split."""
    head = "premise,hypothesis,label" + (",split" if split else "")
    lines = [
        f"It was day {row}.,It was no day.,contradiction"
        + (f",{'test' if row % 2 else 'train'}" if split else "")
        for row in range(rows)
    ]
    path.write_text("\n".join([head, *lines]) + "\n")
    return str(path)


def test_the_fields_of_an_inoculation_arrive_in_its_plans() -> None:
    both = {"models": ["minilm", "da"], "challenges": ["negation", "spelling"], "lrs": "usual"}
    jobs = inoculations(**both, sizes=["5", "all"])
    assert [(job.plan.challenge, job.plan.model) for job in jobs] == [
        ("negation", "minilm"), ("negation", "da"), ("spelling", "minilm"), ("spelling", "da"),
    ]  # fmt: skip
    assert [job.plan.lrs for job in jobs] == [(1e-3,), (0.01,)] * 2
    assert jobs[0].plan.sizes == (5, len(jobs[0].data.challenge_train))
    assert jobs[0].plan.thresholds == THRESHOLDS and jobs[0].sources == {}
    typed = zip(inoculate.LIMITS, (1, 4, 90, 30, 60, 7, 100), strict=True)
    plan = inoculations(
        **{param.name: value for param, value in typed},
        **{"mode": "full", "max_epochs": 3, "patience": 2, "batch": 16, "include_epoch0": True},
    )[0].plan
    assert plan.thresholds == Thresholds(0.01, 0.04, 0.9, 0.3, 0.6, 0.07, 100)
    assert (plan.sizes, plan.lrs, plan.seeds, plan.mode) == ((5, 10), (2e-5,), (0,), "full")
    assert (plan.max_epochs, plan.patience, plan.batch, plan.include_epoch0) == (3, 2, 16, True)


def test_uploaded_files_are_the_challenge(tmp_path: Path) -> None:
    def lengths(job: Planned) -> list[int]:
        sets = job.data
        both = sets.challenge_train, sets.challenge_test
        return list(map(len, (sets.original_dev, sets.original_test, *both)))

    (drawn,) = inoculations(challenge_file=challenge_file(tmp_path / "mine.csv", 30), train=10)
    assert lengths(drawn)[2:] == [10, 20] and drawn.plan.challenge == "mine"
    assert drawn.sources == {"challenge-file": "mine.csv", "train": "10"}
    (split,) = inoculations(challenge_file=challenge_file(tmp_path / "split.csv", 30, split=True))
    assert lengths(split)[2:] == [15, 15]
    names = ("original_dev", "original_test", "challenge_train", "challenge_test")
    given = {name: challenge_file(tmp_path / f"{name}.csv", n) for n, name in enumerate(names, 11)}
    (several,) = inoculations(**given, own_name="Days")
    assert lengths(several) == [11, 12, 13, 14] and several.plan.challenge == "Days"


def test_the_fields_of_a_generalisation_arrive_in_its_plan(tmp_path: Path) -> None:
    asked = generalised(repeats=3, max_loss=15, lrs="usual")
    plan = asked.plan
    assert plan.rows == plan.columns == ("30-49", "60-79", "200-299", "1000-9999")
    assert (plan.sizes, plan.seeds, plan.lrs) == ((20,), (0, 1, 2), (3e-4, 1e-3))
    assert (plan.mode, plan.thresholds.loss, len(asked.data.original)) == ("fast", 0.15, 900)
    assert set(asked.request().artefacts["sets"]["seeds"]) == {"0", "1", "2"}
    path = written(tmp_path / "mine.csv", {"news": 30, "novels": 30})
    own = generalised(skill=FILE, vary=None, file=path, column="genre", sizes=["8"])
    assert (own.plan.phenomenon, own.plan.vary) == ("mine", FILE)
    assert own.plan.rows == ("news", "novels")
    assert own.sources == {"challenge-file": "mine.csv", "condition": "genre"}
    reviews = tmp_path / "reviews.csv"
    rows = [f"It was {word} {n}.,{word},{n % 2}" for n in range(40) for word in ("good", "bad")]
    reviews.write_text("\n".join(["sentence,genre,label", *rows]) + "\n")
    of_reviews = {"model": "minilm_sst2", "file": str(reviews), "column": "genre"}
    other = generalised(skill=FILE, **of_reviews, sizes=["8"]).plan
    assert (other.task, other.rows) == ("sentiment", ("good", "bad"))


def test_the_fields_of_a_repair_arrive_in_its_plan() -> None:
    asked = repaired(transforms=["sort", "drop"], share=40, gradient_share=20)
    plan = asked.plan
    assert isinstance(plan, mitigation.Plan)
    assert plan.methods == ("invalid", "threshold", "entropic")
    assert (plan.transforms, plan.share, plan.gradient_share) == (("sort", "drop"), 0.4, 0.2)
    assert (plan.sizes, plan.seeds, plan.training.lr) == ((20,), (0, 1), 1e-3)
    assert set(asked.request().artefacts["sets"]) == {"dev", "test", "pool"}
    assert all(example.gold for example in asked.data.pool)
    alone = repaired(method="focal", compare=False, lr="", mode="full").plan
    assert isinstance(alone, calibration.Plan) and alone.methods == ("focal",)
    assert alone.training.lr == 2e-5
    matrix = repaired(model="minilm_sst2", method="transfer").plan
    assert isinstance(matrix, transfer.Plan) and matrix.salad_only
    assert (matrix.task, matrix.transforms) == ("sentiment", salad_names(SENTIMENT))


def test_a_forecast_says_what_is_trained_and_for_how_long() -> None:
    both = {"models": ["minilm", "da"], "challenges": ["negation", "spelling"], "lrs": "usual"}
    asked = list[str]()
    said = {
        inoculate.forecast(*inoculate_values(**both), loaded=asked.append): (
            "4 runs: about", "for 8 trainings", "MiniLM 0.001; Decomposable Attention 0.01",
        ),
        inoculate.forecast(*inoculate_values(sizes=[])): ('role="alert">give at least one size',),
        generalise.forecast(*GENERALISE.values()): (
            "for 8 trainings on one core", "Only the upper layers learn. Learning rates: 0.001.",
        ),
        generalise.forecast(*(GENERALISE | {"skill": FILE}).values()): ("Once there is a file",),
        repair.forecast(*REPAIR.values()): (
            "for 4 trainings on one core", "Only the upper layers learn. Learning rate: 0.001.",
            "Compared with: Threshold alone, Be unsure of salad.", "Quick costs much here",
        ),
        repair.forecast(*(REPAIR | {"method": "temperature", "compare": False}).values()): (
            "No weight of the model changes.",
        ),
    }  # fmt: skip
    assert asked == ["minilm", "da"]
    missing = {part: told for told, parts in said.items() for part in parts if part not in told}
    assert missing == {}
    assert "Quick costs much" not in repair.forecast(*(REPAIR | {"mode": "full"}).values())


SMALL = "small.csv"
FORMS: Mapping[str, tuple[Callable[..., Any], list[tuple[dict[str, Any], str]]]] = {
    inoculation.KIND: (
        inoculations,
        [
            ({"models": []}, "at least one model"),
            ({"challenges": []}, "at least one challenge"),
            ({"models": ["nosuch"]}, "nosuch"),
            ({"challenges": ["sideways"]}, "no challenge 'sideways'"),
            ({"sizes": ["many"]}, "Examples 'many' is not a list of numbers"),
            ({"lrs": "fast"}, "Learning rates 'fast' is not a list"),
            ({"sizes": ["99999"]}, "no size can be larger"),
            ({"patience": None}, "Patience, epochs is empty"),
            ({"min_gap": None}, "Outcome 0: gap below, points is empty"),
            ({"max_epochs": 0}, "must be 1 or more"),
            ({"challenge_train": "a.csv"}, "upload both challenge files"),
            ({"challenge_file": "a", "challenge_test": "b"}, "one challenge file or two"),
            ({"challenge_file": SMALL, "train": None}, "Pairs to train on: give a number"),
            ({"challenge_file": SMALL, "own_name": "negation"}, "called negation already"),
            ({"challenge_file": "texts.csv"}, "it has: text"),
            ({"seeds": ",".join(map(str, range(20_000)))}, "40,001 cells is more than 5,000"),
        ],
    ),
    generalisation.KIND: (
        generalised,
        [
            ({"skill": FILE}, "choose a file of your own"),
            ({"skill": FILE, "file": SMALL}, "say which column of small.csv names the kind"),
            ({"skill": FILE, "file": SMALL, "column": "genre", "sizes": ["1000"]}, "not 1,000"),
            ({"vary": "length"}, "numerical templates cannot vary 'length'"),
            ({"skill": "<b>"}, "there are no conditions for '<b>'"),
            ({"sizes": ["20", "many"]}, "Examples '20, many' is not a list of numbers"),
            ({"sizes": []}, "give at least one size"),
            ({"max_loss": None}, "from this loss on, points is empty"),
            ({"max_loss": 0}, "must be above 0"),
            ({"lrs": "fast"}, "Learning rates 'fast' is not a list of numbers"),
            ({"model": "nosuch"}, "no model"),
            ({"model": "minilm_sst2"}, "the templates are nli's, the model answers sentiment"),
            ({"sizes": list(map(str, range(1, 3_000)))}, "5,999 cells is more than 5,000"),
        ],
    ),
    mitigation.KIND: (
        repaired,
        [
            ({"method": "hope"}, "choose a method: temperature"),
            ({"sizes": ["20", "many"]}, "Examples '20, many' is not a list of numbers"),
            ({"sizes": []}, "give at least one size"),
            ({"sizes": ["5000"]}, "each size must be from 1 to"),
            ({"lr": "1e-3, 1e-4"}, "give one learning rate"),
            ({"lr": "fast"}, "Learning rate 'fast' is not a list of numbers"),
            ({"share": 0}, "the shares that are destroyed must be above 0"),
            ({"share": None}, "Examples that are broken too is empty"),
            ({"share": 101}, "must be above 0 and at most 1"),
            ({"method": "transfer", "transforms": ["negation"]}, "transforms are some of"),
            ({"transforms": ["negation"]}, "transforms are some of"),
            ({"model": "minilm_sst2", "transforms": ["copysort"]}, "transforms are some of"),
            ({"model": "nosuch"}, "no model"),
            ({"model": "minilm_reader"}, "label"),
        ],
    ),
}
"""What each form refuses, and with which words."""


def test_a_wrong_form_is_refused_by_a_sentence(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / SMALL, {"news": 30, "novels": 30})
    Path("texts.csv").write_text("text\nhello\n")

    def refused(form: Callable[..., Any], changed: dict[str, Any], sentence: str) -> None:
        with pytest.raises(UserError, match=re.escape(sentence)):
            form(**changed)

    few = "Repeats must be a whole number from 1 to 20"
    repeats = [({"repeats": n}, few) for n in (None, 0, 21)]
    cases = [
        (form, *case)
        for kind, (form, own) in FORMS.items()
        for case in [*own, *(repeats if kind != inoculation.KIND else [])]
    ]
    assert failures(refused, cases) == {}


def test_a_run_has_no_more_cells_than_a_visitor_may_ask_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NLI_CLINIC_MAX_CELLS", "7")
    assert len(inoculations(sizes=["5"], seeds="0,1,2,3,4,5,0")) == 1
    with pytest.raises(UserError, match="a run of 8 cells is more than 7; choose fewer"):
        inoculations(sizes=["5"], seeds="0,1,2,3,4,5,6")
