"""What a person can put right is one sentence on stderr and exit code 2; no file is touched."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from finetune.cli.main import app as finetune_app
from probe.cli.group import group
from probe.cli.main import app
from probe.errors import ModelError
from tests.support.checkout import ROOT
from tests.support.commands import PAIR, one_sentence

GROUPS = {"probe": app, "finetune": finetune_app}
SHORT = {
    "PAIR": "pair --premise A. --hypothesis B. --model TINY",
    "BATCH": "batch in.csv --out o.csv --model TINY",
    "COMPARE": "compare in.csv --model one --model two",
    "BOTH": "compare --premise A. --hypothesis B. --model one --model two",
    "CHECKUP": "checkup TINY labelled.csv --out o",
    "MADE": "templates dative --out o.csv",
    "TRAIN": "finetune train --model TINY --train in.csv",
    "WORDS": "finetune words --model da --train in.csv",
    "VECTORS": "finetune vectors --encoder TINY --train in.csv",
}
REFUSED = {
    "pair --text question=Who? --text passage=Tom. --model bidaf --label x": "--label is for",
    "PAIR --set senses": "--set 'senses' is not of the form NAME=VALUE",
    "PAIR --set speed=1": "there is no option 'speed'; there are: keep, ",
    "PAIR --set keep=2": "keep '2' is not from 0 to 1",
    "PAIR --text premise=C": "premise is given twice, by --premise and by --text",
    "PAIR --text a=1 --text a=2": "--text names 'a' twice",
    "PAIR --keep 0.9 --set keep=0.2": "keep is given twice, by --keep and by --set",
    "PAIR --by-id --set by_id=no": "by_id is given twice, by --by-id and by --set",
    "PAIR --set keep=1 --set keep=0": "--set names 'keep' twice",
    "PAIR --gold perhaps": "unknown gold label 'perhaps'",
    "PAIR --sign minus": "sign 'minus' is not one of support, gupta, abs",
    "PAIR --draw all": "draw 'all' is not one of vocabulary, paper_code",
    "PAIR --method lime": "--method 'lime' is not one of auto, occlusion, ",
    "PAIR --baseline zero": "--baseline 'zero' is not one of pad, mask, unk",
    "PAIR --label maybe": "--label 'maybe' is not one of entailment, ",
    "PAIR --precision int8": "--precision 'int8' is not one of auto, fp32, bf16",
    "PAIR --hypothesis ' '": "the hypothesis is empty",
    "PAIR --hypothesis \ud83d": "the text holds half of a character",
    "PAIR --transform srot": "there is no transform 'srot'; there are: ",
    "PAIR --model minilmm": "there is no model or folder called 'minilmm'; bundled are minil",
    "pair --seed x": "invalid value for '--seed': ",
    "BATCH --importance lime": "--importance 'lime' is not one of occlusion, gradient_x_input",
    "BATCH --words w.csv": "--words is for the words that --importance METHOD scores",
    "batch a.csv": "missing option '--out'",
    "models nosuch": "no such command 'nosuch'",
    "--nosuch": "no such option: --nosuch",
    "BATCH --transforms srot": "there is no transform 'srot'; there are: ",
    "BATCH --premise text": "no column 'text' in your file; it has: id, premise, ",
    "BATCH --premise hypothesis": "'hypothesis' is used twice, for premise and hypothe",
    "BATCH --gold premise": "'premise' is used twice, for premise and gold label",
    "BATCH --column premise=id --premise premise": "premise is given twice, by --premise",
    "BATCH --label-value oui=entailment": "no row has 'oui' in its column 'label'",
    "BATCH --out o.ods --model minilmm": "o.ods: name the file ",
    "BATCH --out o.jsonl --guard": "only CSV and TSV are guarded",
    "batch other.csv --out o.csv --model TINY": "no columns 'premise' and 'hypothesis' in your fi",
    "batch gone.csv --out o.csv": "gone.csv cannot be",
    "batch unknown.csv --out o.csv --model TINY": "--label-value oui=LABEL",
    "batch lines.jsonl --out o.tsv --model TINY": "o.tsv: a text holds a tab or line break, which",
    "batch lines.jsonl --out o.tsv --model TINY --run": "which TSV cannot; choose .csv",
    "COMPARE --answer neutral": "--answer is the label of a pair; ",
    "BOTH --label-value 1=e": "--label-value is for a file; name one",
    "BOTH --columns a,b": "--columns is for a file; name one",
    "BOTH --out o.csv": "--summary, --out and --tables are for a file; name one",
    "COMPARE --premise A": "give a file, or --premise and --hypothesis (or --text), not both",
    "compare unknown.csv --model TINY --model da": "--label-value oui=LABEL",
    "compare lines.jsonl --model TINY --model da --out o.parquet": "o.parquet: Parquet cannot",
    "hans --model esim --model esim": "the model 'esim' is named twice; choose different models",
    "checkup nobody": "'nobody'",
    "checkup TINY unknown.csv": "say it with --label-value ",
    **{
        f"CHECKUP --fail-under {limit}": f"--fail-under '{limit}' is neither a share from 0 to 1"
        for limit in ("much", "70", "sort=-1", "nan")
    },
    "CHECKUP --fail-under srot=0.5": "inference has no figure 'srot'; it has: ",
    "annotate export gone --out o": "has no set or round 'gone'; it has: none",
    "annotate draw --mode vote --out o.csv": "no annotation 'vote'; it has: valid, labels",
    "annotate draw --out i.parquet": "i.parquet: name the file .csv (packed",
    "annotate import gone.csv": "gone.csv",
    "distractors gone.json --out d.csv": "d.csv: name the file .jsonl (packed",
    "distractors old.json --out o.jsonl": "old.json ",
    "models export none o": "there is no model or folder called 'none'; bundled are m",
    "models export esim o --template '{premise} {text}'": "does not name each text of a task once",
    "MADE --n 999999": "999,999 pairs were asked for",
    "MADE --out a.parquet": "name the file .csv, .tsv or .jsonl (packed",
    "MADE --range 5-9": "range means nothing for dative",
    "templates hans --lexical A --out a.csv": "lexical means nothing for hans",
    "templates numerical --range 9 --out a.csv": "not of the form LO-HI",
    "templates numerical --range 50-20 --out a.csv": "must begin with the smaller",
    "templates numerical --range 20-21 --out a.csv": "needs at least 3 whole numbers",
    "rules numbers in.csv": "there is no rule 'numbers'; there are: ",
    "rules numerical lines.jsonl": "gold labels are needed here, and of the columns of lines.jsonl",
    "rules numerical unknown.csv": "holds 'oui' (1 row)",
    "rules numerical bare.csv": "holds no pair with a premise",
    "rules all gone.jsonl": "gone.jsonl cannot be",
    **{
        f"{words.replace('in.csv', 'gone.csv')} --out o": "gone.csv cannot be"
        for words in (SHORT["TRAIN"], SHORT["WORDS"], SHORT["VECTORS"])
    },
    **{
        f"space {name!r}": "those are like owner/name"
        for name in ("clinic", "me/clinic/x", "", "https://huggingface.co/me/clinic")
    },
    **{
        f"{words} {place}": f"{place} cannot be written: {reason}"
        for words in (
            *("BATCH --summary", "BATCH --pairs", "COMPARE --out", "COMPARE --summary"),
            *("CHECKUP --reference", "distractors in.csv --out", "templates dative --out"),
            "annotate draw --out",
        )
        for place, reason in (
            ("folder.csv", "it is a folder"),
            ("old.json/new/out.csv", ""),
        )
    },
    **{
        f"{words} --out old.json/out": "old.json/out cannot be written: "
        for words in ("TRAIN", "WORDS", "finetune report gallery-da-negation")
    },
    "VECTORS --out old.json/v/v": "cannot be written: ",
    **{
        words: "is named twice; the files that are written need other names"
        for words in (
            *("BATCH --out ./in.csv", "BATCH --out link.csv", "BATCH --out hard.csv"),
            *("BATCH --pairs in.csv", "BATCH --summary in.csv", "COMPARE --out in.csv"),
            *("BATCH --summary folder.csv/../o.csv", "BATCH --pairs a.jsonl --summary a.jsonl"),
            *("COMPARE --summary in.csv", "COMPARE --out a.csv --summary a.csv"),
            *("distractors in.csv --out in.csv", "annotate draw --file in.csv --out in.csv"),
            *("CHECKUP --reference labelled.csv", "CHECKUP --reference o/report.json"),
            "CHECKUP --reference old.json --against old.json",
        )
    },
}
"""The words, and a part of the sentence that answers them; probe's commands but where it says."""
FILES = {
    "in.csv": "id,premise,hypothesis,label\n007,A man.,He.,entailment\n008,,He.,neutral\n",
    "labelled.csv": "premise,hypothesis,label\n" + "A man.,He.,entailment\n" * 3,
    "bare.csv": "premise,hypothesis,label\na,b,\n",
    "other.csv": "text,label\na,b\n",
    "unknown.csv": "premise,hypothesis,label\nA man walks.,He moves.,oui\n",
    "lines.jsonl": '{"premise": "A.", "hypothesis": "H\\nm.", "n": 1}\n'
    '{"premise": "A.", "hypothesis": "Hm.", "n": "x"}\n',
    "old.json": "",
}


