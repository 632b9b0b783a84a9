"""`python -m probe compare` and `batch` on files of answers in the place of models."""

import json
from pathlib import Path

import pytest

from tests.support.commands import answer, refusal, run

PAIRS = [("A cat sleeps.", "It rests.", 0), ("A dog runs.", "A dog is red.", 1)] * 3
ORDER = "entailment,neutral,contradiction"


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """A model's answers, of which one is wrong, and those of a mended one: another is."""

    def write(name: str, wrong: int) -> str:
        rows = [
            {
                "premise": f"{at} {premise}", "hypothesis": hypothesis, "label": gold,
                "predicted_scores": [float(gold == each) for each in range(3)],
                "predicted_label": gold,
            }
            for at, (premise, hypothesis, gold) in enumerate(PAIRS)
        ]  # fmt: skip
        rows[wrong] |= {"predicted_scores": [0.0, 0.0, 1.0], "predicted_label": 2}
        path = tmp_path / name / "eval_predictions.jsonl"
        path.parent.mkdir()
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return str(path)

    return write("base", 0), write("fixed", 3)


def test_who_mended_and_who_broke_what_is_told_row_by_row(
    files: tuple[str, str], tmp_path: Path
) -> None:
    base, fixed = files
    out, tables = tmp_path / "out.jsonl", tmp_path / "t.md"
    told = ["--tables", str(tables)] + [
        word for path in files for word in ("--labels", f"{path}={ORDER}")
    ]
    for words in (("--predictions", base, "--predictions", fixed), files):
        shape = answer("compare", *words, *told, "--out", str(out))
        assert shape["models"] == [base, fixed]
        assert [each["value"] for each in shape["accuracy"].values()] == [5 / 6, 5 / 6]
        test = shape["pairs_of_models"][0]["mcnemar"]
        assert (test["only_first_right"], test["only_second_right"]) == (1, 1)
        assert shape["precision"] is None
        assert shape["by_model"][base]["classes"]["entailment"]["recall"]["value"] == 2 / 3
        assert f"| {base} | 83.3 (" in tables.read_text()
        rows = [json.loads(line) for line in out.read_text().splitlines()]
        for name, wrong in ((base, 0), (fixed, 3)):
            assert [row[f"{name}.right"] for row in rows] == [at != wrong for at in range(6)]


def test_a_model_stands_beside_a_file_of_answers(model: str, files: tuple[str, str]) -> None:
    base, _ = files
    told = ["--labels", f"{base}={ORDER}"]
    shape = answer("compare", "--model", model, "--predictions", base, *told)
    assert shape["models"] == [model, base]
    assert shape["accuracy"][base]["value"] == 5 / 6
    assert shape["precision"]


def test_one_file_of_answers_is_scored_as_a_model_is(
    files: tuple[str, str], tmp_path: Path
) -> None:
    out, summary = tmp_path / "out.jsonl", tmp_path / "s.json"
    words = ["--predictions", files[0], "--labels", ORDER, "--out", str(out)]
    ended = run("batch", *words, "--summary", str(summary))
    assert ended.exit_code == 0, ended.output
    shape = json.loads(summary.read_text())
    assert (shape["accuracy"], shape["precision"]) == (5 / 6, None)
    assert shape["calibration"]["n"] == 6
    assert {one["slice"] for one in shape["slices"]} >= {"none", "up to 5 words"}
    assert "there is no model to ask" in refusal("batch", *words, "--transforms", "sort")
    assert "is for a model" in refusal("batch", *words, "--run")


def test_what_has_no_texts_or_no_second_one_is_refused(
    files: tuple[str, str], tmp_path: Path
) -> None:
    bare = [tmp_path / f"{name}.csv" for name in "ab"]
    for path in bare:
        path.write_text("index,prediction\n0,entailment\n")
    assert "none of these files holds the texts" in refusal("compare", *map(str, bare))
    assert "choose two" in refusal("compare", "--predictions", files[0])
    texts = [tmp_path / f"{name}.csv" for name in "cd"]
    for path in texts:
        path.write_text("premise,hypothesis\nA cat sleeps.,It rests.\n")
    assert "no column of answers" in refusal("compare", *map(str, texts))
