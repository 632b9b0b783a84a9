"""What a change costs: a transform is one function, a challenge one TOML file of templates.

Each is added here and seen in the command line, on the pages and in files. What a task costs is
in `test_one_text_task.py` and `test_span_task.py`.
"""

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from finetune.cli.main import app as finetune_app
from finetune.trials.challenges import bundled_sets, catalogue
from finetune.ui.inoculate.samples import challenge_choices, samples
from probe.cli.main import app
from probe.tasks.label_rules import KEEP
from probe.tasks.nli import NLI, Pair
from probe.templates import kinds
from probe.templates.grammar import FOLDERS
from probe.terms import Term
from probe.transforms.registry import FAMILIES, REGISTRY, Tools, transform
from probe.ui.html.catalogue import catalogue as catalogue_page
from probe.ui.tabs.probe.fields import changes
from tests.support.models.tiny_bert import tiny_pairs


@pytest.fixture
def shout() -> Iterator[str]:
    """A transform: one function with its facts."""

    @transform(
        "shout",
        "Say it loudly",
        "Write the hypothesis in capitals.",
        family="stress",
        rule=KEEP,
        source="made up",
        applies="a letter in the hypothesis",
    )
    def shout(text: str, tools: Tools) -> str | None:
        return f"{text.upper()} Indeed!" if any(map(str.isalpha, text)) else None

    yield "shout"
    del REGISTRY["shout"]


def run(*words: str) -> str:
    """Run a command of `python -m probe` and return what it prints."""
    ended = CliRunner().invoke(app, words, catch_exceptions=False)
    assert ended.exit_code == 0, ended.output
    return ended.stdout


def test_the_command_line_knows_a_new_transform(shout: str, model: str) -> None:
    assert "Write the hypothesis in capitals." in run("transforms")
    pair = ["--premise", "A man sat.", "--hypothesis", "He sat."]
    answer = run("pair", *pair, "--model", model, "--transform", "shout+reverse")
    assert answer.splitlines()[1].endswith(" indeed sat. he !")


def test_the_pages_offer_a_new_transform(shout: str) -> None:
    assert ("Say it loudly · shout", shout) in changes(NLI)
    assert ("Say it loudly · shout", shout) in challenge_choices()
    assert "INDEED" in samples(shout).upper()


def test_files_hold_a_new_transform(shout: str, model: str, tmp_path: Path) -> None:
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    with path.open("w", newline="") as file:
        rows = [(pair.premise, pair.hypothesis, pair.gold) for pair in tiny_pairs(3)]
        csv.writer(file).writerows([("premise", "hypothesis", "label"), *rows])
    run("batch", str(path), "--out", str(out), "--model", model, "--transforms", shout)
    with out.open(newline="") as file:
        first = next(csv.DictReader(file))
    assert first["shout.hypothesis"] == first["hypothesis"].upper() + " Indeed!"
    assert first["shout.gold"] == first["label"]


def test_a_new_transform_that_leaves_a_label_is_a_challenge(shout: str) -> None:
    assert shout in {challenge.name for challenge in catalogue()}
    assert all(pair.hypothesis.endswith("Indeed!") for pair in bundled_sets(shout).challenge_test)


def test_a_family_is_one_row(monkeypatch: pytest.MonkeyPatch, shout: str) -> None:
    monkeypatch.setitem(FAMILIES, "loud", Term("Loudness", "Louder texts (nobody)."))
    monkeypatch.setitem(REGISTRY, shout, replace(REGISTRY[shout], family="loud"))
    assert "Loudness" in catalogue_page(NLI, Pair("A.", "B."), {})


COLOURS = """
title = "Colours"
summary = "Things and their colours (nobody)."
order = 9
reads = []

[words]
thing = ["coat", "hat", "car", "door"]
colour = ["red", "green", "blue"]

[[case]]
name = "same"
label = "entailment"
hypothesis = "The {thing} has a colour."

[[case]]
name = "other"
label = "contradiction"
hypothesis = "The {thing} has no colour."
"""
VERBS = ("is", "was", "looks", "looked", "seems", "seemed", "became", "stayed")


@pytest.fixture
def colours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A kind of templates: one TOML file."""
    rows = [
        f'[[template]]\nid = "c{at}"\npremise = "The {{thing}} {verb} {{colour}}."\n'
        for at, verb in enumerate(VERBS)
    ]
    (tmp_path / "colours.toml").write_text(COLOURS + "\n".join(rows))
    monkeypatch.setattr("probe.templates.grammar.FOLDERS", [*FOLDERS, tmp_path])
    return "templates_colours"


def test_a_file_of_templates_is_a_challenge(colours: str) -> None:
    sets = bundled_sets(colours)
    assert {pair.gold for pair in sets.challenge_test} == {"entailment", "contradiction"}
    trained, tested = (
        {pair.premise.split()[2] for pair in pairs}
        for pairs in (sets.challenge_train, sets.challenge_test)
    )
    assert trained | tested == set(VERBS)
    assert not trained & tested  # no template makes both


def test_a_file_of_templates_is_in_the_commands_and_on_the_pages(
    colours: str, tmp_path: Path
) -> None:
    out = tmp_path / "pairs.csv"
    assert "20 pairs written" in run("templates", "colours", "--n", "20", "--out", str(out))
    with out.open(newline="") as file:
        assert {row["kind"] for row in csv.DictReader(file)} == {"colours"}
    listed = CliRunner().invoke(finetune_app, ["challenges"], catch_exceptions=False).stdout
    assert "Things and their colours (nobody)." in listed
    assert (f"Colours · {colours}", colours) in challenge_choices()
    assert "colour" in samples(colours)
    assert kinds()[-1] == "colours"
