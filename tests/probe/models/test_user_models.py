"""A model of one's own on the page, over HTTP and by commands, and one of only two labels."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError
from safetensors.torch import load_file, save_file

from benchmarks.architectures import KINDS, save
from probe.analysis.batch import score
from probe.analysis.importance import attribute
from probe.analysis.summary import summarise
from probe.analysis.transformed import examination_json, examine
from probe.data.source import read_table
from probe.errors import ModelError
from probe.models.classifier import Classifier
from probe.models.library import ModelCache, load, locate
from probe.models.weights import export_model
from probe.tasks.nli import LABELS, NLI, TWO_WAY, Pair, matches
from probe.tasks.reading import READING
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import offered_tasks
from probe.ui.api.models import load_json
from probe.ui.html import examination as probe_results
from probe.ui.tabs.mine import bring
from tests.conftest import App
from tests.support.commands import run
from tests.support.files.pair_files import pair_columns
from tests.support.files.scored_frames import made_frame, scored_frame
from tests.support.models.tiny_bert import tiny_bert, tiny_pairs, tiny_reader
from tests.support.models.tiny_models import tiny_classifier
from tests.support.pages.visitors import ME, page_models

PAIR = Pair("A man walks to the park.", "The man isn't happy!")
UNNAMED = ["LABEL_0", "LABEL_1", "LABEL_2"]


def renamed(folder: Path, names: list[str]) -> str:
    """Give the outputs of a saved model these names."""
    config = folder / "config.json"
    outputs = {"id2label": {str(at): name for at, name in enumerate(names)}}
    config.write_text(json.dumps(json.loads(config.read_text()) | outputs))
    return str(folder)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Models of three labels with short names and without, of two of sentiment, of two of NLI."""
    home = tmp_path_factory.mktemp("own")
    two_way = tiny_bert(home / "two-way")
    weights = load_file(two_way / "model.safetensors")
    fewer = {name: it[:2] if "classifier" in name else it for name, it in weights.items()}
    save_file(fewer, two_way / "model.safetensors", {"format": "pt"})
    return {
        "clear": renamed(tiny_bert(home / "clear"), ["c", "e", "n"]),
        "unclear": renamed(tiny_bert(home / "unclear"), UNNAMED),
        "unnamed two": renamed(tiny_bert(home / "unnamed-two", SENTIMENT), UNNAMED[:2]),
        "two-way": renamed(two_way, ["not_entailment", "entailment"]),
    }


@pytest.fixture(scope="module")
def two(folders: dict[str, str]) -> Classifier:
    return load(folders["two-way"])


def test_the_panel_chooses_what_it_loaded_and_asks_which_output_is_which(
    folders: dict[str, str],
) -> None:
    clear, unclear, unnamed_two = (folders[kind] for kind in ("clear", "unclear", "unnamed two"))
    cache = ModelCache()
    message, *_ = bring(page_models(cache), ME, f" {clear} ", "")
    assert "plain pairs are right" in message
    cache.require(clear)
    facts = load_json(page_models(), ME, clear, "")
    assert (facts["model"], facts["model_revision"], facts["plain_pairs"]) == (clear, None, 6)
    assert facts["labels"] == ["contradiction", "entailment", "neutral"]
    message, labels, *_ = bring(page_models(), ME, unclear, "")
    assert 'role="alert"' in message and "LABEL_0, LABEL_1, LABEL_2" in message
    assert labels.visible
    assert labels.label == "Which output is which? In the order of LABEL_0, LABEL_1, LABEL_2"
    bring(models := page_models(), ME, unclear, "neutral, E, contradiction")
    assert models.names(ME)[-1] == f"{unclear} (neutral, entailment, contradiction)"
    message, labels, *_ = bring(page_models(), ME, unnamed_two, "", SENTIMENT.name)
    assert "LABEL_0, LABEL_1" in message and "positive" in message and labels.visible
    words = ("negative, positive", SENTIMENT.name)
    bring(models, ME, unnamed_two, *words)
    assert models.names(ME, SENTIMENT)[-1] == f"{unnamed_two} (negative, positive)"
    for name, order, task, sentence in (
        (unclear, "", SENTIMENT, "has 3 outputs, and sentiment"),
        (clear, "", SENTIMENT, "another task"),
        ("", "", NLI, "say which model"),
        (None, None, NLI, "say which model"),
        ("minilmm", "", NLI, "there is no model called"),
        ("minilm", "e, e, c", NLI, "is no order of labels"),
        ("<b>", "", NLI, "&lt;b&gt;"),
    ):
        message, *_ = bring(page_models(), ME, name, order, task.name)
        assert message.count('role="alert"') == 1 and sentence in message, sentence


