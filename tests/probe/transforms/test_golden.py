"""Every transform against results worked by hand, in golden/*.toml."""

import random
import re
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from probe.tasks.nli import NLI, Pair
from probe.tasks.reading import READING, Question
from probe.transforms import REGISTRY, Options
from probe.transforms.registry import Tools, missing
from tests.support.cases import each
from tests.support.models.scored_tokens import FixedReader, scored

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


def run(name: str, pair: Pair, tools: Tools) -> tuple[Pair | None, bool]:
    """Return what a transform makes, and whether it is exact; skip where it lacks something."""
    if lacks := missing(REGISTRY[name]):
        pytest.skip(lacks)
    changed = REGISTRY[name].make(pair, NLI, tools)
    return (changed.made[0], not changed.why) if changed else (None, True)


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
    options = Options(pin=pin, **row.get("options", {}))
    results = list[Pair]()
    for seed in range(80):  # enough for every choice to come up
        tools = Tools(random.Random(seed), options, labels=tuple(filter(None, [row.get("label")])))
        made, exact = run(entry.name, pair, tools)
        assert (made is None) == (not allowed)
        if made is None:
            return
        assert exact == row.get("exact", True) or entry.family == "heuristic"
        results.append(made)
    for side in SIDES:
        assert {getattr(each, side) for each in results} == {
            *allowed.get(side, [getattr(pair, side)])
        }


@each("row", rows("distractor"))
def test_a_passage_gets_the_sentence_worked_by_hand(row: Row) -> None:
    question = Question(row["question"], row["passage"], row["answer"])
    tools = Tools(random.Random(0), Options())
    changed = REGISTRY[row["transform"]].make(question, READING, tools)
    if changed is None:
        assert "after" not in row
        return
    (made,) = changed.made
    assert made.passage == row["after"]
    assert (made.question, made.gold) == (row["question"], row["answer"])


@each("row", rows("stress", "premise"))
def test_the_pairs_are_those_made_by_hand(row: Row) -> None:
    if lacks := missing(REGISTRY[row["transform"]]):
        pytest.skip(lacks)
    pair = Pair(row["premise"], row.get("hypothesis", "It rained."), "neutral", "r1")
    pairs: set[Pair] = set()
    for seed in range(200 if "entailed" in row else 1):
        tools = Tools(random.Random(seed), Options())
        changed = REGISTRY[row["transform"]].make(pair, NLI, tools)
        examples = changed.made if changed else ()
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
    options = Options(keep=row.get("keep", 0.5), by_id=row.get("by_id", False))
    for seed in range(20):
        tools = Tools(random.Random(seed), options, reading)
        transformed, exact = run(row["transform"], Pair("a man", "is here"), tools)
        if transformed is None:
            assert "after" not in row and "each" not in row
            continue
        assert transformed.premise == "a man"
        if "each" in row:
            words = transformed.hypothesis.split()
            assert all(word in set_ for word, set_ in zip(words, row["each"], strict=True))
        else:
            assert transformed.hypothesis == row["after"]
        assert exact == row.get("exact", True)


def test_every_choice_of_repeat_comes_up() -> None:
    row = scored(["a", "man", "is", "here"], [4, 1, 2, 3])
    made = {
        pair.hypothesis
        for seed in range(60)
        if (tools := Tools(random.Random(seed), Options(), FixedReader(hypothesis=row)))
        if (pair := run("repeat", Pair("a", "b"), tools)[0])
    }
    assert made == {"a a a here", "a a here here", "a here a here", "a here here here"}


def test_replace_draws_from_the_ids_of_the_papers_code() -> None:
    tokens = scored(["a", "man"] * 200, [1.0, 0.0] * 200)
    tools = Tools(random.Random(0), Options(draw="paper_code"), FixedReader(hypothesis=tokens))
    transformed, _ = run("replace", Pair("a", "b"), tools)
    assert transformed is not None
    drawn = [int(word) for word in transformed.hypothesis.split() if word != "a"]
    assert len(drawn) == 200
    assert min(drawn) >= 100 and max(drawn) < 20_000
    assert max(drawn) > 15_000  # not only the first of them


def test_every_transform_has_four_rows_worked_by_hand() -> None:
    counts = Counter(row["transform"] for rows in FILES.values() for row in rows)
    assert [name for name in REGISTRY if counts[name] < 4] == []
