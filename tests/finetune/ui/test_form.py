"""What is typed into the form of Train becomes runs, or one sentence."""

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from finetune.trials import calibration, generalisation, inoculation, mitigation, transfer
from finetune.trials.challenges import sources_of
from finetune.trials.generalisation import FILE
from finetune.trials.inoculation import THRESHOLDS, Thresholds
from finetune.trials.planning import Planned
from finetune.trials.word_salad import salad_names
from finetune.ui.aim import chosen_in, jobs_of
from finetune.ui.train import AIMS, Form
from probe.data.hub_dataset import fetch, read_reference
from probe.errors import UserError
from probe.tasks.sentiment import SENTIMENT
from probe.ui.page import Page
from tests.support.cases import failures
from tests.support.files.pair_files import PAIRS, row
from tests.support.pages.built import alone
from tests.support.pages.visitors import ME, YOU, uploaded
from tests.support.processes.hub import COMMIT, Hub, ServedDataset
from tests.support.runs.condition_files import written

SMALL = "small.csv"


@pytest.fixture(scope="module")
def form() -> Form:
    """The form as it is laid out."""
    kept = list[Form]()

    def build(page: Page) -> None:
        aims = [of(page) for of in AIMS]
        kept.append(Form(page, {aim.view.name: aim for aim in aims}))

    alone(build)
    return kept[0]


def values(form: Form, aim: str, task: str = "nli", owner: str = ME, **changed: Any) -> Any:
    """What the components hold, some of it changed; as it begins where nothing is said."""
    held = {
        part: changed.pop(name, part.value) for name, part in form.fields.items()
        if hasattr(part, "value")
    }  # fmt: skip
    how = changed.pop("how", "quick")
    assert not changed, f"no fields {changed}"
    return {**held, form.aim: aim, form.how: how, form.page.task: task, form.page.owner: owner}


def jobs(form: Form, aim: str, **changed: Any) -> list[Planned]:
    begun = {"sizes": ["20"]} | ({"lr": "1e-3", "mode": "fast"} if aim == "repair" else {})
    chosen, named, _, _ = form.named(values(form, aim, **(begun | changed)))
    return jobs_of(chosen_in(named, chosen))


def challenge_file(path: Path, rows: int, split: bool = False) -> str:
    """Write a challenge of so many pairs, half of them to test on where it has a split."""
    head = "premise,hypothesis,label" + (",split" if split else "")
    lines = [
        f"It was day {at}.,It was no day.,contradiction"
        + (f",{'test' if at % 2 else 'train'}" if split else "")
        for at in range(rows)
    ]
    path.write_text("\n".join([head, *lines]) + "\n")
    return str(path)


def test_the_fields_of_an_inoculation_arrive_in_its_plans(form: Form) -> None:
    both = {"models": ["minilm", "da"], "challenges": ["negation", "spelling"]}
    made = jobs(form, "inoculate", **both, sizes=["5", "all"])
    assert [(job.plan.challenge, job.plan.model) for job in made] == [
        ("negation", "minilm"), ("negation", "da"), ("spelling", "minilm"), ("spelling", "da"),
    ]  # fmt: skip
    assert [job.plan.lrs for job in made] == [(1e-3,), (0.01,)] * 2
    assert made[0].plan.sizes == (5, len(made[0].data.challenge_train))
    assert made[0].plan.thresholds == THRESHOLDS and made[0].sources == {}
    typed = {"min_gap": 1, "max_drop": 4, "cured": 90, "uncured": 30, "max_majority": 60}
    typed |= {"max_damage": 7, "min_tests": 100, "max_epochs": 3, "patience": 2, "batch": 16}
    plan = jobs(form, "inoculate", **typed, mode="full", include_epoch0=True)[0].plan
    assert plan.thresholds == Thresholds(0.01, 0.04, 0.9, 0.3, 0.6, 0.07, 100)
    assert (plan.sizes, plan.lrs, plan.seeds, plan.mode) == ((20,), (2e-5,), (0,), "full")
    assert (plan.max_epochs, plan.patience, plan.batch, plan.include_epoch0) == (3, 2, 16, True)


