"""The code of docs/extending.md, run as it stands there, and what the app shows of it afterwards.

python -m tests.support.processes.extended_app FOLDER prints JSON: for each section what was seen of
the made-up member on the command line, on the pages and in files.
"""

import csv
import json
import re
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

import finetune.cli.main
import probe.cli.main
from app import TABS
from finetune.training.frozen_layers import upper_part
from finetune.training.recipes import default_rate
from finetune.trials.challenges import bundled_sets
from finetune.trials.planning import register_experiments
from finetune.ui.inoculate.samples import challenge_choices
from probe.models.library import ModelCache, load
from probe.runs.engine import Engine
from probe.runs.experiment import run_json
from probe.runs.run import RunRequest
from probe.runs.store import Store
from probe.tasks.nli import NLI, Pair
from probe.tasks.task import offered_tasks
from probe.templates import grammar
from probe.ui.html.catalogue import catalogue
from probe.ui.page import Core, build_page
from probe.ui.tabs.probe.fields import changes
from tests.support.checkout import text
from tests.support.models.made_up_family import made_up_model
from tests.support.models.tiny_bert import tiny_bert, tiny_pairs
from tests.support.waiting import until

Seen = Mapping[str, Any]  # Any: JSON


def blocks(section: str) -> list[tuple[str, str]]:
    """Return the language and the text of each block of code in a section of the guide."""
    body = text("docs/extending.md").split(f"\n## {section}\n")[1].split("\n## ")[0]
    return re.findall(r"```(\w+)\n(.*?)```", body, re.DOTALL)


def run_code(section: str, folder: Path) -> dict[str, Any]:
    """Write the Python of a section as a module and import it; return its names."""
    found = blocks(section)
    assert {language for language, _ in found} == {"python"}
    name = f"guide_{section.split()[-1]}"
    (folder / f"{name}.py").write_text("\n\n".join(code for _, code in found))
    return vars(import_module(name))


def command(app: Any, *words: object) -> str:
    """Return what a command prints."""
    ended = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert ended.exit_code == 0, ended.output
    return str(ended.stdout)


