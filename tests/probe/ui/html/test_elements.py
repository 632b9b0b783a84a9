"""The elements that every tab uses: text is escaped."""

import pandas as pd

from probe.ui.html.elements import alert, sheet, term


def test_a_sheet_escapes_cells_and_heads() -> None:
    shown = sheet(pd.DataFrame({"<h>": ["<c>"]}), "rows")
    assert "<h>" not in shown
    assert "<c>" not in shown


def test_a_term_reads_its_word_and_then_its_definition_to_those_who_hear_the_page() -> None:
    shown = term("agreement", "How often <both> say the same.")
    assert 'aria-label="agreement: How often &lt;both&gt; say the same."' in shown
    assert shown.endswith(">agreement</button>")


def test_an_error_begins_with_a_capital_unless_a_name_is_its_first_word() -> None:
    assert 'class="problem sentence"' in alert("the file <a> is empty")
    assert 'class="problem"' in alert("mine.csv is empty")
    assert "<a>" not in alert("the file <a> is empty")


def test_an_error_ends_with_a_full_stop_but_for_an_address() -> None:
    assert ">it is empty.</div>" in alert("it is empty")
    assert ">it is empty.</div>" in alert("it is empty.")
    assert ">read docs/limits.md</div>" in alert("read docs/limits.md")