def test_uploaded_files_are_the_challenge(form: Form, tmp_path: Path) -> None:
    def lengths(job: Planned) -> list[int]:
        sets = job.data
        both = sets.challenge_train, sets.challenge_test
        return list(map(len, (sets.original_dev, sets.original_test, *both)))

    mine = challenge_file(tmp_path / "mine.csv", 30)
    (drawn,) = jobs(form, "inoculate", challenge_file=mine, train=10, sizes=["5"])
    assert lengths(drawn)[2:] == [10, 20] and drawn.plan.challenge == "mine"
    assert drawn.sources == {"challenge-file": "mine.csv", "train": "10"}
    parted = challenge_file(tmp_path / "split.csv", 30, split=True)
    (split,) = jobs(form, "inoculate", challenge_file=parted, sizes=["5"])
    assert lengths(split)[2:] == [15, 15]
    names = ("original_dev", "original_test", "challenge_train", "challenge_test")
    given = {name: challenge_file(tmp_path / f"{name}.csv", n) for n, name in enumerate(names, 11)}
    (several,) = jobs(form, "inoculate", **given, own_name="Days", sizes=["5"])
    assert lengths(several) == [11, 12, 13, 14] and several.plan.challenge == "Days"


def test_the_fields_of_a_generalisation_arrive_in_its_plan(form: Form, tmp_path: Path) -> None:
    (asked,) = jobs(form, "generalise", vary="range", seeds="0,1,2", max_loss=15)
    plan = asked.plan
    assert plan.rows == plan.columns == ("30-49", "60-79", "200-299", "1000-9999")
    assert (plan.sizes, plan.seeds, plan.lrs) == ((20,), (0, 1, 2), (3e-4, 1e-3))
    assert (plan.mode, plan.thresholds.loss, len(asked.data.original)) == ("fast", 0.15, 900)
    assert set(asked.request().artefacts["sets"]["seeds"]) == {"0", "1", "2"}
    path = written(tmp_path / "mine.csv", {"news": 30, "novels": 30})
    of_file = {"skill": FILE, "vary": None, "column": "genre", "sizes": ["8"]}
    (own,) = jobs(form, "generalise", **of_file, file=path)
    assert (own.plan.phenomenon, own.plan.vary) == ("mine", FILE)
    assert own.plan.rows == ("news", "novels")
    assert own.sources == {"challenge-file": "mine.csv", "condition": "genre"}
    reviews = tmp_path / "reviews.csv"
    rows = [f"It was {word} {n}.,{word},{n % 2}" for n in range(40) for word in ("good", "bad")]
    reviews.write_text("\n".join(["sentence,genre,label", *rows]) + "\n")
    (other,) = jobs(form, "generalise", **of_file, models=["minilm_sst2"], file=str(reviews))
    assert (other.plan.task, other.plan.rows) == ("sentiment", ("good", "bad"))


def test_the_fields_of_a_repair_arrive_in_its_plan(form: Form) -> None:
    chosen = {"transforms": ["sort", "drop"], "share": 40, "gradient_share": 20, "seeds": "0,1"}
    (asked,) = jobs(form, "repair", **chosen)
    plan = asked.plan
    assert isinstance(plan, mitigation.Plan)
    assert plan.methods == ("invalid", "threshold", "entropic")
    assert (plan.transforms, plan.share, plan.gradient_share) == (("sort", "drop"), 0.4, 0.2)
    assert (plan.sizes, plan.seeds, plan.training.lr) == ((20,), (0, 1), 1e-3)
    assert all(example.gold for example in asked.data.pool)
    (alone,) = jobs(form, "repair", method="focal", compare=False, lr="", mode="full")
    assert isinstance(alone.plan, calibration.Plan) and alone.plan.methods == ("focal",)
    assert alone.plan.training.lr == 2e-5
    (matrix,) = jobs(form, "repair", models=["minilm_sst2"], method="transfer", sizes=["all"])
    assert isinstance(matrix.plan, transfer.Plan) and matrix.plan.salad_only
    assert matrix.plan.transforms == salad_names(SENTIMENT)
    assert matrix.plan.sizes == (len(matrix.data.pool),)


def test_a_forecast_says_what_is_trained_and_for_how_long(form: Form) -> None:
    both = {"models": ["minilm", "da"], "challenges": ["negation", "spelling"]}
    quick = {"sizes": ["20"], "mode": "fast", "lr": "1e-3", "seeds": "0"}
    untrained = {"method": "temperature", "compare": False}
    said = {
        form.forecast(values(form, aim, **changed)): parts
        for aim, changed, parts in (
            ("inoculate", both | {"sizes": ["5", "10"]}, (
                "4 runs: about", "for 8 trainings", "MiniLM 0.001; Decomposable Attention 0.01",
            )),
            ("inoculate", {"sizes": []}, ('role="alert">', "give at least one size")),
            ("generalise", {"sizes": ["20"], "vary": "range", "seeds": "0,1"}, (
                "for 16 trainings on one core", "Only the upper layers learn. Learning rates: ",
            )),
            ("generalise", {"skill": FILE}, ("Once there is a file",)),
            ("repair", quick, (
                "for 2 trainings on one core", "upper layers learn. Learning rate: 0.001.",
                "Compared with: Threshold alone, Be unsure of salad.", "Quick costs much here",
            )),
            ("repair", quick | untrained, ("No weight of the model changes.",)),
        )
    }  # fmt: skip
    missing = {part: told for told, parts in said.items() for part in parts if part not in told}
    assert missing == {}


