"""What the page shows of a check-up."""

from pathlib import Path

import pytest

from probe.runs.store import Store
from probe.ui.html.checkup import results
from tests.support.checkup import finished, scored
from tests.support.visitors import ME

PARTS = [
    [scored("accuracy", "plain", 80), scored("overlap: high", "slices", 40)],
    [scored("negation", "stress", 50), scored("negation.before", "stress", 80)],
    [scored("sort", "salad", 95, more=False, title="Sort <the> words")],
    [scored("hans.subsequence.non-entailment", "hans", 2, title="Subsequence, not entailed")],
]


@pytest.fixture
def store(home: Path) -> Store:
    return Store()


def test_the_sentence_stands_first_then_good_and_bad(store: Store) -> None:
    shown = results([finished(store, ME, PARTS)])
    first = shown.index("Decomposable Attention: It is right on 80.0 %")
    assert first < shown.index("What it is bad at") < shown.index("What to try")
    assert "Sort &lt;the&gt; words" in shown and "Sort <the> words" not in shown


def test_each_group_is_a_picture_with_its_table(store: Store) -> None:
    shown = results([finished(store, ME, PARTS)])
    for stem in ("salad", "stress", "hans", "slices"):
        assert f"checkup-{stem}.csv" in shown
    assert "before the change" in shown
    assert shown.count("Negation: before") == 0  # it is a mark, not a row


def test_what_to_try_leads_to_the_tab_that_does_it(store: Store) -> None:
    shown = results([finished(store, ME, PARTS)])
    assert "?tab=inoculate&amp;task=nli&amp;model=da&amp;challenge=negation" in shown or (
        "?tab=inoculate&task=nli&model=da&challenge=negation" in shown
    )
    assert "tab=repair" in shown
    assert "python -m finetune inoculate --model da --challenge negation" in shown
    assert "python -m probe checkup da --n 100" in shown


def test_a_part_shows_before_the_others_are_measured(store: Store) -> None:
    shown = results([finished(store, ME, [PARTS[0], []])])
    assert "It is right on 80.0 %" in shown
    assert "checkup-slices.csv" in shown and "checkup-salad.csv" not in shown
    nothing = results([finished(store, ME, [[], PARTS[2]])])
    assert "checkup-salad.csv" in nothing and 'class="say"' not in nothing
