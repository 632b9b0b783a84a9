"""The app over HTTP, by gradio's own client, cut off from the network."""

import csv
import json
import time
from pathlib import Path
from typing import Any

import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError

from probe.tasks.nli import LABELS
from tests.conftest import App
from tests.support.tiny_bert import tiny_bert

WAIT = 300  # seconds an inoculation of two cells may take on a busy machine


@pytest.fixture(scope="module")
def client(app: App) -> Client:
    return Client(app.url, verbose=False)


@pytest.fixture(scope="module")
def second(app: App) -> str:
    """A tiny model beside the bundled one."""
    folder_of_models = app.home / "models"
    folder_of_models.mkdir(exist_ok=True)
    tiny_bert(app.home / "unready").rename(folder_of_models / "tiny-second")
    return "tiny-second"


def ask(client: Client, hypothesis: str, **options: Any) -> dict[str, Any]:
    answer: dict[str, Any] = client.predict(
        "Nina sold her bicycle to a neighbour on Monday.", hypothesis, api_name="/probe", **options
    )
    return answer


def test_probe_answers_with_the_shape_of_the_command_line(client: Client) -> None:
    answer = ask(client, "Nina sold her bicycle.", transforms=["sort", "drop+shuffle"])
    assert {"model", "precision", "original", "importance", "transformed"} <= set(answer)
    assert [row["transform"] for row in answer["transformed"]] == ["sort", "drop+shuffle"]
    assert answer["transformed"][0]["hypothesis"] == "bicycle her nina sold ."
    assert abs(sum(answer["original"]["probabilities"].values()) - 1) < 1e-6


def test_the_same_seed_gives_the_same_answer(client: Client) -> None:
    first = ask(client, "Nina sold her bicycle.", transforms=["shuffle", "replace"], seed=3)
    assert first == ask(client, "Nina sold her bicycle.", transforms=["shuffle", "replace"], seed=3)


def test_options_and_a_gold_label_reach_the_transforms(client: Client) -> None:
    answer = ask(
        client,
        "Nina sold her bicycle.",
        transforms=["word_overlap", "shuffleprem"],
        options={"tautology": "naik_code"},
        gold="entailment",
    )
    kept, shuffled = answer["transformed"]
    assert (kept["gold"], kept["variant"]) == ("entailment", "tautology=naik_code")
    assert shuffled["gold"] == "non-entailment"


def test_several_pairs_come_one_after_another(client: Client) -> None:
    answer = client.predict(
        "Nina sold 40 bicycles.", "Nina is busy.", ["numerical"], api_name="/probe"
    )
    made = answer["transformed"]
    assert [(row["number"], row["of"]) for row in made] == [(1, 3), (2, 3), (3, 3)]
    assert [row["gold"] for row in made] == ["entailment", "contradiction", "neutral"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"options": {"speed": 1}}, "no option 'speed'"),
        ({"options": {"senses": "most"}}, "not one of all, first"),
        ({"gold": "perhaps"}, "unknown gold label 'perhaps'"),
        ({"model": "nosuch"}, "no model called 'nosuch'"),
        ({"model": "/etc"}, "no model called '/etc'"),
        ({"transforms": ["sideways"]}, "no transform 'sideways'"),
        ({"sign": "upside"}, "not one of support"),
    ],
)
def test_a_wrong_choice_is_answered_by_a_sentence(
    client: Client, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(AppError, match=sentence):
        ask(client, "Nina sold her bicycle.", **options)


def test_an_empty_hypothesis_is_answered_by_a_sentence(client: Client) -> None:
    with pytest.raises(AppError, match="the hypothesis is empty"):
        ask(client, "   ")


def test_batch_returns_the_scored_file_and_its_summary(client: Client, tmp_path: Path) -> None:
    upload = tmp_path / "mine.csv"
    rows = [
        ["id", "premise", "hypothesis", "label"],
        ["007", "Ola swims every morning.", "Ola swims.", "entailment"],
        ["008", "Ola swims every morning.", "", "neutral"],
        ["009", "Ola swims every morning.", "Ola never swims.", "contradiction"],
    ]
    with upload.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    summary, files = client.predict(handle_file(str(upload)), "sort", api_name="/batch")
    assert (summary["rows"], summary["scored"], summary["errors"]) == (3, 2, 1)
    with Path(files[0]).open(newline="") as file:
        scored = list(csv.DictReader(file))
    assert [row["id"] for row in scored] == ["007", "008", "009"]
    assert scored[1]["error"] == "the hypothesis is empty"
    assert scored[0]["sort.hypothesis"] == "ola swims ."
    assert json.loads(Path(files[1]).read_text()) == summary


def test_batch_says_which_column_is_missing(client: Client, tmp_path: Path) -> None:
    upload = tmp_path / "mine.csv"
    upload.write_text("text,label\nA dog barks.,neutral\n")
    with pytest.raises(AppError, match=r"no column 'premise' and 'hypothesis' .*text, label"):
        client.predict(handle_file(str(upload)), "sort", api_name="/batch")


def test_a_run_in_the_background_ends_with_an_outcome_and_a_model(client: Client) -> None:
    run = client.predict("da", "negation", "5", "4e-4", "0", api_name="/inoculate")["run"]
    until = time.monotonic() + WAIT
    while time.monotonic() < until:
        found = client.predict(run, api_name="/run")
        # the page goes on answering meanwhile
        assert ask(client, "Nina sold her bicycle.")["model"] == "minilm"
        if found["state"] not in ("queued", "running"):
            break
        time.sleep(1)
    assert found["state"] == "done", found
    assert [cell["size"] for cell in found["cells"]] == [0, 5]
    assert found["verdict"]["outcome"] in {"0", "1", "2", "3", "between"}
    assert ask(client, "Nina sold her bicycle.", model=found["kept"])["model"] == found["kept"]


def test_a_cancelled_run_ends_cancelled(client: Client) -> None:
    run = client.predict("minilm", "word_overlap", "400", "2e-5", "0", api_name="/inoculate")["run"]
    client.predict(run, api_name="/cancel")
    until = time.monotonic() + 60
    while client.predict(run, api_name="/run")["state"] in ("queued", "running"):
        assert time.monotonic() < until, "the run goes on although it was cancelled"
        time.sleep(0.2)
    assert client.predict(run, api_name="/run")["state"] == "cancelled"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"sizes": "99999"}, "pairs; no size can be larger"),
        ({"mode": "slow"}, "mode 'slow' is not one of full, fast"),
        ({"challenge": "sideways"}, "no challenge 'sideways'"),
        ({"patience": 0}, "must be 1 or more"),
    ],
)
def test_a_run_of_a_wrong_plan_is_refused_by_a_sentence(
    client: Client, options: dict[str, Any], sentence: str
) -> None:
    asked = {"model": "minilm", "challenge": "negation", "sizes": "5"} | options
    with pytest.raises(AppError, match=sentence):
        client.predict(**asked, api_name="/inoculate")