def test_what_each_aim_begins_with_ends_within_twenty_minutes(form: Form) -> None:
    asked = [("inoculate", {}), ("generalise", {})]
    asked += [("repair", {"method": method}) for method in ("temperature", "invalid", "transfer")]
    for aim, chosen in asked:
        begun = values(form, aim, **chosen)
        for part, update in form.choose(begun).items():
            given = update.constructor_args if hasattr(update, "constructor_args") else {}
            if "value" in given:
                begun[part] = given["value"]
        picked, named, _, _ = form.named(begun)
        seconds = sum(job.seconds() for job in jobs_of(chosen_in(named, picked)))
        assert 0 < seconds / 2 < 20 * 60, (aim, chosen, seconds)


FORMS: dict[str, list[tuple[dict[str, Any], str]]] = {
    "inoculate": [
        ({"models": []}, "at least one model"),
        ({"challenges": []}, "at least one challenge"),
        ({"models": ["nosuch"]}, "nosuch"),
        ({"challenges": ["sideways"]}, "no challenge 'sideways'"),
        ({"sizes": ["many"]}, "Examples 'many' is not a list of numbers"),
        ({"lrs": "fast"}, "Learning rates 'fast' is not a list"),
        ({"sizes": ["99999"]}, "no size can be larger"),
        ({"patience": None}, "Patience, epochs is empty"),
        ({"min_gap": None}, "Outcome 0: gap below, points is empty"),
        ({"max_epochs": 0}, "must be 1 or more"),
        ({"challenge_train": "a.csv"}, "upload both challenge files"),
        ({"challenge_file": "a", "challenge_test": "b"}, "one challenge file or two"),
        ({"challenge_file": SMALL, "train": None}, "Pairs to train on: give a number"),
        ({"challenge_file": SMALL, "own_name": "negation"}, "called negation already"),
        ({"challenge_file": "texts.csv"}, "it has: text"),
        ({"seeds": ",".join(map(str, range(20_000)))}, "20,001 cells is more than 5,000"),
    ],
    "generalise": [
        ({"skill": FILE}, "choose a file of your own"),
        ({"skill": FILE, "file": SMALL}, "say which column of small.csv names the kind"),
        ({"skill": FILE, "file": SMALL, "column": "genre", "sizes": ["1000"]}, "not 1,000"),
        ({"vary": "length"}, "numerical templates cannot vary 'length'"),
        ({"skill": "<b>"}, "there are no conditions for '<b>'"),
        ({"sizes": ["20", "many"]}, "Examples '20, many' is not a list of numbers"),
        ({"sizes": []}, "give at least one size"),
        ({"seeds": ""}, "one seed"),
        ({"max_loss": None}, "from this loss on, points is empty"),
        ({"max_loss": 0}, "must be above 0"),
        ({"lrs": "fast"}, "Learning rates 'fast' is not a list of numbers"),
        ({"models": ["minilm_sst2"]}, "the templates are nli's, the model answers sentiment"),
        ({"sizes": list(map(str, range(1, 3_000)))}, "cells is more than 5,000"),
    ],
    "repair": [
        ({"method": "hope"}, "choose a method: temperature"),
        ({"sizes": ["20", "many"]}, "Examples '20, many' is not a list of numbers"),
        ({"sizes": []}, "give at least one size"),
        ({"sizes": ["5000"]}, "each size must be from 1 to"),
        ({"lr": "1e-3, 1e-4"}, "give one learning rate"),
        ({"lr": "fast"}, "Learning rate 'fast' is not a list of numbers"),
        ({"share": 0}, "the shares that are destroyed must be above 0"),
        ({"share": None}, "Examples that are broken too is empty"),
        ({"share": 101}, "must be above 0 and at most 1"),
        ({"method": "transfer", "transforms": ["negation"]}, "transforms are some of"),
        ({"models": ["minilm_sst2"], "transforms": ["copysort"]}, "transforms are some of"),
        ({"models": ["minilm_reader"]}, "label"),
    ],
}
"""What each aim refuses, and with which words."""


