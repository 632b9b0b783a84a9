"""`python -m probe pair`."""

from pathlib import Path

import pytest

from probe.analysis.smallest import WAYS
from probe.tasks.nli import LABELS
from tests.support.commands import PAIR, answer, refusal, run
from tests.support.models.tiny_bert import tiny_bert


def test_a_pair_is_answered_with_the_promised_keys_and_numbers_that_hang_together(
    model: str,
) -> None:
    words = [*PAIR, "--transform", "sort", "--transform", "drop+shuffle", "--model", model]
    found = answer(*words, "--seed", "5")
    assert found == answer(*words, "--seed", "5")
    original, changed = found["original"], found["transformed"]
    assert {"model", "precision", "original", "importance", "transformed"} <= set(found)
    assert (found["model"], found["precision"]) == (model, "fp32")
    said = ["premise", "hypothesis", "label", "probabilities", "confidence"]
    assert list(original) == said
    promised = {"transform", *said, "agrees", "gold_rule", "changed", "exact", "note"}
    assert [row["transform"] for row in changed] == ["sort", "drop+shuffle"]
    for row in (original, *changed):
        assert list(row["probabilities"]) == list(LABELS)
        assert sum(row["probabilities"].values()) == pytest.approx(1)
        assert row["confidence"] == max(row["probabilities"].values())
        assert row["probabilities"][row["label"]] == row["confidence"]
    for row in changed:
        assert promised <= set(row)
        assert row["agrees"] == (row["label"] == original["label"])
    for side in ("premise", "hypothesis"):
        assert all(list(token) == ["token", "score"] for token in found["importance"][side])
    tokens = [token["token"] for token in found["importance"]["hypothesis"]]
    assert tokens == ["the", "man", "is", "##n", "'", "t", "happy", "!"]
    assert changed[0]["hypothesis"] == "happy is man n't the !"


def test_what_is_said_reaches_transforms_and_importance(model: str) -> None:
    words = [*PAIR, "--model", model]
    changed = answer(
        *words, "--transform", "reverse", "--transform", "drop", "--transform", "word_overlap",
        "--pin", ".", "--keep", "1", "--sign", "gupta", "--set", "tautology=naik_code",
    )["transformed"]  # fmt: skip
    assert changed[0]["hypothesis"] == "! happy n't is man the"
    assert not changed[1]["changed"]
    variant = "keep=1+gupta+pin=paper_code+tautology=naik_code"
    assert {row["variant"] for row in changed[1:]} == {variant}
    explained = answer(*words, "--gold", "c", "--transform", "negation")
    assert explained["importance"]["label"] == "contradiction"
    assert explained["transformed"][0]["gold"] == "contradiction"
    for method in ["integrated_gradients", "saliency", "occlusion"]:
        importance = answer(*words, "--method", method)["importance"]
        whole = method == "integrated_gradients"
        assert importance["method"] == method
        assert (importance["convergence_delta"] is not None) == whole, method


def test_a_pair_is_shown_to_people_with_the_strongest_tokens_of_the_json(model: str) -> None:
    words = [*PAIR, "--model", model, "--label", "neutral", "--method", "saliency"]
    importance = answer(*words)["importance"]
    tokens = [*importance["premise"], *importance["hypothesis"]]
    strongest = sorted(tokens, key=lambda token: abs(token["score"]))[-1:-6:-1]
    lines = run(*words, "--transform", "sort").stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["original", "sort", "strongest"]
    start, shown = lines[-1].split(": ")
    assert start == "strongest tokens for neutral (saliency)"
    assert shown.split(", ") == [f"{each['token']} {each['score']:+.3f}" for each in strongest]


def test_a_difference_of_labels_and_the_smallest_changes_are_shown_when_asked_for(
    model: str,
) -> None:
    words = [*PAIR, "--model", model, "--label", "neutral", "--against", "entailment"]
    assert "smallest" not in (shape := answer(*words))
    assert [shape["importance"][name] for name in ("label", "against")] == words[-3::2]
    flip = [*words, "--flip", "--flip-text", "premise", "--budget", "40"]
    found = {each["way"]: each for each in answer(*flip)["smallest"]}
    assert [*found] == [*WAYS] and {each["field"] for each in found.values()} == {"premise"}
    lines = run(*flip).stdout.splitlines()
    assert any(line.startswith("strongest tokens for neutral − entailment") for line in lines)
    for way, each in found.items():
        assert f"{way}: {each['says']}" in lines
        assert each["asked"] <= each["budget"] == 40
    same = refusal(*PAIR, "--model", model, "--against", "joy")
    assert "--against 'joy' is not one of" in same


def test_a_missing_baseline_token_is_one_sentence(tmp_path: Path) -> None:
    path = tiny_bert(tmp_path / "maskless")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        text = (path / name).read_text()
        (path / name).write_text(text.replace('"mask_token": "[MASK]"', '"mask_token": null'))
    shape = answer(*PAIR, "--model", str(path), "--method", "occlusion", "--baseline", "mask")
    assert shape["importance"] is None and shape["original"]["label"]
    assert shape["no_importance"] == "this model has no mask token; choose another baseline"
