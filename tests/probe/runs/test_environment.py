"""What a result is said to depend on."""

import pytest
import torch

from probe.runs.run import environment


def test_the_environment_says_which_precision_and_versions() -> None:
    facts = environment()
    assert facts["precision"] in ("fp32", "bf16")
    assert {"python", "torch", "transformers"} <= set(facts)


def test_a_machine_without_a_gpu_names_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert "gpu" not in environment()


def test_the_gpus_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **_: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda number: f"card {number}")
    assert environment()["gpu"] == "card 0, card 1"


def test_a_card_that_is_lent_for_each_answer_is_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setenv("SPACES_ZERO_GPU", "true")
    assert "gpu" not in environment()
