"""Folders as people have them: read right, with a note, or refused with the true cause."""

import json
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import peft
import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers.processors import TemplateProcessing
from transformers import (
    AutoModel,
    AutoModelForSequenceClassification,
    AutoTokenizer,
)

from benchmarks.architectures import KINDS, examine, save
from probe.analysis.batch import score
from probe.analysis.importance import attribute
from probe.data.rows import guess
from probe.data.source import read_table
from probe.errors import ModelError
from probe.models.checkpoint import in_a_sentence, set_padding, start_from_encoder
from probe.models.errors import UnclearLabels, UnclearTask
from probe.models.library import load, locate
from probe.models.weights import export_model, free_memory_bytes, trainer_checkpoints
from probe.tasks.nli import LABELS, NLI, Pair
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION, TextPair
from probe.tasks.sentiment import SENTIMENT, Review
from probe.tasks.task import GUESS
from tests.support.cases import each
from tests.support.commands import run
from tests.support.models.tiny_bert import tiny_bert
from tests.support.models.tiny_models import shared

PAIR = Pair("A man walks.", "He moves.")
CONFIG, TOKENIZER, WEIGHTS = "config.json", "tokenizer_config.json", "model.safetensors"
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n"
Damage = Callable[[Path], object]


def edit(name: str, **changes: object) -> Damage:
    """Return what changes entries of a JSON file; None leaves one out."""

    def change(folder: Path) -> None:
        values = json.loads((folder / name).read_text()) | changes
        left = {key: value for key, value in values.items() if value is not None}
        (folder / name).write_text(json.dumps(left))

    return change


def only(name: str, content: bytes = b"x") -> Damage:
    """Return what puts a file in the place of the weights."""

    def change(folder: Path) -> None:
        (folder / WEIGHTS).unlink()
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)

    return change


def write(name: str, text: str) -> Damage:
    """Return what puts a text in the place of a file."""
    return lambda folder: (folder / name).write_text(text)


def weigh(change: Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]) -> Damage:
    """Return what changes the weights."""
    return lambda folder: save_file(
        change(load_file(folder / WEIGHTS)), folder / WEIGHTS, {"format": "pt"}
    )


def add(**sizes: int) -> Damage:
    """Return what adds weights of these names and sizes, "__" for a full stop."""
    added = {name.replace("__", "."): torch.zeros(size) for name, size in sizes.items()}
    return weigh(lambda weights: weights | added)


def sparse(size: Callable[[], int]) -> Damage:
    """Return what writes weights of a size in bytes, which take no space on disk."""

    def change(folder: Path) -> None:
        taken = size()
        tensors = {"w": {"dtype": "U8", "shape": [taken], "data_offsets": [0, taken]}}
        header = json.dumps(tensors).encode()
        with (folder / WEIGHTS).open("wb") as file:
            file.write(len(header).to_bytes(8, "little") + header)
            file.truncate(8 + len(header) + taken)

    return change


def half_way(folder: Path) -> None:
    """Leave what a training saves on its way, in the place of a model."""
    shutil.copytree(folder, folder / "checkpoint-500")
    (folder / CONFIG).unlink()


def four_outputs(folder: Path) -> None:
    rows = [0, 1, 2, 0]
    weigh(lambda its: {k: v[rows] if "classifier" in k else v for k, v in its.items()})(folder)
    edit(CONFIG, id2label={str(at): f"LABEL_{at}" for at in range(4)})(folder)


def with_code(folder: Path) -> None:
    (folder / "code.py").write_text("open('ran', 'w')\n")
    edit(CONFIG, model_type="own", auto_map={"AutoConfig": "code.Config"})(folder)


