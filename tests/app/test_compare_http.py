"""The Compare tab's endpoints, by gradio's own client, cut off from the network."""

import csv
import json
from pathlib import Path

import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError

from probe.tasks.nli import LABELS


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
