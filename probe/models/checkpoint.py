"""Models read from folders, which are checked first: safetensors only, no code of their own."""

import json
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Any

import torch
from transformers import (
    CONFIG_MAPPING,
    MODEL_FOR_QUESTION_ANSWERING_MAPPING,
    MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING,
    MODEL_MAPPING,
    AutoConfig,
    AutoModel,
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.utils.logging import disable_progress_bar, set_verbosity_error

from probe.errors import ModelError
from probe.models.answers.rule import check_answer_rule
from probe.models.architectures import architecture
from probe.models.classifier import Classifier
from probe.models.errors import loading_error, needs_code_message
from probe.models.hardware.device import device
from probe.models.hub import free_memory_bytes, too_large_message
from probe.models.inputs.pair_encoding import restore_post_processor
from probe.models.weights.files import READ_ERRORS, count_parameters, weight_files
from probe.models.word_models import bidaf, decomposable, esim, qanet  # noqa: F401  # registers them with the Auto classes
from probe.tasks.nli import NLI
from probe.tasks.task import Task

PICKLE_PATTERNS = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.h5", "*.msgpack", "*.onnx")
VOCABULARY_PATTERNS = ("tokenizer.json", "vocab.*", "*.model")
BYTES_PER_WEIGHT = 4  # models are loaded in fp32; a bf16 copy comes when it is asked for
disable_progress_bar()  # transformers draws one even for weights that load in a moment
set_verbosity_error()  # and prints tables of weights; our own messages say what is needed
loading = RLock()
"""Held by whoever reads or builds a network or a tokenizer. Meanwhile transformers replaces parts
of itself and of torch for the whole process, such as `PreTrainedModel.tie_weights`: of two threads
the second would take a replacement for the original and put it back for good."""


@dataclass(frozen=True)
class Checkpoint:
    """A model in eval mode and full precision, its tokenizer, and the names of its outputs."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class Head:
    """What a model does, in a sentence's words, with the class and the kinds of such models."""

    title: str
    cannot: str
    auto: Any  # Any: one of transformers' Auto classes
    kinds: Any  # Any: its mapping from config classes


CLASSIFIER = Head(
    "sequence classifier",
    "classifies no text",
    AutoModelForSequenceClassification,
    MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING,
)
READER = Head(
    "reader",
    "answers no question",
    AutoModelForQuestionAnswering,
    MODEL_FOR_QUESTION_ANSWERING_MAPPING,
)
ENCODER = Head("encoder", "encodes no text", AutoModel, MODEL_MAPPING)


def read_checkpoint(name: str, folder: Path, device: torch.device) -> Checkpoint:
    """Read a sequence classifier. Raises ModelError for a folder with anything else."""
    model, tokenizer = _read(name, folder, device, CLASSIFIER)
    check_answer_rule(model.config)
    labels: dict[Any, str] = dict(model.config.id2label or {})  # Any: numbers
    return Checkpoint(model, tokenizer, tuple(str(labels[index]) for index in sorted(labels)))


def read_reader(
    name: str, folder: Path, device: torch.device
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Read a model that answers with spans, and its tokenizer. Raises ModelError as above."""
    return _read(name, folder, device, READER)


def _read(
    name: str, folder: Path, device: torch.device, head: Head
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    check_folder(name, folder, head)
    path, options = str(folder), {"trust_remote_code": False, "local_files_only": True}
    try:
        with loading:
            tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(path, **options)
            model, report = head.auto.from_pretrained(
                path, dtype=torch.float32, use_safetensors=True, output_loading_info=True, **options
            )
        model = model.eval().to(device)
        if architecture(model.config.model_type).own_post_processor:
            restore_post_processor(tokenizer, folder)
    except Exception as problem:  # for a broken folder transformers raises errors of many kinds
        raise loading_error(name, problem) from problem
    if report["missing_keys"]:  # transformers fills them with random numbers
        missing = ", ".join(sorted(report["missing_keys"])[:3])
        raise ModelError(f"the model {name!r} is no trained {head.title}: it lacks {missing}")
    return model, tokenizer


def check_folder(name: str, folder: Path, head: Head) -> None:
    """Refuse a folder that holds no model which can be loaded so. Raises ModelError."""
    _check_model_type(name, _config(name, folder), head)
    _check_weights(name, folder)
    if not any(path for pattern in VOCABULARY_PATTERNS for path in folder.glob(pattern)):
        # transformers would make up an empty one
        raise ModelError(f"the model {name!r} has no vocabulary, such as a tokenizer.json")


def _config(name: str, folder: Path) -> dict[str, Any]:  # Any: JSON values
    """Read config.json. Raises ModelError."""
    path = folder / "config.json"
    if not path.is_file():
        raise ModelError(f"{name!r} is no model: it has no config.json")
    try:
        config: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise loading_error(name, problem) from problem
    if not isinstance(config, dict):
        raise ModelError(f"{name!r} is no model: its config.json is no table")
    return config


def _check_model_type(name: str, config: dict[str, Any], head: Head) -> None:
    model_type = str(config.get("model_type", ""))
    if model_type not in CONFIG_MAPPING:
        if "auto_map" in config:
            raise ModelError(needs_code_message(name))
        raise ModelError(f"the model {name!r} is of a kind that is not known here: {model_type!r}")
    if CONFIG_MAPPING[model_type] not in head.kinds:
        raise ModelError(
            f"the model {name!r} is no {head.title}: a {model_type} model {head.cannot}"
        )


def _check_weights(name: str, folder: Path) -> None:
    files = weight_files(folder)
    if not files:
        pickled = sorted(path.name for pattern in PICKLE_PATTERNS for path in folder.glob(pattern))
        if pickled:
            raise ModelError(
                f"the model {name!r} has no safetensors weights, and a pickle such as "
                f"{pickled[0]} may run code when it is opened, so it is refused"
            )
        raise ModelError(f"the model {name!r} has no safetensors weights")
    try:
        needed = sum(BYTES_PER_WEIGHT * count_parameters(path) for path in files)
    except READ_ERRORS as problem:
        raise loading_error(name, problem) from problem
    free = free_memory_bytes()
    if needed > free:
        raise ModelError(too_large_message(name, needed, free))


def start_from_encoder(path: str, task: Task = NLI) -> Classifier:
    """Load an encoder to train for a task.

    A classifier of the task keeps its head and the order of its outputs; any other gets a new
    head, initialised from a fixed seed. Raises ModelError.
    """
    check_folder(path, Path(path), CLASSIFIER)
    with loading:
        config = AutoConfig.from_pretrained(path, trust_remote_code=False)
    order = task.read_order([config.id2label[at] for at in range(config.num_labels)])
    labels = dict(enumerate(order or task.labels))
    model, tokenizer = to_train(
        path,
        CLASSIFIER,
        id2label=labels,
        label2id={label: index for index, label in labels.items()},
        ignore_mismatched_sizes=order is None,
    )
    return Classifier(Path(path).name, model, tokenizer, task, order or task.labels, device())


def to_train(
    path: str,
    head: Head,
    **options: Any,  # Any: settings of the config, as transformers takes them
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Load a model in eval mode to train further; a head that it lacks comes from a fixed seed.

    Raises ModelError.
    """
    check_folder(path, Path(path), head)
    try:
        with loading, torch.random.fork_rng():
            torch.manual_seed(0)
            model = head.auto.from_pretrained(
                path, dtype=torch.float32, use_safetensors=True, trust_remote_code=False, **options
            )
            tokenizer = AutoTokenizer.from_pretrained(path, trust_remote_code=False)
    except Exception as problem:  # as above
        raise loading_error(path, problem) from problem
    return model.eval().to(device()), tokenizer
