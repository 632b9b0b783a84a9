"""Folders as people have them: read right, with a note, or refused with the true cause."""

import json
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import peft
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    AutoModel,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    GPT2Config,
    GPT2ForSequenceClassification,
)
from typer import Context
from typer.main import get_command

from benchmarks.architectures import KINDS, examine, save
from finetune.cli.main import app as finetune_app
from probe.analysis.batch import score
from probe.analysis.importance import attribute
from probe.cli.main import app as probe_app
from probe.data.rows import guess
from probe.data.source import read_table
from probe.errors import ModelError
from probe.models.checkpoint import start_from_encoder
from probe.models.errors import UnclearLabels, UnclearTask
from probe.models.library import load, locate
from probe.models.shared_weights import export_model
from probe.tasks.nli import LABELS, NLI, Pair
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION, TextPair
from probe.tasks.sentiment import SENTIMENT, Review
from probe.tasks.task import GUESS
from tests.support.commands import run
from tests.support.models.tiny_bert import tiny_bert

PAIR = Pair("A man walks.", "He moves.")
CONFIG, TOKENIZER, WEIGHTS = "config.json", "tokenizer_config.json", "model.safetensors"
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n"


def edit(name: str, **changes: object) -> Callable[[Path], None]:
    """Return what changes entries of a JSON file; None leaves one out."""

    def change(folder: Path) -> None:
        values = json.loads((folder / name).read_text()) | changes
        left = {key: value for key, value in values.items() if value is not None}
        (folder / name).write_text(json.dumps(left))

    return change


def only(name: str, content: bytes = b"x") -> Callable[[Path], None]:
    """Return what puts a file in the place of the weights."""

    def change(folder: Path) -> None:
        (folder / WEIGHTS).unlink()
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)

    return change


def weigh(**named: int) -> Callable[[Path], None]:
    """Return what adds weights of these names and sizes, "__" for a full stop."""

    def change(folder: Path) -> None:
        added = {name.replace("__", "."): torch.zeros(size) for name, size in named.items()}
        save_file(load_file(folder / WEIGHTS) | added, folder / WEIGHTS, {"format": "pt"})

    return change


def half_way(folder: Path) -> None:
    """Leave what a training saves on its way, in the place of a model."""
    shutil.copytree(folder, folder / "checkpoint-500")
    (folder / CONFIG).unlink()


