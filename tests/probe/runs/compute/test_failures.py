"""What people are told of a cell that failed, and a model kept on a full disk."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from distributed import KilledWorker
from safetensors.torch import save_file

from probe.errors import ExperimentError
from probe.runs.engine import DISK_SENTENCE, MEMORY_SENTENCE, sentence
from probe.runs.models import save_model_files


@pytest.fixture
def small_disk(home: Path) -> Iterator[Path]:
    """The home on a disk of 64 kB."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(home)]
    if sys.platform != "linux" or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small disk can only be mounted by root on Linux")
    yield home
    subprocess.run(["umount", str(home)], check=True)


def test_torch_without_memory_is_told_in_words() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.empty(1 << 50)
    assert sentence(caught.value) == MEMORY_SENTENCE


def test_python_without_memory_is_told_in_words() -> None:
    with pytest.raises(MemoryError) as caught:
        bytearray(1 << 60)
    assert sentence(caught.value) == MEMORY_SENTENCE


def test_a_process_that_died_again_and_again_is_told_in_words() -> None:
    told = sentence(KilledWorker("cell", None, 2))
    assert told == "the process that computed this died again and again; is memory short?"


def test_our_own_sentences_stay_as_they_are() -> None:
    assert sentence(ExperimentError("there are 30 pairs")) == "there are 30 pairs"


def test_what_says_nothing_is_named() -> None:
    assert sentence(AssertionError()) == "AssertionError"


def test_a_full_disk_is_told_in_words_and_keeps_no_half_of_a_model(small_disk: Path) -> None:
    save_model_files({"config.json": b"{}"}, "old")
    with pytest.raises(OSError, match="No space left") as caught:
        save_model_files({"config.json": b"{}", "model.safetensors": bytes(100_000)}, "new")
    assert sentence(caught.value) == DISK_SENTENCE
    assert [path.name for path in small_disk.rglob("*")] == ["models", "old", "config.json"]


def test_weights_that_find_no_room_are_told_in_words(small_disk: Path) -> None:
    with pytest.raises(Exception, match="No space left") as caught:
        save_file({"weights": torch.zeros(100_000)}, small_disk / "model.safetensors")
    assert sentence(caught.value) == DISK_SENTENCE
