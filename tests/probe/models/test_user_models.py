"""A model of one's own: how it is opened, asked for its labels, and used when it has only two."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
import torch
from gradio_client import Client
from gradio_client.exceptions import AppError
from huggingface_hub import constants
from safetensors.torch import load_file, save_file
from typer.testing import CliRunner

from benchmarks.architectures import KINDS, save
from probe.analysis.batch import score
from probe.analysis.importance import attribute
from probe.analysis.summary import summarise
from probe.analysis.transformed import examine
from probe.cli.main import app as commands
from probe.data.tables import read_table
from probe.errors import ModelError
from probe.models.classifier import Classifier
from probe.models.library import ModelCache, open_model, require_open
from probe.models.prediction import Prediction
from probe.models.shared_weights import export_model
from probe.reports.json import examination_json
from probe.reports.scored import summary_json
from probe.tasks.nli import LABELS, TWO_WAY, Pair, matches
from probe.tasks.reading import READING
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import Task, offered_tasks
from probe.transforms import Options
from probe.ui.api.models import load_json, open_own
from probe.ui.html.prediction import bar
from probe.ui.html.probe import examination as probe_results
from probe.ui.panels import own_model
from tests.conftest import App
from tests.support.files.pair_files import pair_columns
from tests.support.files.scored_frames import made_frame, scored_frame
from tests.support.models.tiny_bert import tiny_bert, tiny_pairs
from tests.support.models.tiny_models import tiny_classifier
from tests.support.models.tiny_reader import tiny_reader
from tests.support.pages.visitors import ME, page_models

PAIR = Pair("A man walks to the park.", "The man isn't happy!")
NAMES = ["sort", "neghyp", "copysort", "drop+shuffle", "premsubseq", "negation", "pbsmt"]


def folder_of(path: Path, names: list[str]) -> Path:
    """Write a tiny model whose outputs have these names."""
    folder = tiny_bert(path)
    config = folder / "config.json"
    outputs = {str(output): name for output, name in enumerate(names)}
    config.write_text(json.dumps(json.loads(config.read_text()) | {"id2label": outputs}))
    file = folder / "model.safetensors"
    weights = {
        name: weight[: len(names)] if "classifier" in name else weight
        for name, weight in load_file(file).items()
    }
    save_file(weights, file, {"format": "pt"})
    return folder


@pytest.fixture(scope="module")
def clear(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(folder_of(tmp_path_factory.mktemp("clear"), ["c", "e", "n"]))


@pytest.fixture(scope="module")
def unclear(tmp_path_factory: pytest.TempPathFactory) -> str:
    names = ["LABEL_0", "LABEL_1", "LABEL_2"]
    return str(folder_of(tmp_path_factory.mktemp("unclear"), names))


@pytest.fixture(scope="module")
def two_way(tmp_path_factory: pytest.TempPathFactory) -> str:
    names = ["not_entailment", "entailment"]
    return str(folder_of(tmp_path_factory.mktemp("two-way"), names))


@pytest.fixture(scope="module")
def two(two_way: str) -> Classifier:
    return open_model(two_way).model


# opening


def test_the_labels_of_a_model_on_disk_are_not_checked(clear: str) -> None:
    assert open_model("minilm").label_check is None
    assert open_model(clear).label_check is not None


def test_a_model_is_described_in_one_sentence(clear: str) -> None:
    parameters = sum(p.numel() for p in open_model(clear).model.model.parameters())
    summary = open_model(clear).summary
    assert summary.startswith(f"{clear} is a bert model of {parameters:,} weights with ")
    assert "the outputs contradiction, entailment, neutral; " in summary
    assert summary.endswith(" of 6 plain pairs are right; precision fp32; read from a folder.")


def test_a_page_asks_only_for_what_was_opened(clear: str) -> None:
    cache = ModelCache()
    with pytest.raises(ModelError, match=r"^there is no model called '.*' here; there are: minilm"):
        cache.require(clear)
    opened = cache.open(clear)
    cache.require(clear)
    assert cache.get(clear) is opened.model


def test_a_given_order_is_part_of_the_name_and_comes_back(unclear: str) -> None:
    cache = ModelCache(lambda: 1)
    order = ("neutral", "contradiction", "entailment")
    first = cache.open(unclear, order).model
    assert first.name == f"{unclear} (neutral, contradiction, entailment)"
    cache.get("minilm")
    reloaded = cache.get(first.name)
    assert reloaded is not first
    assert (reloaded.name, reloaded.order) == (first.name, order)
    assert reloaded.probabilities([PAIR]) == pytest.approx(first.probabilities([PAIR]), abs=1e-6)


def test_another_order_leaves_the_first_as_it_was(unclear: str) -> None:
    cache = ModelCache()
    first = cache.open(unclear, LABELS).model
    cache.open(unclear, LABELS[::-1])
    assert cache.get(first.name).order == LABELS


@pytest.mark.parametrize(
    ("setting", "space", "hub", "folder"),
    [
        (None, None, True, True),
        (None, "owner/space", True, False),
        ("folder", "owner/space", False, True),
        ("", None, False, False),
    ],
)
def test_what_a_visitor_may_open_is_a_setting(
    setting: str | None,
    space: str | None,
    hub: bool,
    folder: bool,
    clear: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in (("NLI_CLINIC_OWN_MODELS", setting), ("SPACE_ID", space)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    require_open("minilm")
    for name, allowed in (("owner/name", hub), (clear, folder)):
        if allowed:
            require_open(name)
        else:
            with pytest.raises(ModelError, match="cannot be opened here from a "):
                require_open(name)


WAYS = (
    *("{0}", "{0}/", "{0}/../{1}", "{0}@main", "{0}\\..\\{1}", "file://{0}", "~/{1}"),
    *("{1}", "./{1}", ".\\{1}", "{1}/sub", "sub/../{1}", "../{2}/{1}", "link"),
)
"""Ways of writing a folder of the working directory: {0} is its full path, {1} its name, {2} the
directory's; link leads to it."""


