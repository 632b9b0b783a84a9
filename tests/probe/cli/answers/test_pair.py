"""`python -m probe pair`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from probe.tasks.nli import LABELS
from tests.support.checkout import ROOT
from tests.support.commands import PAIR, answer, refusal, run
from tests.support.models.tiny_bert import tiny_bert

TRANSFORMS = ["--transform", "sort", "--transform", "drop+shuffle"]


def test_an_option_is_set_by_name(model: str) -> None:
    words = ("--transform", "word_overlap", "--set", "tautology=naik_code", "--model", model)
    found = answer(*PAIR, *words)
    assert found["transformed"][0]["variant"] == "tautology=naik_code"


def test_wrong_words_are_one_sentence(model: str) -> None:
    texts = ["--text", "question=Who sleeps?", "--text", "passage=Tom sleeps."]
    of_reader = refusal("pair", *texts, "--model", "bidaf", "--label", "x")
    assert of_reader.startswith("--label is for models that answer with labels")
    wrong = []
    for words, said in [
        (["--set", "senses"], "--set 'senses' is not of the form NAME=VALUE"),
        (["--set", "speed=1"], "there is no option 'speed'; there are: keep, "),
        (["--set", "keep=2"], "keep '2' is not from 0 to 1"),
        (["--text", "premise=C"], "premise is given twice, by --premise and by --text"),
        (["--text", "a=1", "--text", "a=2"], "--text names 'a' twice"),
        (["--keep", "0.9", "--set", "keep=0.2"], "keep is given twice, by --keep and by --set"),
        (["--by-id", "--set", "by_id=no"], "by_id is given twice, by --by-id and by --set"),
        (["--set", "keep=1", "--set", "keep=0"], "--set names 'keep' twice"),
        (["--gold", "perhaps"], "unknown gold label 'perhaps'"),
        (["--sign", "minus"], "sign 'minus' is not one of support, gupta, abs"),
        (["--draw", "all"], "draw 'all' is not one of vocabulary, paper_code"),
        (["--method", "lime"], "--method 'lime' is not one of auto, occlusion, "),
        (["--baseline", "zero"], "--baseline 'zero' is not one of pad, mask, unk"),
        (["--label", "maybe"], "--label 'maybe' is not one of entailment, "),
        (["--precision", "int8"], "--precision 'int8' is not one of auto, fp32, bf16"),
        (["--hypothesis", " "], "the hypothesis is empty"),
        (["--hypothesis", "\ud83d"], "the text holds half of a character"),
        (["--transform", "srot"], "there is no transform 'srot'; there are: "),
        (["--model", "minilmm"], "there is no model or folder called 'minilmm'; bundled are minil"),
    ]:
        found = refusal(*PAIR, "--model", model, *words)
        if not found.startswith(said):
            wrong.append((words, found))
    assert wrong == []


def test_a_pair_is_answered_with_the_promised_keys(model: str) -> None:
    found = answer(*PAIR, *TRANSFORMS, "--model", model)
    assert {"model", "precision", "original", "importance", "transformed"} <= set(found)
    said = ["premise", "hypothesis", "label", "probabilities", "confidence"]
    assert list(found["original"]) == said
    assert list(found["original"]["probabilities"]) == list(LABELS)
    assert {"premise", "hypothesis"} <= set(found["importance"])
    for side in ("premise", "hypothesis"):
        assert all(list(token) == ["token", "score"] for token in found["importance"][side])
    promised = {"transform", *said, "agrees", "gold_rule", "changed", "exact", "note"}
    assert [row["transform"] for row in found["transformed"]] == ["sort", "drop+shuffle"]
    assert all(promised <= set(row) for row in found["transformed"])
    assert (found["model"], found["precision"]) == (model, "fp32")


def test_a_pairs_numbers_hang_together(model: str) -> None:
    found = answer(*PAIR, *TRANSFORMS, "--model", model)
    for row in (found["original"], *found["transformed"]):
        assert sum(row["probabilities"].values()) == pytest.approx(1)
        assert row["confidence"] == max(row["probabilities"].values())
        assert row["probabilities"][row["label"]] == row["confidence"]
    for row in found["transformed"]:
        assert row["agrees"] == (row["label"] == found["original"]["label"])
    tokens = [token["token"] for token in found["importance"]["hypothesis"]]
    assert tokens == ["the", "man", "is", "##n", "'", "t", "happy", "!"]
    assert found["transformed"][0]["hypothesis"] == "happy is man n't the !"


def test_the_same_seed_prints_the_same(model: str) -> None:
    words = [*PAIR, "--transform", "shuffle", "--transform", "repeat", "--model", model]
    assert answer(*words, "--seed", "5") == answer(*words, "--seed", "5")


def test_a_gold_label_is_explained_and_follows_the_rule(model: str) -> None:
    words = ["--gold", "c", "--transform", "negation", "--model", model]
    found = answer(*PAIR, *words)
    assert found["importance"]["label"] == "contradiction"
    assert found["transformed"][0]["gold"] == "contradiction"


def test_options_reach_the_transforms(model: str) -> None:
    words = ["--transform", "reverse", "--transform", "drop", "--model", model]
    found = answer(*PAIR, *words, "--pin", ".", "--keep", "1", "--sign", "gupta")
    assert found["transformed"][0]["hypothesis"] == "! happy n't is man the"
    assert not found["transformed"][1]["changed"]
    assert found["transformed"][0]["variant"] == "keep=1+gupta+pin=paper_code"


def test_every_method_can_be_chosen(model: str) -> None:
    for method in ["integrated_gradients", "saliency", "occlusion"]:
        importance = answer(*PAIR, "--method", method, "--model", model)["importance"]
        assert importance["method"] == method, method
        assert (importance["convergence_delta"] is None) == (method != "integrated_gradients"), (
            method
        )


def test_a_pair_is_shown_to_people_too(model: str) -> None:
    lines = run(*PAIR, "--transform", "sort", "--model", model).stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["original", "sort", "strongest"]


def test_the_strongest_tokens_are_those_of_the_json(model: str) -> None:
    words = [*PAIR, "--model", model, "--label", "neutral", "--method", "saliency"]
    importance = answer(*words)["importance"]
    tokens = [*importance["premise"], *importance["hypothesis"]]
    strongest = sorted(tokens, key=lambda token: abs(token["score"]))[-1:-6:-1]
    start, shown = run(*words).stdout.splitlines()[-1].split(": ")
    assert start == "strongest tokens for neutral (saliency)"
    assert shown.split(", ") == [f"{each['token']} {each['score']:+.3f}" for each in strongest]


def test_a_missing_baseline_token_is_one_sentence(model: str, tmp_path: Path) -> None:
    path = tiny_bert(tmp_path / "maskless")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        text = (path / name).read_text()
        (path / name).write_text(text.replace('"mask_token": "[MASK]"', '"mask_token": null'))
    words = ["--model", str(path), "--method", "occlusion", "--baseline", "mask"]
    shape = answer(*PAIR, *words)
    assert shape["importance"] is None and shape["original"]["label"]
    assert shape["no_importance"] == "this model has no mask token; choose another baseline"


def test_a_person_sees_a_sentence_and_no_traceback() -> None:
    words = [*PAIR, "--model", "nobody/no-such-model"]
    ended = subprocess.run(
        [sys.executable, "-m", "probe", *words],
        cwd=ROOT,
        env=os.environ | {"HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr.startswith("error: the hub cannot be reached from here, and the model 'no")
    assert len(ended.stderr.strip().splitlines()) == 1
