"""Changed texts in the form of SNLI and SQuAD, labelled by their rules."""

import json
from pathlib import Path

import pytest

from probe.analysis.summary import made_columns
from probe.data.rows import Record
from probe.errors import FileError
from probe.scoring.source_form import SourceForm, check_source_form
from probe.tasks.nli import LABELS, NLI, Pair
from probe.tasks.reading import READING
from probe.tasks.sentiment import SENTIMENT
from tests.support.commands import refusal, run
from tests.support.files.pair_files import row, write


def test_pairs_that_have_a_label_are_written_and_the_others_counted(
    model: str, tmp_path: Path
) -> None:
    pairs = [Pair("A man sleeps.", "A man sleeps now.", label) for label in LABELS]
    file = write(tmp_path / "in.jsonl", [row(pair) for pair in pairs])
    words = ["batch", str(file), "--model", model, "--out", str(tmp_path / "out.csv")]
    training, made = tmp_path / "training.jsonl", tmp_path / "made.jsonl"
    names = ["--transforms", "sort,negation", "--training", str(training), "--pairs", str(made)]
    ended = run(*words, *names)
    assert "as SNLI has them: 3 texts; left out: 3 without a defined label" in ended.stderr
    written = [json.loads(line) for line in training.open()]
    assert [each["pairID"] for each in written] == [f"{at}-negation" for at in (1, 2, 3)]
    every = {f"{e['row']}-{e['transform']}": e for e in map(json.loads, made.open())}
    for each in written:
        of = every[each["pairID"]]
        assert each == {
            "gold_label": of["gold"], "sentence1": of["premise"], "sentence2": of["hypothesis"],
            "pairID": each["pairID"],
        }  # fmt: skip
    assert "name changes with --transforms" in refusal(*words, "--training", str(training))


def test_an_antonym_under_a_negation_is_nothing_to_train_on(model: str, tmp_path: Path) -> None:
    pairs = [Pair("The house is big.", "It's here."), Pair("The house isn't big.", "It's here.")]
    file = write(tmp_path / "in.jsonl", [row(pair) for pair in pairs])
    out, training = tmp_path / "out.csv", tmp_path / "training.jsonl"
    words = ["--model", model, "--out", str(out), "--transforms", "antonym", "--training"]
    ended = run("batch", str(file), *words, str(training))
    assert "2 with an antonym under a negation, whose label is doubtful" in ended.stderr
    written = {json.loads(line)["sentence2"] for line in training.open()}
    assert written == {"The house is small.", "The house is little."}


def test_an_answer_stands_where_it_stood_or_its_question_is_left_out(tmp_path: Path) -> None:
    columns = made_columns((), READING)
    passage = "Ann met Ann. Bob slept."
    answers = {"text": ["Ann"], "answer_start": [8]}
    records = [Record(at, {"context": passage, "question": "Who?", "answers": answers})
               for at in range(4)]  # fmt: skip

    def made(number: int, text: str, gold: str | None) -> list[object]:
        cells = {"row": number, "transform": "t", "number": 1, "of": 1, "changed": True,
                 "question": "Whom?", "passage": text, "gold": gold}  # fmt: skip
        return [cells.get(name) for name in columns]

    form = SourceForm(tmp_path / "t.json", READING, columns)
    rows = [made(1, f"So. {passage}", "Ann"), made(2, "Ann saw Ann.", "Ann"),
            made(3, "I met Ann.", "Ann"), made(4, passage, None)]  # fmt: skip
    form.write(records, rows)
    form.finish()
    data = json.loads((tmp_path / "t.json").read_text())["data"]
    asked = [each["paragraphs"][0]["qas"][0] for each in data]
    assert [(each["id"], each["answers"][0]["answer_start"]) for each in asked] == [
        ("1-t", 12), ("3-t", 6),
    ]  # fmt: skip
    assert "1 without a defined label" in form.words and "1 whose answer has no sure" in form.words
    empty = SourceForm(tmp_path / "none.json", READING, columns)
    empty.finish()
    assert not (tmp_path / "none.json").exists() and "not written" in empty.words


def test_what_has_no_such_form_is_refused_before_anything_is_scored() -> None:
    for task, name, sentence in (
        (SENTIMENT, "a.jsonl", "no form of SNLI or SQuAD"),
        (NLI, "a.json", "name it .jsonl"),
        (READING, "a.jsonl", "name it .json"),
    ):
        with pytest.raises(FileError, match=sentence):
            check_source_form(Path(name), task, ["sort"])