REFUSED: dict[str, tuple[Damage, str]] = {
    "GGUF": (only("model.gguf"), "model.gguf of 'model' cannot be read as GGUF: it is damaged"),
    "ONNX": (only("onnx/model.onnx"), "model.onnx is an ONNX graph, of which no importance can be"),
    "TensorFlow": (only("tf_model.h5"), "tf_model.h5 is TensorFlow's; save it with PyTorch"),
    "pickle": (
        only("pytorch_model.bin"),
        "has no safetensors weights, and a pickle such as pytorch_model.bin may run code when it "
        "is opened, so it is refused",
    ),
    "pickles of a training": (only("training_args.bin"), "has no safetensors weights"),
    "a pointer": (only(WEIGHTS, POINTER), f"{WEIGHTS} of 'model' is a pointer of Git LFS and not"),
    "no model_type": (edit(CONFIG, model_type=None), "has no model_type, so that it does not say"),
    "checkpoints": (half_way, "and holds what a training saved on its way; name one, the latest f"),
    "no config": (lambda folder: (folder / CONFIG).unlink(), "'model' is no model: it has no conf"),
    "a config of no JSON": (write(CONFIG, "{"), "'model' cannot be read as JSON"),
    "a config that is a list": (write(CONFIG, "[]"), "is no model: its config.json is no table"),
    "a tokenizer of no JSON": (write("tokenizer.json", "{"), "tokenizer.json of 'model' cannot be"),
    "no vocabulary": (
        lambda folder: (folder / "tokenizer.json").unlink(),
        "has no vocabulary, such as a tokenizer.json; copy the files",
    ),
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
    "outputs without words": (
        edit(CONFIG, id2label={str(at): f"LABEL_{at}" for at in range(3)}),
        "are named LABEL_0, LABEL_1, LABEL_2, which does not say what they mean; give the labels",
    ),
    "outputs of no task": (four_outputs, "has 4 outputs, not 3, nor 2"),
    "outputs of another task": (
        edit(CONFIG, task="nli_two_way"),
        "3 outputs, Natural language inference in two classes has: entailment, non-entailment",
    ),
    "no length": (
        edit(TOKENIZER, model_max_length="512"),
        "model_max_length in the tokenizer_config.json of 'model' is no number of tokens: '512'",
    ),
    "no heads": (edit(CONFIG, num_attention_heads=0), "'model' cannot be loaded: "),
    "quantised": (
        edit(CONFIG, quantization_config={"quant_method": "gptq", "bits": 4}),
        "'model' cannot be loaded: ",
    ),
    "other shapes": (edit(CONFIG, hidden_size=48), "has weights of other shapes than its config"),
    "tokenizer with code": (
        edit(TOKENIZER, tokenizer_class="Own", auto_map={"AutoTokenizer": ["own.Own", None]}),
        "the tokenizer of the model 'model', Own, needs Python code of its own",
    ),
    "unknown tokenizer": (
        edit(TOKENIZER, tokenizer_class="OwnTokenizerFast"),
        "is of a class that is not known here, OwnTokenizerFast, and another might read texts",
    ),
    "layers beyond the config": (
        add(bert__encoder__layer__2__output__dense__bias=32),
        "have more layers than its config says, such as bert.encoder.layer.2.output.dense.bias",
    ),
    "cut off": (
        lambda folder: (folder / WEIGHTS).write_bytes((folder / WEIGHTS).read_bytes()[:9000]),
        f"{WEIGHTS} of 'model' cannot be read as safetensors",
    ),
    "no head": (
        weigh(lambda its: {k: v for k, v in its.items() if "classifier" not in k}),
        "is no trained sequence classifier: it lacks classifier.bias",
    ),
    "no numbers": (
        weigh(lambda its: {k: v * torch.nan for k, v in its.items()}),
        "NaN): its weights are broken",
    ),
    "no memory for it": (sparse(free_memory_bytes), "does not fit: its weights ta"),
    "larger than any memory": (sparse(lambda: 2**42), "does not fit: its weights take"),
    "pictures": (edit(CONFIG, model_type="vit"), "no sequence classifier: a vit model classifies"),
    "a kind not known": (edit(CONFIG, model_type="none-such"), "not known here: 'none-such'"),
    "code": (with_code, "needs Python code of its own, and such code is never run here"),
}


