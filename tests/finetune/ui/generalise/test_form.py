"""What is chosen and typed in the Generalise tab becomes a run, or one sentence."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from finetune.trials.generalisation_plan import FILE, KIND, Thresholds, plan_from
from finetune.ui.generalise.form import Form, forecast, form_of, plan_of, request_of, requests
from probe.errors import UserError
from tests.support.runs.condition_files import written

FORM = Form("minilm", "numerical", "complexity", sizes="20", seeds="0", lrs="1e-3")
VALUES = ["minilm", "numerical", None, None, "range", ["50", "200"], 2, "usual", "fast", 5]


def of_file(path: str, **fields: Any) -> Form:
    """Return the form of a file whose column `genre` names the kinds."""
    return replace(FORM, skill=FILE, vary="", file=path, **{"column": "genre", **fields})


def test_the_page_s_values_come_in_the_order_of_the_fields() -> None:
    assert form_of(*VALUES) == Form(
        "minilm", "numerical", "range", "50, 200", "0,1", "usual", "fast", 5
    )


def test_the_fields_arrive_in_the_plan() -> None:
    plan, data = plan_of(replace(FORM, vary="range", seeds="0,1,2", max_loss=15, max_epochs=4))
    assert plan.rows == plan.columns == ("30-49", "60-79", "200-299", "1000-9999")
    assert (plan.sizes, plan.seeds, plan.lrs) == ((20,), (0, 1, 2), (1e-3,))
    assert (plan.mode, plan.max_epochs, plan.thresholds) == ("fast", 4, Thresholds(0.15))
    assert len(data.original) == 900 and not data.rows


def test_the_usual_rates_are_the_model_s_own_and_a_lower() -> None:
    assert plan_of(replace(FORM, lrs="usual"))[0].lrs == (3e-4, 1e-3)


def test_a_request_holds_plan_and_hashes_of_what_is_drawn() -> None:
    (request,) = requests(*[*VALUES[:5], ["20"], 1, "1e-3", "fast", 10])
    assert request.kind == KIND
    assert plan_from(request.plan).seeds == (0,)
    assert set(request.artefacts["sets"]["seeds"]) == {"0"}


def test_a_column_of_a_file_names_the_kinds(tmp_path: Path) -> None:
    path = written(tmp_path / "mine.csv", {"news": 30, "novels": 30})
    request = request_of(of_file(path, sizes="8"))
    plan = plan_from(request.plan)
    assert (plan.phenomenon, plan.vary, plan.rows) == ("mine", FILE, ("news", "novels"))
    assert request.artefacts["sources"] == {"challenge-file": "mine.csv", "condition": "genre"}


def test_a_file_of_another_task_is_read_as_that_tasks(tmp_path: Path) -> None:
    path = tmp_path / "reviews.csv"
    rows = [f"It was {word} {n}.,{word},{n % 2}" for n in range(40) for word in ("good", "bad")]
    path.write_text("\n".join(["sentence,genre,label", *rows]) + "\n")
    plan, _ = plan_of(of_file(str(path), model="minilm_sst2", sizes="8"))
    assert (plan.task, plan.rows) == ("sentiment", ("good", "bad"))


def test_a_forecast_counts_the_trainings_and_names_the_rates() -> None:
    said = forecast(*[*VALUES[:5], ["20"], 2, "1e-3", "fast", 10])
    assert "for 8 trainings on one core" in said  # four ranges, two repeats
    assert "Only the upper layers learn. Learning rates: 0.001." in said


def test_before_there_is_a_file_a_forecast_waits_for_it() -> None:
    said = forecast(*["minilm", FILE, *VALUES[2:]])
    assert "Once there is a file" in said and "alert" not in said


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"skill": FILE}, "choose a file of your own"),
        ({"vary": "length"}, "numerical templates cannot vary 'length'"),
        ({"skill": "<b>"}, "there are no conditions for '<b>'"),
        ({"sizes": "20, many"}, "Examples '20, many' is not a list of numbers"),
        ({"sizes": ""}, "give at least one size"),
        ({"max_loss": None}, "give the loss in points"),
        ({"max_loss": 0}, "must be above 0"),
        ({"lrs": "fast"}, "Learning rates 'fast' is not a list of numbers"),
        ({"model": "nosuch"}, "no model"),
        ({"model": "minilm_sst2"}, "the templates are nli's, the model answers sentiment"),
        ({"max_epochs": 0}, "must be 1 or more"),
    ],
)
def test_a_wrong_form_is_refused_by_a_sentence(changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError, match=re.escape(sentence)):
        plan_of(replace(FORM, **changed))


@pytest.mark.parametrize("repeats", [None, 0, 21])
def test_repeats_are_from_one_to_twenty(repeats: float | None) -> None:
    with pytest.raises(UserError, match="Repeats must be a whole number from 1 to 20"):
        form_of(*[*VALUES[:6], repeats, *VALUES[7:]])


def test_a_file_without_a_chosen_column_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "mine.csv", {"news": 3, "novels": 3})
    with pytest.raises(UserError, match=r"say which column of mine\.csv names the kind"):
        plan_of(of_file(path, column=None))


def test_a_small_file_is_told_to_train_on_fewer_examples(tmp_path: Path) -> None:
    path = written(tmp_path / "mine.csv", {"news": 30, "novels": 30})
    with pytest.raises(UserError, match="not 1,000; choose fewer examples"):
        request_of(of_file(path, sizes="1000"))
