"""The endpoints by gradio's own client and by plain HTTP, cut off from the network.

What is wrong is refused by one sentence, and nothing of it is in the app's log.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from benchmarks.faults.wrong_calls import calls, send
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.reading import READING
from probe.tasks.sentiment import SENTIMENT
from tests.conftest import App
from tests.support.cases import each
from tests.support.processes.running_app import add_model, answer_over_http, ask

LONGEST = 600
"""Characters of a sentence."""
CALLS = 300
SOLD, BUSY = "Nina sold her bicycle.", "Nina is busy."
TEXTS = {"premise": "A dog barks.", "hypothesis": "It is silent."}
ASKED = {"text1": "Who is it?", "text2": "Who is he?"}
PARAPHRASES, READERS = ["para-a", "para-b"], ["reader-a", "reader-b"]
DA, INOCULATION = {"model": "da"}, {"model": "da", "challenge": "negation", "sizes": "5"}


@pytest.fixture(scope="module", autouse=True)
def models(app: App, second: str) -> None:
    """Tiny models beside the bundled ones: two of paraphrase, one of sentiment, two readers."""
    for name in PARAPHRASES:
        add_model(app, name, PARAPHRASE_IDENTIFICATION)
    add_model(app, "tiny-sentiment", SENTIMENT)
    for name in READERS:
        add_model(app, name, READING)


@pytest.fixture(autouse=True)
def no_traceback(app: App) -> Iterator[None]:
    """Check that a test leaves no traceback in the app's log."""
    log = app.home / "app.log"
    before = log.stat().st_size
    yield
    assert "Traceback" not in log.read_bytes()[before:].decode(errors="replace")


# what is refused


