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


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Point NLTK and Debian's path at an empty folder."""
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    monkeypatch.setattr(wordnet, "DEBIAN_FOLDER", tmp_path / "wordnet")
    return tmp_path


# where it comes from


def test_without_wordnet_both_ways_to_get_it_are_named(nothing_installed: Path) -> None:
    assert "apt-get install wordnet-base" in missing()
    assert "python -m nltk.downloader wordnet" in missing()


def test_without_wordnet_a_reader_says_what_is_missing(nothing_installed: Path) -> None:
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
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    monkeypatch.setattr(wordnet, "DEBIAN_FOLDER", tmp_path / "wordnet")
    assert missing() == ""
    assert wordnet.reader.__wrapped__().synsets("dog")[0].name() == "dog.n.01"


# senses and relations


@NEEDS_WORDNET
def test_senses_come_by_how_frequent_they_are() -> None:
    river, money = senses("bank", "n")[:2]
    assert river.name() == "bank.n.01"
    assert money.name() == "depository_financial_institution.n.01"


@NEEDS_WORDNET
def test_an_irregular_form_has_the_senses_of_its_lemma() -> None:
    assert senses("geese", "n") == senses("goose", "n")


@NEEDS_WORDNET
def test_a_sense_knows_its_lexicographer_file() -> None:
    assert senses("dog", "n")[0].lexname() == "noun.animal"


@NEEDS_WORDNET
def test_a_lemmas_own_senses_are_not_those_of_a_form_like_it() -> None:
    assert "cathartic" in related(senses("physics", "n"), "synonym")
    assert "cathartic" not in related(own_senses("physics", "n"), "synonym")


@NEEDS_WORDNET
def test_a_form_without_own_senses_has_its_lemmas() -> None:
    assert own_senses("lawyers", "n") == senses("lawyer", "n")


@NEEDS_WORDNET
def test_synonyms_are_the_names_in_all_senses_with_blanks() -> None:
    assert related(senses("husband", "n"), "synonym") == ["husband", "hubby", "married man"]


@NEEDS_WORDNET
def test_antonyms_are_those_of_every_lemma_of_a_sense() -> None:
    assert related(senses("man", "n"), "antonym") == [
        "woman",
        "civilian",  # of serviceman
        "woman",
    ]


@NEEDS_WORDNET
def test_a_word_wordnet_lacks_has_no_senses() -> None:
    assert senses("zorb", "n") == []
    assert related([], "synonym") == []


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


def test_a_lexicographer_file_has_the_number_wordnet_gave_it() -> None:
    named = """00 adj.all 3, 02 adv.all 4, 03 noun.Tops 1, 05 noun.animal 1, 28 noun.time 1,
    29 verb.body 2, 38 verb.motion 2, 44 adj.ppl 3"""
    assert {"\t".join(line.split()) for line in named.split(",")} <= {*lexnames().splitlines()}


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
