"""The code of docs/extending.md, run as it stands there, and what the app shows of it afterwards.

python -m tests.support.processes.extended_app FOLDER prints the sections whose made-up members are
in commands, on the pages and in files.
"""

import csv
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

import finetune.cli.main
import probe.cli.main
from finetune.training.frozen_layers import upper_part
from finetune.training.recipes import default_rate
from finetune.trials.challenges import bundled_sets
from finetune.trials.planning import register_experiments
from finetune.ui.inoculate import challenge_choices
from probe.models.library import load
from probe.runs.engine import Engine
from probe.runs.experiment import run_json
from probe.runs.run import RunRequest
from probe.runs.store import Store
from probe.tasks.nli import NLI
from probe.tasks.task import offered_tasks
from probe.templates import grammar
from probe.ui.page import Place
from probe.ui.tabs.look_up import described
from probe.ui.tabs.probe.tab import changes
from tests.support.checkout import text
from tests.support.models.made_up_family import made_up_model
from tests.support.models.tiny_bert import tiny_bert, tiny_pairs
from tests.support.pages.built import built
from tests.support.waiting import until


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


def check_transform(folder: Path) -> None:
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
    assert first["shout.hypothesis"] == first["hypothesis"].upper()
    assert "Write the hypothesis in capitals." in command(probe.cli.main.app, "transforms")
    choice = ("Say it loudly · shout", "shout")
    assert choice in changes(NLI) and choice in challenge_choices()
    assert "Say it loudly" in described(NLI, None)


def check_model_family(folder: Path) -> None:
    """Add the family; load one of its models and freeze its lower layers."""
    run_code("A model family", folder)
    path = str(made_up_model(folder / "made-up"))
    assert default_rate(path, "fast") == 0.2 and upper_part(load(path)) is not None
    pair = ["--premise", "A man sat.", "--hypothesis", "He sat.", "--transform", "sort"]
    assert "sort" in command(probe.cli.main.app, "pair", *pair, "--model", path)


def check_challenge(folder: Path) -> None:
    """Add the templates; make pairs and sets of them."""
    ((language, toml),) = blocks("A challenge")
    assert language == "toml"
    (folder / "templates").mkdir()
    (folder / "templates" / "colours.toml").write_text(toml)
    grammar.FOLDERS.append(folder / "templates")
    out = folder / "pairs.csv"
    made = command(probe.cli.main.app, "templates", "colours", "--n", 20, "--out", out)
    assert "20 pairs written" in made and out.read_text().count("\n") == 21
    assert "templates_colours" in command(finetune.cli.main.app, "challenges")
    assert ("Colours · templates_colours", "templates_colours") in challenge_choices()
    golds = {pair.gold for pair in bundled_sets("templates_colours").challenge_test}
    assert golds == {"contradiction", "entailment"}


def check_experiment(folder: Path) -> None:
    """Add the experiment; compute a run of it in this process."""
    run_code("An experiment", folder)
    store = Store(f"sqlite:///{folder / 'runs.sqlite'}")
    asked = RunRequest("word-count", {"words": ["rain", "sun"]}, {"text": "rain sun rain"}, {})
    run = store.create("me", asked)
    engine = Engine(store, in_process=True)
    engine.resume()
    found = run_json(until(store, run.id, lambda run: run.state == "done"))
    engine.close()
    assert (found["kind"], found["verdict"]) == ("word-count", {"most": 2})
    assert [(cell["word"], cell["count"]) for cell in found["cells"]] == [("rain", 2), ("sun", 1)]


def check_file_format(folder: Path) -> None:
    """Add the format; score a file of it."""
    run_code("A file format", folder)
    cards, out = folder / "pairs.cards", folder / "cards.csv"
    cards.write_text("premise: A: b.\nhypothesis: C.\n\npremise: D.\nhypothesis: E.\n")
    asked = ["--model", tiny_bert(folder / "cards"), "--out", out]
    assert command(probe.cli.main.app, "batch", cards, *asked).startswith("2 of 2 rows scored")
    assert out.read_text().splitlines()[1].split(",")[:2] == ["A: b.", "C."]


def check_parameter(folder: Path) -> None:
    """Add the parameter to a kind of run."""
    run_code("A parameter", folder)
    taken = built().get_api_info()["named_endpoints"]["/calibrate"]["parameters"]
    assert "remark" in [each["parameter_name"] for each in taken]
    assert "--remark" in command(finetune.cli.main.app, "calibrate", "--help")


def check_command(folder: Path) -> None:
    """Add the command."""
    run_code("A command", folder)
    assert "Say how many words" in command(probe.cli.main.app, "--help")
    assert command(probe.cli.main.app, "count", "Two words") == "2 words\n"


def check_chart(folder: Path) -> None:
    """Draw the chart."""
    drawn = str(run_code("A chart", folder)["column_svg"]("<b>", 0.5))
    assert drawn.startswith("<svg") and "&lt;b&gt;" in drawn and "<rect" in drawn


def check_view(folder: Path) -> None:
    """Add the view; build a page with it."""
    names = run_code("A view", folder)
    components = built(Place("", "Place", (names["ROW"],))).get_config_file()["components"]
    assert "Text to count" in [each["props"].get("label") for each in components]
    assert str(names["count"]("Two words")) == "<p>2 words</p>"


def check_task(folder: Path) -> None:
    """Add the task; a model whose outputs are named after its labels is of it."""
    names = run_code("A task", folder)
    path, rows = tiny_bert(folder / "polite", names["POLITENESS"]), folder / "requests.csv"
    rows.write_text("request,label\nOpen the door.,0\nPlease open the door.,1\n")
    assert load(str(path)).task.name == "politeness"
    assert "Politeness" in [each.choice for each in offered_tasks()]
    transforms = command(probe.cli.main.app, "transforms", "--task", "politeness")
    assert "sort" in transforms and "copysort" not in transforms
    asked = ["--model", path, "--out", folder / "scored.csv", "--transforms", "sort"]
    told = command(probe.cli.main.app, "batch", rows, *asked)
    assert told.startswith("2 of 2 rows scored")


CHECKS = (
    *(check_transform, check_model_family, check_challenge, check_experiment, check_parameter),
    *(check_command, check_chart, check_view, check_task, check_file_format),
)

if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    register_experiments()
    for check in CHECKS:
        check(Path(sys.argv[1]))
        print(check.__name__.removeprefix("check_").replace("_", " "))
