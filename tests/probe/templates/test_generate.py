"""Seeds, memory and permutations of generated pairs."""

import subprocess
import sys
from itertools import islice, product
from pathlib import Path

from probe.templates import Request, generate, kinds
from probe.templates.generate import Combinations, Permutation
from tests.support.each import each
from tests.support.files.template_files import texts

ROOT = Path(__file__).resolve().parents[3]


@each("kind", kinds())
def test_the_same_seed_gives_the_same_pairs_and_another_seed_others(kind: str) -> None:
    first, repeated, other = (list(generate(Request(kind), 200, seed)) for seed in (1, 1, 2))
    assert first == repeated
    assert texts(first) != texts(other)


@each("kind", kinds())
def test_a_larger_set_starts_with_the_smaller_one(kind: str) -> None:
    assert list(generate(Request(kind), 50)) == list(islice(generate(Request(kind), 500), 50))


@each("kind", kinds())
def test_every_row_has_its_own_id(kind: str) -> None:
    assert len({row.id for row in generate(Request(kind), 2000)}) == 2000


PEAK_BYTES = """
import tracemalloc
from collections import deque
from probe.templates import Request, generate

def peak_bytes_of(n):
    tracemalloc.start()
    deque(generate(Request("numerical", "simple", "A"), n), maxlen=0)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak_bytes

peak_bytes_of(4000)  # reads the templates and fills the interpreter's caches, once
print(peak_bytes_of(400), peak_bytes_of(4000))
"""


def test_memory_does_not_grow_with_the_number_of_pairs() -> None:
    # in a process of its own: threads that other tests have left would be counted too
    ended = subprocess.run(
        [sys.executable, "-c", PEAK_BYTES], cwd=ROOT, capture_output=True, text=True, check=True
    )
    few, many = map(int, ended.stdout.split())
    assert many < few + 100_000


def test_rows_of_600_000_are_generated_lazily() -> None:
    rows = generate(Request("numerical"), 600_000)
    assert len(list(islice(rows, 5))) == 5


@each("size", [1, 2, 3, 7, 64, 100, 257])
def test_an_order_is_a_permutation(size: int) -> None:
    order = Permutation(size, "0")
    assert sorted(order[index] for index in range(size)) == list(range(size))


def test_orders_of_different_seeds_differ() -> None:
    assert [Permutation(1000, "0")[index] for index in range(9)] != [
        Permutation(1000, "1")[index] for index in range(9)
    ]


def test_arguments_are_all_combinations_without_a_word_twice_from_one_list() -> None:
    combinations = Combinations(
        {"who": ("a", "b", "c"), "act": ("x", "y"), "who2": ("a", "b", "c")}
    )
    fillers = {tuple(combinations[index].values()) for index in range(combinations.size)}
    assert fillers == {row for row in product("abc", "xy", "abc") if row[0] != row[2]}
    assert combinations.size == 12
