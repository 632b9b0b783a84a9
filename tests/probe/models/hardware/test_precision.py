"""In which precision a machine is quick."""

from itertools import cycle

import pytest

from probe.models import hardware
from probe.models.hardware import fast_bf16, resolve


@pytest.mark.parametrize(
    ("native", "quicker", "chosen"),
    [(False, True, "fp32"), (True, False, "fp32"), (True, True, "bf16")],
)
def test_bf16_is_chosen_where_it_is_native_and_quicker(
    monkeypatch: pytest.MonkeyPatch, native: bool, quicker: bool, chosen: str
) -> None:
    monkeypatch.setattr(hardware, "native_bf16", lambda: native)
    monkeypatch.setattr(hardware, "_quicker_in_bf16", lambda: quicker)
    monkeypatch.setattr(hardware, "fast_bf16", fast_bf16.__wrapped__)
    monkeypatch.setattr("probe.models.torch_threads.has_gpu", lambda: False)
    assert resolve("auto") == chosen
    assert resolve("bf16") == "bf16" and resolve("fp32") == "fp32"


@pytest.mark.parametrize(("fp32", "bf16"), [(2.0, 1.0), (1.0, 2.0)])
def test_the_precision_with_the_shorter_product_is_the_quicker(
    monkeypatch: pytest.MonkeyPatch, fp32: float, bf16: float
) -> None:
    times = cycle((0.0, fp32, 0.0, bf16))  # of beginnings and ends
    monkeypatch.setattr(hardware, "perf_counter", lambda: next(times))
    assert hardware._quicker_in_bf16() == (bf16 < fp32)
