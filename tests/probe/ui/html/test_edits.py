"""Edits: what a person typed is escaped."""

from probe.text.difference import edits
from probe.ui.html.edits import diff


def test_a_diff_escapes_what_a_person_typed() -> None:
    assert "<i>" not in diff(edits("<i> one", "<i> two"))
