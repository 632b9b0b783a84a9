"""Check-up: what is chosen becomes runs, which are found again, shown to others and taken away."""

import json
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import gradio as gr
import pandas as pd
import pytest

from probe.checkup import experiment, measuring
from probe.checkup.measuring import ASKED, Figure, parts_of
from probe.checkup.report import FORMAT, command, figures_of, read_report, report_of
from probe.data.hub_dataset import fetch, read_reference
from probe.errors import UserError
from probe.models.hardware import resolve
from probe.models.library import ModelCache
from probe.runs.access import ModelAccess, as_token
from probe.runs.engine import Engine
from probe.runs.experiment import CellContext, Result, experiment_of
from probe.runs.models import named_model_hash
from probe.runs.store import Store
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI
from probe.tasks.reading import READING
from probe.transforms.registry import ready
from probe.ui.measure.checkup import (
    FORM,
    Planned,
    build_api,
    forecast,
    plans_of,
    since,
    view_of,
    write_files,
)
from probe.ui.measure.texts import NO_GOLD
from probe.ui.run_tab.shown import Looked, results
from probe.ui.run_tab.tab import Runs
from probe.ui.visitors.belongings import belongings, delete
from probe.ui.visitors.visitor_files import fresh_folder
from tests.support.cases import each
from tests.support.files.pair_files import PAIRS, row
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.pages.choices import chosen
from tests.support.pages.visitors import ME, YOU, page_models, uploaded
from tests.support.processes.hub import COMMIT, Hub, ServedDataset
from tests.support.runs.checkup import finished, scored

MODELS = page_models()
PLAIN = scored("accuracy", "plain", 80)


@pytest.fixture(autouse=True)
def home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home and an empty place for uploads."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(home / "gradio"))
    return home


def values(
    *models: str, source: str = "bundled", n: float | None = 5, task: str = "nli",
    own: dict[str, object] | None = None, **more: Any,
) -> list[Any]:  # fmt: skip
    """Return the values of the form, `own` those of the check-up alone."""
    form = {name: getattr(measuring.Asked, name) for name in FORM} | {"n": n} | (own or {})
    return [ME, task, *chosen(list(models), source, **{"seed": 3, **more}), *form.values()]


def of_file(home: Path, gold: str = "mine", meanings: str = "") -> list[Any]:
    """Return the form with a file whose columns and labels have names of their own."""
    rows = [
        {"first": each.premise, "second": each.hypothesis, "mine": f"my {each.gold}"}
        for each in tiny_pairs(12)
    ]
    path = home / "own.jsonl"
    without = {**rows[0], "mine": ""}
    path.write_text("".join(json.dumps(row) + "\n" for row in [*rows, without]))
    columns = ["first", "second", gold, None]
    return values(
        "da", source="file", path=str(uploaded(path)), columns=columns, meanings=meanings, seed=0
    )


def plan_of(asked: list[Any]) -> Planned:
    (planned,) = plans_of(MODELS, *asked)
    return planned


def test_what_is_chosen_is_checked_up_on_the_texts_of_each_model_s_task() -> None:
    plan, examples = plan_of(values("da"))
    assert list(examples) == list(bundled_examples(NLI, "test"))
    assert (plan.file, plan.reading, plan.asked.n, plan.asked.seed) == ("", (), 5, 3)
    plan, examples = plan_of(values("bidaf", task="reading"))
    assert list(examples) == list(bundled_examples(READING, "test"))
    plan, _ = plan_of(values("da", long="windows"))
    assert "--long windows" in command(plan)
    own: dict[str, object] = {"sign": "support", "draws": 2, "per_subcase": 7}
    plan, _ = plan_of(values("da", precision="bf16", own=own))
    assert vars(plan.asked) == {**own, "n": 5, "seed": 3, "long": "cut", "precision": "bf16"}
    assert "--precision bf16 --sign support --draws 2" in command(plan)
    first, second = (
        experiment.run_request(*both) for both in plans_of(MODELS, *values("da", "esim"))
    )
    assert (first.plan["model"], second.plan["model"]) == ("da", "esim")
    cells = experiment_of(first.kind).cells(first.plan)
    assert [cell["part"] for cell in cells] == parts_of(NLI)


def test_a_file_is_read_as_it_was_said_above_and_the_command_says_so(home: Path) -> None:
    meanings = json.dumps({f"my {label}": label for label in NLI.labels})
    plan, examples = plan_of(of_file(home, meanings=meanings))
    assert [(each.premise, each.gold) for each in examples] == [
        (each.premise, each.gold) for each in tiny_pairs(12)
    ]
    words = " ".join(plan.reading)
    assert plan.file == "own.jsonl"
    assert "--column premise=first --column hypothesis=second --gold mine" in words
    assert "--label-value my neutral=neutral" in words


