"""What starts runs over HTTP, by gradio's own client, cut off from the network."""

import time
from typing import Any

import pytest
from gradio_client import Client

from tests.conftest import App
from tests.support.processes.running_app import answer_over_http, ask

WAIT = 900
"""Seconds that a few small runs may take on a busy machine."""
SMALL = {"sizes": "8", "seeds": "0", "lr": "1e-3", "epochs": 1}
GRID = {"sizes": "8", "seeds": "0", "lrs": "1e-3", "max_epochs": 1}
NEGATION = {"model": "minilm", "challenge": "negation", "sizes": "5"}
Started = tuple[str, str]


def start(client: Client, endpoint: str, **asked: Any) -> Started:
    """Start a run; return its id and its owner's token."""
    started = client.predict(**asked, api_name=endpoint)
    return started["run"], started["owner"]


def reached(client: Client, run: Started, state: str = "done") -> dict[str, Any]:
    """Wait until a run is in this state, and return it."""
    until = time.monotonic() + WAIT
    while (found := client.predict(*run, api_name="/run"))["state"] != state:
        assert time.monotonic() < until, found
        time.sleep(0.2)
    told: dict[str, Any] = found
    return told


def test_an_inoculation_ends_with_an_outcome_and_a_model_while_the_page_answers(
    client: Client,
) -> None:
    run = start(client, "/inoculate", **NEGATION | {"model": "da", "lrs": "4e-4", "seeds": "0"})
    assert ask(client, "Nina sold her bicycle.")["model"] == "minilm"
    found = reached(client, run)
    assert [cell["size"] for cell in found["cells"]] == [0, 5]
    assert found["verdict"]["outcome"] in {"0", "1", "2", "3", "between", "too_little"}
    asked = {"model": found["kept"], "owner": run[1]}
    assert ask(client, "Nina sold her bicycle.", **asked)["model"] == found["kept"]


def test_a_run_is_fast_unless_asked_otherwise_cancelled_and_taken_up(
    client: Client, second: str
) -> None:
    modes, warnings = [], []
    for options in ({}, {"mode": "full"}):
        asked = NEGATION | {"model": second, **options}
        started = client.predict(**asked, api_name="/inoculate")
        run = started["run"], started["owner"]
        client.predict(*run, api_name="/cancel")
        modes.append(reached(client, run, "cancelled")["plan"]["mode"])
        warnings.append(started["warnings"])
    assert modes == ["fast", "full"] and warnings[1] == []
    assert f"was not measured for {second} on “Add a negation”" in warnings[0][0]
    assert client.predict(*run, api_name="/again")["state"] in ("queued", "running", "done")
    reached(client, run)


def test_a_run_is_started_and_cancelled_by_plain_http(app: App, second: str) -> None:
    asked = [second, "negation", "5", "2e-5", "0", "fast", 1, 1, False, ""]
    started = answer_over_http(app.url, "inoculate", asked)
    run = [started["run"], started["owner"]]
    assert answer_over_http(app.url, "run", run)["plan"]["task"] == "nli"
    assert answer_over_http(app.url, "cancel", run)["id"] == started["run"]


def test_each_repair_and_a_generalisation_end_with_their_figures(
    client: Client, second: str
) -> None:
    two = {"transforms": "sort,reverse"}
    runs = {
        endpoint: start(client, endpoint, model=second, **asked)
        for endpoint, asked in (
            ("/calibrate", SMALL | {"methods": "temperature"}),
            ("/mitigate", SMALL | two | {"methods": "invalid"}),
            ("/debias", SMALL | {"methods": "poe", "challenges": "negation"}),
            ("/transfer", SMALL | two),
            ("/generalise", GRID | {"train_on": "all,simple"}),
        )
    }
    told = {endpoint: reached(client, run) for endpoint, run in runs.items()}
    calibrated, verdict = told["/calibrate"], told["/calibrate"]["verdict"]
    assert [cell["method"] for cell in calibrated["cells"]] == ["baseline", "temperature"]
    assert verdict["agreement_before"] == pytest.approx(verdict["agreement_after"])
    assert calibrated["kept"].startswith(f"{second}-temperature-")
    assert set(told["/mitigate"]["verdict"]["per_transform"]) == {"sort", "reverse"}
    verdict = told["/debias"]["verdict"]
    assert [each["method"] for each in verdict["methods"]] == ["baseline", "poe"]
    assert set(verdict["methods"][1]["right"]) == {"original", "negation"}
    verdict = told["/transfer"]["verdict"]
    assert verdict["rows"] == ["sort", "reverse"] and len(verdict["matrix"]) == 2
    assert set(verdict["salad_only"]) == {"clean", "salad"}
    grid = told["/generalise"]
    assert grid["plan"]["rows"] == ["simple", "all"]
    assert [cell["size"] for cell in grid["cells"]] == [0, 8, 8]
    assert len(grid["verdict"]["grid"]["accuracy"][1]) == 4
