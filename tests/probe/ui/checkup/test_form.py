"""The form of a check-up: what is chosen in Compare becomes a plan and its examples."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from probe.checkup.measuring import Asked, parts_of
from probe.checkup.report import command
from probe.data.hub_dataset import fetch, read_reference
from probe.errors import OptionError, UserError
from probe.runs.experiment import experiment_of
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI
from probe.tasks.reading import READING
from probe.transforms.registry import ready
from probe.ui.checkup.form import MAX_N, Form, forecast, forms_of, plan_of, requests
from probe.ui.measure.texts import NO_GOLD
from tests.support.files.pair_files import PAIRS, row
from tests.support.models.tiny_bert import tiny_pairs
from tests.support.pages.choices import chosen
from tests.support.processes.hub import COMMIT, Hub, ServedDataset


def values(source: str = "bundled", n: float | None = 5, seed: int = 3, **more: Any) -> list[Any]:
    """Return the values of the form after the models."""
    return [*chosen([], source, seed=seed, **more)[1:], n]


def form_of(model: str, *given: Any) -> Form:
    (form,) = forms_of([model], *given)
    return form


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A file whose columns and labels have names of their own; one row has no label."""
    rows = [
        {"first": each.premise, "second": each.hypothesis, "mine": f"my {each.gold}"}
        for each in tiny_pairs(12)
    ]
    path = tmp_path / "own.jsonl"
    rows.append({**rows[0], "mine": ""})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def of_file(file: str, gold: str = "mine", meanings: str = "") -> list[Any]:
    columns = ["first", "second", gold, None]
    return values("file", seed=0, path=file, columns=columns, meanings=meanings)


def test_the_app_s_examples_are_checked_up_where_no_file_is_chosen() -> None:
    plan, examples = plan_of(form_of("da", *values()))
    assert list(examples) == list(bundled_examples(NLI, "test"))
    assert (plan.file, plan.reading, plan.asked.n, plan.asked.seed) == ("", (), 5, 3)
    assert list(plan.parts) == parts_of(NLI)


def test_a_model_of_another_task_is_checked_up_on_the_examples_of_its_own() -> None:
    plan, examples = plan_of(form_of("bidaf", *values()))
    assert plan.task == READING.name
    assert list(examples) == list(bundled_examples(READING, "test"))


def test_long_premises_are_read_in_windows_where_that_is_asked_for_and_can_be() -> None:
    plan, _ = plan_of(form_of("da", *values(long="windows")))
    assert "--long windows" in command(plan)
    out_of_sight = form_of("minilm_qqp", *values(long="windows"))
    assert out_of_sight.asked.long == "cut"
    with pytest.raises(OptionError, match="long=windows is for inference"):
        plan_of(replace(out_of_sight, asked=Asked(long="windows")))


def test_a_file_is_read_as_it_was_said_above_and_the_command_says_so(file: str) -> None:
    meanings = json.dumps({f"my {label}": label for label in NLI.labels})
    asked = of_file(file, meanings=meanings)
    plan, examples = plan_of(form_of("da", *asked))
    assert [(each.premise, each.gold) for each in examples] == [
        (each.premise, each.gold) for each in tiny_pairs(12)
    ]
    words = " ".join(plan.reading)
    assert plan.file == "own.jsonl"
    assert "--column premise=first --column hypothesis=second --gold mine" in words
    assert "--label-value my neutral=neutral" in words


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (values("one"), "takes more than one pair"),
        (values("file"), "choose a file first"),
        (values(n=None), "must be a whole number"),
        (values(n=0), "at least one example"),
        (values(n=MAX_N + 1), "the command line takes more"),
        (values(seed=-1), "the seed must be a whole number"),
    ],
)
def test_what_cannot_be_checked_up_is_refused_in_a_sentence(
    asked: list[Any], sentence: str
) -> None:
    with pytest.raises(UserError, match=sentence):
        plan_of(form_of("da", *asked))


def test_a_label_that_is_not_known_is_asked_about(file: str) -> None:
    asked = of_file(file)
    with pytest.raises(UserError, match="holds 'my "):
        plan_of(form_of("da", *asked))


def test_a_file_without_gold_labels_is_refused(file: str) -> None:
    asked = of_file(file, NO_GOLD)
    with pytest.raises(UserError, match="no pair with a gold label"):
        plan_of(form_of("da", *asked))


def test_a_press_asks_for_a_run_of_each_part() -> None:
    request, other = requests(["da", "esim"], *values())
    assert other.plan["model"] == "esim"
    cells = experiment_of(request.kind).cells(request.plan)
    assert [cell["part"] for cell in cells] == parts_of(NLI)
    assert len(request.inputs["examples"]) == len(bundled_examples(NLI, "test"))


def test_the_estimate_counts_the_changes_and_not_the_other_parts() -> None:
    said = forecast(["da"], *values())
    assert f"600, of which 5 are changed in each of {len(ready(NLI))} ways" in said
    assert "on one core" in said
    said = forecast(["da"], *values(n=600))
    assert f"600, all of them changed in each of {len(ready(NLI))} ways" in said


def test_a_fetched_data_set_keeps_its_name_in_the_command(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    pd.DataFrame([row(pair) for pair in PAIRS]).to_parquet(tmp_path / "set" / "test.parquet")
    hub.datasets["owner/set"] = ServedDataset(tmp_path / "set")
    fetched = fetch(read_reference("hub:owner/set"), tmp_path / "visitor").path
    columns = ["premise", "hypothesis", "label", None]
    asked = values("file", path=str(fetched), columns=columns)
    plan, _ = plan_of(form_of("da", *asked))
    assert f" da hub:owner/set@{COMMIT}:default/test --column" in command(plan)