REFUSED: dict[str, tuple[Callable[[Path], None], str]] = {
    "GGUF": (
        only("model.gguf"),
        "model.gguf is GGUF, which is for llama.cpp alone; take the model",
    ),
    "ONNX": (only("onnx/model.onnx"), "model.onnx is an ONNX graph, of which no importance can be"),
    "TensorFlow": (only("tf_model.h5"), "tf_model.h5 is TensorFlow's; save it with PyTorch"),
    "pickle": (only("pytorch_model.bin"), "a pickle such as pytorch_model.bin may run code"),
    "pickles of a training": (only("training_args.bin"), "has no safetensors weights"),
    "a pointer": (only(WEIGHTS, POINTER), f"{WEIGHTS} of 'model' is a pointer of Git LFS and not"),
    "no model_type": (edit(CONFIG, model_type=None), "has no model_type, so that it does not say"),
    "checkpoints": (half_way, "and holds what a training saved on its way; name one, the latest f"),
    "several labels": (
        edit(CONFIG, problem_type="multi_label_classification"),
        "says of each label alone whether it holds, so that several or none may",
    ),
    "a scale": (edit(CONFIG, problem_type="regression"), "answers with a number on a scale"),
    "outputs without numbers": (
        edit(CONFIG, id2label=LABELS),
        "does not number its outputs from 0 on: entailment, neutral, contradiction; name each",
    ),
    "an output left out": (
        edit(CONFIG, id2label={"0": "entailment", "2": "neutral"}),
        "id2label in the config.json of 'model' does not number its outputs from 0 on: 0, 2; name",
    ),
    "no number of outputs": (edit(CONFIG, num_labels="3"), "cannot be loaded: it is damaged"),
    "no length": (
        edit(TOKENIZER, model_max_length="512"),
        "model_max_length in the tokenizer_config.json of 'model' is no number of tokens: '512'",
    ),
    "no type": (edit(CONFIG, dtype="x"), "cannot be loaded: it is damaged"),
    "tokenizer with code": (
        edit(TOKENIZER, tokenizer_class="Own", auto_map={"AutoTokenizer": ["own.Own", None]}),
        "the tokenizer of the model 'model', Own, needs Python code of its own",
    ),
    "unknown tokenizer": (
        edit(TOKENIZER, tokenizer_class="OwnTokenizerFast"),
        "is of a class that is not known here, OwnTokenizerFast, and another might read texts",
    ),
    "layers beyond the config": (
        weigh(bert__encoder__layer__2__output__dense__bias=32),
        "have more layers than its config says, such as bert.encoder.layer.2.output.dense.bias",
    ),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tiny model in the folder `model`, which is named so."""
    monkeypatch.chdir(tmp_path)
    return tiny_bert(tmp_path / "model")


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_read_is_refused_with_its_cause(kind: str, folder: Path) -> None:
    damage, sentence = REFUSED[kind]
    damage(folder)
    with pytest.raises(ModelError) as caught:
        load("model")
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)
    with suppress(ModelError):  # nor does a training end with words of a library
        start_from_encoder("model")


def test_a_refusal_of_checkpoints_names_one_that_can_be_loaded(folder: Path) -> None:
    half_way(folder)
    with pytest.raises(ModelError) as caught:
        load("model")
    assert load(str(caught.value).rpartition(": ")[2]).order == LABELS


def test_weights_that_are_no_numbers_are_refused_when_they_are_opened(folder: Path) -> None:
    weights = {name: value * torch.nan for name, value in load_file(folder / WEIGHTS).items()}
    save_file(weights, folder / WEIGHTS, {"format": "pt"})
    for open_it in (load, start_from_encoder):
        with pytest.raises(ModelError, match=r"NaN\): its weights are broken"):
            open_it("model")


def test_a_decoder_that_is_not_told_how_to_begin_begins_with_padding(tmp_path: Path) -> None:
    save(KINDS["t5"], "t5", tmp_path)
    told = load(str(tmp_path), LABELS).probabilities([PAIR])
    edit(CONFIG, decoder_start_token_id=None)(tmp_path)
    for model in (load(str(tmp_path), LABELS), start_from_encoder(str(tmp_path))):
        assert "that of padding takes its place, as in T5" in model.notes[0]
    assert (load(str(tmp_path), LABELS).probabilities([PAIR]) == told).all()


def test_what_is_kept_names_a_folder_by_its_full_path(folder: Path) -> None:
    group: Any = get_command(finetune_app)
    commands = [group.commands[verb] for verb in ("inoculate", "calibrate", "mitigate", "transfer")]
    checkup: Any = get_command(probe_app)
    for command in (*commands, group.commands["generalise"], checkup.commands["checkup"]):
        (model,) = [each for each in command.params if each.name == "model"]
        for given, kept in (("model", str(folder)), ("minilm", "minilm"), ("a/b", "a/b")):
            assert model.process_value(Context(command), given) == kept


def test_a_part_that_the_network_has_no_place_for_is_named(folder: Path) -> None:
    weigh(adapter__weight=3, bert__pooler2__x=3)(folder)
    (note,) = load("model").notes
    assert "no place for some of its weights, adapter.weight, bert.pooler2.x, which are" in note


def test_parts_of_other_heads_need_no_word(folder: Path) -> None:
    weigh(cls__predictions__bias=3, bert__embeddings__position_ids=3)(folder)
    assert load("model").notes == ()


@pytest.mark.parametrize(
    "kind", ["canine", "t5 of bytes", "bert of transformers 4", "convbert", "bloom", "deberta"]
)
def test_an_answer_is_that_of_plain_transformers(kind: str) -> None:
    assert examine(kind, KINDS[kind])[1]


def test_segment_ids_stay_when_such_a_folder_is_saved_anew(tmp_path: Path) -> None:
    save(KINDS["bert of transformers 4"], "bert", tmp_path)
    read = load(str(tmp_path)).tokenizer
    read.save_pretrained(tmp_path / "anew")
    anew: Any = AutoTokenizer.from_pretrained(tmp_path / "anew")
    assert set(anew("a", "b")["token_type_ids"]) == {0, 1}


@pytest.mark.parametrize("kind", ["mpnet", "longformer"])
def test_a_long_text_is_cut_to_the_positions_that_there_are(kind: str, tmp_path: Path) -> None:
    save(KINDS[kind], kind, tmp_path)
    edit(TOKENIZER, model_max_length=None)(tmp_path)
    model = load(str(tmp_path))
    long = Pair("the man walks " * 200, "He moves.")
    assert model.max_tokens == 128  # 130 positions, numbered from padding_idx + 1 = 2
    assert model.too_long(long)
    assert len(model.predict([long, PAIR])) == 2


STARS = ("1 star", "2 stars", "3 stars", "4 stars", "5 stars")
FINER = {
    STARS: "of its 5 outputs it reads 1 star and 2 stars as negative, 4 stars and 5 stars as "
    "positive; 3 stars is left out, and probabilities are shares of the others",
    ("Negative", "Neutral", "Positive"): "of its 3 outputs it reads Negative as negative, Positive "
    "as positive; Neutral is left out, and probabilities are shares of the others",
}


@pytest.mark.parametrize("outputs", FINER, ids=len)
def test_finer_sentiment_is_read_in_two_labels(outputs: tuple[str, ...], folder: Path) -> None:
    rows = [at % 3 for at in range(len(outputs))]
    weights = load_file(folder / WEIGHTS)
    parts = {name: value[rows] for name, value in weights.items() if "classifier" in name}
    parts["classifier.bias"] = torch.linspace(-1, 1, len(outputs))
    save_file(weights | parts, folder / WEIGHTS, {"format": "pt"})
    edit(CONFIG, id2label={str(at): name for at, name in enumerate(outputs)})(folder)
    model = load("model")
    assert (model.task, model.notes) == (SENTIMENT, (FINER[outputs],))
    inputs = model.tokenizer("I love this book.", return_tensors="pt")
    each = model.model(**inputs).logits.softmax(-1)[0].tolist()
    positive, negative = sum(each[len(each) // 2 + 1 :]), sum(each[: len(each) // 2])
    whole = positive + negative
    told = model.probabilities([Review("I love this book.")])[0]
    assert told == pytest.approx([positive / whole, negative / whole], abs=1e-6)


SIGMOID = {"activation_fn": "torch.nn.modules.activation.Sigmoid"}
LOW, HIGH = PARAPHRASE_IDENTIFICATION.labels[::-1]
READ = f"its one output is read as the logit of {HIGH}, below 0 as {LOW}"


@pytest.mark.parametrize("kind", ["bert", "roberta", "gpt2"])
def test_one_output_is_the_logit_of_a_label_where_the_folder_or_a_person_says_so(
    kind: str, tmp_path: Path
) -> None:
    one = {**KINDS[kind].config, "id2label": {0: "LABEL_0"}}
    save(replace(KINDS[kind], config=one), kind, tmp_path)
    name, task, pair = str(tmp_path), PARAPHRASE_IDENTIFICATION, TextPair("A man walks.", "He is.")
    plain = AutoModelForSequenceClassification.from_pretrained(tmp_path).eval()
    told = load(name, (LOW, HIGH), task)
    assert READ in told.notes
    (number,) = plain(**told.tokenizer(pair.text1, pair.text2, return_tensors="pt")).logits[0]
    assert told.probabilities([pair])[0, 0] == pytest.approx(number.sigmoid().item(), abs=1e-6)
    with pytest.raises(UnclearLabels, match=r"answers with one number, .* is the logit of a label"):
        load(name, None, task)
    edit(CONFIG, sentence_transformers=SIGMOID)(tmp_path)
    read = load(name, None, task)
    assert any(f"{READ}, since its config.json names a sigmoid" in note for note in read.notes)
    assert (read.probabilities([pair]) == told.probabilities([pair])).all()
    with pytest.raises(UnclearTask):
        load(name)
    edit(CONFIG, problem_type="regression")(tmp_path)
    with pytest.raises(ModelError, match="answers with a number on a scale"):
        load(name, (LOW, HIGH), task)


def test_outputs_without_names_can_be_guessed_from_the_plain_pairs(folder: Path) -> None:
    swapped = ["contradiction", "entailment", "neutral"]
    names = {str(at): f"LABEL_{at}" for at in range(3)}
    with pytest.raises(ModelError, match=r"no order of the labels of 'model' can be guessed"):
        load("model", GUESS)  # random weights answer every pair alike
    at = [load("minilm").order.index(label) for label in swapped]
    export_model(Path(locate("minilm")[0]), folder.parent / "trained")
    weights = load_file(folder.parent / "trained" / WEIGHTS)
    parts = {name: value[at] for name, value in weights.items() if name.startswith("classifier.")}
    save_file(weights | parts, folder.parent / "trained" / WEIGHTS, {"format": "pt"})
    edit(CONFIG, id2label=names, label2id=None)(folder.parent / "trained")
    guessed = load("trained", GUESS)
    assert list(guessed.order) == swapped
    assert guessed.notes[-1].startswith(
        "its outputs were guessed to be LABEL_0 = contradiction, LABEL_1 = entailment, LABEL_2 = "
        "neutral: so it gets 6 of 6"
    )


def adapted(folder: Path, encoder: Path) -> Any:
    """Write a LoRA adapter with a head of its own beside an encoder, and return what peft has."""
    whole = tiny_bert(encoder.parent / "whole")
    AutoModel.from_pretrained(whole).save_pretrained(encoder)
    AutoTokenizer.from_pretrained(whole).save_pretrained(encoder)
    base = AutoModelForSequenceClassification.from_pretrained(encoder, num_labels=3)
    how = peft.LoraConfig(task_type="SEQ_CLS", r=2, target_modules=["query", "value"])
    model = peft.get_peft_model(base, how).eval()
    for name, weight in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.constant_(weight, 0.3)
    model.save_pretrained(folder)
    return model


def test_an_adapter_answers_as_in_peft_and_is_refused_without_its_head(tmp_path: Path) -> None:
    plain = adapted(tmp_path / "adapter", tmp_path / "encoder")
    edit("adapter_config.json", base_model_name_or_path="encoder")(tmp_path / "adapter")
    model = load(str(tmp_path / "adapter"), LABELS)  # by a process of another folder
    assert model.notes == (f"an adapter, merged into {tmp_path / 'encoder'}",)
    inputs = model.tokenizer(PAIR.premise, PAIR.hypothesis, return_tensors="pt")
    told = plain(**inputs).logits.softmax(-1)[0].tolist()
    assert model.probabilities([PAIR])[0] == pytest.approx(told, abs=1e-6)
    file = tmp_path / "adapter" / "adapter_model.safetensors"
    left = {name: value for name, value in load_file(file).items() if "lora" in name}
    save_file(left, file)
    with pytest.raises(ModelError, match=r"lacks classifier\.bias, .* its answers would be"):
        load(str(tmp_path / "adapter"), LABELS)


def test_an_adapter_says_what_it_needs(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "adapter"
    place.mkdir()
    facts = {"peft_type": "LORA", "task_type": "SEQ_CLS", "base_model_name_or_path": "gone"}
    (place / "adapter_config.json").write_text(json.dumps(facts))
    with pytest.raises(ModelError, match=r"'adapter' was trained on 'gone': there is no model or"):
        load("adapter")
    edit("adapter_config.json", base_model_name_or_path=str(folder))(place)
    with pytest.raises(ModelError, match=r"'adapter' has no safetensors weights"):
        load("adapter")
    save_file({}, place / "adapter_model.safetensors")
    monkeypatch.setitem(sys.modules, "peft", None)
    with pytest.raises(ModelError, match=r"the package peft is needed: pip install"):
        load("adapter")


def decoder(folder: Path, pad: bool, ends: bool = False) -> Path:
    """Write GPT-2 without a padding token, or with one beyond its vectors."""
    tokenizer = KINDS["gpt2"].tokenizer()
    size = len(tokenizer)
    if pad:
        tokenizer.add_special_tokens({"pad_token": "[PAD]"})
    if ends:
        tokenizer.eos_token = None
    config = GPT2Config(vocab_size=size, n_embd=32, n_layer=2, n_head=4, n_positions=64)
    config.id2label = dict(enumerate(LABELS))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        GPT2ForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("pad", [False, True])
def test_a_decoder_without_a_padding_token_answers_in_a_batch_as_alone(
    pad: bool, tmp_path: Path
) -> None:
    model = load(str(decoder(tmp_path, pad)))
    assert "its end token <|endoftext|> takes its place" in model.notes[0]
    pairs = [PAIR, Pair("A woman reads her letter.", "She reads.")]
    together = model.probabilities(pairs)
    for pair, row in zip(pairs, together, strict=True):
        inputs = model.tokenizer(pair.premise, pair.hypothesis, return_tensors="pt")
        alone = model.model(**inputs).logits.softmax(-1)[0].tolist()
        assert row == pytest.approx(alone, abs=1e-6)


def test_a_template_puts_the_texts_of_a_decoder_into_one(tmp_path: Path) -> None:
    plain = decoder(tmp_path / "plain", pad=False)
    assert load(str(plain)).notes[1].startswith("its texts are read as '{premise}{hypothesis}'; if")
    template = "Hypothesis: {hypothesis} Premise: {premise}?"
    run("models", "export", str(plain), str(tmp_path / "told"), "--template", template)
    model = load(str(tmp_path / "told"))
    text = "Hypothesis: He moves. Premise: A man walks.?"
    inputs = model.tokenizer(text, return_tensors="pt")
    told = model.model(**inputs).logits.softmax(-1)[0].tolist()
    assert model.probabilities([PAIR])[0] == pytest.approx(told, abs=1e-6)
    (shown,) = attribute(model, [PAIR], ["neutral"])
    for field in NLI.fields:
        tokens = [getattr(PAIR, field)[each.start : each.end] for each in shown.tokens(field)]
        assert "".join(tokens) == getattr(PAIR, field)
    long = Pair("the man walks " * 100, "He moves.")
    assert model.too_long(long)
    cut = model.decode(model.encode([long])["input_ids"][0].tolist())
    assert cut.startswith("Hypothesis: He moves. Premise: the man walks the") and cut[-1] == "?"
    ended = run("models", "export", str(plain), str(tmp_path / "no"), "--template", "{premise}")
    assert "does not name each text of a task once" in ended.stderr
    edit(CONFIG, text_template="{premise}")(tmp_path / "told")
    with pytest.raises(ModelError, match=r"names {premise} and {hypothesis}, each once, and is '"):
        load(str(tmp_path / "told"))


def test_without_an_end_token_either_examples_are_read_one_at_a_time(tmp_path: Path) -> None:
    model = load(str(decoder(tmp_path, pad=False, ends=True)))
    assert model.notes[0] == "it has no padding token, so that examples are read one at a time"
    assert model.probabilities([PAIR, PAIR]).shape == (2, 3)


def test_a_row_with_a_token_that_has_no_vector_is_that_rows_problem(folder: Path) -> None:
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    tokenizer.add_tokens(["zebra"])
    tokenizer.save_pretrained(folder)
    file = folder / "pairs.csv"
    file.write_text("premise,hypothesis\nA man.,He moves.\nA zebra.,It moves.\nA dog.,It is.\n")
    table = read_table(file)
    (chunk,) = score(table, guess(table.names, NLI), load("model"))
    assert [bool(row.prediction) for row in chunk.rows] == [True, False, True]
    assert (
        "makes the token 'zebra' of this text, and the model has no vector" in chunk.rows[1].error
    )
    assert tokenizer.convert_tokens_to_ids("zebra") not in load("model").vocabulary
