"""Parts of long texts, what is remembered, and the tables that come with the app."""

from pathlib import Path

import pytest

from probe import pbsmt
from probe import pbsmt as translate
from probe.pbsmt import (
    MAX_PART_WORDS,
    DecoderWeights,
    Search,
    missing,
    parts,
    translation,
    translator,
)
from probe.tasks.nli import LABELS
from probe.tasks.task import Label
from tests.support.each import each

# texts of any length


@each("words", [["a"] * 3, ["a"] * 500, (["a"] * 50 + ["."]) * 9, ["."] * 200])
def test_the_parts_of_a_text_are_the_text(words: list[str]) -> None:
    cut = list(parts(words))
    assert [word for part in cut for word in part] == words
    assert all(0 < len(part) <= MAX_PART_WORDS for part in cut)


def test_a_long_text_is_cut_after_the_last_sentence_end_of_a_part() -> None:
    sentence = ["a"] * 24 + ["."]
    assert [len(part) for part in parts(sentence * 3)] == [50, 25]


def test_a_text_without_words_has_no_parts() -> None:
    assert list(parts([])) == []


def test_a_translation_is_remembered_for_its_label_words_and_weights(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words, weights = ("rare", "words", "of", "this", "test"), DecoderWeights(0.8, 0.1, 6)
    made = translation("neutral", words, weights)
    assert list(made) == translator("neutral").translate(words, weights)

    def search(self: Search) -> None:
        raise AssertionError("it was searched for again")

    monkeypatch.setattr(Search, "run", search)
    assert translation("neutral", words, weights) == made
    for label, others in (("neutral", DecoderWeights(0.5, 0.1, 6)), ("entailment", weights)):
        with pytest.raises(AssertionError, match="again"):
            translation(label, words, others)


# the tables that come with the app


def test_the_tables_of_every_label_are_there() -> None:
    assert pbsmt.missing(LABELS) == ""


def test_missing_tables_are_named(tmp_path: Path) -> None:
    for label in ("neutral", "contradiction"):
        (tmp_path / f"{label}.phrases.gz").touch()
        (tmp_path / f"{label}.arpa.gz").touch()
    assert missing(LABELS, tmp_path).startswith(
        f"{tmp_path} lacks entailment.phrases.gz, entailment.arpa.gz; they come with a clone"
    )


@each("label", LABELS)
@each("state", ["", "<s>", "the"])
def test_the_probabilities_of_all_words_add_up_to_one(label: Label, state: str) -> None:
    model = translator(label).language_model
    words = [
        ngram for ngram in model.probabilities if " " not in ngram and ngram != translate.START
    ]
    total = sum(10 ** model.step(state, word)[0] for word in words)
    assert total == pytest.approx(1, abs=0.005)  # three decimals of each logarithm are kept


@each("label", LABELS)
def test_every_line_of_a_table_is_read(label: Label) -> None:
    table = translator(label).table
    for source in table.lines:
        phrases = table.phrases(source)
        assert phrases
        scores = [phrase.score for phrase in phrases]
        assert scores == sorted(scores, reverse=True)
        assert all(phrase.words and all(phrase.words) for phrase in phrases)
