"""What each aim offers, shows of what is chosen, calls its runs, and lets a person take away."""

import csv
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from finetune.report.files import export, write_files
from finetune.report.inoculation import shown_runs
from finetune.trials.base import CONTROL
from finetune.trials.challenges import catalogue, challenges, template_challenges
from finetune.trials.generalisation import FILE, conditions, grids, phenomena
from finetune.trials.inoculation import Cell, inoculation_run
from finetune.ui import generalise, inoculate, repair
from finetune.ui.generalise import file_shown, fitting_vary, kind_columns, kinds_shown, show
from finetune.ui.html.inoculation import results
from finetune.ui.inoculate import SAMPLES, challenge_choices, facts, samples
from finetune.ui.repair import ALL, METHODS, change_choices, compared, tidy
from probe.errors import FileError, RunError
from probe.runs.gallery import FOLDER, gallery_runs
from probe.runs.store import Store
from probe.tasks.label_rules import COMPUTED
from probe.tasks.nli import NLI
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import offered_tasks
from probe.transforms import REGISTRY
from probe.ui.run_tab.shown import Looked
from tests.support.cases import failures
from tests.support.offers import VIEWS
from tests.support.pages.visitors import ME, YOU, uploaded
from tests.support.runs.condition_files import written
from tests.support.runs.generalisation import PLAN, make_points, stored_run
from tests.support.runs.points import make_point, make_run
from tests.support.runs.repairs import (
    calibration_run,
    debiasing_run,
    mitigation_run,
    transfer_run,
)

MATRIX = [(294, 180, 132), (285, 285, 285), (285, 285, 285)]
LOOKED = Looked(ME, NLI)


def test_samples_of_a_challenge_are_shown_against_what_they_were_made_of() -> None:
    def of_hypothesis(challenge: str) -> None:
        lines = samples(challenge).split("<li>")[1:]
        assert lines
        for line in lines:  # the challenge leaves premises alone
            premise = line.partition("/</span>")[0]
            assert "<del" not in premise and "<ins" not in premise

    def counted(challenge: str) -> None:
        shown = samples(challenge)
        count = shown.count("<li>")
        assert 0 < count <= SAMPLES and f">{count} pairs of {challenge}" in shown

    of_hypotheses = [
        name
        for name in challenges()
        if name in REGISTRY
        and REGISTRY[name].edited(NLI) == ("hypothesis",)
        and REGISTRY[name].rule is not COMPUTED
    ]
    assert failures(of_hypothesis, of_hypotheses) == {}
    assert failures(counted, ["word_overlap", "hadjsyn", "numerical", *template_challenges()]) == {}
    assert "<del" not in samples("numerical") and "<ins" not in samples("templates_dative")
    assert "Choose at least one" in samples("")
    assert 'role="alert"' in samples("<sideways>") and "<sideways>" not in samples("<sideways>")


def test_there_is_an_example_of_each_kind_of_a_skill() -> None:
    def complete(skill: str, vary: str) -> None:
        shown = kinds_shown(skill, vary)
        assert shown.count("<li>") == len(conditions(skill, vary)) > 1
        assert all(f">{each.title}</b>" in shown for each in conditions(skill, vary))
        assert shown.index("<li>") < shown.index("<details")

    cases = [(skill, vary) for skill in phenomena() for vary in grids(skill)]
    assert cases and failures(complete, cases) == {}
    fitting = [fitting_vary(skill, "range") for skill in ("numerical", "dative", FILE)]
    assert fitting == ["range", "complexity", ""]
    titles = [generalise.skill_title(name) for name in phenomena()]
    assert all(title[0].isupper() and title not in phenomena() for title in titles)