def test_a_run_is_fast_unless_asked_otherwise(client: Client, second: str) -> None:
    modes = []
    for options in ({}, {"mode": "full"}):
        asked = {"model": second, "challenge": "negation", "sizes": "5", **options}
        run = client.predict(**asked, api_name="/inoculate")["run"]
        client.predict(run, api_name="/cancel")
        modes.append(client.predict(run, api_name="/run")["plan"]["mode"])
    assert modes == ["fast", "full"]


def test_a_cancelled_run_is_taken_up_again(client: Client, second: str) -> None:
    run = client.predict(second, "negation", "5", "2e-5", api_name="/inoculate")["run"]
    client.predict(run, api_name="/cancel")
    wait_for_state(client, run, "cancelled")
    client.predict(run, api_name="/again")
    wait_for_state(client, run, "done")


def wait_for_state(client: Client, run: str, state: str) -> None:
    """Wait until a run is in this state."""
    until = time.monotonic() + WAIT
    while (found := client.predict(run, api_name="/run"))["state"] != state:
        assert time.monotonic() < until, found
        time.sleep(0.2)


def test_compare_returns_the_scored_file_and_its_summary(
    client: Client, second: str, tmp_path: Path
) -> None:
    upload = tmp_path / "mine.csv"
    upload.write_text("premise,hypothesis,label\nA dog barks.,A cat barks.,c\nA dog barks.,,n\n")
    shape, files = client.predict(
        handle_file(str(upload)), f"minilm, {second}", "fp32", api_name="/compare"
    )
    assert (shape["models"], shape["rows"], shape["errors"]) == (["minilm", second], 2, 1)
    with Path(files[0]).open(newline="") as file:
        scored = list(csv.DictReader(file))
    assert scored[0][f"{second}.prediction"] in LABELS
    assert scored[1]["error"] == "the hypothesis is empty"
    assert json.loads(Path(files[1]).read_text()) == shape


def test_compare_answers_for_one_pair(client: Client, second: str) -> None:
    shape = client.predict(
        "A dog barks.", "A dog is silent.", ["minilm", second], api_name="/compare_pair"
    )
    assert [one["model"] for one in shape["models"]] == ["minilm", second]


def test_the_profile_has_every_heuristic_and_label(client: Client, second: str) -> None:
    shape = client.predict([second], 1, api_name="/hans")
    assert len(shape["models"][second]["heuristics"]) == 6


@pytest.mark.parametrize(
    ("models", "sentence"),
    [
        (["minilm"], "choose two models or more"),
        (["minilm", "/etc"], "no model called '/etc'"),
        (["minilm", "minilm"], "named twice"),
    ],
)
def test_models_that_cannot_be_compared_are_refused_by_a_sentence(
    client: Client, models: list[str], sentence: str
) -> None:
    with pytest.raises(AppError, match=sentence):
        client.predict("A dog barks.", "It is silent.", models, api_name="/compare_pair")


def test_a_profile_of_too_many_pairs_is_refused_by_a_sentence(client: Client) -> None:
    with pytest.raises(AppError, match="1 to 500 pairs"):
        client.predict(["minilm"], 501, api_name="/hans")


def test_zz_nothing_of_this_asked_for_another_host(client: Client, app: App) -> None:
    assert app.network_log.read_text() == ""
