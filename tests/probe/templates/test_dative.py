"""Pairs of the dative alternation."""

import re
from collections import Counter

from probe.templates import Request, count, generate, template_ids
from tests.support.files.template_files import GIVE, sample, texts


def test_a_dative_premise_has_its_three_hypotheses() -> None:
    premise = "The young clerk gave the tourist a folded map at the front desk."
    labels = {
        row.hypothesis: row.gold
        for row in sample("dative", GIVE, 256 * 3, lexical="A", balance=False)
        if row.premise == premise
    }
    assert labels == {
        "The young clerk gave a folded map to the tourist at the front desk.": "entailment",
        "The young clerk gave a folded map at the front desk.": "entailment",
        "The young clerk gave the tourist at the front desk.": "contradiction",
    }


def test_dative_pairs_are_counted_by_hand() -> None:
    thirty = len(template_ids("dative"))
    assert count(Request("dative")) == thirty * 8**4 * 2
    assert count(Request("dative", lexical="A")) == thirty * 4**4 * 2
    assert count(Request("dative", "simple", "B2", balance=False)) == 10 * 4**4 * 3


def test_all_dative_pairs_differ_and_half_of_them_are_entailed() -> None:
    request = Request("dative", "medium", "B")
    size = count(request) or 0
    rows = list(generate(request, size))
    assert len(set(texts(rows))) == size == 10 * 256 * 2
    assert Counter(row.gold for row in rows) == {"entailment": 2560, "contradiction": 2560}


def test_each_of_the_two_dative_entailments_is_kept_half_of_the_time() -> None:
    rows = list(generate(Request("dative", "simple", "A"), 5120))
    entailed = [row for row in rows if row.gold == "entailment"]
    kept = sum(bool(re.search(r" (to|for) the ", row.hypothesis)) for row in entailed)
    assert 0.45 < kept / len(entailed) < 0.55
