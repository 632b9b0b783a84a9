"""What is typed into the form becomes plans and sets, or one sentence."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from finetune.trials.inoculation_plan import THRESHOLDS, Thresholds
from finetune.ui.inoculate import plan_form
from finetune.ui.inoculate.api import STANDARD_LIMITS
from finetune.ui.inoculate.plan_form import (
    Form,
    forecast,
    form_of,
    jobs_of,
    plans_of,
    sets_of,
    sources_of,
)
from probe.errors import FileError, LimitError, UserError
from probe.tasks.nli import NLI

FORM = Form(
    ["minilm"], ["negation"], "5,10", "2e-5", "0", "fast", 10, 5, None, False, STANDARD_LIMITS
)


def written(path: Path, rows: int, split: bool = False) -> str:
    """Write a challenge of so many pairs, half of them to test on where it has a split."""
    head = "premise,hypothesis,label" + (",split" if split else "")
    lines = [
        f"It was day {row}.,It was no day.,contradiction"
        + (f",{'test' if row % 2 else 'train'}" if split else "")
        for row in range(rows)
    ]
    path.write_text("\n".join([head, *lines]) + "\n")
    return str(path)


def files(**given: str) -> tuple[str | None, ...]:
    return tuple(given.get(name.replace("-", "_")) for name in plan_form.UPLOADS)


def flat(form: Form, name: str = "", train: int = 1000) -> list[Any]:
    """What the page's components hold: the numbers of examples are chips."""
    models, challenges, sizes, *others = list(vars(form).values())[:10]
    return [models, challenges, sizes.split(", "), *others, *form.limits, *[None] * 5, name, train]


def test_there_is_a_plan_for_each_model_and_challenge() -> None:
    form = replace(FORM, models=["minilm", "da"], challenges=["negation", "spelling"])
    found = [(plan.challenge, plan.model) for plan in plans_of(form)]
    assert found == [
        ("negation", "minilm"), ("negation", "da"), ("spelling", "minilm"), ("spelling", "da"),
    ]  # fmt: skip


def test_the_fields_arrive_in_the_plan() -> None:
    form = replace(FORM, mode="full", max_epochs=3, patience=2, batch=16, include_epoch0=True)
    (plan,) = plans_of(form)
    assert (plan.sizes, plan.lrs, plan.seeds) == ((5, 10), (2e-5,), (0,))
    assert (plan.mode, plan.max_epochs, plan.patience, plan.batch) == ("full", 3, 2, 16)
    assert plan.include_epoch0


def test_thresholds_are_typed_in_points_and_percent() -> None:
    assert plans_of(FORM)[0].thresholds == THRESHOLDS
    typed = replace(FORM, limits=(1, 4, 90, 30, 60, 7, 100))
    assert plans_of(typed)[0].thresholds == Thresholds(0.01, 0.04, 0.9, 0.3, 0.6, 0.07, 100)


def test_the_usual_rate_is_each_models_own_and_larger_where_fewer_weights_learn() -> None:
    form = replace(FORM, models=["minilm", "da"], lrs="usual", mode="full")
    assert [plan.lrs for plan in plans_of(form)] == [(2e-5,), (0.01,)]
    assert plans_of(replace(form, mode="fast"))[0].lrs == (1e-3,)


def test_the_pages_values_come_in_the_order_of_the_form() -> None:
    values = flat(FORM, name="mine", train=200)
    assert form_of(*values) == replace(FORM, own_name="mine", own_train=200)


def test_a_file_without_a_split_is_divided(tmp_path: Path) -> None:
    place = written(tmp_path / "mine.csv", 30)
    form = replace(FORM, files=files(challenge_file=place), own_train=10)
    sets = sets_of(form, "mine", NLI)
    assert (len(sets.challenge_train), len(sets.challenge_test)) == (10, 20)
    assert [plan.challenge for plan in plans_of(form)] == ["mine"]


def test_a_column_split_divides_a_file(tmp_path: Path) -> None:
    place = written(tmp_path / "mine.csv", 30, split=True)
    sets = sets_of(replace(FORM, files=files(challenge_file=place)), "mine", NLI)
    assert (len(sets.challenge_train), len(sets.challenge_test)) == (15, 15)


