"""The elements that every tab uses: text is escaped."""

import pandas as pd

from probe.ui.html.elements import sheet, term


def test_a_sheet_escapes_cells_and_heads() -> None:
    shown = sheet(pd.DataFrame({"<h>": ["<c>"]}), "rows")
    assert "<h>" not in shown
    assert "<c>" not in shown


def test_a_term_reads_its_word_and_then_its_definition_to_those_who_hear_the_page() -> None:
    shown = term("agreement", "How often <both> say the same.")
    assert 'aria-label="agreement: How often &lt;both&gt; say the same."' in shown
    assert shown.endswith(">agreement</button>")
