"""Training of the tagger: what it reads, learns and writes, and its command."""

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from probe.text.tagger import WEIGHTS_FILE, Model, load, tags
from recipes import tagger
from recipes.tagger import TAGS, accuracy, app, held_out, read_line, save, train
from tests.support.global_state import leaves_global_chance_alone

LINES = [
    "The_DT dog_NN barks_VBZ ._.",
    "The_DT dogs_NNS bark_VBP ._.",
    "A_DT cat_NN sleeps_VBZ here_RB ._.",
    "The_DT cats_NNS sleep_VBP here_RB ._.",
    "He_PRP likes_VBZ the_DT bark_NN ._.",
] * 4
READ = [read_line(line) for line in LINES]
CORRECTED = {
    "a_DT man_NN ._.": ("a man .", "DT NN ."),
    "snake_case_NN": ("snake_case", "NN"),
    "\"_'' go_VB \"_''": ("`` go ''", "`` VB ''"),
    "so_RB ..._... -_-": ("so ... -", "RB : :"),
    "/_NN ]_NN": ("/ ]", "SYM )"),
    "dogs_NNS ’_POS": ("dogs '", "NNS POS"),
    "dogs_NNS '_NN": ("dogs '", "NNS ''"),
    "i_NNP go_VBP": ("i go", "PRP VBP"),
    "ah_UH`": ("ah", "UH"),
    "she_PRP nodded_JJ": ("she nodded", "PRP VBD"),
    "a_DT nodded_JJ man_NN": ("a nodded man", "DT JJ NN"),
    "men_NNS tired_JJ": ("men tired", "NNS JJ"),
    "a_DT b_XYZ": ("", ""),
    "a_DT _.": ("", ""),
}


def test_a_line_is_read_with_its_tags_corrected() -> None:
    assert len(TAGS) == len(set(TAGS)) == 45
    read = {line: tuple(map(" ".join, read_line(line))) for line in CORRECTED}
    assert read == CORRECTED
    assert 70 < sum(held_out(f"line {n}") for n in range(1000)) < 130


def test_a_form_is_disambiguated_by_the_words_around_it_also_by_weights_as_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    models = list[Model]()
    assert leaves_global_chance_alone(lambda: models.append(train(READ)))
    model = models[0]
    assert tags(["The", "cats", "bark", "."], model) == ["DT", "NNS", "VBP", "."]
    assert tags(["He", "sleeps", "the", "bark"], model) == ["PRP", "VBZ", "DT", "NN"]
    assert tags(["Dogs", "bark"], model)[0] == "NNS"  # its capital does not make it a name
    save(model, tmp_path)
    rows = json.loads((tmp_path / WEIGHTS_FILE).read_text(encoding="utf-8"))["weights"].values()
    assert all(abs(weight) >= 1000 for row in rows for weight in row[1::2])
    monkeypatch.setattr(tagger, "MIN_WEIGHT", 0.001)  # weights from so few lines are small
    save(model, tmp_path)
    assert accuracy(load(tmp_path), READ) == accuracy(model, READ) == 1.0


def test_only_a_frequent_word_that_always_has_the_same_tag_has_a_fixed_one() -> None:
    always = ["it_PRP rains_VBZ"] * 20
    model = train([read_line(line) for line in [*always, *["that_DT"] * 10, *["that_IN"] * 10]])
    assert model.fixed["it"] == "PRP"
    assert "that" not in model.fixed
    assert "it" not in train([read_line("it_PRP rains_VBZ")] * 19).fixed


def test_the_command_writes_the_same_weights_again_and_refuses_what_teaches_nothing(
    tmp_path: Path,
) -> None:
    def call(content: bytes, out: str) -> tuple[Result, Path]:
        (tmp_path / "lines.gz").write_bytes(content)
        words = ["train", str(tmp_path / "lines.gz"), "--out", str(tmp_path / out)]
        return CliRunner().invoke(app, words), tmp_path / out

    lines = [f"{line} {n}_CD" for n, line in enumerate(LINES * 3)]
    corpus = gzip.compress("\n".join([*lines, "what_XYZ", ""]).encode())
    written = []
    for name in ("first", "second"):
        result, out = call(corpus, name)
        assert result.exit_code == 0, result.output
        assert "60 lines; 1 left out" in result.output and "held out: " in result.output
        written.append((out / WEIGHTS_FILE).read_bytes())
    assert written[0] == written[1]
    for packed, sentence in {
        gzip.compress(b""): "is empty",
        gzip.compress(b"no tags here\n"): "it takes some of each",
        gzip.compress(b"The_DT man_NN walks_VBZ ._.\n" * 50)[:-12]: "cannot be",
        gzip.compress("caf\u00e9_QQ The_DT\n".encode("latin-1")): "it takes some of each",
    }.items():
        result, out = call(packed, "none")
        assert result.exit_code == 2 and sentence in result.stderr, sentence
        assert not out.exists()
