"""What is chosen and typed in the Repair tab becomes a run, or one sentence."""

import re
from dataclasses import replace
from typing import Any

import pytest

from finetune.trials import calibration as calibration
from finetune.trials import mitigation as mitigation
from finetune.trials import transfer as transfer
from finetune.trials.word_salad import salad_names
from finetune.ui.repair.form import Form, forecast, form_of, plan_of, request_of, requests
from finetune.ui.repair.titles import ALL
from probe.errors import UserError
from probe.tasks.nli import NLI
from probe.tasks.sentiment import SENTIMENT

FORM = Form("minilm", ("invalid", "threshold"), sizes="20", lr="1e-3")
VALUES: list[Any] = ["minilm", "invalid", [ALL], ["100"], 2, "usual", True, 50, 30, "fast"]


def test_the_page_s_values_come_in_the_order_of_the_fields() -> None:
    methods = ("invalid", "threshold", "entropic")
    assert form_of(*VALUES) == Form("minilm", methods, (), "100", "0,1", "usual", 0.5, 0.3, "fast")


def test_without_comparison_there_is_one_method() -> None:
    assert form_of(*VALUES[:6], False, *VALUES[7:]).methods == ("invalid",)


def test_the_fields_arrive_in_a_plan_of_a_mitigation() -> None:
    form = replace(FORM, transforms=("sort", "drop"), seeds="0,1", share=0.4, gradient_share=0.2)
    plan, source = plan_of(form)
    assert isinstance(plan, mitigation.Plan)
    assert (plan.methods, plan.transforms) == (("invalid", "threshold"), ("sort", "drop"))
    assert (plan.sizes, plan.seeds, plan.share, plan.gradient_share) == ((20,), (0, 1), 0.4, 0.2)
    assert (plan.training.lr, plan.training.mode, plan.task) == (1e-3, "fast", "nli")
    assert all(example.gold for example in source.pool)


def test_a_method_of_calibration_makes_a_calibration() -> None:
    plan, _ = plan_of(replace(FORM, methods=("focal", "temperature")))
    assert isinstance(plan, calibration.Plan)
    assert plan.methods == ("focal", "temperature")


def test_one_kind_at_a_time_takes_all_changes_of_the_task() -> None:
    plan, _ = plan_of(Form("minilm_sst2", ("transfer",), sizes="20"))
    assert isinstance(plan, transfer.Plan)
    assert (plan.task, plan.transforms) == ("sentiment", salad_names(SENTIMENT))
    assert plan.salad_only
    some, _ = plan_of(replace(FORM, methods=("transfer",), transforms=("sort",)))
    assert isinstance(some, transfer.Plan) and some.transforms == ("sort",)


def test_the_usual_rate_is_the_model_s_own() -> None:
    plan, _ = plan_of(replace(FORM, lr="usual"))
    assert plan.training.lr == 1e-3
    published, _ = plan_of(replace(FORM, lr="", mode="full"))
    assert published.training.lr == 2e-5


@pytest.mark.parametrize(
    ("methods", "kind"),
    [(("temperature",), "calibration"), (("entropic",), "mitigation"), (("transfer",), "transfer")],
)
def test_a_request_is_of_the_method_s_kind(methods: tuple[str, ...], kind: str) -> None:
    request = request_of(replace(FORM, methods=methods))
    assert request.kind == kind
    assert set(request.artefacts["sets"]) == {"dev", "test", "pool"}


def test_the_page_asks_for_one_run() -> None:
    (request,) = requests(*VALUES)
    assert mitigation.plan_from(request.plan).seeds == (0, 1)


def test_a_forecast_counts_trainings_and_names_what_is_compared() -> None:
    said = forecast(*VALUES)
    assert "for 4 trainings on one core" in said  # two methods that train, two repeats
    assert "Only the upper layers learn. Learning rate: 0.001." in said
    assert "Compared with: Threshold alone, Be unsure of salad." in said
    assert "Quick costs much here" in said


def test_a_forecast_of_all_weights_warns_of_nothing() -> None:
    assert "Quick costs much" not in forecast(*VALUES[:-1], "full")


def test_a_forecast_of_a_temperature_alone_says_that_no_weight_changes() -> None:
    said = forecast("minilm", "temperature", [ALL], ["100"], 1, "", False, 50, 50, "fast")
    assert "No weight of the model changes." in said and "trainings" not in said


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"methods": ()}, "choose a method: temperature"),
        ({"methods": ("hope",)}, "choose a method: temperature"),
        ({"methods": ("invalid", "focal")}, "choose a method: temperature"),
        ({"sizes": "20, many"}, "Examples '20, many' is not a list of numbers"),
        ({"sizes": ""}, "give at least one size"),
        ({"sizes": "5000"}, "each size must be from 1 to"),
        ({"lr": "1e-3, 1e-4"}, "give one learning rate"),
        ({"lr": "fast"}, "Learning rate 'fast' is not a list of numbers"),
        ({"share": 0.0}, "the shares that are destroyed must be above 0"),
        ({"methods": ("transfer",), "transforms": ("negation",)}, "transforms are some of"),
        ({"transforms": ("negation",)}, "transforms are some of"),
        ({"model": "nosuch"}, "no model"),
        ({"epochs": 0}, "epochs must be from 1"),
    ],
)
def test_a_wrong_form_is_refused_by_a_sentence(changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError, match=re.escape(sentence)):
        plan_of(replace(FORM, **changed))


@pytest.mark.parametrize("repeats", [None, 0, 21])
def test_repeats_are_from_one_to_twenty(repeats: float | None) -> None:
    with pytest.raises(UserError, match="Repeats must be a whole number from 1 to 20"):
        form_of(*VALUES[:4], repeats, *VALUES[5:])


@pytest.mark.parametrize("percent", [None, -1, 101])
def test_a_share_is_a_percentage(percent: float | None) -> None:
    with pytest.raises(UserError, match="give a share from 0 to 100 percent"):
        form_of(*VALUES[:7], percent, *VALUES[8:])


def test_a_change_of_another_task_is_refused() -> None:
    assert "copysort" in salad_names(NLI)
    form = Form("minilm_sst2", ("transfer",), ("copysort",), sizes="20")
    with pytest.raises(UserError, match="transforms are some of"):
        plan_of(form)