def test_a_wrong_form_is_refused_by_a_sentence(
    form: Form, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / SMALL, {"news": 30, "novels": 30})
    Path("texts.csv").write_text("text\nhello\n")

    def refused(aim: str, changed: dict[str, Any], sentence: str) -> None:
        with pytest.raises(UserError, match=re.escape(sentence)):
            for job in jobs(form, aim, **changed):
                job.request()

    assert failures(refused, [(aim, *case) for aim, own in FORMS.items() for case in own]) == {}


@pytest.mark.usefixtures("home")
def test_a_model_or_file_that_is_another_visitors_is_refused(form: Form, tmp_path: Path) -> None:
    path = str(uploaded(Path(written(tmp_path / "mine.csv", {"news": 30, "novels": 30}))))
    own = {"skill": FILE, "file": path, "column": "genre", "sizes": ["8"]}
    assert form.requests(values(form, "generalise", **own))
    for changed in (own | {"owner": YOU}, {"file": "/etc/hostname"}, {"models": ["no-such"]}):
        assert 'role="alert"' in form.forecast(values(form, "generalise", **changed)), changed
        with pytest.raises(UserError):
            form.requests(values(form, "generalise", **changed))


def shown(form: Form, aim: str, **changed: Any) -> dict[str, dict[str, Any]]:
    """Return what is set of fields once an aim is chosen, by their names."""
    asked = values(form, aim, **changed)
    both = form.choose(asked), form.follow(asked)
    return {
        name: {key: it for each in both if part in each for key, it in _args(each[part]).items()}
        for name, part in form.fields.items()
    }


def _args(update: Any) -> dict[str, Any]:
    given: dict[str, Any] = update.constructor_args
    return given


def test_an_aim_shows_its_own_settings_and_what_it_begins_with(form: Form) -> None:
    for chosen, seen, hidden in (
        ({"aim": "inoculate"}, {"lrs", "min_gap", "max_epochs"}, {"lr", "share", "max_loss"}),
        ({"aim": "generalise"}, {"lrs", "max_loss", "vary"}, {"lr", "share", "min_gap", "file"}),
        ({"aim": "generalise", "skill": FILE}, {"file"}, {"vary"}),
        ({"aim": "repair", "method": "temperature"}, {"lr"}, {"share", "transforms", "lrs"}),
        ({"aim": "repair"}, {"share", "gradient_share", "compare"}, {"max_loss"}),
        ({"aim": "repair", "method": "transfer"}, {"share"}, {"gradient_share", "compare"}),
    ):
        given = shown(form, **chosen)
        visible = {name for name in seen | hidden if given[name]["visible"]}
        assert visible == seen, chosen
    begun = {aim: shown(form, aim) for aim in ("inoculate", "repair", "generalise")}
    assert begun["repair"]["mode"]["value"] == "full" and begun["repair"]["seeds"]["value"] == "0"
    assert begun["repair"]["sizes"]["value"] == ["200"]
    published = shown(form, "generalise", how="published")
    assert published["sizes"]["value"] == ["50", "200", "1000", "4000"]
    assert (published["mode"]["value"], published["seeds"]["value"]) == ("full", "0,1,2,3,4")
    assert shown(form, "inoculate", task="paraphrase")["sizes"]["value"] == [
        "10", "50", "100", "all"
    ]  # fmt: skip
    assert not shown(form, "inoculate", task="reading")["mode"]["visible"]


def test_a_data_set_of_the_hub_keeps_its_name(form: Form, hub: Hub, tmp_path: Path) -> None:
    rows = [{**row(pair), "kind": str(number % 2)} for number, pair in enumerate(PAIRS)]
    (tmp_path / "set").mkdir()
    pd.DataFrame(rows).to_parquet(tmp_path / "set" / "test.parquet")
    hub.datasets["owner/set"] = ServedDataset(tmp_path / "set")
    path = str(fetch(read_reference("hub:owner/set"), tmp_path / "visitor").path)
    name = f"hub:owner/set@{COMMIT}:default/test"
    chosen, named, _, _ = form.named(values(form, "inoculate", challenge_file=path))
    assert sources_of(chosen_in(named, chosen)[0].files)["challenge-file"] == name
    own = {"skill": FILE, "file": path, "column": "kind", "vary": None, "sizes": ["8"]}
    (job,) = jobs(form, "generalise", **own, seeds="0", lrs="1e-3")
    assert job.request().artefacts["sources"] == {"challenge-file": name, "condition": "kind"}


def test_all_kinds_of_runs_are_an_aims(form: Form) -> None:
    kinds = {kind for aim in form.aims.values() for kind in aim.view.kinds}
    own = (inoculation, generalisation, calibration, mitigation, transfer)
    assert kinds == {each.KIND for each in own}