def test_original_and_two_challenge_files_take_their_places(tmp_path: Path) -> None:
    names = ("original_dev", "original_test", "challenge_train", "challenge_test")
    given = {name: written(tmp_path / f"{name}.csv", n) for n, name in enumerate(names, 11)}
    sets = sets_of(replace(FORM, files=files(**given)), "mine", NLI)
    lengths = [len(pairs) for pairs in (sets.original_dev, sets.original_test)]
    assert lengths == [11, 12]
    assert (len(sets.challenge_train), len(sets.challenge_test)) == (13, 14)


def test_uploaded_files_are_named_by_their_options(tmp_path: Path) -> None:
    form = replace(FORM, files=files(challenge_file="/tmp/a/mine.csv"), own_train=200)
    assert sources_of(form) == {"challenge-file": "mine.csv", "train": "200"}
    assert sources_of(FORM) == {}


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        (replace(FORM, models=[]), "at least one model"),
        (replace(FORM, challenges=[]), "at least one challenge"),
        (replace(FORM, models=["nosuch"]), "nosuch"),
        (replace(FORM, challenges=["sideways"]), "no challenge 'sideways'"),
        (replace(FORM, sizes="many"), "Sizes 'many' is not a list of numbers"),
        (replace(FORM, lrs="fast"), "Learning rates 'fast' is not a list"),
        (replace(FORM, sizes="99999"), "no size can be larger"),
        (replace(FORM, patience=None), "Patience is empty"),
        (
            replace(FORM, limits=(None, *STANDARD_LIMITS[1:])),
            "Outcome 0: gap below, points is empty",
        ),
        (replace(FORM, max_epochs=0), "must be 1 or more"),
        (replace(FORM, files=files(challenge_train="a.csv")), "upload both challenge files"),
        (
            replace(FORM, files=files(challenge_file="a.csv", challenge_test="b.csv")),
            "one challenge file or two",
        ),
        (
            replace(FORM, files=files(challenge_file="a.csv"), own_name="negation"),
            "a challenge called negation already",
        ),
    ],
)
def test_a_wrong_form_is_refused_by_a_sentence(form: Form, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        jobs_of(form)


def test_a_run_has_no_more_cells_than_a_visitor_may_ask_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NLI_CLINIC_MAX_CELLS", "7")
    form = replace(FORM, sizes="5", seeds="0,1,2,3,4,5,0")
    assert len(jobs_of(form)) == 1
    with pytest.raises(LimitError, match="a run of 8 cells is more than 7; choose fewer"):
        jobs_of(replace(form, seeds="0,1,2,3,4,5,6"))


def test_twenty_thousand_seeds_are_too_many_on_any_page() -> None:
    seeds = ",".join(map(str, range(20_000)))
    with pytest.raises(LimitError, match="a run of 20,001 cells is more than 5,000"):
        jobs_of(replace(FORM, sizes="5", seeds=seeds))
    said = forecast(*flat(replace(FORM, sizes="5", seeds=seeds)))
    assert "20,001 cells" in said


def test_a_forecast_asks_for_the_model_that_is_loaded_already() -> None:
    asked = list[str]()

    def loaded(name: str) -> None:
        asked.append(name)

    forecast(*flat(replace(FORM, sizes="5")), loaded=loaded)
    assert asked == [FORM.models[0]]


def test_a_file_that_holds_no_pairs_is_refused_by_a_sentence(tmp_path: Path) -> None:
    place = tmp_path / "mine.csv"
    place.write_text("text\nhello\n")
    with pytest.raises(FileError, match="it has: text"):
        jobs_of(replace(FORM, files=files(challenge_file=str(place))))


def test_all_is_as_large_as_the_challenge_training_set() -> None:
    ((plan, sets),) = jobs_of(replace(FORM, sizes="5,all"))
    assert plan.sizes == (5, len(sets.challenge_train))


def test_a_forecast_says_how_many_runs_and_at_which_rates() -> None:
    form = replace(FORM, models=["minilm", "da"], challenges=["negation", "spelling"], lrs="usual")
    said = forecast(*flat(form))
    assert (
        "4 runs: about" in said
        and "for 8 trainings" in said
        and "MiniLM 0.001; Decomposable Attention 0.01" in said
    )


def test_a_forecast_of_a_wrong_plan_is_a_sentence() -> None:
    assert 'role="alert">give at least one size' in forecast(*flat(replace(FORM, sizes="")))
