"""What the page shows of a check-up."""

from dataclasses import asdict
from html import unescape
from pathlib import Path

import pytest

from probe.checkup.report import report_of
from probe.runs.store import Store
from probe.statistics import Bin
from probe.ui.html.checkup import results, shown
from tests.support.pages.visitors import ME
from tests.support.runs.checkup import finished, scored

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
    first = shown.index("Decomposable Attention is right on 80 %")
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
    asked = "train?aim=inoculate&task=nli&model=da&challenge=negation"
    assert asked in unescape(shown)
    assert "train?aim=repair" in shown
    assert "python -m finetune inoculate --model da --challenge negation" in shown
    assert "python -m probe checkup da --n 100" in shown


def test_a_part_shows_before_the_others_are_measured(store: Store) -> None:
    shown = results([finished(store, ME, [PARTS[0], []])])
    assert "is right on 80 %" in shown
    assert "checkup-slices.csv" in shown and "checkup-salad.csv" not in shown
    nothing = results([finished(store, ME, [[], PARTS[2]])])
    assert "checkup-salad.csv" in nothing and 'class="say"' not in nothing


def test_labels_stand_with_the_kinds_of_texts_and_sub_cases_are_folded(store: Store) -> None:
    parts = [
        *PARTS,
        [scored("label.neutral", "labels", 20, n=40, title="right answer: neutral")],
        [scored("hans.ln_passive", "subcases", 3, n=10, title="Lexical overlap: passive")],
    ]
    page = results([finished(store, ME, parts)])
    kinds = page.index("checkup-slices.csv")
    assert kinds < page.index("right answer: neutral", kinds)
    folded = page.index("<summary>The sub-cases of HANS")
    assert folded < page.index("Lexical overlap: passive")
    assert "checkup-subcases" not in page
    assert "<summary>Which differences remain" in page


def test_bins_and_examples_are_shown_escaped(store: Store) -> None:
    report = report_of(finished(store, ME, PARTS))
    example = {
        "texts": {"premise": "A man.", "hypothesis": "<i>man</i> a."},
        "before": {"hypothesis": "A man."},
        "answer_before": "neutral",
        "answer": "neutral",
        "confidence_before": 0.5,
        "confidence": 0.25,
        "gold": None,
    }
    report["examples"] = {"sort": [example]}
    report["reliability"] = [asdict(Bin(0.4, 0.5, 7, 0.45, 0.25))]
    page = shown(report)
    assert "&lt;i&gt;man&lt;/i&gt; a." in page
    assert "neutral (0.50) before, neutral (0.25) now; right: nothing" in page
    assert "sure by 0.40 to 0.50: right on 25 % of 7" in page
