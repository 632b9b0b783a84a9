"""The files of a model's weights: several, and one that models share."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor
from transformers import AutoModelForSequenceClassification, pipeline

from probe.errors import FileError, ModelError
from probe.models.library import entries, load
from probe.models.shared_weights import export_model, read_weights, share_weights, write_weights
from probe.models.weights import INDEX, OWN, WHOLE, model_hash, weight_files
from probe.tasks.nli import Pair
from tests.support.models.tiny_bert import tiny_bert

WEIGHT = "bert.embeddings.word_embeddings.weight"
PAIRS = [Pair("A man walks.", "He moves."), Pair("A dog sleeps.", "A cat runs.")]


@pytest.fixture
def models(home: Path) -> Path:
    """A home with a model `mine` and the word embeddings of an encoder beside it."""
    folder = home / "models"
    tiny_bert(folder / "mine")
    encoder = {WEIGHT: load_file(folder / "mine" / WHOLE)[WEIGHT].half()}
    (folder / "word_embeddings").mkdir()
    write_weights(encoder, folder / "word_embeddings" / "tiny.safetensors")
    return folder


@pytest.fixture
def sharing(models: Path) -> Path:
    """The folder of `mine`, which shares that file."""
    share_weights(models / "mine", "tiny.safetensors")
    return models / "mine"


def test_a_model_that_shares_keeps_all_but_the_shared_weight(models: Path) -> None:
    before = load_file(models / "mine" / WHOLE)
    share_weights(models / "mine", "tiny.safetensors")
    assert [path.name for path in weight_files(models / "mine")] == [OWN, "tiny.safetensors"]
    assert not (models / "mine" / WHOLE).exists()
    after = read_weights(models / "mine")
    assert set(after) == set(before)
    assert torch.equal(after[WEIGHT], before[WEIGHT].half())
    assert all(torch.equal(after[name], before[name]) for name in before if name != WEIGHT)


def test_plain_from_pretrained_and_pipeline_load_it(sharing: Path) -> None:
    plain = AutoModelForSequenceClassification.from_pretrained(str(sharing))
    expected = read_weights(sharing)[WEIGHT].float()
    assert torch.equal(plain.get_input_embeddings().weight, expected)
    answer = pipeline("text-classification", model=str(sharing))(
        {"text": PAIRS[0].premise, "text_pair": PAIRS[0].hypothesis}
    )
    prediction = load("mine").predict(PAIRS[:1])[0]
    assert answer["score"] == pytest.approx(prediction.confidence, abs=1e-5)


def test_what_is_shared_counts_in_the_hash_and_not_in_the_size(sharing: Path) -> None:
    (entry,) = (entry for entry in entries() if entry.name == "mine")
    assert entry.size == (sharing / OWN).stat().st_size
    assert entry.parameters == sum(weight.numel() for weight in read_weights(sharing).values())
    before = model_hash(sharing)
    shared = sharing.parent / "word_embeddings" / "tiny.safetensors"
    write_weights({WEIGHT: load_file(shared)[WEIGHT] * 2}, shared)
    assert model_hash(sharing) != before


def test_an_exported_model_answers_alike_without_the_others(sharing: Path, tmp_path: Path) -> None:
    before = load("mine").predict(PAIRS)
    export_model(sharing, tmp_path / "alone")
    shutil.rmtree(sharing.parent)
    assert not (tmp_path / "alone" / INDEX).exists()
    assert load(str(tmp_path / "alone")).predict(PAIRS) == before


def test_an_export_overwrites_nothing(sharing: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(FileError, match="is there already"):
        export_model(sharing, tmp_path / "there")


@pytest.mark.parametrize("change", [lambda own: own[:3], lambda own: own * 1.01])
def test_other_embeddings_are_refused(models: Path, change: Callable[[Tensor], Tensor]) -> None:
    other = change(load_file(models / "mine" / WHOLE)[WEIGHT]).contiguous()
    write_weights({WEIGHT: other}, models / "word_embeddings" / "other.safetensors")
    sentence = rf"'mine' cannot share other\.safetensors: its {WEIGHT} has other values; train it"
    with pytest.raises(ModelError, match=sentence):
        share_weights(models / "mine", "other.safetensors")
    assert [path.name for path in weight_files(models / "mine")] == [WHOLE]


@pytest.mark.parametrize("name", ["absent.safetensors", "../mine/model.safetensors"])
def test_what_is_shared_lies_in_the_folder_beside(models: Path, name: str) -> None:
    with pytest.raises(ModelError, match="there is no word_embeddings/"):
        share_weights(models / "mine", name)


def test_a_model_shares_once(sharing: Path) -> None:
    with pytest.raises(ModelError, match="'mine' shares weights already"):
        share_weights(sharing, "tiny.safetensors")


@pytest.mark.parametrize("name", ["../../secret.safetensors", "/etc/secret.safetensors"])
def test_an_index_names_no_file_elsewhere(sharing: Path, name: str) -> None:
    index = json.loads((sharing / INDEX).read_text())
    index["weight_map"][WEIGHT] = name
    (sharing / INDEX).write_text(json.dumps(index))
    with pytest.raises(ModelError, match="names a file of another folder"):
        load(str(sharing))


@pytest.mark.parametrize("text", ["", "[]", '{"weight_map": 3}'])
def test_a_broken_index_is_one_sentence(sharing: Path, text: str) -> None:
    (sharing / INDEX).write_text(text)
    with pytest.raises(ModelError, match=f"{INDEX} of 'mine' cannot be read"):
        weight_files(sharing)
    assert "mine" not in [entry.name for entry in entries()]
