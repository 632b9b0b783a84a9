"""`/checkup` by gradio's own client, cut off from the network."""

import json
from pathlib import Path
from typing import Any

import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError

from probe.tasks.nli import NLI
from tests.app.test_train_http import reached
from tests.support.models.tiny_bert import tiny_pairs

SMALL = {"n": 2, "per_subcase": 1}


def test_a_check_up_of_a_file_in_the_background_ends_with_findings(
    client: Client, second: str, tmp_path: Path
) -> None:
    path = tmp_path / "mine.jsonl"
    rows = [
        {"premise": each.premise, "hypothesis": each.hypothesis, "label": f"our {each.gold}"}
        for each in tiny_pairs(8)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    values = {f"our {label}": label for label in NLI.labels}
    asked = {**SMALL, "file": handle_file(str(path)), "label_values": json.dumps(values)}
    started = client.predict(model=second, **asked, api_name="/checkup")
    run = (started["run"], started["owner"])
    reached(client, run)
    told = client.predict(*run, api_name="/run")
    assert told["plan"]["file"] == "mine.jsonl"
    assert told["cells"][0]["part"] == "plain"
    assert 0 <= told["cells"][0]["accuracy"] <= 1
    assert told["verdict"]["findings"][0].endswith("of 8 pairs.")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n": 0}, "at least one example must be changed"),
        ({"n": 10**6}, "the command line takes more"),
        ({"seed": -1}, "seed -1 is not a whole number, 0 to"),
        ({"model": "nobody"}, "there is no model called 'nobody'"),
        ({"n": "many"}, "n 'many' is not a number"),
    ],
)
def test_a_check_up_that_cannot_be_is_refused_by_a_sentence(
    client: Client, options: dict[str, Any], sentence: str
) -> None:
    asked = {"model": "da", **SMALL, **options}
    with pytest.raises(AppError, match=sentence):
        client.predict(**asked, api_name="/checkup")
