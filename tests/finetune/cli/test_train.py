"""The commands that train models: what they print and leave, and what they refuse."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer

import finetune.training.word_models as word_models
from benchmarks import anew
from finetune.cli.train import dev_sets, examples_of
from finetune.cli.trials import told
from finetune.training.checkpoints import CHECKPOINT
from finetune.training.data import changed_texts, read_pairs
from finetune.trials.challenges import UserFiles, sets_of
from finetune.trials.datasets import SourceData
from finetune.trials.generalisation import read_conditions
from probe.cli.file_options import labelled_and_told
from probe.data.file_options import AS_THE_FILE_TELLS
from probe.errors import TrainingError
from probe.models.library import load, load_any
from probe.models.word_models.word_tokenizer import SPECIAL
from probe.tasks.nli import ENTAILMENT, LABELS, NEUTRAL, NLI, NON_ENTAILMENT, Pair
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import IN_COMMON
from tests.support.cases import each, failures
from tests.support.commands import call, one_sentence, run
from tests.support.files.pair_files import PAIRS, row, write
from tests.support.models.tiny_bert import tiny_bert, tiny_pairs, tiny_reader


def pair_file(path: Path, n: int, labelled: bool = True) -> Path:
    """Write pairs whose premises differ, so that some are held out."""
    named = [replace(pair, premise=f"{pair.premise} {n}") for n, pair in enumerate(tiny_pairs(n))]
    return write(path, [row(pair) if labelled else row(replace(pair, gold=None)) for pair in named])


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    return pair_file(tmp_path / "pairs.jsonl", 6)


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """Twelve questions, and one that cannot be answered."""
    asked: list[dict[str, object]] = [
        {"context": f"The {name} sat in the {place}.", "question": "Who sat?", "answers": [name]}
        for name in ("man", "woman", "boy", "girl")
        for place in ("park", "shop", "school")
    ]
    none = {"context": "", "question": "Who?", "answers": []}
    return write(tmp_path / "questions.jsonl", [*asked, none])


def done(*words: object) -> list[str]:
    """Return the lines that a command prints which ends well."""
    ended = call(*words)
    assert ended.exit_code == 0, ended.output
    return ended.output.splitlines()


def test_a_model_is_distilled_on_pairs_with_and_without_a_label(tmp_path: Path) -> None:
    model, out = tiny_bert(tmp_path / "tiny"), tmp_path / "out"
    labelled = pair_file(tmp_path / "labelled.jsonl", 12)
    bare = pair_file(tmp_path / "bare.jsonl", 12, labelled=False)
    files = ("--train", labelled, "--unlabelled", bare, "--unlabelled", labelled, "--dev", labelled)
    kept = ("--every", 4, "--answers", tmp_path / "answers")
    first, said, early, last = done(
        "train", "--model", model, *files, "--teacher", model, "--out", out, "--batch", 6, *kept
    )
    assert first.startswith("36 pairs, ")
    assert said == "first the teachers answer those that they have not yet"
    assert len(list((tmp_path / "answers").iterdir())) == 1
    assert early.startswith("step 4/6  loss ")
    assert last.startswith("step 6/6  loss ") and "  labelled 0." in last
    assert load(str(out)).probabilities(tiny_pairs(12)).shape == (12, 3)


def test_a_word_model_is_trained_and_trained_on(tmp_path: Path) -> None:
    file = pair_file(tmp_path / "train.jsonl", 120)
    common = ("words", "--model", "da", "--train", file, "--epochs", 1)
    start, epoch, dev = done(*common, "--out", tmp_path / "first", "--dev", file, "--batch", 32)
    assert start.startswith("120 pairs, ")
    assert start.endswith("batches of 32, lr 0.01, at most 1 epochs")
    assert epoch.startswith("epoch 1  loss ") and "  held out 0." in epoch
    assert dev.startswith("train 0.")
    assert load(str(tmp_path / "first")).order == LABELS
    bare = pair_file(tmp_path / "bare.jsonl", 9, labelled=False)
    more = ("--more", tmp_path / "first", "--fall", "--lr", 0.02, "--unlabelled", bare)
    second = (*common, "--out", tmp_path / "second", *more, "--teacher", tmp_path / "first")
    start, said, epoch = done(*second)
    assert start.startswith("129 pairs, ") and start.endswith("lr 0.02, at most 1 epochs")
    assert said.startswith("first the teachers answer") and epoch.startswith("epoch 2  loss ")
    assert len(list((tmp_path / "second" / "answers").iterdir())) == 1
    assert done(*second)[-1].startswith(f"{tmp_path / 'second'} was trained to its end before")


@each("begins", [("words", "--model", "da"), ("train", "--model", "{tiny}")])
def test_what_is_trained_on_changed_texts_says_so_wherever_it_is_opened(
    begins: tuple[str, ...], tmp_path: Path
) -> None:
    file, tiny = pair_file(tmp_path / "train.jsonl", 120), tiny_bert(tmp_path / "tiny")
    words = [word.format(tiny=tiny) for word in begins]
    more = ("--transform", "sort:side=both", "--loss", "focal:1", "--epochs", 1)
    said = done(*words, "--train", file, *more, "--out", tmp_path / "out")
    assert any("120 pairs are changed by sort:side=both;" in line for line in said) or (
        sum("are changed by sort:side=both;" in line for line in said) == 2  # held out ones too
    )
    known = any("was trained before" in line for line in said)
    assert known == (begins[0] == "train")  # tiny is a classifier, vectors are none
    (note,) = load(str(tmp_path / "out")).notes
    assert note == "in a training of it all texts were changed by sort:side=both"


@each(
    "words",
    [
        ("train", "--model", "{tiny}", "--loss", "poe"),
        ("train", "--model", "{tiny}", "--loss", "regularise", "--teacher", "{tiny}"),
        ("words", "--model", "da", "--loss", "reweight"),
    ],
)
def test_a_short_cut_is_learnt_against(words: tuple[str, ...], tmp_path: Path) -> None:
    file, tiny = pair_file(tmp_path / "train.jsonl", 120), tiny_bert(tmp_path / "tiny")
    common = ("--train", file, "--weak", "hypothesis", "--epochs", 1, "--out", tmp_path / "out")
    said = done(*(word.format(tiny=tiny) for word in words), *common)
    assert any("the weak model hypothesis is right on " in line for line in said)
    assert load(str(tmp_path / "out")).order == LABELS


@each("begins", [("words", "--model", "da"), ("train", "--model", "{tiny}")])
def test_a_subset_of_a_map_is_learnt_alone_and_of_the_same_file(
    begins: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_models, "HELD_OUT", 3)
    tiny, file = tiny_bert(tmp_path / "tiny"), pair_file(tmp_path / "train.jsonl", 120)
    words, kept = [word.format(tiny=tiny) for word in begins], tmp_path / "kept"
    common = (*words, "--epochs", 2, "--train")
    said = done(*common, file, "--out", tmp_path / "whole", "--dynamics", kept)
    mapped = int(said[1].split(" rows")[0].rpartition(" ")[2])
    assert (mapped == 120) == (begins[0] == "train")  # else some are held out
    for name in ("ambiguous", "random"):
        chosen = ("--subset", name, "--map", kept, "--share", 0.25)
        said = done(*common, file, "--out", tmp_path / name, *chosen)
        line = next(line for line in said if line.startswith("train.jsonl: "))
        assert f"{round(0.25 * mapped)} of 120 rows are learnt, {name} ones of the map" in line
        assert ("are held out" in line) == (begins[0] == "words")
    two = pair_file(tmp_path / "two.jsonl", 120)
    done(*common, file, "--train", two, "--out", tmp_path / "both", "--dynamics", tmp_path / "two")
    said = done(
        *common, two, "--out", tmp_path / "half", "--map", tmp_path / "two", "--subset", "easy"
    )
    assert any("rows that were trained on are not in two.jsonl" in line for line in said)
    other = write(tmp_path / "other.jsonl", [{**row(pair), "label": "neutral"} for pair in PAIRS])
    for more, sentence in {
        ("--map", kept, "--subset", "hard"): "other.jsonl cannot be joined to the training dynami",
        ("--map", kept): "--map needs a --subset of its rows",
        ("--subset", "hard"): "name its folder with --map",
        ("--map", tmp_path, "--subset", "hard"): "holds no training dynamics",
        ("--map", tmp_path / "gone", "--subset", "hard"): "is neither a folder nor a file",
    }.items():
        assert sentence in one_sentence(call(*common, other, "--out", tmp_path / "no", *more))
    both = (*common, file, "--train", two, "--map", kept, "--subset", "hard")
    ended = call(*both, "--out", tmp_path / "no")
    assert ended.exit_code == 2 and "train on that one alone" in ended.output


NEGATED = "It is not the case that a man is here."


def test_changed_texts_keep_their_labels_and_whole_ones_are_left_out() -> None:
    pairs = [Pair("A man is here.", text, NEUTRAL, str(n)) for n, text in enumerate(("b a.", "a."))]
    made, said = changed_texts(pairs, NLI, "sort", seed=0)
    assert [(pair.hypothesis, pair.gold) for pair in made] == [("a b .", NEUTRAL)]
    assert said == "1 of 2 pairs are changed by sort; the others are left out"
    entailed = [Pair("A man is here.", "A man is here.", ENTAILMENT)]
    (pair,), said = changed_texts(entailed, NLI, "neghyp", seed=0)
    assert (pair.hypothesis, pair.gold) == (NEGATED, ENTAILMENT)
    assert "1 with the label that they had where the rule of neghyp says another" in said


def test_variants_are_trained_side_by_side_on_the_same_pairs_and_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train, test = pair_file(tmp_path / "train.jsonl", 40), pair_file(tmp_path / "dev.jsonl", 12)
    tiny, out = str(tiny_bert(tmp_path / "tiny", SENTIMENT)), tmp_path / "out"

    def made(pairs: int, model: str = tiny) -> str:
        anew.main("shuffled", [train], test, [model], out, pairs, "0,1", epochs=1, tests=0)
        return capsys.readouterr().out

    first = made(28)
    assert first.count('"loss"') == 4 and first.count("28 pairs are changed by shuffle;") == 2
    rows = [line for line in first.splitlines() if line.startswith("| `tiny` | ")]
    assert [row.split(" | ")[1:4] for row in rows] == [
        ["whole", "2", "12"],
        ["shuffled", "2", "12"],
    ]
    assert rows[0].split(" | ")[-1] == "87.3 |"  # table 11
    assert '"loss"' not in made(28)
    with pytest.raises(TrainingError, match="there are 28 examples to train on, not 29"):
        made(29)  # those that are tested are left out
    with pytest.raises(TrainingError, match="Natural language inference already"):
        made(28, str(tiny_bert(tmp_path / "learnt")))


def test_readers_are_trained_from_a_file(
    questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_models, "HELD_OUT", 3)  # of few passages too
    start, out, again = tiny_reader(tmp_path / "start"), tmp_path / "out", tmp_path / "again"
    words = ("--model", start, "--train", questions, "--dev", questions)
    first, last = done("reader", *words, "--epochs", "1", "--out", tmp_path / "tuned")
    assert first.startswith("12 questions, 1 left out, ")
    assert last.startswith("step 1/1") and "windows/s  questions F1 " in last
    words = ("word-reader", "--model", "qanet", "--preset", "small", "--train", questions)
    more = ("--batch", 4, "--epochs", 1)
    first, epoch = done(*words, *more, "--fall", "--correction", 1, "--out", out)
    assert first.startswith("12 questions, 1 left out, ")
    assert epoch.startswith("epoch 1  loss ") and "  held out F1 " in epoch
    for folder in (tmp_path / "tuned", out):
        load_any(str(folder))
    done(*words, *more, "--more", out, "--lr", "1e-9", "--out", again)
    before, after = (load_file(folder / "model.safetensors") for folder in (out, again))
    for name, weight in before.items():
        torch.testing.assert_close(after[name], weight, atol=1e-3, rtol=1e-3)


def test_the_most_frequent_words_get_a_vector_each(pairs: Path, tmp_path: Path) -> None:
    encoder, out = tiny_bert(tmp_path / "encoder"), tmp_path / "new" / "words"
    words = ("--encoder", encoder, "--train", pairs, "--words", 12, "--size", 4)
    (said,) = done("vectors", *words, "--out", out)
    assert said.startswith("12 words, 4 components, 0.")
    known = Path(f"{out}.txt").read_text().splitlines()
    assert known[: len(SPECIAL) + 1] == [*SPECIAL, "the"]
    vectors = load_file(f"{out}.safetensors")["vectors"]
    assert vectors.shape == (12, 4)
    assert vectors[0].abs().sum() == 0  # padding


TRAIN = ("train", "--model", "minilm")
READER = ("reader", "--model", "minilm")
WORDS = ("words", "--model", "da")
WORD_READER = ("word-reader", "--model", "bidaf")
VECTORS = ("vectors", "--encoder", "minilm")
VALUES = {
    TRAIN: {
        "--batch": [0], "--lr": ["nan", "-1", "0", "inf"], "--epochs": [0], "--max-tokens": [0],
        "--dev-size": [0], "--threads": [0, -1], "--seed": [-1], "--teacher-weight": [-1, 2, "nan"],
        "--loss": ["huber", "focal:-1", "smoothing:1", "smoothing:x", "plain:1"],
    },
    READER: {"--batch": [0], "--lr": ["nan", "-1"], "--every": [0], "--threads": [0]},
    WORDS: {
        "--batch": [-1, 0], "--lr": ["nan", "-1", "0"], "--correction": [-1],
        "--minutes": ["nan", "-1"], "--vectors": ["nosuch"], "--device": ["nosuch"],
        "--threads": [0], "--every": [0],
    },
    WORD_READER: {"--lr": ["nan"], "--vectors": ["nosuch"], "--minutes": ["nan"]},
    VECTORS: {"--size": [0], "--words": [1]},
}  # fmt: skip
NONE_THERE = "there is no model or folder called 'nosuch'"
REFUSED: dict[tuple[str, ...], str] = {
    **{
        (*command, option, str(value)): ""
        for command, options in VALUES.items()
        for option, values in options.items()
        for value in values
    },
    ("train", "--model", "nosuch"): NONE_THERE,
    ("train", "--model", "."): "is no model: it has no config.json",
    (*TRAIN, "--teacher", "nosuch"): NONE_THERE,
    ("reader", "--model", "nosuch"): NONE_THERE,
    ("reader", "--model", "esim"): "is no reader: a esim model answers no question",
    ("vectors", "--encoder", "nosuch"): NONE_THERE,
    ("vectors", "--encoder", "."): "is no model: it has no config.json",
    (*WORDS, "--more", "minilm_sst2"): "minilm_sst2 is no da",
    (*WORDS, "--more", "minilm"): "minilm is no da",
    ("words", "--model", "esim", "--more", "esim_char"): "esim_char is no esim",
    (*WORD_READER, "--more", "minilm_reader"): "minilm_reader is no bidaf",
    ("words", "--model", "esim", "--preset", "mine"): (
        "there is no 'esim' with 'mine'; there are: da (allennlp, paper), "
    ),
    (*WORD_READER, "--preset", "paper"): "there is no 'bidaf' with 'paper'; there are: bidaf",
    (*WORDS, "--teacher", "nosuch"): NONE_THERE,
    (*WORDS, "--unlabelled", "any"): "--unlabelled needs a --teacher",
    (*TRAIN, "--unlabelled", "any"): "--unlabelled needs a --teacher, whose answers are learnt",
    (*TRAIN, "--transform", "sort+drop"): "drop asks a model which tokens matter, and before a",
    (*WORDS, "--transform", "nosuch"): "there is no transform 'nosuch'",
    (*WORDS, "--transform", "sort:keep=0.3"): "sort does not read the option keep; it reads: pin",
    (*TRAIN, "--transform", "sort", "--teacher", "minilm"): "leave out --teacher",
    (*TRAIN, "--loss", "focal", "--teacher", "minilm"): "not by 'focal'",
    (*TRAIN, "--weak", "bag"): "a weak model (--weak) and a loss against it",
    (*WORDS, "--loss", "poe"): "a weak model (--weak) and a loss against it",
    (*WORDS, "--loss", "regularise", "--weak", "bag"): "regularise softens what a --teacher says",
    (*TRAIN, "--loss", "poe", "--weak", "premise"): "there are: hypothesis, overlap, bag",
    (*TRAIN, "--loss", "poe", "--weak", "bag", "--transform", "sort"): "leave out --transform",
    (*TRAIN, "--loss", "poe", "--weak", "overlap", "--task", "sentiment"): "compares two texts",
}
UNFIT = {
    (*TRAIN, "--teacher", "minilm_sst2"): (
        "a model that answers entailment, neutral, contradiction cannot learn from 'minilm_sst2', "
        "which answers positive, negative"
    ),
    WORDS: "held out to select epochs by",
    ("vectors", "--size", "5000"): "components, not 5000",
}
"""What is refused behind a line that is printed, with a file of one pair."""


def test_what_trains_nothing_or_would_write_over_a_model_is_refused(
    pairs: Path, tmp_path: Path
) -> None:
    def refused(words: tuple[str, ...], sentence: str, out: Path = tmp_path / "out") -> None:
        said = one_sentence(call(*words, "--train", pairs, "--out", out))
        assert said and sentence in said

    taken = tiny_bert(tmp_path / "taken")
    before = {path: path.read_bytes() for path in taken.iterdir()}
    sentence = f"{taken} holds a model already; name another folder with --out"
    full = [(command, sentence, taken) for command in (TRAIN, READER, WORDS, WORD_READER)]
    assert failures(refused, [*REFUSED.items(), *full]) == {}
    assert {path: path.read_bytes() for path in taken.iterdir()} == before
    one = pair_file(tmp_path / "one.jsonl", 1)
    for words, sentence in UNFIT.items():
        own = ("--encoder", taken) if words[0] == "vectors" else ()
        ended = call(*words, *own, "--train", one, "--out", tmp_path / "out")
        assert (ended.exit_code, sentence in ended.stderr) == (2, True), ended.output


@each("command", ["train", "reader"])
def test_a_training_goes_on_with_what_it_was_begun_with_alone_and_keeps_nothing_that_diverged(
    command: str, pairs: Path, questions: Path, tmp_path: Path
) -> None:
    make, file = {"train": (tiny_bert, pairs), "reader": (tiny_reader, questions)}[command]
    model, out, fewer = make(tmp_path / "tiny"), tmp_path / "out", tmp_path / "fewer.jsonl"
    fewer.write_text("\n".join(file.read_text().splitlines()[1:]))
    same = (command, "--model", model, "--lr", 1e-3, "--epochs", 1, "--train", file)

    def kept() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}

    done(*same, "--out", out)
    before = kept()
    assert done(*same, "--out", out)[-1] == (
        f"{out} was trained to its end before, with the same data and options: nothing is left to "
        "train; name another folder with --out to train anew"
    )
    for option, other in {"--train": fewer, "--epochs": 2, "--lr": 2e-3, "--seed": 1}.items():
        words = same[:-2] if option == "--train" else same
        ended = call(*words, option, other, "--out", out)
        assert ended.exit_code == 2
        assert f"begun with another {option}" in ended.stderr
        assert "name another folder with --out" in ended.stderr
    assert kept() == before
    weights, out = model / "model.safetensors", tmp_path / "diverged"
    broken = load_file(weights)
    (embeddings,) = (name for name in broken if name.endswith("word_embeddings.weight"))
    known = AutoTokenizer.from_pretrained(model)("A man walks.")["input_ids"]
    unseen = sorted(set(range(len(broken[embeddings]))) - set(known))
    broken[embeddings][unseen] = float("nan")  # the example of a model that is opened has none
    save_file(broken, weights, metadata={"format": "pt"})
    ended = call(*same, "--out", out)
    assert ended.exit_code == 2, ended.output
    assert "the loss became nan at a learning rate of" in ended.stderr and "--lr" in ended.stderr
    assert not {"config.json", CHECKPOINT} & {path.name for path in kept()}


ASKED = told(AS_THE_FILE_TELLS)
ROWS = """premise,hypothesis,label,condition,split
A man sits.,A man is there.,entailment,one,train
A man runs.,A man sits.,contradiction,two,test
A man eats.,He is at home.,neutral,,
A man eats.,He is here.,,one,train
A man eats.,He is out.,-,two,test
,He is out.,neutral,two,test
"""
READ = "3 of 6 rows are left out: 1 without a gold label, 1 on whose label the annotators disagree"
SOURCE = SourceData(tiny_pairs(3), tiny_pairs(3), tiny_pairs(3))
WAYS: tuple[tuple[Callable[[Path], object], str], ...] = (
    (lambda path: examples_of(path, NLI, AS_THE_FILE_TELLS), READ),
    (
        lambda path: examples_of(path, NLI, AS_THE_FILE_TELLS, needs_gold=False),
        "1 of 6 rows are left out: 1 without a text that can be read",
    ),
    (lambda path: labelled_and_told(path, NLI, AS_THE_FILE_TELLS), READ),
    (lambda path: read_pairs(path, NLI, ASKED), READ),
    (lambda path: read_conditions(path, "condition", NLI, ASKED), READ),
    (
        lambda path: read_conditions(path, "condition", NLI, ASKED),
        "1 rows are left out, of which 'condition' names no condition",
    ),
    (
        lambda path: sets_of("mine", SOURCE, UserFiles(challenge=path, asked=ASKED)),
        "1 rows are left out, of which 'split' says neither train nor what is tested on",
    ),
)


def test_rows_that_are_left_out_are_counted_with_their_reasons(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(ROWS)
    for number, (read, words) in enumerate(WAYS):
        read(path)
        assert words in capsys.readouterr().err, number


def test_a_dev_set_of_two_and_of_three_classes_is_measured_in_two_and_named_so() -> None:
    mixed = [Pair("a", "b", gold) for gold in (ENTAILMENT, NON_ENTAILMENT, NEUTRAL)]
    sets = dev_sets([Path("dev.csv")], lambda _: mixed, NLI)
    (rows,) = sets.values()
    assert list(sets) == [f"dev {IN_COMMON}"]
    assert [pair.gold for pair in rows] == [ENTAILMENT, NON_ENTAILMENT, NON_ENTAILMENT]


def test_the_starters_files_are_left_and_read_again_without_a_question(
    pairs: Path, questions: Path, tmp_path: Path
) -> None:
    for command, make, data, first in (
        ("train", tiny_bert, pairs, "eval_accuracy"),
        ("reader", tiny_reader, questions, "eval_exact_match"),
    ):
        out, scored = tmp_path / command, tmp_path / f"{command}.jsonl"
        how = ["--model", make(tmp_path / f"{command}-start"), "--train", data, "--out", out]
        how += ["--starter", "--epochs", 2, "--batch", 4, "--every", 2]
        assert "name it with --dev" in one_sentence(call(command, *how))
        done(command, *how, "--dev", data, "--dev-size", 1)
        steps = sorted(int(each.name.partition("-")[2]) for each in out.glob("checkpoint-*"))
        assert steps[0] == 2 and len(steps) > 1
        last = load_file(out / f"checkpoint-{steps[-1]}" / "model.safetensors")
        assert all(torch.equal(last[k], v) for k, v in load_file(out / "model.safetensors").items())
        rows = [json.loads(line) for line in (out / "eval_predictions.jsonl").open()]
        measured = json.loads((out / "eval_metrics.json").read_text())
        assert len(rows) == len(data.read_text().splitlines()) - (command == "reader")
        if command == "train":
            for row in rows:
                assert row["predicted_label"] == row["predicted_scores"].index(
                    max(row["predicted_scores"])
                )
            right = [row["label"] == row["predicted_label"] for row in rows]
        else:
            right = [row["predicted_answer"] in row["answers"]["text"] for row in rows]
        share = sum(right) / len(right)
        assert measured[first] == pytest.approx(share * (1 if command == "train" else 100))
        answers = str(out / "eval_predictions.jsonl")
        ended = run("batch", "--predictions", answers, "--out", str(scored))
        assert ended.exit_code == 0, ended.output
        assert sum(json.loads(line)["right"] for line in scored.open()) == sum(right)
