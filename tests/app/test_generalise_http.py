"""`/generalise` by gradio's own client, cut off from the network."""

from typing import Any

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from tests.app.test_inoculate_http import wait_for_state

SMALL = {"sizes": "8", "seeds": "0", "lrs": "1e-3", "max_epochs": 1}


def test_a_run_in_the_background_ends_with_a_grid(client: Client, second: str) -> None:
    started = client.predict(model=second, **SMALL, api_name="/generalise")
    run = (started["run"], started["owner"])
    wait_for_state(client, run, "done")
    told = client.predict(*run, api_name="/run")
    assert told["plan"]["rows"] == ["simple", "medium", "complex"]
    assert [cell["size"] for cell in told["cells"]] == [0, 8, 8, 8]
    assert len(told["verdict"]["grid"]["accuracy"]) == 3


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"phenomenon": "wit"}, "there are no conditions for 'wit'"),
        ({"vary": "mood"}, "numerical templates cannot vary 'mood'"),
        ({"sizes": "0"}, "each size must be a whole number from 1"),
        ({"max_loss": 0}, "must be above 0"),
        ({"model": "minilm_sst2"}, "the templates are nli's, the model answers sentiment"),
    ],
)
def test_a_run_of_a_wrong_plan_is_refused_by_a_sentence(
    client: Client, options: dict[str, Any], sentence: str
) -> None:
    asked = {"model": "minilm", **SMALL, **options}
    with pytest.raises(AppError, match=sentence):
        client.predict(**asked, api_name="/generalise")
