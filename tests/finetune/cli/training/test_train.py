"""`python -m finetune train`: a model distilled from teachers, on texts without a label too."""

import json
from pathlib import Path

from probe.models.library import load
from tests.support.commands import call
from tests.support.models.tiny_bert import tiny_bert, tiny_pairs

PAIRS = tiny_pairs(12)


def rows(path: Path, *names: str) -> Path:
    """Write these columns of the pairs."""
    whole = [{"premise": p.premise, "hypothesis": p.hypothesis, "label": p.gold} for p in PAIRS]
    path.write_text(
        "".join(json.dumps({name: row[name] for name in names}) + "\n" for row in whole)
    )
    return path


def test_a_model_is_distilled_on_pairs_with_and_without_a_label(tmp_path: Path) -> None:
    model, out = tiny_bert(tmp_path / "tiny"), tmp_path / "out"
    labelled = rows(tmp_path / "labelled.jsonl", "premise", "hypothesis", "label")
    bare = rows(tmp_path / "bare.jsonl", "premise", "hypothesis")
    files = ("--train", labelled, "--unlabelled", bare, "--unlabelled", labelled)
    ended = call("train", "--model", model, *files, "--teacher", model, "--out", out, "--batch", 6)
    assert ended.exit_code == 0, ended.output
    first, told, last = ended.stdout.splitlines()
    assert first.startswith("36 pairs, ")
    assert told == "first the teachers answer all of them"
    assert last.startswith("step 6/6 ")
    assert load(str(out)).probabilities(PAIRS).shape == (12, 3)
