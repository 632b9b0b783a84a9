"""The limits of what one visitor may ask for, and their sentences."""

import pytest

from probe.errors import LimitError
from probe.limits import SENTENCES, Bounds, check, visitor_bounds
from probe.settings import settings


def test_a_limit_holds_from_one_above_it_where_strangers_reach_the_app(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NLI_CLINIC_PUBLIC", "yes")
    assert visitor_bounds() == Bounds(200, 20_000, 200, 100_000, 5_000)
    for name in SENTENCES:
        limit = getattr(settings(), name)
        check(name, limit, "text")
        with pytest.raises(LimitError) as refused:
            check(name, limit + 1, "text")
        assert f"NLI_CLINIC_{name.upper()}" in str(refused.value), name
        assert f"{limit:,}" in str(refused.value) or f"{limit + 1:,}" in str(refused.value), name
    monkeypatch.setenv("NLI_CLINIC_PUBLIC", "no")
    for name in ["max_rows", "max_runs_a_day", "max_stored_mb"]:
        check(name, 10**9)
        assert getattr(settings(), name) is None, name
