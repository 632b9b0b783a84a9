"""Tables as Markdown."""

from finetune.report.panel import MarkdownTable, in_percent, with_interval, written
from probe.statistics import NOTHING, Estimate


def test_a_table_has_its_heads_a_rule_and_its_rows() -> None:
    table = MarkdownTable("Figures.", ("a", "b"), [("1", "2"), ("3", "4")], {})
    assert written(table) == "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n"


def test_shares_are_written_in_percent_with_their_interval() -> None:
    assert with_interval(Estimate(0.8149, 0.804, 0.826, 100)) == "81.5 (80.4–82.6)"
    assert with_interval(NOTHING) == in_percent(None) == "–"
    assert in_percent(0.11) == "11.0"