@pytest.fixture
def folder(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the tiny model in the folder `model`, which is named so."""
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copytree(model, tmp_path / "model"))


@each("kind", REFUSED)
def test_what_cannot_be_read_is_refused_with_its_cause(
    kind: str, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    damage, sentence = REFUSED[kind]
    damage(Path(shutil.copytree(model, "model")))
    with pytest.raises(ModelError) as caught:
        load("model")
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)
    with suppress(ModelError):  # nor does a training end with words of a library
        start_from_encoder("model")
    assert not Path("ran").exists()
    if kind == "checkpoints":
        assert load(str(caught.value).rpartition(": ")[2]).order == LABELS


def test_the_best_checkpoint_is_named_beside_the_latest_as_the_trainer_noted_it(
    folder: Path,
) -> None:
    for step in (9, 100):
        shutil.copytree(folder, folder / f"checkpoint-{step}", ignore=lambda *_: ["checkpoint-9"])
    state = {
        "best_metric": 0.75,
        "best_model_checkpoint": "C:\\elsewhere\\checkpoint-9",
        "log_history": [{"loss": 0.75123}, {"eval_accuracy": 0.75, "step": 9}],
    }
    (folder / "checkpoint-100" / "trainer_state.json").write_text(json.dumps(state))
    (folder / CONFIG).unlink()
    found = trainer_checkpoints(folder)
    best = "the best by eval_accuracy, 0.75"
    assert [(each.step, each.best) for each in found] == [(9, best), (100, "")]
    with pytest.raises(ModelError, match=rf"first: .*-100, .*-9 \({best}\)$"):
        load("model")


def test_what_libraries_raise_is_a_sentence(tmp_path: Path) -> None:
    for problem in (
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 9 bytes."),
    ):
        fits = "^the model 'mine' does not fit into the memory that is free$"
        with pytest.raises(ModelError, match=fits), in_a_sentence("mine"):
            raise problem
    shared("albert").model.save_pretrained(tmp_path)
    (tmp_path / "spiece.model").write_bytes(b"no vocabulary")
    with pytest.raises(ModelError, match="needs the packages sentencepiece and protobuf"):
        load(str(tmp_path))


def test_a_folder_is_read_as_its_config_says(folder: Path) -> None:
    plain = load("model")
    assert not plain.model.training and plain.revision is None
    assert {p.dtype for p in plain.model.parameters()} == {torch.float32}
    edit(CONFIG, id2label={"2": "NEUTRAL", "0": "CONTRADICTION", "1": "ENTAILMENT"})(folder)
    edit(CONFIG, task="text-classification")(folder)  # what other people write there
    named = load("model")
    assert (named.task, named.order) == (NLI, ("contradiction", "entailment", "neutral"))
    rows = plain.probabilities([PAIR])[:, [1, 2, 0]]
    assert named.probabilities([PAIR]) == pytest.approx(rows, abs=1e-6)
    assert load("model", LABELS).order == LABELS
    with pytest.raises(ModelError, match="has 3 outputs; order these labels: entailment, neutral"):
        load("model", ("entailment", "non-entailment"))
    (folder / WEIGHTS).unlink()
    plain.model.save_pretrained(folder, max_shard_size="50KB")
    assert len(list(folder.glob("model-*.safetensors"))) > 1
    sharded = load("model", LABELS).probabilities([PAIR])
    assert sharded == pytest.approx(plain.probabilities([PAIR]), abs=1e-6)


def test_a_new_head_is_the_same_again_and_leaves_chance_alone(model: str) -> None:
    state = torch.get_rng_state()
    first = start_from_encoder(model, PARAPHRASE_IDENTIFICATION)
    assert torch.equal(torch.get_rng_state(), state)
    with torch.random.fork_rng():
        torch.manual_seed(1)
        second = start_from_encoder(model, PARAPHRASE_IDENTIFICATION)
    assert first.order == PARAPHRASE_IDENTIFICATION.labels
    pair = PARAPHRASE_IDENTIFICATION.sanity_examples[0]
    assert first.probabilities([pair]).tolist() == second.probabilities([pair]).tolist()
    assert start_from_encoder(model).order == LABELS


def test_a_part_that_the_network_has_no_place_for_is_named(folder: Path) -> None:
    add(cls__predictions__bias=3, bert__embeddings__position_ids=3)(folder)
    assert load("model").notes == ()  # of other heads
    add(adapter__weight=3, bert__pooler2__x=3)(folder)
    (note,) = load("model").notes
    assert "no place for some of its weights, adapter.weight, bert.pooler2.x, which are" in note


@each("kind", ["t5 of bytes", "bert of transformers 4"])
def test_an_answer_is_that_of_plain_transformers(kind: str) -> None:
    assert examine(kind, KINDS[kind])[1]


def test_what_a_folder_leaves_out_is_as_the_architecture_has_it(tmp_path: Path) -> None:
    folders = {kind: tmp_path / kind for kind in ("t5", "bert of transformers 4", "mpnet")}
    for kind, folder in folders.items():
        save(KINDS[kind], KINDS[kind].model_type or kind, folder)
    t5 = str(folders["t5"])
    told = load(t5, LABELS).probabilities([PAIR])
    edit(CONFIG, decoder_start_token_id=None)(folders["t5"])
    for model in (load(t5, LABELS), start_from_encoder(t5)):
        assert "that of padding takes its place, as in T5" in model.notes[0]
    assert (load(t5, LABELS).probabilities([PAIR]) == told).all()
    bert = load(str(folders["bert of transformers 4"]))
    bert.tokenizer.save_pretrained(tmp_path / "anew")  # where segment ids stay
    anew: Any = AutoTokenizer.from_pretrained(tmp_path / "anew")
    assert set(anew("a", "b")["token_type_ids"]) == {0, 1}
    edit(TOKENIZER, model_max_length=None)(folders["mpnet"])
    mpnet, long = load(str(folders["mpnet"])), Pair("the man walks " * 200, "He moves.")
    assert mpnet.max_tokens == 128  # 130 positions, numbered from padding_idx + 1 = 2
    assert mpnet.too_long(long) and len(mpnet.predict([long, PAIR])) == 2


def test_finer_sentiment_is_read_in_two_labels(folder: Path) -> None:
    names = {"0": "1 star", "1": "2 stars", "2": "3 stars", "3": "4 stars", "4": "5 stars"}
    rows, bias = [0, 1, 2, 0, 1], {"classifier.bias": torch.linspace(-1, 1, 5)}
    weigh(lambda its: {k: v[rows] if "classifier" in k else v for k, v in its.items()} | bias)(
        folder
    )
    edit(CONFIG, id2label=names)(folder)
    read = load(str(folder))
    note = (
        "of its 5 outputs it reads 1 star and 2 stars as negative, 4 stars and 5 stars as positive;"
        " 3 stars is left out, and probabilities are shares of the others"
    )
    assert (read.task, read.notes) == (SENTIMENT, (note,))
    inputs = read.tokenizer("I love this book.", return_tensors="pt")
    shares = read.model(**inputs).logits.softmax(-1)[0].tolist()
    told = np.array([sum(shares[3:]), sum(shares[:2])]) / (1 - shares[2])
    assert read.probabilities([Review("I love this book.")])[0] == pytest.approx(told, abs=1e-6)


LOW, HIGH = PARAPHRASE_IDENTIFICATION.labels[::-1]
READ = f"its one output is read as the logit of {HIGH}, below 0 as {LOW}"


@each("kind", ["bert", "roberta", "gpt2"])
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
    activation = {"activation_fn": "torch.nn.modules.activation.Sigmoid"}
    edit(CONFIG, sentence_transformers=activation)(tmp_path)
    read = load(name, None, task)
    assert f"{READ}, since its config.json names a sigmoid" in " ".join(read.notes)
    assert (read.probabilities([pair]) == told.probabilities([pair])).all()
    with pytest.raises(UnclearTask):
        load(name)
    edit(CONFIG, problem_type="regression")(tmp_path)
    with pytest.raises(ModelError, match="answers with a number on a scale"):
        load(name, (LOW, HIGH), task)


def test_outputs_without_names_can_be_guessed_from_the_plain_pairs(folder: Path) -> None:
    swapped = ["contradiction", "entailment", "neutral"]
    with pytest.raises(ModelError, match=r"no order of the labels of 'model' can be guessed"):
        load("model", GUESS)  # random weights answer every pair alike
    at, trained = [LABELS.index(label) for label in swapped], Path("trained")
    export_model(locate("minilm")[0], trained)
    weigh(lambda its: {k: v[at] if k.startswith("classifier.") else v for k, v in its.items()})(
        trained
    )
    names = {str(number): f"LABEL_{number}" for number in range(3)}
    edit(CONFIG, id2label=names, label2id=None)(trained)
    guessed = load("trained", GUESS)
    assert list(guessed.order) == swapped
    assert guessed.notes[-1].startswith(
        "its outputs were guessed to be LABEL_0 = contradiction, LABEL_1 = entailment, LABEL_2 = "
        "neutral: so it gets 6 of 6"
    )


def test_an_adapter_answers_as_in_peft_and_is_refused_without_its_head(tmp_path: Path) -> None:
    whole, encoder, adapter = (tmp_path / name for name in ("whole", "encoder", "adapter"))
    tiny_bert(whole)
    AutoModel.from_pretrained(whole).save_pretrained(encoder)
    AutoTokenizer.from_pretrained(whole).save_pretrained(encoder)
    base = AutoModelForSequenceClassification.from_pretrained(encoder, num_labels=3)
    how = peft.LoraConfig(task_type="SEQ_CLS", r=2, target_modules=["query", "value"])
    plain: Any = peft.get_peft_model(base, how).eval()
    for name, weight in plain.named_parameters():
        if "lora_B" in name:
            torch.nn.init.constant_(weight, 0.3)
    plain.save_pretrained(adapter)
    edit("adapter_config.json", base_model_name_or_path="encoder")(adapter)
    model = load(str(adapter), LABELS)  # by a process of another folder
    assert model.notes == (f"an adapter, merged into {encoder}",)
    inputs = model.tokenizer(PAIR.premise, PAIR.hypothesis, return_tensors="pt")
    told = plain(**inputs).logits.softmax(-1)[0].tolist()
    assert model.probabilities([PAIR])[0] == pytest.approx(told, abs=1e-6)
    file = adapter / "adapter_model.safetensors"
    save_file({name: value for name, value in load_file(file).items() if "lora" in name}, file)
    with pytest.raises(ModelError, match=r"lacks classifier\.bias, .* its answers would be"):
        load(str(adapter), LABELS)


def test_an_adapter_says_what_it_needs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = folder.parent / "adapter"
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


def decoder(folder: Path, pad: bool = False, ends: bool = True) -> Path:
    """Write GPT-2 without a padding token, or with one beyond its vectors."""
    kind = KINDS["gpt2"]

    def tokenizer() -> Any:
        made = kind.tokenizer()
        if pad:
            made.add_special_tokens({"pad_token": "[PAD]"})
        return made

    size = {"vocab_size": len(kind.tokenizer())}
    save(replace(kind, tokenizer=tokenizer, config={**kind.config, **size}), "gpt2", folder)
    if not ends:
        facts = json.loads((folder / TOKENIZER).read_text()) | {"eos_token": None}
        (folder / TOKENIZER).write_text(json.dumps(facts))
    return folder


@each("pad, ends", [(False, True), (True, True), (False, False)])
def test_a_decoder_without_a_padding_token_answers_in_a_batch_as_alone(
    pad: bool, ends: bool, tmp_path: Path
) -> None:
    model = load(str(decoder(tmp_path, pad, ends)))
    note = (
        "its end token <|endoftext|> takes its place" if ends else "so that examples are read one"
    )
    assert note in model.notes[0]
    pairs = [PAIR, Pair("A woman reads her letter.", "She reads.")]
    for pair, row in zip(pairs, model.probabilities(pairs), strict=True):
        inputs = model.tokenizer(pair.premise, pair.hypothesis, return_tensors="pt")
        alone = model.model(**inputs).logits.softmax(-1)[0].tolist()
        assert row == pytest.approx(alone, abs=1e-6)
    if ends:  # it is no padding where texts end with it themselves
        end: Any = model.tokenizer
        end.backend_tokenizer.post_processor = TemplateProcessing(
            pair=f"$A $B:1 {end.eos_token}:1", special_tokens=[(end.eos_token, end.eos_token_id)]
        )
        end.pad_token = model.model.config.pad_token_id = None
        (note,) = set_padding(model.model, end)
        assert "so that examples are read one at a time" in note


def test_a_template_puts_the_texts_of_a_decoder_into_one(tmp_path: Path) -> None:
    plain = decoder(tmp_path / "plain")
    assert load(str(plain)).notes[1].startswith("its texts are read as '{premise}{hypothesis}'; if")
    template = "Hypothesis: {hypothesis} Premise: {premise}?"
    run("models", "export", str(plain), str(tmp_path / "told"), "--template", template)
    model = load(str(tmp_path / "told"))
    inputs = model.tokenizer("Hypothesis: He moves. Premise: A man walks.?", return_tensors="pt")
    told = model.model(**inputs).logits.softmax(-1)[0].tolist()
    assert model.probabilities([PAIR])[0] == pytest.approx(told, abs=1e-6)
    (shown,) = attribute(model, [PAIR], ["neutral"])
    for field in NLI.fields:
        tokens = [getattr(PAIR, field)[it.start : it.end] for it in shown.tokens(field)]
        assert "".join(tokens) == getattr(PAIR, field)
    long = Pair("the man walks " * 100, "He moves.")
    assert model.too_long(long)
    ids = model.encode([long])["input_ids"][0].tolist()
    assert model.max_tokens - 5 < len(ids) <= model.max_tokens
    cut = model.decode(ids)
    assert cut.startswith("Hypothesis: He moves. Premise: the man walks the") and cut[-1] == "?"
    ended = run("models", "export", str(plain), str(tmp_path / "no"), "--template", "{premise}")
    assert "does not name each text of a task once" in ended.stderr
    edit(CONFIG, text_template="{premise}")(tmp_path / "told")
    with pytest.raises(ModelError, match=r"names {premise} and {hypothesis}, each once, and is '"):
        load(str(tmp_path / "told"))


def test_a_row_with_a_token_that_has_no_vector_is_that_rows_problem(folder: Path) -> None:
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    tokenizer.add_tokens(["zebra"])
    tokenizer.save_pretrained(folder)
    file = folder / "pairs.csv"
    file.write_text("premise,hypothesis\nA man.,He moves.\nA zebra.,It moves.\nA dog.,It is.\n")
    table, model = read_table(file), load("model")
    (chunk,) = score(table, guess(table.names, NLI), model)
    assert [bool(row.prediction) for row in chunk.rows] == [True, False, True]
    sentence = "makes the token 'zebra' of this text, and the model has no vector"
    assert sentence in chunk.rows[1].error
    assert tokenizer.convert_tokens_to_ids("zebra") not in model.vocabulary
