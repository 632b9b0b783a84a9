"""What is typed into the form of Train becomes runs, or one sentence."""

import re
from operator import attrgetter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from finetune.training.recipes import ADAPTERS
from finetune.trials import (
    calibration,
    debiasing,
    generalisation,
    inoculation,
    mitigation,
    transfer,
)
from finetune.trials.challenges import sources_of
from finetune.trials.generalisation import FILE, phenomena
from finetune.trials.inoculation import IN_PROMPT, LIU_LRS, THRESHOLDS, Thresholds
from finetune.trials.planning import Planned
from finetune.trials.word_salad import salad_names
from finetune.ui.aim import chosen_in, jobs_of
from finetune.ui.train import AIMS, Form
from probe.data.hub_dataset import fetch, read_reference
from probe.errors import UserError
from probe.tasks.nli import NLI
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import Task, offered_tasks
from probe.ui.page import Page
from tests.support.cases import failures
from tests.support.files.pair_files import PAIRS, row
from tests.support.models.tiny_models import tiny_prompted
from tests.support.pages.built import alone
from tests.support.pages.visitors import ME, YOU, uploaded
from tests.support.processes.hub import COMMIT, Hub, ServedDataset
from tests.support.runs.condition_files import written

SMALL, RANGES = "small.csv", ("30-49", "60-79", "200-299", "1000-9999")


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


ARRIVE: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("inoculate", {"models": ["da"], "challenges": ["spelling"], "sizes": ["5", "20"]},
     {"model": "da", "challenge": "spelling", "sizes": (5, 20), "lrs": (0.01,), "mode": "fast",
      "thresholds": THRESHOLDS}),
    ("inoculate", {"min_gap": 1, "max_drop": 4, "cured": 90, "uncured": 30, "max_majority": 60,
                   "max_damage": 7, "min_tests": 100, "max_epochs": 3, "patience": 2, "batch": 16,
                   "mode": "full", "include_epoch0": True},
     {"thresholds": Thresholds(0.01, 0.04, 0.9, 0.3, 0.6, 0.07, 100), "sizes": (20,),
      "lrs": (2e-5,), "seeds": (0,), "mode": "full", "max_epochs": 3, "patience": 2, "batch": 16,
      "include_epoch0": True}),
    ("generalise", {"vary": "range", "seeds": "0,1,2", "max_loss": 15, "train_on": "60-79, 30-49"},
     {"rows": RANGES[:2], "columns": RANGES, "sizes": (20,), "seeds": (0, 1, 2),
      "lrs": (3e-4, 1e-3), "mode": "fast", "thresholds.loss": 0.15}),
    ("repair", {"transforms": ["sort", "drop"], "share": 40, "gradient_share": 20, "seeds": "0,1"},
     {"methods": ("invalid", "threshold", "entropic"), "transforms": ("sort", "drop"),
      "share": 0.4, "gradient_share": 0.2, "sizes": (20,), "seeds": (0, 1), "training.lr": 1e-3}),
    ("repair", {"method": "focal", "compare": False, "lr": "", "mode": "full"},
     {"methods": ("focal",), "training.lr": 2e-5}),
    ("repair", {"method": "entropic", "weight": 5, "tolerance": 4, "balance": False},
     {"weight": 5, "tolerance": 0.04, "balance": False}),
    ("repair", {"method": "smoothing", "epsilon": 0.2, "gamma": 3},
     {"methods": ("smoothing", "temperature", "focal", "plain"), "epsilon": 0.2, "gamma": 3}),
    ("inoculate", {"models": ["esim"], "lrs": "grid", "how": "published"}, {"lrs": LIU_LRS}),
    ("repair", {"models": ["minilm_sst2"], "method": "transfer"},
     {"salad_only": True, "transforms": salad_names(SENTIMENT)}),
]  # fmt: skip
"""What is typed for an aim, and what its plan then holds."""


def test_what_is_typed_arrives_in_the_plan(form: Form) -> None:
    def arrives(aim: str, changed: dict[str, Any], held: dict[str, Any]) -> None:
        (made,) = jobs(form, aim, **changed)
        assert {path: attrgetter(path)(made.plan) for path in held} == held

    assert failures(arrives, ARRIVE) == {}
    both = {"models": ["minilm", "da"], "challenges": ["negation", "spelling"]}
    made = jobs(form, "inoculate", **both, sizes=["5", "all"])
    assert [(job.plan.challenge, job.plan.model) for job in made] == [
        ("negation", "minilm"), ("negation", "da"), ("spelling", "minilm"), ("spelling", "da"),
    ]  # fmt: skip
    assert made[0].plan.sizes == (5, len(made[0].data.challenge_train))
    (whole,) = jobs(form, "repair", models=["minilm_sst2"], method="transfer", sizes=["all"])
    assert whole.plan.sizes == (len(whole.data.pool),)


def test_a_repair_trains_on_a_file_of_ones_own(form: Form, tmp_path: Path) -> None:
    path = challenge_file(tmp_path / "mine.csv", 30)
    for method in ("focal", "invalid", "transfer"):
        (job,) = jobs(form, "repair", method=method, sizes=["all"], pool=path)
        assert (len(job.data.pool), job.plan.sizes) == (30, (30,))
        assert job.sources == {"pool": "mine.csv"}


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