def transform(folder: Path) -> Seen:
    """Add the transform; score a file with it."""
    run_code("A transform", folder)
    rows = [(pair.premise, pair.hypothesis, pair.gold) for pair in tiny_pairs(3)]
    with (folder / "in.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("premise", "hypothesis", "label"), *rows])
    model, out = tiny_bert(folder / "tiny"), folder / "out.csv"
    asked = ["--out", out, "--model", model, "--transforms", "shout"]
    command(probe.cli.main.app, "batch", folder / "in.csv", *asked)
    with out.open(newline="") as file:
        first = next(csv.DictReader(file))
    return {
        "command": "Write the hypothesis in capitals." in command(probe.cli.main.app, "transforms"),
        "page": ("Say it loudly · shout", "shout") in changes(NLI),
        "catalogue": "Say it loudly" in catalogue(NLI, Pair("A.", "B."), {}),
        "challenge": ("Say it loudly · shout", "shout") in challenge_choices(),
        "file": first["shout.hypothesis"] == first["hypothesis"].upper(),
    }


def model_family(folder: Path) -> Seen:
    """Add the family; load one of its models and freeze its lower layers."""
    run_code("A model family", folder)
    path = str(made_up_model(folder / "made-up"))
    model = load(path)
    pair = ["--premise", "A man sat.", "--hypothesis", "He sat.", "--transform", "sort"]
    return {
        "rate": default_rate(path, "fast"),
        "frozen": upper_part(model) is not None,
        "command": "sort" in command(probe.cli.main.app, "pair", *pair, "--model", path),
    }


def challenge(folder: Path) -> Seen:
    """Add the templates; make pairs and sets of them."""
    ((language, toml),) = blocks("A challenge")
    assert language == "toml"
    (folder / "templates").mkdir()
    (folder / "templates" / "colours.toml").write_text(toml)
    grammar.FOLDERS.append(folder / "templates")
    out = folder / "pairs.csv"
    made = command(probe.cli.main.app, "templates", "colours", "--n", 20, "--out", out)
    sets = bundled_sets("templates_colours")
    return {
        "made": made,
        "file": out.read_text().count("\n"),
        "command": "templates_colours" in command(finetune.cli.main.app, "challenges"),
        "page": ("Colours · templates_colours", "templates_colours") in challenge_choices(),
        "golds": sorted({pair.gold for pair in sets.challenge_test}),
    }


def task(folder: Path) -> Seen:
    """Add the task; a model whose outputs are named after its labels is of it."""
    names = run_code("A task", folder)
    path, rows = tiny_bert(folder / "polite", names["POLITENESS"]), folder / "requests.csv"
    rows.write_text("request,label\nOpen the door.,0\nPlease open the door.,1\n")
    asked = ["--model", path, "--out", folder / "scored.csv", "--transforms", "sort"]
    transforms = command(probe.cli.main.app, "transforms", "--task", "politeness")
    return {
        "task": load(str(path)).task.name,
        "page": [each.choice for each in offered_tasks()],
        "command": "sort" in transforms and "copysort" not in transforms,
        "file": command(probe.cli.main.app, "batch", rows, *asked),
    }


def experiment(folder: Path) -> Seen:
    """Add the experiment; compute a run of it in this process."""
    run_code("An experiment", folder)
    store = Store(f"sqlite:///{folder / 'runs.sqlite'}")
    asked = RunRequest("word-count", {"words": ["rain", "sun"]}, {"text": "rain sun rain"}, {})
    run = store.create("me", asked)
    engine = Engine(store, in_process=True)
    engine.resume()
    ended = until(store, run.id, lambda found: found.state == "done")
    engine.close()
    return dict(run_json(ended))


def file_format(folder: Path) -> Seen:
    """Add the format; score a file of it."""
    run_code("A file format", folder)
    cards, out = folder / "pairs.cards", folder / "cards.csv"
    cards.write_text("premise: A: b.\nhypothesis: C.\n\npremise: D.\nhypothesis: E.\n")
    model = tiny_bert(folder / "tiny")
    said = command(probe.cli.main.app, "batch", cards, "--model", model, "--out", out)
    return {"said": said, "first": out.read_text().splitlines()[1].split(",")[:2]}


def parameter(folder: Path) -> Seen:
    """Add the parameter to a kind of run."""
    run_code("A parameter", folder)
    store = Store("sqlite://")
    page = build_page(TABS, Core(ModelCache(), store, Engine(store)))
    taken = page.get_api_info()["named_endpoints"]["/calibrate"]["parameters"]
    return {
        "command": "--remark" in command(finetune.cli.main.app, "calibrate", "--help"),
        "endpoint": "remark" in [each["parameter_name"] for each in taken],
    }


def of_command(folder: Path) -> Seen:
    """Add the command."""
    run_code("A command", folder)
    return {
        "listed": "Say how many words" in command(probe.cli.main.app, "--help"),
        "said": command(probe.cli.main.app, "count", "Two words"),
    }


def chart(folder: Path) -> Seen:
    """Draw the chart."""
    drawn = run_code("A chart", folder)["column_svg"]("<b>", 0.5)
    return {"drawn": str(drawn)}


def tab(folder: Path) -> Seen:
    """Add the tab; build the page with it."""
    names = run_code("A tab", folder)
    store = Store("sqlite://")
    page = build_page((*TABS, names["ROW"]), Core(ModelCache(), store, Engine(store)))
    components = page.get_config_file()["components"]
    return {
        "tabs": [each["props"]["label"] for each in components if each["type"] == "tabitem"],
        "labels": [each["props"].get("label") for each in components],
        "handler": str(names["count"]("Two words")),
    }


SECTIONS: Mapping[str, Callable[[Path], Seen]] = {
    "transform": transform,
    "model family": model_family,
    "challenge": challenge,
    "experiment": experiment,
    "file format": file_format,
    "parameter": parameter,
    "command": of_command,
    "chart": chart,
    "tab": tab,
    "task": task,
}

if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    register_experiments()
    print(json.dumps({name: add(Path(sys.argv[1])) for name, add in SECTIONS.items()}))
