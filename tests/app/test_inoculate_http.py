"""The Inoculate tab's endpoints, by gradio's own client, cut off from the network."""

import time
from typing import Any

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from tests.conftest import App
from tests.support.processes.running_app import answer_over_http, ask

WAIT = 300
"""Seconds an inoculation of two cells may take on a busy machine."""


def test_a_run_in_the_background_ends_with_an_outcome_and_a_model(client: Client) -> None:
    started = client.predict("da", "negation", "5", "4e-4", "0", api_name="/inoculate")
    run, owner = started["run"], started["owner"]
    until = time.monotonic() + WAIT
    while time.monotonic() < until:
        found = client.predict(run, owner, api_name="/run")
        # the page goes on answering meanwhile
        assert ask(client, "Nina sold her bicycle.")["model"] == "minilm"
        if found["state"] not in ("queued", "running"):
            break
        time.sleep(1)
    assert found["state"] == "done", found
    assert [cell["size"] for cell in found["cells"]] == [0, 5]
    assert found["verdict"]["outcome"] in {"0", "1", "2", "3", "between", "too_little"}
    asked = {"model": found["kept"], "owner": owner}
    assert ask(client, "Nina sold her bicycle.", **asked)["model"] == found["kept"]


def test_a_cancelled_run_ends_cancelled(client: Client) -> None:
    run = start(client, "minilm", "word_overlap", "400", "2e-5", "0")
    client.predict(*run, api_name="/cancel")
    until = time.monotonic() + 60
    while client.predict(*run, api_name="/run")["state"] in ("queued", "running"):
        assert time.monotonic() < until, "the run goes on although it was cancelled"
        time.sleep(0.2)
    assert client.predict(*run, api_name="/run")["state"] == "cancelled"


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


def test_a_run_is_fast_unless_asked_otherwise_and_warns_of_what_that_changes(
    client: Client, second: str
) -> None:
    modes, warnings = [], []
    for options in ({}, {"mode": "full"}):
        asked = {"model": second, "challenge": "negation", "sizes": "5", **options}
        started = client.predict(**asked, api_name="/inoculate")
        run = started["run"], started["owner"]
        client.predict(*run, api_name="/cancel")
        modes.append(client.predict(*run, api_name="/run")["plan"]["mode"])
        warnings.append(started["warnings"])
    assert modes == ["fast", "full"]
    assert f"was not measured for {second} on “Add a negation”" in warnings[0][0]
    assert warnings[1] == []


def test_a_cancelled_run_is_taken_up_again(client: Client, second: str) -> None:
    run = start(client, second, "negation", "5", "2e-5")
    client.predict(*run, api_name="/cancel")
    wait_for_state(client, run, "cancelled")
    assert client.predict(*run, api_name="/again")["state"] in ("queued", "running", "done")
    wait_for_state(client, run, "done")


def test_a_run_is_started_and_cancelled_by_plain_http(app: App, second: str) -> None:
    asked = [second, "negation", "5", "2e-5", "0", "fast", 1, 1, False, ""]
    started = answer_over_http(app.url, "inoculate", asked)
    run = [started["run"], started["owner"]]
    assert answer_over_http(app.url, "run", run)["plan"]["task"] == "nli"
    assert answer_over_http(app.url, "cancel", run)["id"] == started["run"]


def test_a_challenge_of_another_task_is_refused_by_a_sentence(client: Client, second: str) -> None:
    asked = {"model": second, "challenge": "templates_word_order", "sizes": "5"}
    with pytest.raises(AppError, match="is a challenge of paraphrase"):
        client.predict(**asked, api_name="/inoculate")


def start(client: Client, *asked: Any, **named: Any) -> tuple[str, str]:
    """Start a run; return its id and its owner's token."""
    started = client.predict(*asked, **named, api_name="/inoculate")
    return started["run"], started["owner"]


def wait_for_state(client: Client, run: tuple[str, str], state: str) -> None:
    """Wait until a run is in this state."""
    until = time.monotonic() + WAIT
    while (found := client.predict(*run, api_name="/run"))["state"] != state:
        assert time.monotonic() < until, found
        time.sleep(0.2)
