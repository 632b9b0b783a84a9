"""NLTK's reader of WordNet: the lexicographer files that it is told, and concurrent threads."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from probe.text.wordnet import DEBIAN_FOLDER, missing, reader, senses
from probe.text.wordnet_reader import ThreadSafeReader, lexnames
from tests.support.each import each

NEEDS_WORDNET = pytest.mark.skipif(bool(missing()), reason=missing() or "WordNet is installed")
NEEDS_DEBIAN = pytest.mark.skipif(
    not (DEBIAN_FOLDER / "data.noun").is_file(),
    reason="Debian's wordnet-base is not installed",
)
WORDS = ["dog", "cat", "run", "walk", "happy", "set", "make", "take", "light", "line", "cut"] * 4


@pytest.fixture
def frequent_thread_switches() -> Iterator[None]:
    """Let the interpreter switch threads after every few steps."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


# the list that Debian leaves out


def test_there_are_45_lexicographer_files_numbered_from_0() -> None:
    numbers = [line.split("\t")[0] for line in lexnames().splitlines()]
    assert numbers == [f"{number:02}" for number in range(45)]


@each(
    "line",
    [
        "00\tadj.all\t3",
        "02\tadv.all\t4",
        "03\tnoun.Tops\t1",
        "05\tnoun.animal\t1",
        "28\tnoun.time\t1",
        "29\tverb.body\t2",
        "38\tverb.motion\t2",
        "44\tadj.ppl\t3",
    ],
)
def test_a_lexicographer_file_has_the_number_wordnet_gave_it(line: str) -> None:
    assert line in lexnames().splitlines()


# threads


@NEEDS_WORDNET
def test_threads_that_ask_at_once_read_what_one_alone_reads(frequent_thread_switches: None) -> None:
    root = reader().root
    alone, shared = ThreadSafeReader(root), ThreadSafeReader(root)
    expected = [[sense.name() for sense in alone.synsets(word)] for word in WORDS]
    with ThreadPoolExecutor(4) as threads:
        synsets = list(threads.map(shared.synsets, WORDS))
    assert [[sense.name() for sense in senses] for senses in synsets] == expected


@NEEDS_DEBIAN
def test_threads_that_count_at_once_count_what_one_alone_counts(
    frequent_thread_switches: None,
) -> None:
    lemmas = [lemma for word in WORDS for sense in senses(word, "v") for lemma in sense.lemmas()]
    expected = [lemma.count() for lemma in lemmas]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda lemma: lemma.count(), lemmas)) == expected
    assert sum(expected) > 0
