"""The elements that every tab uses: text is escaped."""

import pandas as pd

from probe.ui.html.elements import sheet


def test_a_sheet_escapes_cells_and_heads() -> None:
    shown = sheet(pd.DataFrame({"<h>": ["<c>"]}), "rows")
    assert "<h>" not in shown
    assert "<c>" not in shown
