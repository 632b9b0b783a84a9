"""Models by name: what is on disk, what opening one reads, and the cache in memory."""

import json
import shutil
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
from huggingface_hub import constants
from typer import Context
from typer.main import get_command

from finetune.cli.main import app as finetune_app
from probe.cli.main import app as probe_app
from probe.errors import ModelError
from probe.models import library
from probe.models.bundled import BUNDLED, shared_folder, title_of
from probe.models.classifier import fast_bf16
from probe.models.library import (
    ModelCache,
    entries,
    find,
    load,
    model_bytes,
    models_on_disk,
    open_model,
    parameter_bytes,
    require_on_disk,
    require_open,
    task_of_model,
)
from probe.settings import ASSETS
from probe.tasks.nli import LABELS, NLI, Pair
from probe.ui.api.models import open_own
from tests.support.cases import each
from tests.support.models.tiny_bert import tiny_bert
from tests.support.pages.visitors import ME, page_models

PAIR = Pair("A man walks.", "He moves.")


def sentence(name: str | Path) -> str:
    """Return the message of the error that loading raises, which is one line."""
    with pytest.raises(ModelError) as caught:
        load(str(name))
    assert "\n" not in str(caught.value)
    return str(caught.value)


OPENED = """
import json, sys
import safetensors
opened = []
def note(event, given):
    if event == "open" and "/assets/models/" in str(given[0]):
        opened.append(str(given[0]))
sys.addaudithook(note)
read = safetensors.safe_open
def read_noted(path, *given, **named):
    opened.append(str(path))
    return read(path, *given, **named)
safetensors.safe_open = read_noted
from probe.models import library
library.locate("minilm"), library.require_on_disk("minilm")
found = [*opened]
opened.clear(), [str(entry.task) for entry in library.entries()]
listed = [*opened]
opened.clear(), library.load_any("minilm")
print(json.dumps([found, listed, opened]))
"""


def test_finding_opens_no_file_listing_configs_alone_and_loading_one_model_once() -> None:
    script = [sys.executable, "-c", OPENED]
    answer = subprocess.run(script, capture_output=True, text=True, check=True)
    found, listed, opened = json.loads(answer.stdout)
    assert found == []
    assert {Path(path).name for path in listed} == {"config.json"}
    assert len(listed) == len(set(listed))
    assert {Path(path).parent.name for path in opened} <= {"minilm", "word_embeddings"}
    weights = sorted(Path(path).name for path in opened if path.endswith(".safetensors"))
    assert weights == ["all-minilm-l6-v2.safetensors", "model-own.safetensors"]


def test_bundled_models_are_listed_in_their_order_with_their_facts(model: str, home: Path) -> None:
    shutil.copytree(model, home / "models" / "mine")
    (home / "models" / "damaged").mkdir()
    (home / "models" / "damaged" / "config.json").write_text("{}")
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:1"
    (home / "models" / "damaged" / "model.safetensors").write_bytes(pointer)
    listed = list(models_on_disk())
    assert listed == [*(name for name in BUNDLED if name in listed), "mine"]
    first = next(entries())
    assert (first.name, first.source, first.task) == ("minilm", "bundled", NLI)
    assert first.folder == ASSETS / "models" / "minilm"
    assert 22_000_000 < first.parameters < 23_000_000
    mine, size = models_on_disk()["mine"], (Path(model) / "model.safetensors").stat().st_size
    assert (mine.source, mine.size, mine.title) == ("inoculated", size, "mine")
    assert mine.parameters == sum(p.numel() for p in load(model).model.parameters())
    assert find("mine") == str(home / "models" / "mine") and load("mine").name == "mine"
    assert (title_of("mine"), models_on_disk()["da"].title) == ("mine", "Decomposable Attention")
    for entry in entries():
        assert entry.summary.endswith(".") and len(entry.summary) <= 160
        if entry.source == "bundled":
            assert (ASSETS.parent / shared_folder(entry.name)).is_dir(), entry.name


def test_a_name_that_is_not_there_says_what_is(
    model: str, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = "bundled are minilm, "
    for name in ("minilmm", str(tmp_path / "gone")):
        assert sentence(name).startswith(f"there is no model or folder called {name!r}; {here}")
    assert sentence("").startswith(f"name a model; {here}")
    require_on_disk("minilm")
    with pytest.raises(ModelError, match=r"^there is no model called '.*' here; there are: minilm"):
        require_on_disk(model)
    monkeypatch.setattr(library, "ASSETS", tmp_path / "assets")
    assert not set(models_on_disk()) & set(BUNDLED)
    message = sentence("esim")
    assert message.startswith("the bundled model 'esim' is not in this installation: copy ")
    assert "assets/models/esim and assets/vectors" in message and str(tmp_path) in message
    with pytest.raises(ModelError, match="the bundled model 'da' is not in this installation"):
        require_on_disk("da")


def test_a_model_whose_config_says_no_task_has_none(model: str, home: Path) -> None:
    folder = Path(shutil.copytree(model, home / "models" / "unclear"))
    config = json.loads((folder / "config.json").read_text())
    outputs = {"id2label": {"0": "a", "1": "b", "2": "c"}}
    (folder / "config.json").write_text(json.dumps(config | outputs))
    assert models_on_disk()["unclear"].task is None
    with pytest.raises(ModelError, match="the config of the model 'unclear' does not say what tas"):
        task_of_model("unclear")
    assert task_of_model("minilm") is NLI


def test_what_is_kept_names_a_folder_by_its_full_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "model").mkdir()
    monkeypatch.chdir(tmp_path)
    verbs = ("inoculate", "calibrate", "mitigate", "transfer", "generalise")
    for app, verb in (*((finetune_app, verb) for verb in verbs), (probe_app, "checkup")):
        command = get_command(app).commands[verb].load()  # type: ignore[attr-defined]  # a group
        (model,) = [option for option in command.params if option.name == "model"]
        given = {"model": str(tmp_path / "model"), "minilm": "minilm", "a/b": "a/b"}
        assert {name: model.process_value(Context(command), name) for name in given} == given


