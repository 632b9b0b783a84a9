"""The limits of what one visitor may ask for, and their sentences."""

import pytest

from probe.errors import LimitError
from probe.limits import SENTENCES, Bounds, check, visitor_bounds
from probe.settings import settings


@pytest.fixture(autouse=True)
def public(monkeypatch: pytest.MonkeyPatch) -> None:
    """An app that strangers reach."""
    monkeypatch.setenv("NLI_CLINIC_PUBLIC", "yes")


def test_a_limit_holds_from_one_above_it() -> None:
    for name in SENTENCES:
        limit = getattr(settings(), name)
        check(name, limit, "text")
        with pytest.raises(LimitError) as refused:
            check(name, limit + 1, "text")
        assert f"NLI_CLINIC_{name.upper()}" in str(refused.value), name
        assert f"{limit:,}" in str(refused.value) or f"{limit + 1:,}" in str(refused.value), name


def test_an_app_of_ones_own_has_no_such_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ["max_rows", "max_runs_a_day", "max_stored_mb"]:
        monkeypatch.setenv("NLI_CLINIC_PUBLIC", "no")
        check(name, 10**9)
        assert getattr(settings(), name) is None, name


def test_a_visitors_bounds_are_those_of_the_settings() -> None:
    assert visitor_bounds() == Bounds(200, 20_000, 200, 100_000, 5_000)
