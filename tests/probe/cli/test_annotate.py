"""`annotate`: items are drawn to a file, made a set, judged, and taken out again."""

import csv
import json
from pathlib import Path

from probe.runs.access import COMMAND_LINE
from probe.runs.store import Store
from probe.surveys.annotation_set import AnnotationSet
from probe.surveys.survey import own_surveys
from tests.support.commands import refusal, run
from tests.support.runs.annotation import answer_all, honest, person


def test_a_set_is_drawn_imported_judged_and_exported(
    home: Path, model: str, tmp_path: Path
) -> None:
    path, out = tmp_path / "new" / "items.csv", tmp_path / "out"
    words = ["--transforms", "sort,shuffle", "--each", "1", "--model", model, "--out", str(path)]
    assert "4 items and 5 controls" in run("annotate", "draw", *words).output
    made = run("annotate", "import", str(path), "--title", "Language?", "--votes", "1").output
    (survey,) = own_surveys(store := Store(), COMMAND_LINE)
    annotated = AnnotationSet(survey)
    assert f"set {survey.id}: 4 items in 1 batches" in made
    assert f"?tab=annotate&task=nli&set={survey.id}" in made
    assert f"{survey.id}  Language?" in run("annotate", "list").output
    answer_all(store, annotated, person(0), honest)
    told = run("annotate", "export", survey.id, "--out", str(out), "--model", model)
    assert told.exit_code == 0, told.output
    results = json.loads((out / "results.json").read_text())
    assert json.loads(told.stdout) == results
    shares = {line["transform"]: line["share"]["value"] for line in results["lines"]}
    assert shares == {"untouched": 0.0, "sort": 1.0, "shuffle": 1.0, "broken": 1.0}
    assert results["model"] == model
    with (out / "votes.csv").open() as file:
        votes = list(csv.DictReader(file))
    assert [vote["counts"] for vote in votes] == ["1"] * 5
    assert sorted(vote["item"] for vote in votes) == sorted(annotated.batches[0])


def test_the_model_is_the_tasks_first_and_the_task_the_models(tmp_path: Path) -> None:
    for words, columns in [
        (["--task", "sentiment"], {"text"}),
        (["--task", "", "--model", "minilm_sst2"], {"text"}),
        ([], {"premise", "hypothesis"}),
    ]:
        out = tmp_path / "items.csv"
        asked = ["--transforms", "sort", "--each", "1", "--out", str(out)]
        ended = run("annotate", "draw", *asked, *words)
        assert ended.exit_code == 0, ended.output
        with out.open() as file:
            assert columns <= set(next(csv.reader(file))), (words, columns)


def test_wrong_words_are_answered_with_a_sentence(home: Path) -> None:
    for words, trouble in [
        (["export", "gone", "--out", "x"], "has no set 'gone'; it has: none"),
        (
            ["draw", "--mode", "vote", "--out", "x.csv"],
            "no annotation 'vote'; it has: valid, labels",
        ),
        (["draw", "--out", "i.parquet"], "i.parquet: name the file .csv (packed"),
        (["import", "gone.csv"], "gone.csv"),
    ]:
        assert trouble in refusal("annotate", *words), (words, trouble)