@each(
    ("endpoint", "given", "words"),
    [
        ("/probe", {**TEXTS, "seed": 10**30}, "seed 10000"),
        ("/probe", {**TEXTS, "transforms": 5}, "transforms 5 is not a list of names, or a text"),
        ("/probe", {**TEXTS, "premise": None}, "premise None is not a text"),
        ("/probe", {**TEXTS, "options": {"keep": {"a": 1}}}, "options .* is not a JSON object"),
        ("/probe", {**TEXTS, "method": "sideways"}, "method 'sideways' is not one of auto"),
        ("/probe", {**TEXTS, "options": {"speed": 1}}, "no option 'speed'"),
        ("/probe", {**TEXTS, "options": {"senses": "most"}}, "not one of all, first"),
        ("/probe", {**TEXTS, "gold": "perhaps"}, "unknown gold label 'perhaps'"),
        ("/probe", {**TEXTS, "model": "nosuch"}, "no model called 'nosuch'"),
        ("/probe", {**TEXTS, "model": "/etc"}, "no model called '/etc'"),
        ("/probe", {**TEXTS, "transforms": ["sideways"]}, "no transform 'sideways'"),
        ("/probe", {**TEXTS, "sign": "upside"}, "not one of support"),
        ("/probe", {**TEXTS, "hypothesis": "   "}, "the hypothesis is empty"),
        ("/probe", {"task": "poetry"}, "there is no task 'poetry' here"),
        ("/probe", {"task": "nli", "texts": {"text": "A."}}, "task nli has no text 'text'"),
        ("/probe", {"task": "reading", "texts": {"text": "A."}}, "has no text 'text'"),
        ("/probe", {"premise": "A.", "texts": TEXTS}, "the text premise is given twice"),
        ("/probe", {"task": "sentiment", "texts": {"text1": "A."}}, "has no text 'text1'"),
        (
            "/probe",
            {"task": "sentiment", "texts": {"text": "Fine."}, "model": "minilm"},
            "another task",
        ),
        ("/compare_pair", {**TEXTS, "models": [["da"]]}, "models .* is not a list of names"),
        ("/compare_pair", {**TEXTS, "models": ["da"]}, "choose two models or more"),
        ("/compare_pair", {**TEXTS, "models": ["da", "/etc"]}, "no model called '/etc'"),
        ("/compare_pair", {**TEXTS, "models": ["da", "da"]}, "named twice"),
        *(
            ("/compare_pair", {"models": PARAPHRASES, **given}, words)
            for given, words in (
                ({"task": "sentiment", "texts": {"text": "A film."}}, "answers another task"),
                ({"task": "translation", "texts": {}}, "there is no task 'translation' here"),
                ({"task": "sentiment", "texts": {"text1": "A film."}}, "has no text 'text1'"),
                ({"task": "paraphrase", "premise": "A dog barks."}, "has no text 'premise'"),
                ({"task": "paraphrase", "texts": {"text1": "Who?"}}, "the second text is empty"),
            )
        ),
        ("/compare", {"file": None, "models": "da,esim"}, "file None is not a file"),
        ("/hans", {"models": ["da"], "n": "many"}, "n 'many' is not a whole number"),
        ("/hans", {"models": ["minilm"], "n": 501}, "1 to 500 pairs"),
        ("/load_model", {"model": ["da"]}, "model .* is not a name"),
        ("/batch", {"file": None, "transforms": "sort"}, "file None is not a file"),
        ("/checkup", {**DA, "n": 0}, "n is 0, but how many examples are changed"),
        ("/checkup", {**DA, "n": 10**6}, "the command line takes more"),
        ("/checkup", {**DA, "seed": -1}, "seed -1 is not a whole number, 0 to"),
        ("/checkup", {"model": "nobody"}, "there is no model called 'nobody'"),
        ("/checkup", {**DA, "n": "many"}, "n 'many' is not a whole number"),
        ("/inoculate", {**INOCULATION, "sizes": {"a": 1}}, "sizes .* is"),
        ("/inoculate", {**INOCULATION, "seeds": "9" * 31}, "each seed"),
        ("/inoculate", {**INOCULATION, "lrs": "1e400"}, "learning rate"),
        *(
            ("/inoculate", {**INOCULATION, "sizes": sizes}, "pairs; no size can be larger")
            for sizes in (99_999, [5, 99_999], "5, 99999")
        ),
        ("/inoculate", {**INOCULATION, "mode": "slow"}, "mode 'slow' is not one of full, fast"),
        ("/inoculate", {**INOCULATION, "challenge": "sideways"}, "no challenge 'sideways'"),
        ("/inoculate", {**INOCULATION, "patience": 0}, "must be 1 or more"),
        (
            "/inoculate",
            {**INOCULATION, "challenge": "templates_word_order"},
            "is a challenge of paraphrase",
        ),
        ("/generalise", {**DA, "vary": ["a"]}, "vary .* is not a name"),
        ("/generalise", {**DA, "max_loss": "much"}, "max_loss .* from 0 to 1"),
        ("/generalise", {**DA, "phenomenon": "wit"}, "there are no conditions for 'wit'"),
        ("/generalise", {**DA, "vary": "mood"}, "numerical templates cannot vary 'mood'"),
        ("/generalise", {**DA, "sizes": "0"}, "each size must be a whole number from 1"),
        ("/generalise", {**DA, "max_loss": 0}, "must be above 0"),
        ("/generalise", {"model": "minilm_sst2"}, "the templates are nli's, the model answers s"),
        ("/calibrate", {**DA, "methods": "hope"}, "methods are some of temperature"),
        ("/calibrate", {**DA, "epochs": 0}, "epochs must be from 1"),
        ("/calibrate", {"model": "qanet"}, "answers with spans of a passage, not with labels"),
        ("/mitigate", {**DA, "share": 2}, "share 2 is not a number from 0 to 1"),
        ("/mitigate", {**DA, "lr": "1e-3,1e-4"}, "give one learning rate"),
        ("/mitigate", {**DA, "methods": ""}, "methods are some of invalid"),
        ("/mitigate", {**DA, "transforms": "negation"}, "transforms are some of"),
        ("/debias", {**DA, "weak": "premise"}, "weak 'premise' is not one of|no weak model"),
        ("/debias", {**DA, "challenges": "sort"}, "challenges are some of"),
        ("/transfer", {**DA, "transforms": {"a": 1}}, "transforms .* is not a list of"),
        ("/transfer", {**DA, "transforms": "sort,sort"}, "transforms are some of"),
        ("/transfer", {**DA, "sizes": "0"}, "each size must be from 1"),
        ("/run", {"run_id": ["a", "b"]}, "run_id .* is not a name"),
        ("/cancel", {"run_id": None}, "run_id None is not a name"),
        ("/again", {"run_id": "' OR 1=1 --"}, "there is no run"),
    ],
)
def test_a_wrong_argument_is_named_in_one_sentence(
    client: Client, endpoint: str, given: dict[str, Any], words: str
) -> None:
    with pytest.raises(AppError, match=words) as refusal:
        client.predict(**given, api_name=endpoint)
    assert len(str(refusal.value)) <= LONGEST