def test_a_fetched_data_set_keeps_its_name_in_the_command(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    pd.DataFrame([row(pair) for pair in PAIRS]).to_parquet(tmp_path / "set" / "test.parquet")
    hub.datasets["owner/set"] = ServedDataset(tmp_path / "set")
    fetched = fetch(read_reference("hub:owner/set"), fresh_folder(ME)).path
    columns = ["premise", "hypothesis", "label", None]
    plan, _ = plan_of(values("da", source="file", path=str(fetched), columns=columns))
    assert f" da hub:owner/set@{COMMIT}:default/test --column" in command(plan)


@each(
    ("asked", "sentence"),
    [
        (values("da", source="one"), "takes more than one pair"),
        (values("da", source="file"), "choose a file first"),
        (values("da", n=None), "n must be a whole number"),
        (values("da", n=0), "n is 0, but how many examples .*: at least 1"),
        (values("da", n=ASKED["n"].high + 1), "n is 1,001, .* the command line takes more"),
        (values("da", own={"draws": 21}), "draws is 21, of which the page takes up to 20"),
        (values("da", seed=-1), "seed is -1, but which examples"),
        (values(), "choose a model above first"),
        (values("nobody"), "there is no model called 'nobody'"),
        ((), "holds 'my "),
        ((NO_GOLD,), "no pair with a gold label"),
    ],
)
def test_what_cannot_be_checked_up_is_refused_in_a_sentence(
    home: Path, asked: Any, sentence: str
) -> None:
    given = of_file(home, *asked) if isinstance(asked, tuple) else asked
    with pytest.raises(UserError, match=sentence):
        plan_of(given)


def test_the_estimate_counts_the_changes_and_not_the_other_parts() -> None:
    ways = f"in each of {len(ready(NLI))} ways"
    said = forecast(MODELS, *values("da"))
    assert f"600, of which 5 are changed {ways}" in said and "on one core" in said
    assert f"600, all of them changed {ways}" in forecast(MODELS, *values("da", n=600))


@each("order", [None, NLI.labels[::-1]])
def test_a_model_that_was_brought_is_checked_up_as_it_is_read_here(
    model: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, order: tuple[str, ...] | None
) -> None:
    """Workers know nothing of what this process has opened."""
    monkeypatch.setenv("NLI_CLINIC_OWN_MODELS", "folder")
    store = Store(f"sqlite:///{tmp_path / 'runs.sqlite'}")
    brought = ModelAccess(ModelCache(), store).open(ME, model, order).model
    later = ModelAccess(ModelCache(), store)
    assert brought.name in later.names(ME)
    ((plan, examples),) = plans_of(later, *values(brought.name))
    request = experiment.run_request(plan, examples[:6])
    cell = CellContext(named_model_hash(model), lambda: False)
    run_cell = experiment.CHECKUP.run_cell
    *_, found = run_cell(request.plan, request.inputs, {"part": "plain"}, cell)
    assert isinstance(found, Result)
    figures = {each["name"]: each["value"] for each in found.values["figures"]}
    answers = brought.predict(examples[:6])
    right = [each.label == example.gold for each, example in zip(answers, examples, strict=False)]
    assert figures["accuracy"] == pytest.approx(sum(right) / 6)


def test_a_press_begins_runs_that_are_found_again_shown_and_deleted(
    waiting_engine: tuple[Store, Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLI_CLINIC_MAX_KEPT_MODELS", "1")  # it keeps none
    runs = Runs([view_of()], *waiting_engine, path="measure")

    def begin(model: str, task: str = "nli") -> str:
        request = experiment.run_request(*plan_of(values(model, task=task)))
        (run,) = runs.start(ME, [request], keeps_models=False)
        return run.id

    assert "press Check up" in results(runs.views, [], Looked(ME, NLI))
    reader, run = begin("bidaf", "reading"), begin("da")
    assert runs.usual(Looked(ME, READING), "checkup").runs == (reader,)
    looked = runs.usual(Looked(ME, NLI), "checkup")
    assert looked.runs == (run,)
    rows = runs.rows(looked, runs.looked_at(looked))
    assert "Check-up of Decomposable Attention" in rows and "Waiting" in rows
    link = unescape(runs.link(looked))
    assert f"measure?view=checkup&task=nli&run={run}&grant=" in link
    assert runs.looked_at(Looked(YOU, NLI, (run,))) == []
    runs.store.set_state(run, "cancelled")
    mine = {each.id: each.name for each in belongings(runs.store, ME)["runs"]}
    assert mine[run] == "Check-up of Decomposable Attention"
    delete(runs.store, runs.engine, ME, "runs", run)
    assert [each.id for each in runs.store.runs()] == [reader]


def negation(right: int) -> list[Figure]:
    return [scored("negation", "stress", right), scored("negation.before", "stress", 80)]


def older(store: Store, folder: Path) -> str:
    """Return the uploaded report of an older check-up, at which negation cost more."""
    run = finished(store, ME, [[PLAIN], negation(40)])
    return str(uploaded(write_files([run], folder)[1]))


def test_a_person_takes_a_page_and_the_values_away(tmp_path: Path) -> None:
    run = finished(Store(), ME, [[PLAIN], negation(50)])
    page, kept = write_files([run], tmp_path / "one")
    assert "<title>Check-up of Decomposable Attention" in page.read_text()
    assert list(figures_of(read_report(kept))) == ["accuracy", "negation", "negation.before"]
    several = write_files([run, run], tmp_path / "two")
    assert {path.parent.name for path in several} == {run.id}


def test_an_older_report_says_what_got_better_and_nothing_of_another_s_run(tmp_path: Path) -> None:
    store = Store()
    before, unfinished = older(store, tmp_path), finished(store, ME, [[PLAIN], []])
    mine, other = (finished(store, who, [[PLAIN], negation(70)]).id for who in (ME, YOU))
    assert "Better: Negation went from 40.0 to 70.0 %" in since(store, ME, [mine], before)
    assert since(store, ME, [mine], None) == ""
    said = since(store, ME, [other], before)
    assert "choose a check-up above first" in said and "70.0" not in said
    assert report_of(unfinished)["missing"] == ["part 1"]
    assert "Nothing changed that can be measured" in since(store, ME, [unfinished.id], before)


@each(
    "change",
    [
        {"figures": [{"name": "accuracy"}]},
        {"figures": [{"value": "much"}]},
        {"figures": 3},
        {"data": {}},
        {"task": "chess"},
        {"format": FORMAT + 1},
    ],
)
def test_a_file_that_is_no_report_is_answered_by_a_sentence(
    tmp_path: Path, change: dict[str, object]
) -> None:
    store = Store()
    newer, path = finished(store, ME, [[PLAIN], negation(70)]), Path(older(store, tmp_path))
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    said = since(store, ME, [newer.id], str(path))
    assert 'role="alert"' in said
    assert "report.json" in said or "there is no task" in said


def test_over_http_it_starts_for_its_owner_and_refuses_in_a_sentence(
    waiting_engine: tuple[Store, Engine],
) -> None:
    store, engine = waiting_engine
    with gr.Blocks() as blocks:
        build_api(ModelAccess(ModelCache(), store), engine)
    (call,) = [each.fn for each in blocks.fns.values() if each.api_name == "checkup"]
    assert isinstance(call, Callable)  # type: ignore[arg-type]  # of gradio
    numbers = ("5", "2", "0")  # as the components that they travel in hold them
    refused = {
        ("da", "many", "2", "0"): "n 'many' is not a whole number",
        ("da", "5", "2", "-1"): "seed '-1' is not a whole number",
        ("da", "0", "2", "0"): "n is 0, but how many examples",
        ("da", "5", "501", "0"): "the command line takes more",
        ("nobody", *numbers): "there is no model called 'nobody'",
        (
            "da",
            *numbers,
            "",
            None,
            "{}",
            "cut",
            "auto",
            "paper",
        ): "sign 'paper' is not one of support",
        ("da", *numbers, "", "/etc/hostname"): "this file is not here any more",
    }
    for given, sentence in refused.items():
        with pytest.raises(gr.Error, match=sentence):
            call(*given)
    assert not store.runs()
    started = call("da", *numbers, ME, None)
    (run,) = store.runs(ME)
    assert (started["run"], started["owner"]) == (run.id, ME)
    assert measuring.plan_from(run.plan).asked == measuring.Asked(5, 2, precision=resolve("auto"))
    call("da", *numbers, ME, None, {}, "windows", "bf16", "abs", 3)
    told = next(each for each in store.runs(ME) if each.id != run.id)
    asked = measuring.plan_from(told.plan).asked
    assert asked == measuring.Asked(5, 2, 0, "windows", "bf16", "abs", 3)
    assert as_token(call("da", *numbers, "", None)["owner"])