def test_a_file_with_a_column_of_kinds_is_a_generalisation(form: Form, tmp_path: Path) -> None:
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


def test_what_each_aim_begins_with_ends_soon(form: Form) -> None:
    def ends(task: Task, model: str, aim: str, chosen: dict[str, Any]) -> None:
        first = {name: given["value"] for name, given in form.aims[aim].offered(task).items()}
        begun = values(form, aim, task.name, **(first | {"models": [model]} | chosen))
        for part, update in form.choose(begun).items():
            begun |= {part: _args(update)["value"]} if "value" in _args(update) else {}
        requests = form.requests(begun)
        seconds = sum(each.seconds() for each in requests if each.seconds)
        assert 0 < seconds < 40 * 60, seconds  # twice what a core takes whose twin is idle

    methods = ("temperature", "invalid", "transfer")
    asked: list[Any] = [("repair", {"method": method}) for method in methods]
    asked += [("inoculate", {}), *(("generalise", {"skill": skill}) for skill in phenomena())]
    assert failures(ends, [
        (task, model, aim, chosen)
        for task in offered_tasks()
        for model in form.page.core.models.names("", task)
        for aim, chosen in asked
        if form.aims[aim].suits(task) and (aim != "generalise" or task is NLI)
    ]) == {}  # fmt: skip


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
    given: dict[str, Any] = getattr(update, "constructor_args", {})
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
    assert published["sizes"]["value"] == ["50", "200", "1000", "4000", "20000"]
    verbs = shown(form, "generalise", how="published", skill="dative")
    assert verbs["sizes"]["value"] == ["50", "200", "1000", "4000"]
    assert (published["mode"]["value"], published["seeds"]["value"]) == ("full", "0,1,2,3,4")
    for models, how, rate, offered in (
        (["minilm"], "published", "usual", True), (["esim"], "published", "grid", True),
        (["minilm", "da"], "published", "usual", True), (["da"], "quick", None, False),
    ):  # fmt: skip
        given = shown(form, "inoculate", models=models, how=how)
        assert (given["lrs"].get("value"), given["rate"]["visible"]) == (rate, offered), models
    assert shown(form, "repair", how="published")["rate"] == {"visible": False}
    told = form.forecast(values(form, "inoculate", models=["da"], mode="full", lrs="grid"))
    assert "One rate: about" in told and "Liu&#39;s grid: about" in told
    assert shown(form, "inoculate", task="paraphrase")["sizes"]["value"] == [
        "10", "50", "100", "all"
    ]  # fmt: skip
    assert not shown(form, "inoculate", task="reading")["mode"]["visible"]


def test_a_language_model_is_shown_its_examples_and_the_rest_is_refused(
    form: Form, tmp_path: Path
) -> None:
    for part in (tiny_prompted().model, tiny_prompted().tokenizer):
        part.save_pretrained(tmp_path / "tiny")
    asked = {"models": [f"{tmp_path / 'tiny'}?prompt=cloze"], "mode": "context"}
    given = shown(form, "inoculate", **asked)
    assert given["sizes"]["value"] == list(map(str, IN_PROMPT))
    assert [name for _, name in given["mode"]["choices"]] == ["context", "lora"]
    assert given["mode"]["value"] == "context" and given["mode"]["visible"]
    hidden = ("lrs", "batch", "max_epochs", "patience", "include_epoch0")
    assert not any(given[name]["visible"] for name in (*hidden, "rate"))
    adapters = asked | {"mode": "lora"}
    followed = form.follow_mode(values(form, "inoculate", **adapters))
    assert all(_args(followed[form.fields[name]])["visible"] for name in (*hidden, "mode"))
    (job,) = jobs(form, "inoculate", **adapters, sizes=["4"])
    assert (job.plan.mode, job.plan.lrs, job.trainings()) == ("lora", (ADAPTERS.lr,), 1)
    back = form.follow_models(values(form, "inoculate", mode="context"))
    assert _args(back[form.fields["mode"]])["value"] == "fast"
    (job,) = jobs(form, "inoculate", **asked, sizes=["1", "4"])
    assert (job.plan.sizes, job.plan.lrs, job.trainings()) == ((1, 4), (0.0,), 0)
    told = form.forecast(values(form, "inoculate", **asked, sizes=["1"], owner=ME))
    assert "there is no model" in told  # nobody brought it
    for aim, changed, sentence in (
        ("inoculate", asked | {"mode": "fast"}, "is asked in words; in runs without other"),
        ("inoculate", asked | {"models": ["minilm"]}, "minilm has no prompt for examples"),
        ("inoculate", asked | {"sizes": ["65"]}, "at most 64 examples stand in a prompt"),
        ("inoculate", asked | {"lrs": "1e-3"}, "so there is no learning rate"),
        ("generalise", asked, "it is not trained here, but an inoculation shows it examples"),
        ("repair", asked, r"or trains adapters beside its weights \(mode lora\)$"),
    ):
        with pytest.raises(UserError, match=sentence):
            jobs(form, aim, **changed)


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
    own = (inoculation, generalisation, calibration, mitigation, debiasing, transfer)
    assert kinds == {each.KIND for each in own}
