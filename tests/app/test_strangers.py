"""Two visitors of one app: what is the first one's does not exist for the second."""

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from probe.settings import ASSETS, OTHERS
from probe.ui.visitors.visitor_files import GONE
from tests.conftest import App
from tests.support.pages.visitors import ME, YOU
from tests.support.processes.running_app import ask

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


# files


def upload(app: App, text: str) -> str:
    """Upload a file as a browser does; return where it lies."""
    files = {"files": ("mine.csv", text.encode())}
    (place,) = httpx.post(f"{app.url}gradio_api/upload", files=files, timeout=WAIT).json()
    return str(place)


def file_at(place: str) -> dict[str, Any]:
    """Return what a request has for a file."""
    return {"path": place, "meta": {"_type": "gradio.FileData"}}


def score(app: App, place: str, owner: str) -> tuple[str, Any]:
    """Ask for a file to be scored over HTTP; return the last event and what it brings."""
    settings = ["", "minilm", 0, 0.5, "support", "auto", "{}", owner, "nli", "{}", "{}"]
    return call(app, "batch", [file_at(place), *settings, "", "cut", "", ""])


def call(app: App, endpoint: str, data: list[Any]) -> tuple[str, Any]:
    """Call an endpoint over HTTP; return the last event and what it brings."""
    address = f"{app.url}gradio_api/call/{endpoint}"
    event = httpx.post(address, json={"data": data}, timeout=WAIT).json()["event_id"]
    lines = httpx.get(f"{address}/{event}", timeout=WAIT).text.strip().splitlines()
    return lines[-2].removeprefix("event: "), json.loads(lines[-1].removeprefix("data: "))


def fetch(app: App, place: str) -> httpx.Response:
    """Ask gradio for a file by its place."""
    return httpx.get(f"{app.url}gradio_api/file={quote(place)}", timeout=WAIT)


PAIRS = "premise,hypothesis,label\nA man sat.,He sat.,entailment\n"


@pytest.fixture(scope="module")
def scored(app: App) -> tuple[str, list[str]]:
    """Where the first visitor's upload and result files lie."""
    place = upload(app, PAIRS)
    kind, answer = score(app, place, ME)
    assert kind == "complete", answer
    return place, [file["path"] for file in answer[1]]


def test_the_same_file_uploaded_twice_lies_at_two_addresses(app: App) -> None:
    assert upload(app, PAIRS) != upload(app, PAIRS)


def test_a_result_is_fetched_at_its_random_address(app: App, scored: tuple[str, list[str]]) -> None:
    for place in scored[1]:
        assert fetch(app, place).status_code == 200
        assert len(place.split("/")[-2]) >= 20


@pytest.mark.parametrize("stranger", [YOU, ""])
def test_a_stranger_uses_neither_the_upload_nor_the_results(
    app: App, scored: tuple[str, list[str]], stranger: str
) -> None:
    for place in (scored[0], *scored[1]):
        kind, told = score(app, place, stranger)
        assert (kind, told["error"]) == ("error", GONE)
    assert score(app, scored[0], ME)[0] == "complete"


def test_folders_are_not_listed_and_other_places_not_opened(
    app: App, scored: tuple[str, list[str]]
) -> None:
    folder = scored[1][0].rpartition("/")[0]
    others = (folder, folder.rpartition("/")[0], str(app.home), f"{app.home}/runs.sqlite")
    unknown = fetch(app, f"{app.home}/gradio/gone")
    assert unknown.status_code == 403
    for place in (*others, f"{app.home}/browser-secret", f"{app.home}/models", "/etc/passwd"):
        answer = fetch(app, place)
        assert (answer.status_code, place in answer.text) == (403, True)


def test_no_other_account_of_the_machine_reads_what_the_app_keeps(
    app: App, scored: tuple[str, list[str]], first: Belongings
) -> None:
    model = app.home / "models" / first.model
    kept = [app.home, *app.home.glob("runs.sqlite*"), model, *model.iterdir()]
    kept += (app.home / "gradio").rglob("*")
    public = {path.name for path in (ASSETS / "examples").iterdir()}  # which gradio copies as it is
    assert {Path(scored[0]), model / "config.json"} <= set(kept)
    opened = [path for path in kept if path.lstat().st_mode & OTHERS and path.name not in public]
    assert opened == []


@pytest.mark.parametrize(
    "route",
    [
        "file=https://example.com/x.csv",
        "file=HTTP://example.com/x.csv",
        "file/https://example.com/x.csv",
        "proxy=https://example.hf.space/x",
        "deep_link?session_hash=abc",
        "dev/reload",
    ],
)
def test_routes_that_fetch_or_store_for_strangers_are_closed(app: App, route: str) -> None:
    assert httpx.get(f"{app.url}gradio_api/{route}", timeout=WAIT).status_code == 404


def test_an_address_of_the_web_is_no_file(app: App) -> None:
    address = "https://example.com/x.csv"
    kind, told = score(app, address, ME)
    assert kind == "error" and told["error"].endswith("is not a file that was sent here")
    rest = [
        "He sat.",
        [],
        "minilm",
        0,
        0.5,
        "support",
        "gradient_x_input",
        "pad",
        {},
        "",
        "",
        {},
        "nli",
        "cut",
        False,
        3,
        "",
        "",
    ]
    kind, told = call(app, "probe", [file_at(address), *rest])
    assert kind == "error" and told["error"].endswith("is not plain JSON")
