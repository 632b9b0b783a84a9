"""`python -m finetune vectors`."""

import json
from pathlib import Path

from safetensors.torch import load_file
from typer.testing import CliRunner

from finetune.cli.main import app
from probe.models.word_models.word_tokenizer import SPECIAL
from tests.support.models.tiny_bert import tiny_bert, tiny_pairs


def test_the_most_frequent_words_get_a_vector_each(tmp_path: Path) -> None:
    encoder, file = tiny_bert(tmp_path / "encoder"), tmp_path / "train.jsonl"
    rows = [
        {"premise": pair.premise, "hypothesis": pair.hypothesis, "label": pair.gold}
        for pair in tiny_pairs(30)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ("--encoder", encoder, "--train", file, "--words", 12, "--size", 4)
    result = CliRunner().invoke(
        app, ["vectors", *map(str, words), "--out", str(tmp_path / "new" / "words")]
    )
    assert result.exit_code == 0, result.output
    assert result.output.startswith("12 words, 4 components, 0.")
    known = (tmp_path / "new" / "words.txt").read_text().splitlines()
    assert known[: len(SPECIAL) + 1] == [*SPECIAL, "the"]
    vectors = load_file(tmp_path / "new" / "words.safetensors")["vectors"]
    assert vectors.shape == (12, 4)
    assert vectors[0].abs().sum() == 0  # padding
