"""The models on disk, errors of models that cannot be loaded, and the cache in memory."""

import json
import re
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from probe.errors import ModelError
from probe.models import library
from probe.models.bundled import BUNDLED, title_of
from probe.models.checkpoint import start_from_encoder
from probe.models.classifier import fast_bf16
from probe.models.errors import loading_error
from probe.models.library import (
    ModelCache,
    entries,
    find,
    load,
    model_bytes,
    parameter_bytes,
    require_on_disk,
)
from probe.models.weights import free_memory_bytes
from probe.settings import ASSETS
from probe.tasks.nli import LABELS, NLI, TWO_WAY, Pair
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from tests.support.models.tiny_bert import tiny_bert
from tests.support.models.tiny_models import shared

PAIR = Pair("A man walks.", "He moves.")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny model, to be copied."""
    return tiny_bert(tmp_path_factory.mktemp("saved"))


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    """A copy of it, to be damaged."""
    return Path(shutil.copytree(saved, tmp_path / "model"))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, so that its models are only those that a test puts there."""
    monkeypatch.setenv("NLI_CLINIC_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def configure(folder: Path, **changes: object) -> None:
    """Change the config of a saved model."""
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def resize(folder: Path, outputs: int) -> None:
    """Give a saved model another number of outputs: its first one or two, or its first again."""
    weights = load_file(folder / "model.safetensors")
    rows = [output % 3 for output in range(outputs)]
    resized = {
        name: value[rows] if "classifier" in name else value for name, value in weights.items()
    }
    save_file(resized, folder / "model.safetensors", {"format": "pt"})


def write_sparse_weights(folder: Path, size: int) -> None:
    """Write a sparse file of weights of this size in bytes, which takes no space on disk."""
    tensors = {"w": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}
    header = json.dumps(tensors).encode()
    with (folder / "model.safetensors").open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + size)


def sentence(name: str | Path) -> str:
    """Return the message of the error that loading raises, which is one line."""
    with pytest.raises(ModelError) as caught:
        load(str(name))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_folder_is_loaded_in_eval_mode_and_full_precision(folder: Path) -> None:
    model = load(str(folder)).model
    assert not model.training
    assert {p.dtype for p in model.parameters()} == {torch.float32}


def test_the_label_order_of_the_config_is_used(folder: Path) -> None:
    plain = load(str(folder)).probabilities([PAIR])[0]
    configure(folder, id2label={"0": "CONTRADICTION", "1": "ENTAILMENT", "2": "NEUTRAL"})
    reordered = load(str(folder))
    assert reordered.order == ("contradiction", "entailment", "neutral")
    assert reordered.probabilities([PAIR])[0] == pytest.approx(plain[[1, 2, 0]], abs=1e-6)


def test_the_order_is_that_of_the_numbers_not_of_the_table(folder: Path) -> None:
    configure(folder, id2label={"2": "entailment", "0": "contradiction", "1": "neutral"})
    assert load(str(folder)).order == ("contradiction", "neutral", "entailment")


def test_the_config_may_name_the_task(folder: Path) -> None:
    configure(folder, task="nli_two_way")
    assert sentence(folder).endswith(
        "has 3 outputs, Natural language inference in two classes has: entailment, non-entailment"
    )
    configure(folder, task="text-classification")  # what other people write there
    assert load(str(folder)).task is NLI


def test_a_given_order_overrides_that_of_the_config(folder: Path) -> None:
    configure(folder, id2label={"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"})
    assert load(str(folder), LABELS).order == LABELS


def test_an_unknown_name_is_answered_with_the_models_there_are(home: Path) -> None:
    told = sentence("minilmm")
    assert told.startswith("there is no model or folder called 'minilmm'; bundled are minilm, ")


