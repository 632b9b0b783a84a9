"""How the page is served, also on a free Space, with a stub for `spaces`, which asks the hub."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import gradio as gr
import pytest
import torch
from gradio import networking

from probe.models.hardware import device, native_bf16
from probe.ui.server import serving
from probe.ui.server.fair_queue import MAX_WAITING, queued
from probe.ui.server.serving import launch_options, start
from tests.support.checkout import ROOT


def test_the_page_is_served_however_long_its_first_answer_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(networking, "url_ok", lambda url: False)
    with gr.Blocks() as blocks:
        gr.Textbox()
    start(blocks, quiet=True)
    try:
        assert blocks.is_running
    finally:
        blocks.close()


STUB = """
import sys
torch_before = "torch" in sys.modules
def GPU(function):
    sys.exit(f"{function.__module__}.{function.__name__}, torch before: {torch_before}")
"""


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """The functions that the stub was given."""
    given: list[Callable[[], None]] = []
    stub = ModuleType("spaces")
    stub.GPU = given.append  # type: ignore[attr-defined]  # a module made here
    monkeypatch.setitem(sys.modules, "spaces", stub)
    return given


@pytest.fixture
def on_zero_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of a free Space, where torch says that there is a GPU."""
    monkeypatch.setenv("SPACES_ZERO_GPU", "true")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **_: 1 / 0)


def test_a_free_space_registers_a_function_that_does_nothing_and_no_other_place_any(
    registered: list[Callable[[], None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPACES_ZERO_GPU", raising=False)
    serving.register_zero_gpu()
    assert registered == []
    monkeypatch.setenv("SPACES_ZERO_GPU", "true")
    serving.register_zero_gpu()
    assert registered == [serving.do_nothing]
    registered[0]()


def test_the_app_registers_before_all_else_and_before_torch(tmp_path: Path) -> None:
    (tmp_path / "spaces.py").write_text(STUB, encoding="utf-8")
    environment = {**os.environ, "SPACES_ZERO_GPU": "true", "PYTHONPATH": f"{ROOT}:{tmp_path}"}
    environment["NLI_CLINIC_HOME"] = str(tmp_path / "home")
    code = "import app; app.main()"
    ended = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert ended.stderr == "probe.ui.server.serving.do_nothing, torch before: False\n"
    assert not (tmp_path / "home").exists()


def test_models_of_a_free_space_run_on_the_cpu(on_zero_gpu: None) -> None:
    assert device() == torch.device("cpu")
    assert isinstance(native_bf16(), bool)  # and CUDA is not asked


def test_more_than_one_event_waits_on_a_free_space_and_no_server_of_node_renders_the_page(
    on_zero_gpu: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADIO_SSR_MODE", "true")  # as the hub sets it
    with gr.Blocks() as page:
        gr.HTML()
    assert queued(page)._queue.max_size == MAX_WAITING > 1
    assert not page._resolve_ssr_mode(launch_options()["ssr_mode"])