def test_wrong_values_for_every_endpoint_and_event_are_answered(app: App, client: Client) -> None:
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda call: send(app.url, call), calls(app.url, CALLS, seed=0)))
    assert [each for each in answers if each.outcome not in ("result", "sentence")] == []
    assert sum(answer.outcome == "sentence" for answer in answers) > CALLS / 2
    assert ask(client, SOLD)["model"] == "minilm"


def test_probe_answers_as_the_command_line_does_and_alike_for_the_same_seed(
    client: Client,
) -> None:
    answer = ask(client, SOLD, transforms=["sort", "drop+shuffle"], seed=3)
    assert {"model", "precision", "original", "importance", "transformed"} <= set(answer)
    assert [row["transform"] for row in answer["transformed"]] == ["sort", "drop+shuffle"]
    assert answer["transformed"][0]["hypothesis"] == "bicycle her nina sold ."
    assert abs(sum(answer["original"]["probabilities"].values()) - 1) < 1e-6
    assert ask(client, SOLD, transforms="sort, drop+shuffle", seed=3) == answer
    options = {"options": {"tautology": "naik_code"}, "gold": "entailment"}
    made = ask(client, SOLD, transforms=["word_overlap", "shuffleprem"], **options)["transformed"]
    assert [row["gold"] for row in made] == ["entailment", "non-entailment"]
    assert made[0]["variant"] == "tautology=naik_code"
    several = client.predict("Nina sold 40 bicycles.", BUSY, ["numerical"], api_name="/probe")
    assert [(row["number"], row["of"], row["gold"]) for row in several["transformed"]] == [
        (1, 3, "entailment"),
        (2, 3, "contradiction"),
        (3, 3, "neutral"),
    ]


def test_texts_of_another_task_come_by_their_fields_and_a_models_task_need_not_be_said(
    app: App, client: Client
) -> None:
    for task in ({"task": "paraphrase"}, {}):
        texts = {"text1": "Why is it dark?", "text2": "Why is it not light?"}
        asked = {"texts": texts, "model": PARAPHRASES[0], "transforms": ["sort"], **task}
        answer = client.predict(**asked, api_name="/probe")
        assert set(answer["original"]["probabilities"]) == {"paraphrase", "non-paraphrase"}
        assert answer["transformed"][0]["text2"] == "is it light not why ?"
        both = client.predict(models=PARAPHRASES, texts=ASKED, **task, api_name="/compare_pair")
        assert both["text2"] == ASKED["text2"]
    asked = {"texts": {"text": "A fine film."}, "model": "minilm_sst2"}
    assert client.predict(**asked, api_name="/probe")["original"]["label"] == "positive"
    values = ["", "", ",".join(PARAPHRASES), "", "fp32", "", ASKED, "paraphrase", "cut"]
    shape = answer_over_http(app.url, "compare_pair", values)
    assert [one["model"] for one in shape["models"]] == PARAPHRASES


def test_a_question_about_a_passage_is_answered_with_its_place(client: Client) -> None:
    texts = {"question": "Who fixed the mill in Germany?", "passage": "Anna fixed the mill."}
    asked = {"texts": texts, "task": "reading", "gold": "Anna | anna"}
    answer = client.predict(**asked, transforms=["addsent"], api_name="/probe")
    original, (made,) = answer["original"], answer["transformed"]
    assert texts["passage"][original["start"] : original["end"]] == original["label"]
    assert made["passage"].startswith("Anna fixed the mill. ") and made["gold"] == "Anna | anna"
    one = client.predict(models=READERS, **asked, api_name="/compare_pair")
    assert all(0 <= answer["f1"] <= 1 for answer in one["models"])


def test_a_plain_request_is_answered_with_json_and_each_parameter_is_described(app: App) -> None:
    info = httpx.get(f"{app.url}gradio_api/info", timeout=60).json()
    told = info["named_endpoints"]["/probe"]["parameters"]
    assert {"texts", "task", "premise", "model"} <= {each["parameter_name"] for each in told}
    assert all(each["python_type"]["type"] and each["parameter_has_default"] for each in told)
    first = [SOLD, BUSY, ["sort"]]
    rest = [each["parameter_default"] for each in told[len(first) :]]
    answer = answer_over_http(app.url, "probe", [*first, *rest])
    assert answer["transformed"][0]["hypothesis"] == "busy is nina ."


# files