@pytest.fixture
def no_assets(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation without the bundled models."""
    monkeypatch.setattr(library, "ASSETS", tmp_path / "assets")
    return tmp_path / "assets"


def test_a_bundled_model_that_is_absent_says_where_to_get_it(no_assets: Path) -> None:
    message = sentence("esim")
    assert message.startswith("the bundled model 'esim' is not in this installation: copy ")
    assert "assets/models/esim and assets/vectors" in message
    assert str(no_assets) in message
    with pytest.raises(ModelError, match="the bundled model 'da' is not in this installation"):
        require_on_disk("da")


def test_every_bundled_model_lies_where_it_is_said_to() -> None:
    here = [entry.name for entry in entries() if entry.source == "bundled"]
    for name in here:
        for folder in BUNDLED[name].folders.split(" and "):
            assert (ASSETS.parent / folder).is_dir(), folder


def test_a_model_has_a_title_and_a_sentence(home: Path) -> None:
    tiny_bert(home / "models" / "mine")
    titled = {entry.name: entry for entry in entries()}
    assert titled["da"].title == title_of("da") == "Decomposable Attention"
    assert titled["mine"].title == title_of("mine") == "mine"
    for entry in titled.values():
        assert entry.summary.endswith(".") and len(entry.summary) <= 160


def test_a_bundled_model_whose_folder_is_not_here_is_not_listed(no_assets: Path) -> None:
    assert not {entry.name for entry in entries()} & set(BUNDLED)


def test_a_path_that_is_not_there_is_not_looked_up_elsewhere(tmp_path: Path) -> None:
    assert sentence(tmp_path / "gone").startswith("there is no model or folder called ")


def test_no_name_is_no_folder() -> None:
    assert sentence("").startswith("name a model; bundled are minilm, ")


def test_only_safetensors_are_loaded(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    torch.save(shared().model.state_dict(), folder / "pytorch_model.bin")
    assert sentence(folder).endswith(
        "has no safetensors weights, and a pickle such as pytorch_model.bin may run code when it "
        "is opened, so it is refused"
    )


def test_a_folder_without_weights_says_so(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    assert sentence(folder).endswith("has no safetensors weights")


def test_an_empty_folder_is_no_model(tmp_path: Path) -> None:
    assert sentence(tmp_path) == f"{str(tmp_path)!r} is no model: it has no config.json"


def test_weights_in_parts_are_loaded(folder: Path, saved: Path) -> None:
    whole = load(str(saved))
    (folder / "model.safetensors").unlink()
    whole.model.save_pretrained(folder, max_shard_size="50KB")
    assert len(list(folder.glob("model-*.safetensors"))) > 1
    sharded = load(str(folder)).probabilities([PAIR])
    assert sharded == pytest.approx(whole.probabilities([PAIR]), abs=1e-6)


def test_weights_that_do_not_fit_into_memory_are_not_read(folder: Path) -> None:
    # a byte each on disk, four bytes each when they are loaded
    write_sparse_weights(folder, free_memory_bytes() // 2)
    assert re.search(r"does not fit: its weights take [\d.,]+ GB, and [\d.,]+ GB", sentence(folder))


def test_a_file_larger_than_any_memory_is_a_sentence(folder: Path) -> None:
    write_sparse_weights(folder, 2**42)
    assert "does not fit" in sentence(folder)


@pytest.mark.parametrize(
    "problem",
    [
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 9 bytes."),
    ],
)
def test_memory_that_runs_out_is_a_sentence(problem: Exception) -> None:
    message = "the model 'mine' does not fit into the memory that is free"
    assert str(loading_error("mine", problem)) == message


def test_weights_that_are_cut_off_are_a_sentence(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    assert sentence(folder).startswith("model.safetensors of ")


def test_weights_of_another_shape_are_a_sentence(folder: Path) -> None:
    configure(folder, hidden_size=48)
    assert "has weights of other shapes than its config says" in sentence(folder)


@pytest.mark.parametrize(
    "wrong",
    [
        {"hidden_size": "many"},
        {"num_attention_heads": 0},
        {"hidden_act": "none"},
        {"quantization_config": {"quant_method": "gptq", "bits": 4}},
        {"attn_implementation": "flash_attention_2"},
    ],
)
def test_a_config_that_makes_no_model_is_a_sentence(wrong: dict[str, object], folder: Path) -> None:
    configure(folder, **wrong)
    assert "cannot be loaded: " in sentence(folder)


def test_a_vocabulary_that_cannot_be_read_is_a_sentence(tmp_path: Path) -> None:
    shared("albert").model.save_pretrained(tmp_path)
    (tmp_path / "spiece.model").write_bytes(b"no vocabulary")
    assert "needs the packages sentencepiece and protobuf" in sentence(tmp_path)


def test_a_model_without_a_vocabulary_is_refused(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    assert "has no vocabulary, such as a tokenizer.json; copy the files" in sentence(folder)


def test_a_config_that_is_not_json_is_a_sentence(folder: Path) -> None:
    (folder / "config.json").write_text("{")
    assert sentence(folder).startswith("config.json of ")


def test_a_tokenizer_that_is_not_json_is_a_sentence(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{")
    assert sentence(folder).startswith("tokenizer.json of ")


@pytest.mark.parametrize("kind", ["vit", "clip"])
def test_a_model_that_reads_no_text_is_refused(kind: str, folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps({"model_type": kind}))
    assert f"is no sequence classifier: a {kind} model classifies no text" in sentence(folder)


def test_a_model_of_an_unknown_kind_is_refused(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps({"model_type": "no-such-model"}))
    assert "is of a kind that is not known here: 'no-such-model'" in sentence(folder)


def test_a_config_that_is_a_list_is_refused(folder: Path) -> None:
    (folder / "config.json").write_text("[]")
    assert "is no model: its config.json is no table" in sentence(folder)


def test_a_model_with_code_of_its_own_is_refused_and_not_run(folder: Path) -> None:
    marker = folder / "ran"
    (folder / "code.py").write_text(f"open({str(marker)!r}, 'w')\n")
    configure(folder, model_type="own", auto_map={"AutoConfig": "code.Config"})
    assert "needs Python code of its own, and such code is never run here" in sentence(folder)
    assert not marker.exists()


def test_an_encoder_without_a_head_is_refused(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    encoder = {name: value for name, value in weights.items() if "classifier" not in name}
    save_file(encoder, folder / "model.safetensors", {"format": "pt"})
    assert "is no trained sequence classifier: it lacks classifier.bias" in sentence(folder)


def test_another_number_of_outputs_is_refused(folder: Path) -> None:
    resize(folder, 4)
    configure(folder, id2label={str(output): f"LABEL_{output}" for output in range(4)})
    assert sentence(folder).endswith("has 4 outputs, not 3, nor 2")


def test_a_given_order_has_the_labels_of_the_outputs(folder: Path) -> None:
    with pytest.raises(
        ModelError, match="has 3 outputs; order these labels: entailment, neutral, c"
    ):
        load(str(folder), TWO_WAY)


def test_unclear_label_names_are_quoted_and_asked_for(folder: Path) -> None:
    configure(folder, id2label={"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"})
    message = (
        "are named LABEL_0, LABEL_1, LABEL_2, which does not say what they mean; give the labels"
    )
    assert message in sentence(folder)


def test_a_two_way_model_is_loaded_in_its_own_order(folder: Path) -> None:
    resize(folder, 2)
    configure(folder, id2label={"0": "not_entailment", "1": "entailment"})
    assert load(str(folder)).order == ("non-entailment", "entailment")


@pytest.mark.parametrize("name", ["minilm", "here"])
def test_a_model_on_disk_has_no_revision(name: str, folder: Path) -> None:
    assert load(str(folder) if name == "here" else name).revision is None


def test_models_on_disk_are_listed_with_their_parameters(saved: Path, home: Path) -> None:
    shutil.copytree(saved, home / "models" / "mine")
    listed = {entry.name: entry for entry in entries()}
    parameters = sum(p.numel() for p in load(str(saved)).model.parameters())
    assert listed["mine"].source == "inoculated"
    assert listed["mine"].parameters == parameters
    assert listed["mine"].size == (saved / "model.safetensors").stat().st_size
    assert find("mine") == str(home / "models" / "mine")
    assert load("mine").name == "mine"


def test_bundled_models_are_listed_in_their_order() -> None:
    listed = [entry.name for entry in entries() if entry.source == "bundled"]
    assert listed == [name for name in BUNDLED if name in listed]
    assert listed.index("minilm_qqp") < listed.index("minilm_mrpc")


def test_the_bundled_model_is_listed_first(home: Path) -> None:
    first = next(entries())
    assert (first.name, first.source) == ("minilm", "bundled")
    assert 22_000_000 < first.parameters < 23_000_000
    assert first.folder == ASSETS / "models" / "minilm"


@pytest.mark.parametrize("data", [b"", b"version https://git-lfs.github.com/spec/v1\noid sha256:1"])
def test_a_damaged_model_does_not_hide_the_others(data: bytes, saved: Path, home: Path) -> None:
    shutil.copytree(saved, home / "models" / "mine")
    (home / "models" / "damaged").mkdir()
    (home / "models" / "damaged" / "model.safetensors").write_bytes(data)
    assert {"minilm", "mine"} <= {entry.name for entry in entries()}


def test_a_page_opens_no_folder_that_is_not_listed(saved: Path, home: Path) -> None:
    require_on_disk("minilm")
    with pytest.raises(ModelError, match=r"^there is no model called '.*' here; there are: minilm"):
        require_on_disk(str(saved))


def test_a_new_head_is_always_the_same_and_leaves_the_global_random_state_alone(
    saved: Path,
) -> None:
    state = torch.get_rng_state()
    first, second = start_from_encoder(str(saved)), start_from_encoder(str(saved))
    assert torch.equal(torch.get_rng_state(), state)
    assert first.probabilities([PAIR]).tolist() == second.probabilities([PAIR]).tolist()
    assert first.order == LABELS


def test_a_model_of_another_task_gets_a_head_for_the_labels_of_this_one(saved: Path) -> None:
    answered = start_from_encoder(str(saved), PARAPHRASE_IDENTIFICATION)
    assert answered.order == PARAPHRASE_IDENTIFICATION.labels
    assert answered.probabilities([PARAPHRASE_IDENTIFICATION.sanity_examples[0]]).shape == (1, 2)


def test_the_cache_gives_the_same_model_again(saved: Path) -> None:
    cache = ModelCache()
    assert cache.get(str(saved)) is cache.get(str(saved))


def test_a_models_size_is_four_bytes_a_parameter_and_as_many_for_its_bf16_copy() -> None:
    parameters = sum(p.numel() for p in shared().model.parameters())
    assert parameter_bytes(shared()) == (8 if fast_bf16() else 4) * parameters


def test_the_cache_drops_the_least_recently_used_models(saved: Path, home: Path) -> None:
    for name in ("a", "b", "c"):
        shutil.copytree(saved, home / "models" / name)
    size_of_two = 2 * parameter_bytes(load(str(saved)))
    cache = ModelCache(lambda: size_of_two)
    first, second = cache.get("a"), cache.get("b")
    assert cache.get("a") is first  # used again, so b is now the oldest
    cache.get("c")
    assert cache.get("a") is first
    assert cache.get("b") is not second


def test_a_dropped_model_can_still_be_used(saved: Path, home: Path) -> None:
    for name in ("a", "b"):
        shutil.copytree(saved, home / "models" / name)
    cache = ModelCache(lambda: 1)
    first = cache.get("a")
    before = first.probabilities([PAIR])
    cache.get("b")
    assert first.probabilities([PAIR]) == pytest.approx(before)
    assert cache.get("a") is not first


def test_the_newest_stays_however_heavy(saved: Path) -> None:
    cache = ModelCache(lambda: 1)
    assert cache.get(str(saved)) is cache.get(str(saved))


def test_what_cannot_be_loaded_is_not_kept(home: Path) -> None:
    cache = ModelCache()
    for _ in range(2):
        with pytest.raises(ModelError):
            cache.get("minilmm")


def test_the_bound_is_a_setting_in_megabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLI_CLINIC_MODEL_MB", "7")
    assert model_bytes() == 7_000_000


def test_the_bound_is_read_at_each_use(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = ModelCache()
    first = cache.get("minilm")  # 90 MB
    cache.get(str(saved))
    assert cache.get("minilm") is first
    monkeypatch.setenv("NLI_CLINIC_MODEL_MB", "7")
    cache.open(str(saved))
    assert cache.get("minilm") is not first