@pytest.fixture
def off_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)


@pytest.mark.usefixtures("off_the_network")
@pytest.mark.parametrize("way", WAYS)
def test_nobody_learns_whether_a_folder_is_there(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLI_CLINIC_PUBLIC", "1")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    name = way.format(tmp_path / "model", "model", tmp_path.name)
    before = refusal(name)
    folder = tiny_bert(tmp_path / "model")
    (folder / "sub").mkdir()
    (tmp_path / "sub").mkdir()
    (tmp_path / "link").symlink_to(folder)
    assert refusal(name) == before


def refusal(name: str) -> str:
    """Return the one sentence with which a page refuses to open a model."""
    with pytest.raises(ModelError) as caught:
        open_own(page_models(), ME, name, "")
    return str(caught.value)


@pytest.mark.usefixtures("off_the_network")
def test_a_hub_s_name_opens_no_folder_of_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny_bert(tmp_path / "owner" / "name")
    monkeypatch.chdir(tmp_path)
    assert open_model("owner/name").model.name == "owner/name"
    assert "owner/name" in refusal("owner/name")
    with pytest.raises(ModelError):
        ModelCache().get("owner/name")


# the panel


def test_the_panel_chooses_what_it_loaded(clear: str) -> None:
    message, _, model, *_ = own_model.show(page_models(), ME, f" {clear} ", "")
    assert "plain pairs are right" in message
    assert model.value == clear


def test_the_panel_asks_which_output_is_which(unclear: str) -> None:
    cache = ModelCache()
    message, labels, _, *_ = own_model.show(page_models(cache), ME, unclear, "")
    assert 'role="alert"' in message
    assert "LABEL_0, LABEL_1, LABEL_2" in message
    assert labels.visible
    assert labels.label == "Which output is which? In the order of LABEL_0, LABEL_1, LABEL_2"
    message, _, model, *_ = own_model.show(
        page_models(cache), ME, unclear, "neutral, E, contradiction"
    )
    assert model.value == f"{unclear} (neutral, entailment, contradiction)"


def test_what_the_plain_pairs_say_is_offered_and_not_taken(tmp_path: Path) -> None:
    folder = tmp_path / "minilm"
    export_model(Path(open_model("minilm").model.model.name_or_path), folder)
    config = folder / "config.json"
    outputs = {"id2label": {str(output): f"LABEL_{output}" for output in range(3)}}
    config.write_text(json.dumps(json.loads(config.read_text()) | outputs))
    cache = ModelCache()
    message, labels, _, *_ = own_model.show(page_models(cache), ME, str(folder), "")
    assert "with entailment, neutral, contradiction it gets 6 of 6 plain pairs right" in message
    assert labels.value == "entailment, neutral, contradiction"
    with pytest.raises(ModelError):
        cache.require(str(folder))
    message, _, _, *_ = own_model.show(
        page_models(cache), ME, str(folder), "contradiction, entailment, neutral"
    )
    assert (
        "with this order the model gets 0 of 6 plain pairs right; with entailment, neu" in message
    )


def test_a_decoder_is_read_by_the_template_that_a_visitor_gives(tmp_path: Path) -> None:
    save(KINDS["gpt2"], "gpt2", tmp_path)
    models, name, template = page_models(), str(tmp_path), "{hypothesis} of {premise}"
    _, _, chosen, field, _ = own_model.show(models, ME, name, "")
    joined = models.get(ME, chosen.value)
    assert (field.visible, field.value, field.placeholder) == (True, "", "{premise}{hypothesis}")
    _, _, chosen, field, _ = own_model.show(models, ME, name, "", template=template)
    told = models.get(ME, chosen.value)
    assert (chosen.value, field.value) == (f"{name} ({template})", template)
    assert load_json(models, ME, name, "", template=template)["model"] == chosen.value
    text = f"{PAIR.hypothesis} of {PAIR.premise}"
    plain = told.model(**told.tokenizer(text, return_tensors="pt")).logits.softmax(-1)[0].tolist()
    assert told.probabilities([PAIR])[0] == pytest.approx(plain, abs=1e-6)
    assert joined.probabilities([PAIR])[0] != pytest.approx(plain, abs=1e-6)
    again = ModelCache(lambda: 1)
    kept = again.open(name, template=template).model
    again.get("minilm")
    assert again.get(kept.name).probabilities([PAIR])[0] == pytest.approx(plain, abs=1e-6)


def test_a_template_that_fits_no_model_is_a_sentence(clear: str, tmp_path: Path) -> None:
    save(KINDS["gpt2"], "gpt2", tmp_path)
    for name, template in ((clear, "{premise} {hypothesis}"), (str(tmp_path), "{premise}")):
        message, *_ = own_model.show(page_models(), ME, name, "", template=template)
        assert "a template is for a decoder" in message or "each once, and is" in message


def test_the_latest_checkpoint_of_a_training_is_offered(clear: str, tmp_path: Path) -> None:
    for step in (500, 1500, 1000):
        shutil.copytree(clear, tmp_path / f"checkpoint-{step}")
    message, *_, name = own_model.show(page_models(), ME, str(tmp_path), "")
    assert name.value == str(tmp_path / "checkpoint-1500")
    assert message.index("checkpoint-1500") < message.index("point-1000") < message.index("t-500")
    assert own_model.show(page_models(), ME, name.value, "")[2].value == name.value


@pytest.mark.parametrize(
    ("name", "labels", "sentence"),
    [
        ("", "", "say which model"),
        (None, None, "say which model"),
        ("minilmm", "", "there is no model called"),
        ("minilm", "e, e, c", "is no order of labels"),
        ("<b>", "", "&lt;b&gt;"),
    ],
)
def test_the_panel_answers_with_a_sentence(
    name: str | None, labels: str | None, sentence: str
) -> None:
    message, *_ = own_model.show(page_models(), ME, name, labels)
    assert 'role="alert"' in message
    assert sentence in message


def test_the_endpoint_says_what_was_loaded(clear: str) -> None:
    cache = ModelCache()
    facts = load_json(page_models(cache), ME, clear, "")
    assert facts["model"] == clear
    assert facts["model_revision"] is None
    assert facts["labels"] == ["contradiction", "entailment", "neutral"]
    assert facts["plain_pairs"] == 6
    cache.require(clear)


# the command line


def run(*words: str) -> tuple[int, str, str]:
    texts = ["--premise", PAIR.premise, "--hypothesis", PAIR.hypothesis]
    result = CliRunner().invoke(commands, ["pair", *texts, *words])
    return result.exit_code, result.stdout, result.stderr


def test_the_command_line_asks_for_labels_and_takes_them(unclear: str) -> None:
    code, _, error = run("--model", unclear)
    assert (code, "(the option is --labels)" in error) == (2, True)
    code, output, _ = run("--model", unclear, "--labels", "n,e,c", "--json")
    model = open_model(unclear, ("neutral", "entailment", "contradiction")).model
    assert code == 0
    probabilities = json.loads(output)["original"]["probabilities"]
    assert list(probabilities.values()) == pytest.approx(
        model.probabilities([PAIR])[0].tolist(), abs=1e-6
    )


def test_the_command_line_warns_of_labels_in_another_order() -> None:
    code, output, error = run("--model", "minilm", "--labels", "c,e,n", "--json")
    assert (code, json.loads(output)["model_revision"]) == (0, None)
    assert error == (
        "warning: minilm: with this order the model gets 0 of 6 plain pairs right; with "
        "entailment, neutral, contradiction 6 of 6 - are the labels named wrongly?\n"
    )


def test_commands_for_several_models_take_and_check_labels_too() -> None:
    words = ["hans", "--model", "minilm", "--n", "1", "--json"]
    error = CliRunner().invoke(commands, [*words, "--labels", "minilm=c,e,n"]).stderr
    assert "are the labels named wrongly?" in error
    result = CliRunner().invoke(commands, [*words, "--labels", "esim=c,e,n"])
    assert (result.exit_code, "is not of the form MODEL=LABELS" in result.stderr) == (2, True)


def test_the_command_line_refuses_other_labels() -> None:
    code, _, error = run("--model", "minilm", "--labels", "entailed,not entailed")
    assert (code, "has 3 outputs; order these labels: entailment, neutral, contr" in error) == (
        2,
        True,
    )


# two labels


def test_a_two_way_model_merges_neutral_and_contradiction(two: Classifier) -> None:
    assert (two.labels, two.order) == (TWO_WAY, TWO_WAY[::-1])
    assert [two.task.nearest(label) for label in LABELS] == [
        "entailment",
        "non-entailment",
        "non-entailment",
    ]


def test_two_probabilities_are_in_our_order(two: Classifier) -> None:
    inputs = two.tokenizer(PAIR.premise, PAIR.hypothesis, return_tensors="pt")
    with torch.no_grad():
        raw = two.model(**inputs).logits[0].softmax(-1).tolist()
    assert two.probabilities([PAIR])[0].tolist() == pytest.approx([raw[1], raw[0]], abs=1e-6)


def test_importance_of_a_merged_label_is_that_of_both(two: Classifier) -> None:
    labels = ("neutral", "contradiction", "non-entailment")
    attributions = attribute(two, [PAIR] * 3, labels)
    assert {attribution.label for attribution in attributions} == {"non-entailment"}
    (scores, *others) = [
        [token.score for token in attribution.tokens("hypothesis")] for attribution in attributions
    ]
    assert all(other == pytest.approx(scores, abs=1e-6) for other in others)


@pytest.mark.parametrize("gold", [*LABELS, "non-entailment", None])
def test_a_pair_is_examined_in_two_classes(gold: str | None, two: Classifier) -> None:
    examination = examine(two, Pair(PAIR.premise, PAIR.hypothesis, gold), NAMES)
    shape = examination_json(examination, "fp32")
    json.dumps(shape)
    assert list(shape["original"]["probabilities"]) == list(TWO_WAY)
    assert shape["importance"]["label"] in TWO_WAY
    html = probe_results.answer(examination) + probe_results.rows(examination)
    assert "non-entailment" in html
    for transformed in examination.transformed:
        assert transformed.prediction.label in TWO_WAY
        if transformed.result.gold:
            assert transformed.right is matches(
                transformed.prediction.label, transformed.result.gold
            )
    assert html.count('<details class="result"') == len(NAMES)


def test_a_bar_of_two_labels_says_both() -> None:
    html = bar(Prediction("non-entailment", (0.2, 0.8), TWO_WAY))
    assert "entailment 0.20, non-entailment 0.80" in html
    assert 'tone-first" style="width:20.00%"' in html and 'tone-last" style="width:80.00%"' in html


def test_a_file_is_scored_in_two_classes(two: Classifier, tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    pairs = tiny_pairs(9)
    frame = pd.DataFrame(
        {
            "premise": [pair.premise for pair in pairs],
            "hypothesis": [pair.hypothesis for pair in pairs],
            "label": [pair.gold for pair in pairs],
        }
    )
    frame.loc[9] = ["", "no premise", "neutral"]
    frame.to_csv(path, index=False)
    table, columns = read_table(path), pair_columns("premise", "hypothesis", "label")
    rows = [row for chunk in score(table, columns, two, ["sort", "neghyp"]) for row in chunk.rows]
    scored = scored_frame(table, rows, ["sort", "neghyp"], two)
    assert list(scored.columns)[3:7] == [
        "prediction",
        "confidence",
        "p_entailment",
        "p_non-entailment",
    ]
    assert scored["error"].iloc[9] == "the premise is empty"
    assert "p_non-entailment" in made_frame(rows, ["sort"], two).columns
    predictions = two.predict(pairs)
    summary = summarise(rows, ["sort", "neghyp"], two.task)
    right = sum(
        (prediction.label == "entailment") == (pair.gold == "entailment")
        for prediction, pair in zip(predictions, pairs, strict=True)
    )
    assert summary.original["accuracy"].value == pytest.approx(right / 9)
    count = sum(prediction.label == "entailment" for prediction in predictions)
    assert summary.predicted == {"entailment": count, "non-entailment": 9 - count}
    assert summary_json(summary, two, "fp32", 0, Options())["model_revision"] is None


def test_a_flipped_gold_label_is_met_by_either_of_the_merged() -> None:
    two = tiny_classifier(order=TWO_WAY)
    head = [p for p in two.model.parameters() if p.shape == (2,)][-1]
    head.data[1] = 1e3  # it always says non-entailment
    pair = Pair("A man walks.", "A man moves.", "entailment")
    (transformed,) = examine(two, pair, ["neghyp"]).transformed
    assert (transformed.result.gold, transformed.right) == ("non-entailment", True)


# over HTTP


def test_a_folder_is_loaded_over_http_and_then_probed(app: App, two_way: str) -> None:
    client = Client(app.url, verbose=False)
    inputs = (PAIR.premise, PAIR.hypothesis, ["sort"], two_way)
    with pytest.raises(AppError, match="there is no model called"):
        client.predict(*inputs, api_name="/probe")
    loaded = client.predict(two_way, api_name="/load_model")
    assert loaded["labels"] == ["non-entailment", "entailment"]
    answer = client.predict(*inputs, api_name="/probe")
    assert (answer["model"], answer["model_revision"]) == (two_way, None)
    assert set(answer["transformed"][0]["probabilities"]) == set(TWO_WAY)


def test_labels_that_are_unclear_are_asked_for_over_http(app: App, unclear: str) -> None:
    client = Client(app.url, verbose=False)
    with pytest.raises(AppError, match="give the labels in their order: "):
        client.predict(unclear, api_name="/load_model")
    loaded = client.predict(unclear, "c, e, n", api_name="/load_model")
    assert loaded["labels"] == ["contradiction", "entailment", "neutral"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A folder with a model of each task by the task's name."""
    path = tmp_path_factory.mktemp("tasks")
    made = {task.name: tiny_bert(path / task.name, task) for task in offered_tasks() if task.labels}
    return {name: str(folder) for name, folder in made.items()} | {
        READING.name: str(tiny_reader(path / READING.name))
    }


@pytest.mark.parametrize("task", offered_tasks(), ids=lambda task: task.name)
def test_a_folder_of_any_task_is_loaded_over_http(
    app: App, folders: dict[str, str], task: Task
) -> None:
    client, asked = Client(app.url, verbose=False), {"model": folders[task.name], "task": task.name}
    assert client.predict(**asked, api_name="/load_model")["model"] == folders[task.name]
    texts = dict.fromkeys(task.fields, "A man walks.")
    assert client.predict(texts=texts, **asked, api_name="/probe")["model"] == folders[task.name]


def test_labels_over_http_are_those_of_the_task(app: App, unnamed_two: str) -> None:
    client, asked = Client(app.url, verbose=False), {"model": unnamed_two, "task": "paraphrase"}
    with pytest.raises(AppError, match="for example paraphrase, non-paraphrase"):
        client.predict(**asked, api_name="/load_model")
    loaded = client.predict(**asked, labels="no,yes", api_name="/load_model")
    assert loaded["labels"] == ["non-paraphrase", "paraphrase"]


# the panel for a chosen task


@pytest.fixture
def unnamed_two(tmp_path: Path) -> str:
    """A model with two outputs whose names say nothing."""
    folder = tiny_bert(tmp_path / "unnamed-two", SENTIMENT)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["id2label"] = {"0": "LABEL_0", "1": "LABEL_1"}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return str(folder)


def test_two_unnamed_outputs_are_asked_about_in_the_words_of_the_task(unnamed_two: str) -> None:
    message, labels, _, *_ = own_model.show(page_models(), ME, unnamed_two, "", SENTIMENT.name)
    assert "LABEL_0, LABEL_1" in message
    assert "positive" in message
    assert labels.visible
    _, _, model, *_ = own_model.show(
        page_models(), ME, unnamed_two, "negative, positive", SENTIMENT.name
    )
    assert model.value == f"{unnamed_two} (negative, positive)"


def test_a_model_of_another_task_gets_one_sentence(unclear: str, clear: str) -> None:
    for name, sentence in ((unclear, "has 3 outputs, and sentiment"), (clear, "another task")):
        message, *_ = own_model.show(page_models(), ME, name, "", SENTIMENT.name)
        assert message.count('role="alert"') == 1
        assert sentence in message
