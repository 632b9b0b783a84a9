"""Every transform against results worked by hand, in golden/*.toml."""

import random
import sys
from pathlib import Path
from typing import Any

import pytest

from probe.pairs import Pair
from probe.transforms.registry import REGISTRY, Inexact, Options, Tools
from tests.given import Given, scored

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Row = dict[str, Any]  # Any: TOML values
GOLDEN = Path(__file__).with_name("golden")
SEEDS = range(20)
PINS = {"default": (".", "!", "?"), "paper_code": (".",)}


def rows(name: str) -> list[Any]:
    """Return the rows of a file, named after their transform and their line."""
    found = tomllib.loads((GOLDEN / f"{name}.toml").read_text(encoding="utf-8"))["row"]
    return [pytest.param(row, id=f"{row['transform']}-{n}") for n, row in enumerate(found)]


def run(name: str, pair: Pair, tools: Tools) -> tuple[Pair | None, bool]:
    """Return what a transform makes, and whether it is exact."""
    made = REGISTRY[name].function(pair, tools)
    return (made.pair, False) if isinstance(made, Inexact) else (made, True)


def allowed(row: Row) -> list[str]:
    """Return the results a row allows; none where nothing can be made."""
    return row.get("any") or ([row["after"]] if "after" in row else [])


@pytest.mark.parametrize("row", rows("lexical"))
def test_words_are_put_in_the_order_worked_by_hand(row: Row) -> None:
    pair = Pair(row.get("premise", "A man sat."), row["hypothesis"])
    options = Options(pin=PINS[row.get("pin", "default")])
    for seed in SEEDS:
        made, exact = run(row["transform"], pair, Tools(random.Random(seed), options))
        if made is None:
            assert allowed(row) == []
            continue
        assert made.premise == pair.premise
        assert made.hypothesis in allowed(row)
        assert exact == row.get("exact", True)


@pytest.mark.parametrize("row", rows("stress"))
def test_the_clause_goes_where_it_went_by_hand(row: Row) -> None:
    side = REGISTRY[row["transform"]].side
    pair = Pair(**{"premise": "One side.", "hypothesis": "Other side.", side: row["text"]})
    made, exact = run(row["transform"], pair, Tools(random.Random(0), Options()))
    assert exact
    if made is None:
        assert allowed(row) == []
        return
    other = "premise" if side == "hypothesis" else "hypothesis"
    assert getattr(made, other) == getattr(pair, other)
    assert [getattr(made, side)] == allowed(row)


@pytest.mark.parametrize("row", rows("gradient"))
def test_sub_words_change_as_worked_by_hand(row: Row) -> None:
    tokens = scored(row["tokens"], row["scores"])
    copies = row["transform"] == "copyone"
    reading = Given(
        premise=tokens if copies else (),
        hypothesis=() if copies else tokens,
        words=tuple(row.get("vocabulary", ())),
    )
    options = Options(keep=row.get("keep", 0.5), by_id=row.get("by_id", False))
    for seed in SEEDS:
        tools = Tools(random.Random(seed), options, reading)
        made, exact = run(row["transform"], Pair("a man", "is here"), tools)
        if made is None:
            assert "after" not in row and "each" not in row
            continue
        assert made.premise == "a man"
        if "each" in row:
            words = made.hypothesis.split()
            assert all(word in set_ for word, set_ in zip(words, row["each"], strict=True))
        else:
            assert made.hypothesis == row["after"]
        assert exact == row.get("exact", True)


def test_every_choice_of_repeat_comes_up() -> None:
    row = scored(["a", "man", "is", "here"], [4, 1, 2, 3])
    tools = [Tools(random.Random(seed), Options(), Given(hypothesis=row)) for seed in range(60)]
    made = [run("repeat", Pair("a", "b"), each)[0] for each in tools]
    assert {pair.hypothesis for pair in made if pair} == {
        "a a a here",
        "a a here here",
        "a here a here",
        "a here here here",
    }


def test_replace_draws_from_the_ids_of_the_papers_code() -> None:
    tokens = scored(["a", "man"] * 200, [1.0, 0.0] * 200)
    tools = Tools(random.Random(0), Options(draw="paper_code"), Given(hypothesis=tokens))
    made, _ = run("replace", Pair("a", "b"), tools)
    assert made is not None
    drawn = [int(word) for word in made.hypothesis.split() if word != "a"]
    assert len(drawn) == 200
    assert min(drawn) >= 100 and max(drawn) < 20_000
    assert max(drawn) > 15_000  # not only the first of them


@pytest.mark.parametrize("name", REGISTRY)
def test_every_transform_has_four_rows_worked_by_hand(name: str) -> None:
    files = [tomllib.loads(path.read_text(encoding="utf-8")) for path in GOLDEN.glob("*.toml")]
    assert sum(row["transform"] == name for file in files for row in file["row"]) >= 4
