"""WordNet: where it is looked for, its senses, and its reader."""

import sys
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nltk.data
import pytest

from probe.errors import MissingWordNet
from probe.text import wordnet
from probe.text.wordnet import missing, own_senses, reader, related, senses
from probe.text.wordnet_reader import ThreadSafeReader, lexnames

NEEDS_WORDNET = pytest.mark.skipif(bool(missing()), reason=missing() or "WordNet is installed")
NEEDS_DEBIAN = pytest.mark.skipif(
    not (wordnet.DEBIAN_FOLDER / "data.noun").is_file(),
    reason="Debian's wordnet-base is not installed",
)


def nothing_installed(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Point NLTK and Debian's path at a folder."""
    monkeypatch.setattr(nltk.data, "path", [str(folder)])
    monkeypatch.setattr(wordnet, "DEBIAN_FOLDER", folder / "wordnet")


def test_without_wordnet_both_ways_to_get_it_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    nothing_installed(monkeypatch, tmp_path)
    assert "apt-get install wordnet-base" in missing()
    assert "python -m nltk.downloader wordnet" in missing()
    with pytest.raises(MissingWordNet, match=r"^WordNet is not on this machine; install it with"):
        wordnet.reader.__wrapped__()


@NEEDS_DEBIAN
def test_nltks_own_archive_is_read_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "corpora").mkdir()
    with zipfile.ZipFile(tmp_path / "corpora" / "wordnet.zip", "w") as archive:
        for name in wordnet.READER_FILES:
            archive.write(wordnet.DEBIAN_FOLDER / name, f"wordnet/{name}")
    nothing_installed(monkeypatch, tmp_path)
    assert missing() == ""
    assert wordnet.reader.__wrapped__().synsets("dog")[0].name() == "dog.n.01"


@NEEDS_WORDNET
def test_senses_come_by_how_frequent_they_are_and_know_their_file() -> None:
    river, money = senses("bank", "n")[:2]
    assert river.name() == "bank.n.01"
    assert money.name() == "depository_financial_institution.n.01"
    assert senses("geese", "n") == senses("goose", "n")
    assert senses("dog", "n")[0].lexname() == "noun.animal"
    assert own_senses("lawyers", "n") == senses("lawyer", "n")
    assert [*senses("zorb", "n")] == related([], "synonym") == []


@NEEDS_WORDNET
def test_relations_are_those_of_every_lemma_of_a_sense() -> None:
    assert "cathartic" in related(senses("physics", "n"), "synonym")
    assert "cathartic" not in related(own_senses("physics", "n"), "synonym")
    assert related(senses("husband", "n"), "synonym") == ["husband", "hubby", "married man"]
    of_a_man = ["woman", "civilian", "woman"]  # the civilian is of the serviceman
    assert related(senses("man", "n"), "antonym") == of_a_man


def test_a_lexicographer_file_has_the_number_wordnet_gave_it() -> None:
    lines = lexnames().splitlines()
    assert [line.split("\t")[0] for line in lines] == [f"{number:02}" for number in range(45)]
    named = """00 adj.all 3, 02 adv.all 4, 03 noun.Tops 1, 05 noun.animal 1, 28 noun.time 1,
    29 verb.body 2, 38 verb.motion 2, 44 adj.ppl 3"""
    assert {"\t".join(line.split()) for line in named.split(",")} <= {*lines}


WORDS = ["dog", "run", "walk", "happy", "light", "line", "cut"] * 3


@pytest.fixture
def frequent_thread_switches() -> Iterator[None]:
    """Let the interpreter switch threads after every few steps."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@NEEDS_WORDNET
def test_threads_that_ask_at_once_read_what_one_alone_reads(frequent_thread_switches: None) -> None:
    root = reader().root
    alone, shared = ThreadSafeReader(root), ThreadSafeReader(root)
    expected = [[sense.name() for sense in alone.synsets(word)] for word in WORDS]
    lemmas = [lemma for word in WORDS for sense in senses(word, "v") for lemma in sense.lemmas()]
    counts = [lemma.count() for lemma in lemmas]
    with ThreadPoolExecutor(4) as threads:
        synsets = list(threads.map(shared.synsets, WORDS))
        assert list(threads.map(lambda lemma: lemma.count(), lemmas)) == counts
    assert [[sense.name() for sense in senses] for senses in synsets] == expected
    assert sum(counts) > 0
