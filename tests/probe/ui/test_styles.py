"""The style sheets, as gradio reads them."""

import re
from pathlib import Path

import pytest

from probe.settings import ASSETS

SHEETS = sorted((ASSETS / "style").glob("*.css"))


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_has_holds_one_selector(sheet: Path) -> None:
    """Gradio takes a comma there for one between two rules, and the second never applies."""
    assert not re.findall(r":has\([^()]*,", sheet.read_text(encoding="utf-8"))
