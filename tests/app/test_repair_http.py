"""`/calibrate`, `/mitigate` and `/transfer` by gradio's own client, cut off from the network."""

from typing import Any

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from tests.app.test_inoculate_http import wait_for_state

SMALL = {"sizes": "8", "seeds": "0", "lr": "1e-3", "epochs": 1}


def test_a_temperature_in_the_background_leaves_figures_and_a_model(
    client: Client, second: str
) -> None:
    told = finished(client, "/calibrate", model=second, methods="temperature")
    assert [cell["method"] for cell in told["cells"]] == ["baseline", "temperature"]
    verdict = told["verdict"]
    assert verdict["agreement_before"] == pytest.approx(verdict["agreement_after"])
    assert told["kept"].startswith(f"{second}-temperature-")


def test_a_class_for_broken_texts_is_taught_with_the_changes_asked_for(
    client: Client, second: str
) -> None:
    asked = {"methods": "invalid", "transforms": "sort,reverse"}
    told = finished(client, "/mitigate", model=second, **asked)
    assert told["plan"]["transforms"] == ["sort", "reverse"]
    assert set(told["verdict"]["per_transform"]) == {"sort", "reverse"}


def test_one_kind_at_a_time_ends_with_a_matrix(client: Client, second: str) -> None:
    told = finished(client, "/transfer", model=second, transforms="sort,reverse")
    assert told["verdict"]["rows"] == ["sort", "reverse"]
    assert [len(row) for row in told["verdict"]["matrix"]] == [2, 2]
    assert set(told["verdict"]["salad_only"]) == {"clean", "salad"}


def finished(client: Client, endpoint: str, **asked: Any) -> dict[str, Any]:
    """Return what a small run came to."""
    started = client.predict(**{**SMALL, **asked}, api_name=endpoint)
    run = (started["run"], started["owner"])
    wait_for_state(client, run, "done")
    told: dict[str, Any] = client.predict(*run, api_name="/run")
    return told


@pytest.mark.parametrize(
    ("endpoint", "options", "sentence"),
    [
        ("/calibrate", {"methods": "invalid"}, "methods are some of temperature"),
        ("/mitigate", {"methods": ""}, "methods are some of invalid"),
        ("/mitigate", {"transforms": "negation"}, "transforms are some of"),
        ("/transfer", {"transforms": "sort,sort"}, "transforms are some of"),
        ("/transfer", {"sizes": "0"}, "each size must be from 1"),
        ("/calibrate", {"epochs": 0}, "epochs must be from 1"),
        ("/calibrate", {"model": "qanet"}, "answers with spans of a passage, not with labels"),
    ],
)
def test_a_run_of_a_wrong_plan_is_refused_by_a_sentence(
    client: Client, endpoint: str, options: dict[str, Any], sentence: str
) -> None:
    asked = {"model": "minilm", **SMALL, **options}
    with pytest.raises(AppError, match=sentence):
        client.predict(**asked, api_name=endpoint)
