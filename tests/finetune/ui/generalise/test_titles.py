"""Skills and runs are called by plain words."""

from dataclasses import asdict, replace

import pytest

from finetune.trials.generalisation import FILE, phenomena
from finetune.ui.generalise.titles import run_title, skill_choices, skill_title, subject
from probe.tasks.nli import NLI
from tests.support.runs.generalisation import PLAN, stored_run


@pytest.mark.parametrize("name", phenomena())
def test_a_skill_is_called_by_no_code_name(name: str) -> None:
    assert skill_title(name)[0].isupper()
    assert name not in skill_title(name)


def test_all_kinds_of_templates_that_vary_and_a_file_can_be_chosen() -> None:
    assert [name for _, name in skill_choices(NLI)] == ["numerical", "dative", FILE]


def test_a_run_is_named_by_skill_what_varies_model_and_speed() -> None:
    run = stored_run([])
    assert subject(run) == "Numbers by sentence on MiniLM"
    assert run_title(run) == "Numbers by sentence on MiniLM, quick"


def test_a_run_of_an_own_file_is_named_by_the_file() -> None:
    plan = replace(PLAN, phenomenon="reviews", vary=FILE, mode="full")
    run = replace(stored_run([]), plan=asdict(plan))
    assert run_title(run) == "reviews (own file) on MiniLM, as published"
