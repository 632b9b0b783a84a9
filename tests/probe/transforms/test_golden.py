"""Every transform against results worked by hand, in golden/*.toml."""

import re
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from probe.tasks.nli import NLI, Pair
from probe.tasks.reading import READING, Question
from probe.transforms import REGISTRY
from tests.support.cases import each
from tests.support.models.scored_tokens import FixedReader, made, scored

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Row = dict[str, Any]  # Any: TOML values
FILES = {
    path.stem: tomllib.loads(path.read_text(encoding="utf-8"))["row"]
    for path in Path(__file__).with_name("golden").glob("*.toml")
}
TEXTS = ("lexical", "stress", "heuristic", "statistical")
SIDES = {"premise": "premises", "hypothesis": "hypotheses"}


def rows(name: str, key: str = "transform") -> list[Row]:
    """Return the rows of a file that have a key."""
    return [row for row in FILES[name] if key in row]


@each("row", [row for name in TEXTS for row in rows(name) if not {"pairs", "entailed"} & set(row)])
def test_texts_become_all_they_became_by_hand(row: Row) -> None:
    entry = REGISTRY[row["transform"]]
    pair = Pair(row.get("premise", "One side."), row.get("hypothesis", "Other side."))
    allowed = {side: row[key] for side, key in SIDES.items() if key in row}
    if "after" in row or "any" in row:
        allowed = dict.fromkeys(entry.edited(NLI), row.get("any") or [row.get("after")])
    if "text" in row:
        pair = replace(pair, **dict.fromkeys(entry.edited(NLI), row["text"]))
    pin = (".",) if row.get("pin") == "paper_code" else (".", "!", "?")
    options = {"labels": tuple(filter(None, [row.get("label")])), "pin": pin}
    options |= row.get("options", {})
    results = [made(entry.name, pair, seed, **options) for seed in range(80)]  # every choice
    assert all(len(examples) == bool(allowed) for examples, _ in results)
    if entry.family != "heuristic":
        assert {not why for _, why in results} == {row.get("exact", True)}
    for side in SIDES:
        texts = {getattr(each, side) for examples, _ in results for each in examples}
        assert texts == {*allowed.get(side, [getattr(pair, side)])} or not allowed


@each("row", rows("distractor"))
def test_a_passage_gets_the_sentence_worked_by_hand(row: Row) -> None:
    question = Question(row["question"], row["passage"], row["answer"])
    examples, _ = made(row["transform"], question, task=READING)
    assert [each.passage for each in examples] == ([row["after"]] if "after" in row else [])
    for each_ in examples:
        assert (each_.question, each_.gold) == (row["question"], row["answer"])


@each("row", rows("stress", "premise"))
def test_the_pairs_are_those_made_by_hand(row: Row) -> None:
    pair = Pair(row["premise"], row.get("hypothesis", "It rained."), "neutral", "r1")
    pairs: set[Pair] = set()
    for seed in range(200 if "entailed" in row else 1):
        examples, _ = made(row["transform"], pair, seed)
        assert len(set(examples)) == len(examples)
        pairs |= set(examples)
    by_hand = [Pair(*pair, "contradiction", "r1") for pair in row.get("pairs", [])]
    for statement in statements(row.get("entailed", "")):
        by_hand.append(Pair(row["premise"], statement, "entailment", "r1"))
        by_hand.append(Pair(statement, row["premise"], "neutral", "r1"))
    for statement in statements(row.get("contradicted", "")):
        by_hand.append(Pair(row["premise"], statement, "contradiction", "r1"))
    assert pairs == set(by_hand)


def statements(text: str) -> list[str]:
    """Split at the marks that a blank follows."""
    return re.split(r"(?<=[.?])\s+", text.strip()) if text else []


@each("row", rows("gradient"))
def test_sub_words_change_as_worked_by_hand(row: Row) -> None:
    tokens = scored(row["tokens"], row["scores"])
    copies = row["transform"] == "copyone"
    reading = FixedReader(
        premise=tokens if copies else (),
        hypothesis=() if copies else tokens,
        words=tuple(row.get("vocabulary", ())),
    )
    keep, by_id = row.get("keep", 0.5), row.get("by_id", False)
    for seed in range(20):
        pair = Pair("a man", "is here")
        examples, why = made(row["transform"], pair, seed, reading=reading, keep=keep, by_id=by_id)
        assert bool(examples) == bool({"after", "each"} & set(row))
        assert (not why) == row.get("exact", True) or not examples
        for new in examples:
            assert new.premise == "a man"
            words = row["after"].split(" ") if "after" in row else row["each"]
            for word, allowed in zip(new.hypothesis.split(" "), words, strict=True):
                assert word == allowed or ("each" in row and word in allowed)


def test_replace_draws_from_the_ids_of_the_papers_code() -> None:
    reading = FixedReader(hypothesis=scored(["a", "man"] * 200, [1.0, 0.0] * 200))
    (pair,), _ = made("replace", Pair("a", "b"), reading=reading, draw="paper_code")
    drawn = [int(word) for word in pair.hypothesis.split() if word != "a"]
    assert len(drawn) == 200
    assert min(drawn) >= 100 and max(drawn) < 20_000
    assert max(drawn) > 15_000  # not only the first of them


def test_every_transform_has_four_rows_worked_by_hand() -> None:
    counts = Counter(row["transform"] for rows in FILES.values() for row in rows)
    assert [name for name in REGISTRY if counts[name] < 4] == []