def test_a_file_is_asked_for_its_kinds(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    rows = [f"Day {n}.,No day.,neutral,{n},a,{n % 2},{n % 3}" for n in range(40)]
    head = "premise,hypothesis,label,number,same,parity,Condition"
    path.write_text("\n".join([head, *rows]) + "\n")
    assert kind_columns(str(path), NLI) == ["Condition", "parity"]
    two, one = (
        written(tmp_path / f"{n}.csv", dict([("news", 12), ("novels", 3)][:n])) for n in (2, 1)
    )
    assert "2 kinds of rows: news 12, novels 3." in file_shown(two, "genre", NLI)
    assert kind_columns(one, NLI) == []
    with pytest.raises(FileError, match="must have 2 to 12 different values"):
        file_shown(one, None, NLI)
    for task in offered_tasks():
        if not task.has_spans:
            said = file_shown(None, None, task)
            assert "names the kind of each row" in said and ">genre<" in said, task.name


@pytest.mark.usefixtures("home")
def test_a_skill_shows_what_belongs_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(uploaded(Path(written(tmp_path / "mine.csv", {"news": 12, "novels": 3}))))

    def follow(skill: str, file: str | None = None, vary: str = "range") -> dict[str, Any]:
        values = {"skill": skill, "file": file, "column": None, "vary": vary}
        return generalise.follow(values, NLI, ME)

    assert [name for _, name in follow("dative")["vary"]["choices"]] == ["complexity", "lexical"]
    assert follow("numerical")["vary"]["value"] == "range"
    own = follow(FILE, path)
    assert own["file"]["visible"] and not own["vary"]["visible"]
    assert own["column"] == {"choices": ["genre"], "value": "genre", "visible": True}
    with pytest.raises(FileError):
        generalise.about({"skill": FILE, "file": path, "column": None}, NLI, YOU)
    for setting, open_there in (("hub", True), ("folder", False)):
        monkeypatch.setenv("NLI_CLINIC_OWN_MODELS", setting)
        assert (
            follow(FILE)["hub"]["visible"] == open_there and not follow("dative")["hub"]["visible"]
        )


def test_a_task_offers_its_own_changes_challenges_and_skills() -> None:
    names = {name for name, tasks in VIEWS["repair"].items() if "sentiment" in tasks}
    assert {name for _, name in change_choices(SENTIMENT)} == {ALL, *names}
    for task in offered_tasks():
        challenge = inoculate.offered(task)["challenges"]
        offered = {name for _, name in challenge["choices"]}
        assert challenge["value"][0] in offered == set(challenges(task)), task.name
    family = {entry.name: entry.family for entry in catalogue()}
    kinds = [family[name] for _, name in challenge_choices()]
    assert kinds == sorted(kinds, key=list(dict.fromkeys(kinds)).index)
    assert ("Add a negation · negation", "negation") in challenge_choices()
    assert generalise.offered(SENTIMENT)["skill"]["choices"] == [("From your own file", FILE)]
    assert [name for _, name in generalise.skill_choices(NLI)] == ["numerical", "dative", FILE]
    assert compared("entropic", True) == ("entropic", "threshold", "invalid")
    assert compared("entropic", False) == ("entropic",)
    assert compared("augment", True)[-1] == CONTROL not in METHODS
    assert all(method.term.summary for method in METHODS.values())
    chosen = [tidy(each) for each in ([], [ALL, "sort"], ["sort", ALL], ["sort", "drop"])]
    assert chosen == [[ALL], ["sort"], [ALL], ["sort", "drop"]]


def test_runs_are_called_and_badged_in_plain_words() -> None:
    ready = {run.id.removeprefix("gallery-"): run for run in gallery_runs()}
    own_file = replace(PLAN, phenomenon="reviews", vary=FILE, mode="full")
    mine = replace(stored_run([]), plan=asdict(own_file))
    for view, run, name, badge in (
        (inoculate, ready["minilm-word_overlap"], "MiniLM · Add a tautology, to 500", "1 · gap"),
        (inoculate, ready["esim-spelling"], "ESIM · Misspell a word, to ", "too little to tell"),
        (repair, mitigation_run(), "MiniLM · A class “invalid”", "94 % of broken texts found"),
        (repair, calibration_run(), "MiniLM · Temperature scaling", "confidence off by "),
        (repair, debiasing_run(), "MiniLM · Product of experts", "60 % right where the short"),
        (repair, transfer_run(), "MiniLM · One kind at a time", "96 % of its own kind found"),
        (generalise, ready["minilm-numerical-complexity"], "MiniLM · Numbers by sentence",
         "undecided"),
        (generalise, stored_run(make_points(MATRIX)), "MiniLM · Numbers by sentence, quick",
         "learnt the set, not the skill"),
    ):  # fmt: skip
        assert view.named(run).startswith(name), view.named(run)  # type: ignore[attr-defined]
        assert view.badge(run)[1].startswith(badge), view.badge(run)  # type: ignore[attr-defined]
    assert generalise.named(mine) == "MiniLM · reviews (own file)"
    first = min(
        (run for run in ready.values() if run.kind == "generalisation"), key=generalise.rank
    )
    assert first.plan["phenomenon"] == generalise.skills(NLI)[0]


def test_examples_in_a_prompt_are_shown_without_a_rate() -> None:
    points = [make_point(800, 600, 1000), make_point(800, 610, 1000, Cell(8, 0.0, 0))]
    shown = str(results([make_run(points, "owner/lm", lrs=(0.0,), mode="context")]))
    assert "It does not take it up from 8 examples in its prompt" in shown
    assert "Nothing was trained: the examples stood in" in shown
    trained = str(results([make_run([points[0], make_point(800, 610, 1000, Cell(8, 1e-5, 0))])]))
    for words in ("by another learning rate", "Learning rate 0"):
        assert words not in shown
    assert "by another learning rate" in trained


def test_what_would_tell_is_told_with_its_time_and_started_for_its_owner_alone(home: Path) -> None:
    store = Store()
    ready = {run.id.removeprefix("gallery-"): run for run in gallery_runs()}
    for name in ("da-length_mismatch", "da-word_overlap", "da-numerical"):
        assert facts(store, ME, ready[name]) is None, name
    told = facts(store, ME, ready["esim-spelling"])
    assert told and (told["sizes"], told["mode"]) == ("500", "full") and told["seconds"] > 0
    theirs = inoculation_run(replace(ready["esim-spelling"], owner="somebody else"))
    with pytest.raises(RunError, match="no run that can be started here"):
        inoculate.job(store, ME, theirs, "oracle_lr")


def test_generalisations_stand_one_under_the_other_and_are_judged_anew() -> None:
    nowhere, runs = Path("no gallery"), [
        stored_run(make_points(MATRIX), run_id=name) for name in ("a", "b")
    ]  # fmt: skip
    shown = show(nowhere, runs, replace(LOOKED, rule="b:60"))
    assert shown.count('class="generalised"') == 2
    assert 'data-rule="a" value="10"' in shown and 'data-rule="b" value="60"' in shown
    for typed in ("", "many", "0", "-5", "101", "nan"):
        shown = show(nowhere, runs[:1], replace(LOOKED, rule=f"a:{typed}"))
        assert "loss" in shown.partition('class="generalised"')[0], typed
        assert 'data-rule="a" value="10"' in shown
    beside = show(FOLDER, runs[:1], LOOKED)
    assert "Inoculation on the same skill" in beside and "run=gallery-minilm-numerical" in beside
    assert all(run.kind != "generalisation" for run in shown_runs())


def test_a_person_takes_points_figures_and_a_report_away(tmp_path: Path) -> None:
    stopped = stored_run(make_points(MATRIX)[:3], state="cancelled")
    assert {path.name for path in write_files([stopped], tmp_path) if path.stat().st_size} == {
        "points.csv", "figure.svg", "figure.pdf"
    }  # fmt: skip
    with pytest.raises(RunError, match="no cell is finished yet"):
        write_files([stored_run([], state="failed")], tmp_path)
    points = [make_point(80, 60), make_point(79, 78, cell=Cell(50, 2e-5, 0))]
    both = [make_run(points, "da", run_id="a"), make_run(points, "esim", "spelling", "b")]
    places = {path.name: path for path in export(both, "oracle_lr", tmp_path)}
    assert set(places) == {
        "points.csv", "figure.svg", "figure.pdf", "figure.png", "report.html"
    }  # fmt: skip
    with places["points.csv"].open(newline="") as file:
        found = [(row["model"], row["size"], row["on_challenge"]) for row in csv.DictReader(file)]
    assert found == [("da", "0", "0.6"), ("da", "50", "0.78"), ("esim", "0", "0.6"),
                     ("esim", "50", "0.78")]  # fmt: skip
    assert places["figure.png"].read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    drawn = places["figure.svg"].read_text()
    for word in ("Add a negation", "Misspell a word", ">Decomposable Attention<", ">ESIM<"):
        assert word in drawn
    with pytest.raises(RunError, match="nothing to draw"):
        export([make_run([], state="queued")], "oracle_lr", tmp_path)
