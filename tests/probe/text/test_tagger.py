"""The tagger: what it says of plain sentences, what it learns, what its command writes."""

import gzip
import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from probe.cli.tagger import app
from probe.text import tagger
from probe.text.tagger import accuracy, learn, load, missing, save, tag
from probe.text.treebank import TAGS, read_line
from tests.support.property_settings import STEADY

NEEDS_WEIGHTS = pytest.mark.skipif(bool(missing()), reason=missing() or "they are here")
LINES = [
    "The_DT dog_NN barks_VBZ ._.",
    "The_DT dogs_NNS bark_VBP ._.",
    "A_DT cat_NN sleeps_VBZ here_RB ._.",
    "The_DT cats_NNS sleep_VBP here_RB ._.",
    "He_PRP likes_VBZ the_DT bark_NN ._.",
] * 4


# the weights that come with the app


@NEEDS_WEIGHTS
@pytest.mark.parametrize(
    "sentence",
    [
        "The/DT old/JJ man/NN walks/VBZ slowly/RB ./.",
        "She/PRP has/VBZ bought/VBN two/CD boats/NNS ./.",
        "He/PRP did/VBD n't/RB see/VB the/DT bigger/JJR dog/NN ./.",
        "Children/NNS are/VBP playing/VBG in/IN the/DT park/NN ./.",
        "Paul/NNP left/VBD ./.",
        "London/NNP is/VBZ big/JJ ./.",
        "Kids/NNS play/VBP soccer/NN ./.",
        "A/DT man/NN sneezed/VBD ./.",
        "The/DT boy/NN cried/VBD ./.",
        "Lawyers/NNS met/VBD him/PRP ./.",
        "I/PRP think/VBP they/PRP will/MD win/VB ./.",
        "The/DT cheapest/JJS apples/NNS were/VBD eaten/VBN ./.",
        "``/`` Where/WRB is/VBZ my/PRP$ dog/NN ?/. ''/'' he/PRP asked/VBD ./.",
        "It/PRP ’s/VBZ raining/VBG ,/, is/VBZ n’t/RB it/PRP ?/.",
    ],
)
def test_a_plain_sentence_has_the_tags_of_the_treebank(sentence: str) -> None:
    pairs = [item.rsplit("/", 1) for item in sentence.split()]
    assert tag([word for word, _ in pairs]) == [label for _, label in pairs]


@NEEDS_WEIGHTS
@STEADY
@given(st.lists(st.text(max_size=6), max_size=12))
def test_every_word_gets_one_tag_of_the_treebank(words: list[str]) -> None:
    found = tag(words)
    assert len(found) == len(words)
    assert set(found) <= set(TAGS)


@NEEDS_WEIGHTS
def test_the_words_given_stay_as_they_are() -> None:
    words = ["Dogs", "don’t", "bark"]
    tag(words)
    assert words == ["Dogs", "don’t", "bark"]


def test_missing_weights_are_named_with_the_command_that_makes_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tagger, "FOLDER", tmp_path)
    assert "weights.json" in missing()
    assert "python -m probe tagger train" in missing()


# learning


def test_a_form_is_told_apart_by_the_words_around_it() -> None:
    model = learn([read_line(line) for line in LINES])
    assert tagger.tags(["The", "cats", "bark", "."], model) == ["DT", "NNS", "VBP", "."]
    assert tagger.tags(["He", "sleeps", "the", "bark"], model) == ["PRP", "VBZ", "DT", "NN"]


def test_what_was_learnt_from_is_tagged_right() -> None:
    lines = [read_line(line) for line in LINES]
    assert accuracy(learn(lines), lines) == 1.0


def test_small_weights_are_not_written(tmp_path: Path) -> None:
    save(learn([read_line(line) for line in LINES]), tmp_path)
    rows = json.loads((tmp_path / tagger.FILE).read_text(encoding="utf-8"))["weights"].values()
    assert all(abs(weight) >= 1000 for row in rows for weight in row[1::2])


def test_a_capital_at_the_start_does_not_change_a_small_word() -> None:
    model = learn([read_line(line) for line in LINES])
    assert tagger.tags(["Dogs", "bark"], model)[0] == "NNS"


def test_learning_leaves_global_chance_alone() -> None:
    before = random.getstate()
    learn([read_line(line) for line in LINES])
    assert random.getstate() == before


def test_written_weights_tag_as_those_that_were_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tagger, "LEAST", 0.001)  # weights from so few lines are small
    lines = [read_line(line) for line in LINES]
    model = learn(lines)
    save(model, tmp_path)
    assert accuracy(load(tmp_path), lines) == accuracy(model, lines)


def test_a_tag_of_its_own_is_for_words_that_have_no_other() -> None:
    always = ["it_PRP rains_VBZ"] * 20
    model = learn([read_line(line) for line in [*always, *["that_DT"] * 10, *["that_IN"] * 10]])
    assert model.fixed["it"] == "PRP"
    assert "that" not in model.fixed


def test_a_rare_word_is_always_guessed() -> None:
    assert "it" not in learn([read_line("it_PRP rains_VBZ")] * 19).fixed


# the command


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Write some lines, of which a few are held out."""
    path = tmp_path / "tagged.txt.gz"
    lines = [f"{line} {n}_CD" for n, line in enumerate(LINES * 3)]
    path.write_bytes(gzip.compress("\n".join([*lines, "what_XYZ", ""]).encode()))
    return path


def test_the_command_measures_and_writes(corpus: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["train", str(corpus), "--out", str(tmp_path / "new")])
    assert result.exit_code == 0, result.output
    assert "60 lines; 1 left out" in result.output
    assert "held out: " in result.output
    assert load(tmp_path / "new").fixed["!"] == "."


def test_the_same_file_gives_the_same_weights(corpus: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        CliRunner().invoke(app, ["train", str(corpus), "--out", str(tmp_path / name)])
    one, two = (tmp_path / name / "weights.json" for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()


@NEEDS_WEIGHTS
def test_the_weights_name_the_tags_they_are_for() -> None:
    data = json.loads((tagger.FOLDER / tagger.FILE).read_text(encoding="utf-8"))
    assert data["tags"] == TAGS
