"""Wrong arguments to the running app: a result or a sentence comes back, nothing is logged."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from benchmarks.faults.wrong_calls import calls, send
from tests.conftest import App
from tests.support.processes.running_app import ask

CALLS = 300
TEXTS = {"premise": "A dog barks.", "hypothesis": "It is silent."}


def log(app: App) -> str:
    """Return what the app has logged."""
    return (app.home / "app.log").read_text(encoding="utf-8", errors="replace")


@pytest.fixture
def no_traceback(app: App) -> Any:
    """Check that a test leaves no traceback in the app's log."""
    before = len(log(app))
    yield
    assert "Traceback" not in log(app)[before:]


@pytest.mark.usefixtures("no_traceback")
def test_wrong_values_for_every_endpoint_and_event_are_answered(app: App, client: Client) -> None:
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda call: send(app.url, call), calls(app.url, CALLS, seed=0)))
    wrong = [answer for answer in answers if answer.outcome not in ("result", "sentence")]
    assert wrong == []
    assert sum(answer.outcome == "sentence" for answer in answers) > CALLS / 2
    assert ask(client, "Nina sold her bicycle.")["model"] == "minilm"


@pytest.mark.usefixtures("no_traceback")
@pytest.mark.parametrize(
    ("endpoint", "given", "words"),
    [
        ("/probe", {**TEXTS, "seed": 10**30}, "seed 10000"),
        ("/probe", {**TEXTS, "transforms": 5}, "transforms 5 is not a list of names, or a text"),
        ("/probe", {**TEXTS, "premise": None}, "premise None is not a text"),
        ("/probe", {**TEXTS, "options": {"keep": {"a": 1}}}, "options .* is not a JSON object"),
        ("/probe", {**TEXTS, "method": "sideways"}, "method 'sideways' is not one of auto"),
        ("/compare_pair", {**TEXTS, "models": [["da"]]}, "models .* is not a list of names"),
        ("/hans", {"models": ["da"], "n": "many"}, "n 'many' is not a whole number"),
        ("/load_model", {"model": ["da"]}, "model .* is not a name"),
        ("/inoculate", {"model": "da", "challenge": "negation", "sizes": {"a": 1}}, "sizes .* is"),
        ("/inoculate", {"model": "da", "challenge": "negation", "seeds": "9" * 31}, "each seed"),
        ("/inoculate", {"model": "da", "challenge": "negation", "lrs": "1e400"}, "learning rate"),
        ("/generalise", {"model": "da", "vary": ["a"]}, "vary .* is not a name"),
        ("/generalise", {"model": "da", "max_loss": "much"}, "max_loss .* from 0 to 1"),
        ("/generalise", {"model": "da", "phenomenon": "wit"}, "there are no conditions for 'wit'"),
        ("/calibrate", {"model": "da", "methods": "hope"}, "methods are some of temperature"),
        ("/mitigate", {"model": "da", "share": 2}, "share 2 is not a number from 0 to 1"),
        ("/mitigate", {"model": "da", "lr": "1e-3,1e-4"}, "give one learning rate"),
        ("/transfer", {"model": "da", "transforms": {"a": 1}}, "transforms .* is not a list of"),
        ("/run", {"run_id": ["a", "b"]}, "run_id .* is not a name"),
        ("/cancel", {"run_id": None}, "run_id None is not a name"),
        ("/again", {"run_id": "' OR 1=1 --"}, "there is no run"),
        ("/batch", {"file": None, "transforms": "sort"}, "file None is not a file"),
        ("/compare", {"file": None, "models": "da,esim"}, "file None is not a file"),
    ],
)
def test_a_wrong_argument_is_named_in_one_sentence(
    client: Client, endpoint: str, given: dict[str, Any], words: str
) -> None:
    with pytest.raises(AppError, match=words) as refusal:
        client.predict(**given, api_name=endpoint)
    assert len(str(refusal.value)) < 400


def test_transforms_are_named_by_one_text_too(client: Client) -> None:
    answer = ask(client, "Nina sold her bicycle.", transforms="sort, reverse")
    assert [row["transform"] for row in answer["transformed"]] == ["sort", "reverse"]


@pytest.mark.parametrize("sizes", [99_999, [5, 99_999], "5, 99999"])
def test_sizes_are_read_as_a_number_a_list_or_a_text(client: Client, sizes: object) -> None:
    with pytest.raises(AppError, match="pairs; no size can be larger"):
        client.predict("da", "negation", sizes, 1e-3, [0], api_name="/inoculate")