def test_what_the_plain_pairs_say_is_offered_and_not_taken(tmp_path: Path) -> None:
    export_model(locate("minilm")[0], tmp_path / "minilm")
    folder, cache = renamed(tmp_path / "minilm", UNNAMED), ModelCache()
    message, labels, *_ = bring(page_models(cache), ME, folder, "")
    assert "with entailment, neutral, contradiction it gets 6 of 6 plain pairs right" in message
    assert labels.value == "entailment, neutral, contradiction"
    with pytest.raises(ModelError):
        cache.require(folder)
    order = "contradiction, entailment, neutral"
    message, *_ = bring(page_models(cache), ME, folder, order)
    assert "with this order the model gets 0 of 6 plain pairs right; with entailment" in message


def test_a_decoder_is_read_by_the_template_that_a_visitor_gives(
    folders: dict[str, str], tmp_path: Path
) -> None:
    save(KINDS["gpt2"], "gpt2", tmp_path)
    models, name, template = page_models(), str(tmp_path), "{hypothesis} of {premise}"
    for wrong, given in ((folders["clear"], "{premise} {hypothesis}"), (name, "{premise}")):
        message, *_ = bring(models, ME, wrong, "", template=given)
        assert "a template is for a decoder" in message or "each once, and is" in message
    _, _, field, _ = bring(models, ME, name, "")
    joined = models.get(ME, name)
    assert (field.visible, field.value, field.placeholder) == (True, "", "{premise}{hypothesis}")
    _, _, field, _ = bring(models, ME, name, "", template=template)
    told = models.get(ME, chosen := f"{name} ({template})")
    assert field.value == template
    assert load_json(models, ME, name, "", template=template)["model"] == chosen
    shares, again = told.probabilities([PAIR])[0], ModelCache(lambda: 1)
    assert joined.probabilities([PAIR])[0] != pytest.approx(shares, abs=1e-6)
    kept = again.open(name, template=template).model
    again.open(folders["clear"])
    assert again.get(kept.name).probabilities([PAIR])[0] == pytest.approx(shares, abs=1e-6)


def test_the_latest_checkpoint_of_a_training_is_offered(
    folders: dict[str, str], tmp_path: Path
) -> None:
    for step in (500, 1500, 1000):
        shutil.copytree(folders["clear"], tmp_path / f"checkpoint-{step}")
    message, *_, name = bring(page_models(), ME, str(tmp_path), "")
    assert name.value == str(tmp_path / "checkpoint-1500")
    assert message.index("checkpoint-1500") < message.index("point-1000") < message.index("t-500")
    bring(models := page_models(), ME, name.value, "")
    assert models.names(ME)[-1] == name.value


def test_the_command_line_asks_for_labels_takes_them_and_warns(folders: dict[str, str]) -> None:
    unclear = folders["unclear"]
    texts = ("pair", "--premise", PAIR.premise, "--hypothesis", PAIR.hypothesis, "--json")
    order = ("neutral", "entailment", "contradiction")
    answered = json.loads(run(*texts, "--model", unclear, "--labels", "n,e,c").stdout)
    (expected,) = load(unclear, order).predict([PAIR])
    assert list(answered["original"]["probabilities"].values()) == pytest.approx(
        expected.probabilities, abs=1e-6
    )
    warned = run(*texts, "--model", "minilm", "--labels", "c,e,n")
    assert json.loads(warned.stdout)["model_revision"] is None
    assert warned.stderr == (
        "warning: minilm: with this order the model gets 0 of 6 plain pairs right; with "
        "entailment, neutral, contradiction 6 of 6 - are the labels named wrongly?\n"
    )
    words = ("hans", "--model", "minilm", "--n", "1", "--json", "--labels")
    assert "are the labels named wrongly?" in run(*words, "minilm=c,e,n").stderr
    sentiment = ("pair", "--text", "text=Fine.", "--model")
    two, task = folders["unnamed two"], ("--task", "sentiment")
    for command, sentence in (
        ((*texts, "--model", unclear), "(the option is --labels)"),
        (
            (*texts, "--model", "minilm", "--labels", "entailed,not entailed"),
            "has 3 outputs; order",
        ),
        ((*words, "esim=c,e,n"), "is not of the form MODEL=LABELS"),
        ((*sentiment, two), "paraphrase or sentiment (the option is --task)"),
        ((*sentiment, two, *task), "(the option is --labels)"),
        ((*sentiment, "minilm", *task), "contradiction), not sentiment classification"),
    ):
        refused = run(*command)
        assert (refused.exit_code, sentence in refused.stderr) == (2, True), refused.stderr