def test_the_cache_keeps_the_latest_used_within_its_bound(model: str, home: Path) -> None:
    for name in ("a", "b", "c"):
        shutil.copytree(model, home / "models" / name)
    size = parameter_bytes(load(model))
    assert size == (8 if fast_bf16() else 4) * sum(
        p.numel() for p in load(model).model.parameters()
    )
    cache = ModelCache(lambda: 2 * size)
    first, second = cache.get("a"), cache.get("b")
    before = second.probabilities([PAIR])
    assert cache.get("a") is first  # used again, so b is now the oldest
    cache.get("c")
    assert cache.get("a") is first
    assert second.probabilities([PAIR]) == pytest.approx(before)  # dropped, and still of use
    assert cache.get("b") is not second
    small = ModelCache(lambda: 1)
    assert small.get(model) is small.get(model)  # the newest stays, however heavy
    for _ in range(2):
        with pytest.raises(ModelError):
            cache.get("minilmm")


def test_a_page_asks_only_for_what_was_opened_in_the_order_it_was_given(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLI_CLINIC_MODEL_MB", "1")
    assert model_bytes() == 1_000_000  # a setting, read at each use
    cache, order = ModelCache(), ("neutral", "contradiction", "entailment")
    with pytest.raises(ModelError, match=r"^there is no model called '.*' here; there are: minilm"):
        cache.require(model)
    opened = cache.open(model)
    cache.require(model)
    assert cache.get(model) is opened.model
    first, plain = cache.open(model, order).model, cache.open(model, LABELS).model
    assert first.name == f"{model} (neutral, contradiction, entailment)"
    cache.get("minilm")
    again = cache.get(first.name)
    assert again is not first and (again.name, again.order) == (first.name, order)
    assert again.probabilities([PAIR]) == pytest.approx(first.probabilities([PAIR]), abs=1e-6)
    assert cache.get(plain.name).order == LABELS
    assert open_model("minilm").label_check is None  # those on disk are not checked
    summary = opened.summary
    assert summary.startswith(f"{model} is a bert model of ")
    assert "the outputs entailment, neutral, contradiction; " in summary
    assert summary.endswith(" of 6 plain pairs are right; precision fp32; read from disk.")


def test_what_a_visitor_may_open_is_a_setting(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {"hub": "owner/name", "folder": model}
    for setting, space, allowed in (
        (None, None, {"hub", "folder"}),
        (None, "owner/space", {"hub"}),
        ("folder", "owner/space", {"folder"}),
        ("", None, set()),
    ):
        for name, value in (("NLI_CLINIC_OWN_MODELS", setting), ("SPACE_ID", space)):
            monkeypatch.delenv(name, raising=False)
            if value is not None:
                monkeypatch.setenv(name, value)
        require_open("minilm")
        for kind, name in names.items():
            with nullcontext() if kind in allowed else pytest.raises(ModelError, match=kind):
                require_open(name)


WAYS = (
    *("{0}", "{0}/", "{0}/../{1}", "{0}@main", "{0}\\..\\{1}", "file://{0}", "~/{1}"),
    *("{1}", "./{1}", ".\\{1}", "{1}/sub", "sub/../{1}", "../{2}/{1}", "link"),
)
"""Ways of writing a folder of the working directory: {0} is its full path, {1} its name, {2} the
directory's; link leads to it."""


def refusal(name: str) -> str:
    """Return the one sentence with which a page refuses to open a model."""
    with pytest.raises(ModelError) as caught:
        open_own(page_models(), ME, name, "")
    return str(caught.value)


@each("way", WAYS)
def test_nobody_learns_whether_a_folder_is_there(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
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


def test_a_hub_s_name_opens_no_folder_of_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    tiny_bert(tmp_path / "owner" / "name")
    monkeypatch.chdir(tmp_path)
    assert open_model("owner/name").model.name == "owner/name"
    assert "owner/name" in refusal("owner/name")
    with pytest.raises(ModelError):
        ModelCache().get("owner/name")