def test_what_is_wrong_is_one_sentence_and_no_file_is_touched(
    home: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    for name, text in FILES.items():
        (home / name).write_text(text)
    (home / "link.csv").symlink_to("in.csv")
    (home / "hard.csv").hardlink_to(home / "in.csv")
    (home / "folder.csv").mkdir()

    def files() -> dict[str, bytes]:
        found = (path for path in home.rglob("*") if path.suffix in KINDS and path.is_file())
        return {str(path): path.read_bytes() for path in found}

    before, wrong = files(), []
    for words, sentence in REFUSED.items():
        name, *rest = words.split(" ", 1)
        given = shlex.split(" ".join([SHORT.get(name, name), *rest]).replace("TINY", model))
        chosen = GROUPS.get(given[0], app)
        told = one_sentence(CliRunner().invoke(chosen, given[given[0] in GROUPS :]))
        if sentence not in told or files() != before:
            wrong.append((words, told, *sorted(files().keys() - before.keys())))
    assert wrong == []


KINDS = {".csv", ".tsv", ".jsonl", ".json", ".parquet", ".ods"}


def failing(problem: Exception) -> typer.Typer:
    """Return a group that has a failing command in itself and in a group of its own."""
    outer, inner = group(), group()

    def fail() -> None:
        raise problem

    for commands in (outer, inner):
        commands.callback()(lambda: None)
        commands.command("fail")(fail)
    outer.add_typer(inner, name="inner")
    return outer


def test_a_user_error_ends_a_command_of_any_depth_and_a_bug_stays_a_bug() -> None:
    for words in [["fail"], ["inner", "fail"]]:
        ended = CliRunner().invoke(failing(ModelError("there is no such model")), words)
        assert one_sentence(ended) == "there is no such model", words
    assert isinstance(CliRunner().invoke(failing(KeyError("ours")), ["fail"]).exception, KeyError)
    assert "Usage:" in CliRunner().invoke(app, []).output


def test_a_person_sees_a_sentence_and_no_traceback() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "probe", *PAIR, "--model", "nobody/no-such-model"],
        cwd=ROOT,
        env=os.environ | {"HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("error: the hub cannot be reached from here, and the model 'no")
    assert len(ended.stderr.strip().splitlines()) == 1
