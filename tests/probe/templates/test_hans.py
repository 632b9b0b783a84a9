"""HANS-like pairs: heuristics, labels, sub-cases."""

from collections import Counter

from probe.templates import Request, generate, subcases
from tests.support.each import each
from tests.support.files.template_files import FILES, texts, words


def within(part: list[str], whole: list[str]) -> list[int]:
    """Return the indices at which `part` begins as one piece of `whole`."""
    return [start for start in range(len(whole)) if whole[start : start + len(part)] == part]


@each("subcase", subcases())
def test_every_hans_pair_fits_its_heuristic_and_its_label(subcase: str) -> None:
    for pair in generate(Request("hans", subcase=subcase), 200):
        premise, hypothesis = words(pair.premise), words(pair.hypothesis)
        starts = within(hypothesis, premise)
        assert set(hypothesis) <= set(premise)
        assert pair.subcase == subcase
        assert pair.gold == ("entailment" if subcase[1] == "e" else "non-entailment")
        assert pair.heuristic == {"l": "lexical_overlap", "s": "subsequence"}.get(
            subcase[0], "constituent"
        )
        # the heuristics are nested; each of ours is exactly the one it is named after
        assert bool(starts) == (pair.heuristic != "lexical_overlap")


CONJUNCTIONS = {
    "if",
    "unless",
    "that",
    "or",
    "and",
    "since",
    "because",
    "although",
    "though",
    "after",
}


@each("subcase", subcases("constituent"))
def test_a_constituent_is_a_clause_from_end_to_end(subcase: str) -> None:
    adverbs = FILES["hans"]["words"]["perhaps"] + FILES["hans"]["words"]["surely"]
    for pair in generate(Request("hans", subcase=subcase), 200):
        clause = pair.hypothesis[0].lower() + pair.hypothesis[1:-1]
        before, _, after = (pair.premise[0].lower() + pair.premise[1:]).partition(clause)
        begins_clause = before.endswith(", ") or before.strip() in ("", *adverbs)
        assert begins_clause or before.split()[-1] in CONJUNCTIONS, pair.premise
        assert after[0] in ".," or after.split()[0] in CONJUNCTIONS | {"provided"}, pair.premise


def test_thirty_thousand_hans_pairs_are_a_thousand_of_each_sub_case() -> None:
    rows = list(generate(Request("hans"), 30_000))
    assert Counter(row.subcase for row in rows) == dict.fromkeys(subcases(), 1000)
    assert set(Counter(row.gold for row in rows).values()) == {15_000}
    assert len(set(texts(rows))) == 30_000


def test_a_heuristic_or_a_sub_case_can_be_asked_for_alone() -> None:
    rows = list(generate(Request("hans", heuristic="subsequence"), 80))
    assert {row.subcase for row in rows} == set(subcases("subsequence"))
    assert {row.subcase for row in generate(Request("hans", subcase="sn_NP/Z"), 9)} == {"sn_NP/Z"}
