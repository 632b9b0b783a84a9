"""Two visitors of one app: what is the first one's does not exist for the second."""

import time
from dataclasses import dataclass
from typing import Any

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from tests.conftest import App
from tests.support.probe_client import ask
from tests.support.visitors import YOU

WAIT = 300
"""Seconds an inoculation of two cells may take on a busy machine."""


@dataclass(frozen=True)
class Belongings:
    """What the first visitor has: a token, a run that has ended, and its model."""

    owner: str
    run: str
    model: str


@pytest.fixture(scope="module")
def first(client: Client, second: str) -> Belongings:
    """A visitor who has inoculated a tiny model."""
    started = client.predict(second, "negation", "5", "2e-5", api_name="/inoculate")
    asked, until = (started["run"], started["owner"]), time.monotonic() + WAIT
    while (run := client.predict(*asked, api_name="/run"))["state"] != "done":
        assert time.monotonic() < until, run
        time.sleep(0.2)
    return Belongings(started["owner"], run["id"], run["kept"])


def refusal(client: Client, *asked: Any, **named: Any) -> str:
    """Return the sentence with which a call is refused."""
    with pytest.raises(AppError) as refused:
        client.predict(*asked, **named)
    return str(refused.value)


def test_the_first_visitor_has_a_run_and_a_model_whose_name_leads_to_no_run(
    client: Client, first: Belongings
) -> None:
    assert first.run not in first.model
    answer = ask(client, "Nina sold her bicycle.", model=first.model, owner=first.owner)
    assert answer["model"] == first.model


@pytest.mark.parametrize("stranger", [YOU, ""])
@pytest.mark.parametrize("endpoint", ["/run", "/cancel", "/again"])
def test_a_run_is_for_others_as_one_that_does_not_exist(
    client: Client, first: Belongings, endpoint: str, stranger: str
) -> None:
    told = refusal(client, first.run, stranger, api_name=endpoint)
    assert told == f"there is no run '{first.run}'"
    unknown = refusal(client, "0123456789ab", stranger, api_name=endpoint)
    assert told == unknown.replace("0123456789ab", first.run)
    assert client.predict(first.run, first.owner, api_name="/run")["state"] == "done"


@pytest.mark.parametrize("name", ["api", "command line", "gallery", "*"])
def test_a_name_is_no_token(client: Client, first: Belongings, name: str) -> None:
    told = refusal(client, first.run, name, api_name="/run")
    assert told == f"owner {name!r} is not a token that /inoculate returned"


@pytest.mark.parametrize("stranger", [YOU, ""])
def test_a_model_is_for_others_as_one_that_does_not_exist(
    client: Client, first: Belongings, second: str, stranger: str
) -> None:
    pair = ("A man sat.", "He sat.")
    calls: dict[str, tuple[Any, ...]] = {
        "/probe": (*pair, [], first.model, 0, 0.5, "support", "gradient_x_input", "pad", {}, ""),
        "/compare_pair": (*pair, ["minilm", first.model], "", "fp32"),
        "/hans": ([first.model], 1, 0),
        "/load_model": (first.model, ""),
        "/inoculate": (first.model, "negation", "5", "2e-5", "0", "fast", 1, 1, False),
    }
    for endpoint, asked in calls.items():
        told = refusal(client, *asked, stranger, api_name=endpoint)
        assert told.startswith(f"there is no model called '{first.model}' here; there are: ")
        assert first.model not in told.partition("there are: ")[2]


def test_the_page_as_everybody_gets_it_names_no_visitors_model(
    app: App, first: Belongings, client: Client
) -> None:
    fresh = Client(app.url, verbose=False)
    assert "minilm" in str(fresh.config)
    assert first.model not in str(fresh.config)
    assert first.run not in str(fresh.config)
