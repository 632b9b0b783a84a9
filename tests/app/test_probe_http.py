"""The Probe tab's endpoint, by gradio's own client, cut off from the network."""

from typing import Any

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from tests.support.probe_client import ask


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
