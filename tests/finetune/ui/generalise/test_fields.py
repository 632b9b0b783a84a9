"""The fields of the Generalise tab follow the task and the skill."""

from pathlib import Path

import pytest

from finetune.trials.generalisation import FILE, GRIDS
from finetune.ui.generalise.fields import follow, offered
from probe.tasks.nli import NLI
from probe.tasks.task import Task, offered_tasks
from probe.ui.task_choice import labelled
from tests.support.pages.visitors import ME, YOU, uploaded
from tests.support.runs.condition_files import written

OTHERS = [task for task in offered_tasks() if labelled(task) is not NLI]


@pytest.mark.parametrize("task", OTHERS, ids=lambda task: task.name)
def test_another_task_has_its_own_file_alone(task: Task) -> None:
    skill, *_ = offered(task)
    assert [name for _, name in skill.choices] == [FILE] == [skill.value]
    file, _, _, shown, vary = follow(ME, task.name, skill.value, None, None, "complexity")
    assert file.visible and not vary.visible
    assert "a column that names the kind of each row" in shown
    assert "<table" in shown and ">genre<" in shown and task.fields[-1] in shown


def test_inference_begins_with_numbers_and_the_sentence() -> None:
    skill, *_ = offered(NLI)
    assert skill.value == "numerical"
    file, _, column, _, vary = follow(ME, "nli", "numerical", None, None, "")
    assert vary.value == "complexity"
    assert not file.visible and not column.visible


def test_a_skill_offers_what_may_vary_in_it() -> None:
    file, _, column, shown, vary = follow(ME, "nli", "dative", None, None, "range")
    assert [name for _, name in vary.choices] == ["complexity", "lexical"]
    assert vary.value == "complexity" and "Simple" in shown
    assert not file.visible and not column.visible
    *_, vary = follow(ME, "nli", "numerical", None, None, "range")
    assert [name for _, name in vary.choices] == list(GRIDS) and vary.value == "range"


@pytest.mark.usefixtures("home")
def test_a_file_offers_its_columns_and_counts_its_kinds(tmp_path: Path) -> None:
    path = str(uploaded(Path(written(tmp_path / "mine.csv", {"news": 12, "novels": 3}))))
    file, _, column, shown, vary = follow(ME, "nli", FILE, path, None, "complexity")
    assert file.visible and column.visible and not vary.visible
    assert column.value == "genre" and "news 12, novels 3" in shown


@pytest.mark.usefixtures("home")
def test_another_visitor_s_file_is_not_read(tmp_path: Path) -> None:
    path = str(uploaded(Path(written(tmp_path / "mine.csv", {"news": 12, "novels": 3}))))
    follow(ME, "nli", FILE, path, None, "")
    _, _, column, shown, _ = follow(YOU, "nli", FILE, path, None, "")
    assert 'role="alert"' in shown and "news" not in shown and column.value is None


def test_a_data_set_of_the_hub_is_offered_where_a_file_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLI_CLINIC_OWN_MODELS", "hub")
    shown = [
        follow(ME, "nli", skill, None, None, "complexity")[1].visible for skill in ("dative", FILE)
    ]
    assert shown == [False, True]
    monkeypatch.setenv("NLI_CLINIC_OWN_MODELS", "folder")
    assert not follow(ME, "nli", FILE, None, None, "")[1].visible
