"""Comparing from the page: what is shown on the way, at the end, and after a stop."""

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from probe.analysis.batch import FIRST_ROWS, Chunk
from probe.analysis.comparison import Row, compare_rows, read
from probe.data.rows import Source, guess
from probe.data.source import read_table
from probe.errors import ModelError
from probe.tasks.nli import NLI
from probe.ui.answers.answering import in_steps
from probe.ui.measure.answer_files import names_here, offered
from probe.ui.measure.choice import BUNDLED, FILE, ONE, UNCHANGED, Asked
from probe.ui.measure.compare import Compare
from probe.ui.measure.compared import CALLED, Pressed
from probe.ui.measure.result_files import files_of
from tests.support.files.scoring_files import pair_file
from tests.support.models.tiny_models import shared
from tests.support.pages.choices import chosen
from tests.support.pages.views import asked_by, each_named, named, pressed, view_of
from tests.support.pages.visitors import ME, uploaded

NAMES, ROWS = ["one", "other"], 300


@pytest.fixture
def view() -> Compare:
    return view_of(Compare)


@pytest.fixture
def comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Asked, Source, Iterator[Chunk[Row]]]:
    """Two models on 300 pairs; results are written below the test's own folder."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    table = read_table(pair_file(tmp_path / "mine.csv", ROWS))
    unread = read(table, guess(["premise", "hypothesis", "label"], NLI), NLI)
    models = [replace(shared(), name=name) for name in NAMES]
    given = chosen(NAMES, FILE, str(table.path), precision="fp32")
    return Asked.read(ME, "nli", *given), table, compare_rows(models, unread, "fp32")


def asked(view: Compare, names: list[str], source: str) -> Iterator[dict[str, Any]]:
    """Press Compare, with two texts in the fields of one pair."""
    texts = ("A dog barks.", "A dog is loud.")
    given = chosen(names, source, texts=texts, precision="fp32")
    return each_named(view, view.compare_texts(asked_by(), ME, "nli", *given))


def test_a_file_is_compared_to_its_end_and_its_rows_are_pressed(
    view: Compare, comparison: tuple[Asked, Source, Iterator[Chunk[Row]]]
) -> None:
    *_, last = each_named(view, view.compared(*comparison))
    key = last["files"].partition('name="key" value="')[2].partition('"')[0]
    written = files_of(key)["-compared"].open(newline="", encoding="utf-8")
    assert len(list(csv.DictReader(written))) == ROWS and last["progress"] == ""
    turned = named(view, view.press(pressed(str(Pressed(key, page=2, cell="same")))))
    assert "300 pairs, page 2 of 15" in turned["rows"] and list(turned) == ["rows"]
    swapped = named(view, view.press(pressed(str(Pressed(key, 1, 0)))))
    assert list(swapped) == ["rows", "matrix", "numbers"]
    # thirty pairs come round ten times: what a hypothesis is asked of is answered alike
    alike = named(view, view.press(pressed(str(Pressed(key, cell="bundle|premise")))))["rows"]
    assert "Contrast sets by premise: " in alike and "exact McNemar p = 1.000" in alike
    said = named(view, view.press(pressed(str(Pressed(key, cell="bundle|id")))))
    assert "there are no contrast sets" in said["rows"] and "|bundle|id" in last["parts"]
    for wrong in (Pressed(key, 0, 2), Pressed(key, 1, 1)):
        said = named(view, view.press(pressed(str(wrong))))
        assert "choose two of the models" in said["rows"]


def test_stop_hands_over_what_was_compared_and_nothing_before_the_first_rows(
    view: Compare, comparison: tuple[Asked, Source, Iterator[Chunk[Row]]]
) -> None:
    *job, chunks = comparison
    shown = []
    for values in view.compared(*job, in_steps("file_minutes", chunks, view.stops.reason("me"))):
        shown.append(named(view, values))
        view.stops.ask("me")
    assert f'role="status">Stopped after {FIRST_ROWS} of {ROWS} rows.' in shown[-1]["progress"]
    key = shown[-1]["files"].partition('name="key" value="')[2].partition('"')[0]
    assert files_of(key)["-compared"].read_text().count("\n") == FIRST_ROWS + 1
    (last,) = view.compared(*job, in_steps("file_minutes", chunks, view.stops.reason("me")))
    told = named(view, last)["progress"]
    assert 'role="status">Stopped before the first rows were compared.' in told
    assert UNCHANGED in told


def test_who_waits_in_line_is_told_and_may_stop(view: Compare) -> None:
    with view.line.place(("10.0.0.2", "other"), lambda: "") as before:
        assert list(before) == []
        shown = asked(view, ["da", "esim"], BUNDLED)
        waiting = next(shown)
        assert "before yours" in waiting["progress"]
        assert waiting["go"].constructor_args == {"interactive": False}
        assert waiting["halt"].constructor_args == {"visible": True}
        view.stops.ask("me")
        (last,) = shown
    assert "Stopped before the first rows were compared." in last["progress"]
    assert UNCHANGED in last["progress"] and "alert" not in last["progress"]


def test_one_pair_is_not_begun_again_meanwhile_and_offers_no_stop_that_nothing_heeds(
    view: Compare,
) -> None:
    asking, answered = asked(view, ["da", "esim"], ONE)
    assert 'role="status">Asking the models' in asking["progress"]
    assert asking["go"].constructor_args == {"interactive": False}
    assert "halt" not in asking and "halt" not in answered and answered["tiles"]
    (refused,) = asked(view, ["da"], ONE)
    assert UNCHANGED in refused["progress"]


def test_files_of_answers_stand_where_models_stand(
    view: Compare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    rows = [
        f"A cat sleeps {at}.,It rests.,{gold}" for at, gold in enumerate(("entailment", "neutral"))
    ]
    files = list[Path]()
    for name, answers in (
        ("base", ("entailment", "entailment")),
        ("fixed", ("neutral", "neutral")),
    ):
        path = tmp_path / name / "eval.csv"
        path.parent.mkdir()
        lines = (f"{row},{answer}\n" for row, answer in zip(rows, answers, strict=True))
        path.write_text("premise,hypothesis,label,prediction\n" + "".join(lines))
        files.append(uploaded(path))
    chosen_ones = list[str]()
    for file in files:  # each is dropped, and stands beside those before it
        chosen_ones = offered(ME, ["minilm"], str(file), chosen_ones or ["minilm"]).value
    assert [names_here(ME, chosen_ones)[name] for name in chosen_ones] == files
    columns = ("premise", "hypothesis", "label", None)
    given = chosen(chosen_ones, FILE, str(files[1]), columns)
    *_, last = each_named(view, view.compare_texts(asked_by(), ME, "nli", *given))
    assert "eval.csv and 2 eval.csv cannot be told apart (50.0 and 50.0" in last["say"]
    assert "matched to the rows of eval.csv by their texts" in last["progress"]
    key = last["files"].partition('name="key" value="')[2].partition('"')[0]
    cell = f"{CALLED}|1|entailment|neutral"
    turned = named(view, view.press(pressed(str(Pressed(key, cell=cell)))))
    assert "entailed, called neutral by 2 eval.csv: 1" in turned["rows"]
    assert "open in Probe" not in turned["rows"]
    assert {"-tables.csv", "-tables.md", "-tables.tex"} <= set(files_of(key))
    with pytest.raises(ModelError, match="this asks a model"):
        view.models.require(ME, chosen_ones[0])