def test_a_two_way_model_merges_neutral_and_contradiction(two: Classifier) -> None:
    assert (two.labels, two.order) == (TWO_WAY, TWO_WAY[::-1])
    nearest = ["entailment", "non-entailment", "non-entailment"]
    assert [two.task.nearest(label) for label in LABELS] == nearest
    shown = attribute(two, [PAIR] * 3, ("neutral", "contradiction", "non-entailment"))
    scores, *others = ([token.score for token in it.tokens("hypothesis")] for it in shown)
    assert all(other == pytest.approx(scores, abs=1e-6) for other in others)
    names = ["neghyp", "drop+shuffle", "negation"]
    for gold in ("contradiction", None):
        examination = examine(two, replace(PAIR, gold=gold), names)
        shape = examination_json(examination, "fp32")
        assert list(json.loads(json.dumps(shape))["original"]["probabilities"]) == list(TWO_WAY)
        html = probe_results.answer(examination) + probe_results.rows(examination)
        assert html.count('<details class="result"') == len(names)
        for transformed in examination.transformed:
            assert transformed.prediction.label in TWO_WAY
            if wanted := transformed.result.gold:
                assert transformed.right is matches(transformed.prediction.label, wanted)
    biased = tiny_classifier(order=TWO_WAY)
    head = [p for p in biased.model.parameters() if p.shape == (2,)][-1]
    head.data[1] = 1e3  # it always says non-entailment, which a flipped label is met by
    pair = Pair("A man walks.", "A man moves.", "entailment")
    (transformed,) = examine(biased, pair, ["neghyp"]).transformed
    assert (transformed.result.gold, transformed.right) == ("non-entailment", True)


def test_a_file_is_scored_in_two_classes(two: Classifier, tmp_path: Path) -> None:
    path, pairs = tmp_path / "in.csv", tiny_pairs(9)
    rows = [(it.premise, it.hypothesis, it.gold) for it in pairs]
    rows.append(("", "no premise", "neutral"))
    pd.DataFrame(rows, columns=["premise", "hypothesis", "label"]).to_csv(path, index=False)
    table, columns = read_table(path), pair_columns("premise", "hypothesis", "label")
    read = [row for chunk in score(table, columns, two, ["sort"]) for row in chunk.rows]
    scored = scored_frame(table, read, ["sort"], two)
    added = ["prediction", "confidence", "p_entailment", "p_non-entailment"]
    assert list(scored.columns)[3:7] == added
    assert scored["error"].iloc[9] == "the premise is empty"
    assert "p_non-entailment" in made_frame(read, ["sort"], two).columns
    said = [prediction.label == "entailment" for prediction in two.predict(pairs)]
    summary = summarise(read, ["sort"], two.task)
    right = sum(yes == (pair.gold == "entailment") for yes, pair in zip(said, pairs, strict=True))
    assert summary.original["accuracy"].value == pytest.approx(right / 9)
    assert summary.predicted == {"entailment": sum(said), "non-entailment": 9 - sum(said)}


def test_folders_of_any_task_are_loaded_over_http_and_then_probed(
    app: App, folders: dict[str, str], tmp_path: Path
) -> None:
    client, unclear, two_way = (
        Client(app.url, verbose=False),
        folders["unclear"],
        folders["two-way"],
    )
    inputs = (PAIR.premise, PAIR.hypothesis, ["sort"], two_way)
    with pytest.raises(AppError, match="there is no model called"):
        client.predict(*inputs, api_name="/probe")
    loaded = client.predict(two_way, api_name="/load_model")
    assert loaded["labels"] == ["non-entailment", "entailment"]
    answer = client.predict(*inputs, api_name="/probe")
    assert (answer["model"], answer["model_revision"]) == (two_way, None)
    assert set(answer["transformed"][0]["probabilities"]) == set(TWO_WAY)
    with pytest.raises(AppError, match="give the labels in their order: "):
        client.predict(unclear, api_name="/load_model")
    asked = {"model": folders["unnamed two"], "task": "paraphrase", "api_name": "/load_model"}
    labels = client.predict(**asked, labels="no,yes")["labels"]
    assert labels == ["non-paraphrase", "paraphrase"]
    for task in offered_tasks():
        folder = tmp_path / task.name
        own = str(tiny_reader(folder) if task is READING else tiny_bert(folder, task))
        model = {"model": own, "task": task.name}
        assert client.predict(**model, api_name="/load_model")["model"] == own, task.name
        texts = dict.fromkeys(task.fields, "A man walks.")
        assert client.predict(texts=texts, **model, api_name="/probe")["model"] == own, task.name
