"""Commands that list and write what there is: models, transforms, terms, pairs, distractors."""

import csv
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from finetune.cli.main import app as finetune_app
from probe.cli.group import Unloaded
from probe.cli.main import app as probe_app
from probe.data.rows import NO_COLUMN
from probe.tasks.nli import NLI
from probe.templates import Request, TemplatePair, generate
from probe.templates.files import FACTS, write_pairs
from probe.transforms import REGISTRY
from probe.transforms.options import OPTIONS
from tests.support.commands import answer, refusal, run
from tests.support.files.template_files import texts
from tests.support.models.tiny_bert import tiny_bert


def test_models_are_listed_and_exported_without_what_a_training_needs(tmp_path: Path) -> None:
    first = answer("models")[0]
    assert (first["name"], first["source"], first["task"]) == ("minilm", "bundled", "nli")
    assert run("models").stdout.startswith("minilm ")
    step = tiny_bert(tmp_path / "checkpoint-500")
    for name in ("optimizer.pt", "training_args.bin", "trainer_state.json"):
        (step / name).write_bytes(b"x")
    for name, out in (("da", tmp_path / "da"), (str(step), tmp_path / "out")):
        assert run("models", "export", name, str(out)).stdout == f"{name} written to {out}\n"
        assert (out / "model.safetensors").is_file()
    files = {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}
    assert {path.name for path in out.iterdir()} == files


def test_transforms_and_options_are_listed_with_their_facts() -> None:
    rows = answer("transforms")
    names = [name for name, entry in REGISTRY.items() if entry.suits(NLI)]
    assert [row["name"] for row in rows] == names
    assert [line.split()[0] for line in run("transforms").stdout.splitlines()] == names
    facts = {"name", "family", "side", "label_rule", "level", "needs", "available"}
    assert all(facts <= set(row) for row in rows)
    by_name = {row["name"]: row for row in rows}
    assert (by_name["drop"]["level"], by_name["drop"]["needs"]) == ("sub-word", ["model"])
    assert by_name["length_mismatch"]["side"] == "premise"
    rules = [by_name[name]["label_rule"] for name in ("sort", "negation")]
    assert rules == ["undefined", "keep"]
    options = {row["name"]: row for row in answer("transforms", "--options")}
    assert list(options) == list(OPTIONS)
    assert list(options["sign"]["values"]) == ["support", "gupta", "abs"]
    assert (options["inflect"]["default"], options["keep"]["range"]) == (True, [0, 1])
    families = {row["family"] for row in answer("transforms", "--options", "--task", "sentiment")}
    assert families == {"several", "gradient", "lexical", "statistical", "stress"}
    assert "senses" in run("transforms", "--options").stdout


def test_the_glossary_of_a_task_speaks_its_words() -> None:
    printed = run("glossary").stdout
    assert "What is measured:\n  Agreement: How often " in printed
    assert "  Sort the words: Puts the words of the hypothesis in alphabetical order.\n" in printed
    rows = {row["id"]: row for row in answer("glossary", "--task", "sentiment")}
    assert rows["sort"]["summary"] == "Puts the words of the text in alphabetical order."
    term = {"title": "Positive", "summary": "The text speaks well of its subject."}
    assert rows["positive"] == {"section": "task", "id": "positive", **term}


def test_pairs_of_templates_are_written_as_the_name_says(tmp_path: Path) -> None:
    def made(*given: str) -> str:
        *words, name = given
        ended = run("templates", *words, "--out", str(out := tmp_path / "made" / name))
        assert ended.exit_code == 0, ended.output
        packed = out.suffix == ".gz"
        return (gzip.decompress(out.read_bytes()) if packed else out.read_bytes()).decode()

    options = ["--complexity", "simple", "--range", "30-49", "--n", "40", "--seed", "4"]
    rows = list(csv.DictReader(made("numerical", *options, "n.csv").splitlines()))
    pairs = list(generate(Request("numerical", "simple", low=30, high=49), 40, 4))
    assert tuple(rows[0]) == ("id", "premise", "hypothesis", *FACTS)
    assert [(row["premise"], row["hypothesis"]) for row in rows] == texts(pairs)
    assert [row["label"] for row in rows] == [row.gold for row in pairs]
    assert {row["kind"] for row in rows} == {"numerical"}
    hans = ["hans", "--subcase", "ce_adverb", "--n", "3"]
    lines = [[*json.loads(line).values()] for line in made(*hans, "h.jsonl").splitlines()]
    assert lines == [line.split("\t") for line in made(*hans, "h.tsv").splitlines()[1:]]
    assert made("dative", "--n", "3", "a.csv") == made("dative", "--n", "3", "b.csv.gz")


QUESTION = {
    "id": "q",
    "context": "The river Rhine rises in the Alps.",
    "question": "Where does the river Rhine rise?",
    "answers": [{"text": "the Alps", "start": 25}],
}


def test_a_distractor_is_written_for_each_question_and_what_is_not_completed_leaves_the_older_file(
    tmp_path: Path,
) -> None:
    def interrupted() -> Iterator[TemplatePair]:
        yield from generate(Request("dative"), 1, 0)
        raise KeyboardInterrupt

    out, source = tmp_path / "a.jsonl", tmp_path / "in.jsonl"
    out.write_text("older")
    with pytest.raises(KeyboardInterrupt):
        write_pairs(interrupted(), NLI, out)
    for content in ["{", json.dumps(QUESTION) + "\n{"]:
        source.write_text(content)
        assert refusal("distractors", str(source), "--out", str(out)).startswith("in.jsonl ")
    assert out.read_text() == "older"
    assert len(list(tmp_path.iterdir())) == 2
    source.write_text(json.dumps(QUESTION) + "\n")
    assert run("distractors", str(source), "--out", str(out)).exit_code == 0
    (row,) = map(json.loads, out.read_text().splitlines())
    assert row["base_id"] == "q" and row["sentence"] in row["context"]


def commands(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield a command, or those of a group, with their names.  # Any: typer's or click's own"""
    if isinstance(command, Unloaded):
        command = command.load()
    if not hasattr(command, "commands"):
        yield name, command
        return
    for inner, below in command.commands.items():
        yield from commands(below, f"{name} {inner}".strip())


def test_a_file_without_labels_is_offered_only_where_something_can_be_done_with_it() -> None:
    gold = {
        name: next((option.help or "" for option in command.params if option.name == "gold"), "")
        for app in (probe_app, finetune_app)
        for name, command in commands(typer.main.get_command(app))
        if any(option.name == "label_value" for option in command.params)
    }
    assert {name for name, words in gold.items() if f"{NO_COLUMN}:" in words} == {"batch"}
    assert len(gold) > 10
