"""The Probe tab's endpoint, by gradio's own client, cut off from the network."""

from typing import Any

import httpx
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from tests.conftest import App
from tests.support.processes.running_app import add_model, answer_over_http, ask


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


def test_a_pair_of_another_task_comes_by_its_fields(client: Client, app: App) -> None:
    model = add_model(app, "tiny-paraphrase", PARAPHRASE_IDENTIFICATION)
    answer = client.predict(
        texts={"text1": "Why is it dark?", "text2": "Why is it not light?"},
        task="paraphrase",
        model=model,
        transforms=["sort"],
        api_name="/probe",
    )
    assert set(answer["original"]["probabilities"]) == {"paraphrase", "non-paraphrase"}
    assert answer["transformed"][0]["text2"] == "is it light not why ?"


def test_the_task_of_a_bundled_model_need_not_be_said(client: Client) -> None:
    asked = {"texts": {"text": "A fine film."}, "model": "minilm_sst2", "api_name": "/probe"}
    assert client.predict(**asked)["original"]["label"] == "positive"
    with pytest.raises(AppError, match="the task nli has no text 'text'"):
        client.predict(**asked, task="nli")


def test_a_question_about_a_passage_is_answered_with_its_place(client: Client) -> None:
    texts = {"question": "Who fixed the mill in Germany?", "passage": "Anna fixed the mill."}
    answer = client.predict(
        texts=texts, task="reading", gold="Anna | anna", transforms=["addsent"], api_name="/probe"
    )
    original = answer["original"]
    assert texts["passage"][original["start"] : original["end"]] == original["label"]
    (made,) = answer["transformed"]
    assert made["passage"].startswith("Anna fixed the mill. ") and made["gold"] == "Anna | anna"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"task": "poetry"}, "there is no task 'poetry' here"),
        ({"task": "reading", "texts": {"text": "A."}}, "has no text 'text'"),
        ({"premise": "A.", "texts": {"premise": "B."}}, "the text premise is given twice"),
        ({"task": "sentiment", "texts": {"text1": "A."}}, "has no text 'text1'"),
        ({"task": "sentiment", "texts": {"text": "Fine."}, "model": "minilm"}, "another task"),
    ],
)
def test_what_does_not_fit_the_task_is_answered_by_a_sentence(
    client: Client, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(AppError, match=sentence):
        client.predict(**options, api_name="/probe")


def test_a_plain_request_is_answered_with_json(app: App) -> None:
    first = ["Nina sold her bicycle.", "Nina is busy.", ["sort"]]
    rest = [each["parameter_default"] for each in parameters(app)[len(first) :]]
    answer = answer_over_http(app.url, "probe", [*first, *rest])
    assert answer["transformed"][0]["hypothesis"] == "busy is nina ."


def test_each_parameter_has_a_name_a_type_and_a_default(app: App) -> None:
    assert {"texts", "task", "premise", "model"} <= {
        each["parameter_name"] for each in parameters(app)
    }
    assert all(each["python_type"]["type"] for each in parameters(app))
    assert all(each["parameter_has_default"] for each in parameters(app))


def parameters(app: App) -> list[dict[str, Any]]:
    """Return what the app says of the parameters of the endpoint."""
    info = httpx.get(f"{app.url}gradio_api/info", timeout=60).json()
    told: list[dict[str, Any]] = info["named_endpoints"]["/probe"]["parameters"]
    return told
