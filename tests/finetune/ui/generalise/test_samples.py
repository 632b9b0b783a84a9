"""What the Generalise tab shows below the chosen skill."""

from pathlib import Path

import pytest

from finetune.trials.generalisation import conditions, grids, phenomena
from finetune.ui.generalise.samples import (
    file_shown,
    fitting_vary,
    kind_columns,
    kinds_shown,
)
from probe.errors import FileError
from probe.tasks.nli import NLI
from tests.support.runs.condition_files import written

PLACES = [(skill, vary) for skill in phenomena() for vary in grids(skill)]


@pytest.mark.parametrize(("skill", "vary"), PLACES)
def test_there_is_an_example_of_each_kind(skill: str, vary: str) -> None:
    shown = kinds_shown(skill, vary)
    assert shown.count("<li>") == len(conditions(skill, vary)) > 1
    assert all(f">{each.title}</b>" in shown for each in conditions(skill, vary))
    assert shown.index("<li>") < shown.index("<details")


def test_what_varies_stays_where_the_skill_has_it() -> None:
    assert fitting_vary("numerical", "range") == "range"
    assert fitting_vary("dative", "range") == "complexity"
    assert fitting_vary("file", "range") == ""


def test_the_columns_that_may_name_kinds_are_neither_texts_nor_label(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    rows = [f"Day {n}.,No day.,neutral,{n},a,{n % 2},{n % 3}" for n in range(40)]
    head = "premise,hypothesis,label,number,same,parity,Condition"
    path.write_text("\n".join([head, *rows]) + "\n")
    assert kind_columns(str(path), NLI) == ["Condition", "parity"]


def test_the_kinds_of_a_file_are_counted(tmp_path: Path) -> None:
    path = written(tmp_path / "mine.csv", {"news": 12, "novels": 3})
    assert "2 kinds of rows: news 12, novels 3." in file_shown(path, "genre", NLI)


def test_what_a_file_must_hold_is_said_before_there_is_one() -> None:
    assert "a column that names the kind of each row" in file_shown(None, None, NLI)


def test_a_file_without_such_a_column_is_answered_by_a_sentence(tmp_path: Path) -> None:
    path = written(tmp_path / "mine.csv", {"news": 12})
    assert kind_columns(path, NLI) == []
    with pytest.raises(FileError, match="must have 2 to 12 different values"):
        file_shown(path, None, NLI)
