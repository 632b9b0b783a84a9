"""`python -m probe distractors`: the file it writes is whole, or the older one stays."""

import json
from pathlib import Path

from tests.support.commands import refusal, run

QUESTION = {
    "id": "q",
    "context": "The river Rhine rises in the Alps.",
    "question": "Where does the river Rhine rise?",
    "answers": [{"text": "the Alps", "start": 25}],
}


def test_questions_are_written_into_a_folder_of_their_own(tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "new" / "out.jsonl"
    source.write_text(json.dumps(QUESTION) + "\n")
    ended = run("distractors", str(source), "--out", str(out))
    assert ended.exit_code == 0, ended.output
    (row,) = map(json.loads, out.read_text().splitlines())
    assert row["base_id"] == "q"
    assert row["sentence"] in row["context"]


def test_a_broken_input_leaves_the_older_file(tmp_path: Path) -> None:
    for content in ["{", json.dumps(QUESTION) + "\n{"]:
        source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
        source.write_text(content)
        out.write_text("older")
        assert refusal("distractors", str(source), "--out", str(out)).startswith("in.jsonl "), (
            content
        )
        assert out.read_text() == "older", content
        assert len(list(tmp_path.iterdir())) == 2, content


def test_a_name_that_says_another_form_is_refused(tmp_path: Path) -> None:
    said = refusal("distractors", "gone.json", "--out", str(tmp_path / "d.csv"))
    assert said.startswith("d.csv: name the file .jsonl (packed")
