"""`annotate`: items are drawn to a file, made a set, judged, and taken out again."""

import csv
import json
from pathlib import Path

from probe.runs.access import COMMAND_LINE
from probe.runs.store import Store
from probe.surveys.annotation_set import AnnotationSet
from probe.surveys.rounds import Round
from probe.surveys.survey import join, own_surveys
from tests.support.commands import run
from tests.support.pages.visitors import YOU
from tests.support.runs.annotation import answer_all, honest, person, say, write_text


def test_a_set_is_drawn_imported_judged_and_exported(home: Path, model: str) -> None:
    path, out = home / "new" / "items.csv", home / "out"
    words = ["--transforms", "sort,shuffle", "--each", "1", "--model", model, "--out", str(path)]
    assert "4 items and 5 controls" in run("annotate", "draw", *words).output
    made = run("annotate", "import", str(path), "--title", "Language?", "--votes", "1").output
    (survey,) = own_surveys(store := Store(), COMMAND_LINE)
    annotated = AnnotationSet(survey)
    assert f"set {survey.id}: 4 items in 1 batches" in made
    assert f"set?{survey.id}" in made
    assert f"{survey.id}  Language?" in run("annotate", "list").output
    answer_all(store, annotated, person(0), honest)
    join(store, survey, person(0), "=1+1")
    told = run("annotate", "export", survey.id, "--out", str(out), "--model", model)
    assert told.exit_code == 0, told.output
    results = json.loads((out / "results.json").read_text())
    assert json.loads(told.stdout) == results
    shares = {line["transform"]: line["share"]["value"] for line in results["lines"]}
    assert shares == {"untouched": 0.0, "sort": 1.0, "shuffle": 1.0, "broken": 1.0}
    assert results["model"] == model
    votes = list(csv.DictReader((out / "votes.csv").open()))
    assert [vote["counts"] for vote in votes] == ["yes"] * 5
    assert sorted(vote["text"] for vote in votes) == sorted(annotated.batches[0])
    assert {vote["nickname"] for vote in votes} == {"'=1+1"}  # which no spreadsheet computes


def test_a_round_is_begun_listed_and_exported(home: Path) -> None:
    begun = run("annotate", "fool", "--model", "minilm_sst2", "--title", "Fool it").output
    (survey,) = own_surveys(store := Store(), COMMAND_LINE)
    assert f"fool?{survey.id}" in begun and survey.title == "Fool it"
    assert f"{survey.id}  Fool it" in run("annotate", "list").output
    say(store, Round(survey), write_text(store, Round(survey), YOU, "A fine film."), True, True)
    told = run("annotate", "export", survey.id, "--out", str(home / "out"))
    assert json.loads(told.stdout)["tries"] == {"all": 1, "confirmed": 1}
    given = run("annotate", "fool", "--model", "minilm", "--given").output
    assert "against minilm, " in given and " 0 texts" not in given
    for words, trouble in {
        ("fool", "--model", "gone"): "the page has no model 'gone'",
        ("fool", "--model", "bidaf"): "no labels that people could give",
        ("export", survey.id, "--out", "o", "--model", "minilm"): "leave --model out",
    }.items():
        refused = run("annotate", *words)
        assert refused.exit_code == 2 and trouble in refused.output, words


def test_the_model_is_the_tasks_first_and_the_task_the_models(tmp_path: Path) -> None:
    out = tmp_path / "items.csv"
    for words, column in [
        (["--task", "sentiment"], "text"),
        (["--task", "", "--model", "minilm_sst2"], "text"),
        ([], "hypothesis"),
    ]:
        asked = ["--transforms", "sort", "--each", "1", "--out", str(out)]
        ended = run("annotate", "draw", *asked, *words)
        assert ended.exit_code == 0, ended.output
        assert column in next(csv.reader(out.open())), words
