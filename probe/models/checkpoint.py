"""Models read from folders, which are checked first: safetensors only, no code of their own."""

import inspect
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple, TypeVar

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing
from torch import nn
from torch.nn.utils import skip_init
from transformers import (
    CONFIG_MAPPING,
    MODEL_FOR_CAUSAL_LM_MAPPING,
    MODEL_FOR_QUESTION_ANSWERING_MAPPING,
    MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING,
    MODEL_MAPPING,
    AutoConfig,
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
    TokenizersBackend,
)
from transformers.models.auto.tokenization_auto import (
    TOKENIZER_MAPPING_NAMES,
    tokenizer_class_from_name,
)
from transformers.utils.logging import disable_progress_bar, set_verbosity_error

from probe.data.names import listed
from probe.errors import ModelError, UserError, library_words, what_is_wrong
from probe.models.architectures import architecture
from probe.models.classifier import (
    TEMPLATE,
    Classifier,
    framed_sentence,
    is_decoder,
    read_template,
)
from probe.models.errors import UnclearLabels, reading_part
from probe.models.hardware import device
from probe.models.outputs import (
    check_labels,
    is_merged,
    is_probability,
    merged_sentence,
    read_outputs,
)
from probe.models.prediction import TEXTS_CHANGED, read_invalid_below, read_temperature
from probe.models.prompted import Prompted, stepwise
from probe.models.prompted_reader import PromptedReader
from probe.models.prompts import Asking, chosen_prompt, chosen_task
from probe.models.reader import Reader
from probe.models.text_model import TextModel, embedding_rows
from probe.models.weights import (
    ADAPTER,
    ADAPTER_WEIGHTS,
    CONFIG,
    TOKENIZER,
    check_weights,
    read_config,
    read_json,
    read_sizes,
    weight_files,
)
from probe.models.word_models import bidaf, decomposable, esim, qanet  # noqa: F401  # registers them with the Auto classes
from probe.tasks.nli import NLI
from probe.tasks.task import GUESS, TASKS, Label, Task

Rows = Callable[[torch.Tensor], torch.Tensor]
"""Makes of a tensor with a row for each output one with rows for others."""


def change_outputs(name: str, model: PreTrainedModel, rows: Rows, outputs: tuple[str, ...]) -> None:
    """Change a model's last layer by its weights and bias, and name the outputs that it has then.

    That is the last layer as wide as the model has outputs. Raises ModelError where there is none.
    """
    wide = model.config.num_labels
    paths = [
        path
        for path, module in model.named_modules()
        if isinstance(module, nn.Linear) and module.out_features == wide
    ]
    if not paths:
        kind = model.config.model_type
        raise ModelError(f"the outputs of {name!r}, a {kind} model, cannot be changed")
    old = model.get_submodule(paths[-1])
    assert isinstance(old, nn.Linear)  # as above
    bias = old.bias is not None
    new = skip_init(  # whose start would take numbers from the global random state
        nn.Linear, old.in_features, len(outputs), bias=bias, device=old.weight.device
    )
    with torch.no_grad():
        new.weight.copy_(rows(old.weight))
        if bias:
            new.bias.copy_(rows(old.bias))
    parent, _, last = paths[-1].rpartition(".")
    setattr(model.get_submodule(parent), last, new.train(old.training))
    model.config.id2label = dict(enumerate(outputs))
    model.config.label2id = {label: at for at, label in enumerate(outputs)}


FIRST = "decoder_start_token_id"
SAMPLE = ("A man walks.", "He moves.")


def set_padding(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> list[str]:
    """Agree on one padding token and return what is to be said of it.

    A decoder is padded behind its texts, by its config's token, or else the tokenizer's. Where
    neither has one it is the end token, unless texts end with that themselves: then there is none,
    and examples are read one at a time.
    """
    decodes, rows = is_decoder(model), embedding_rows(model)
    config, end = model.config.get_text_config(), tokenizer.eos_token_id
    own = [tokenizer.pad_token_id, getattr(config, "pad_token_id", None)]
    usable = [
        number
        for number in (*(own[::-1] if decodes else own), end)
        if number is not None and number >= 0 and (rows is None or number < rows)
    ]
    chosen, notes = next(iter(usable), None), list[str]()
    if not {*own} & {*usable}:
        if chosen is None or end in tokenizer(*SAMPLE)["input_ids"]:
            chosen = None
            notes.append("it has no padding token, so that examples are read one at a time")
        else:
            instead = f"its end token {tokenizer.eos_token} takes its place"
            notes.append(f"it has no padding token; {instead}")
    if decodes:
        config.pad_token_id, tokenizer.padding_side = chosen, "right"
    if model.config.is_encoder_decoder and getattr(model.config, FIRST, None) is None:
        setattr(model.config, FIRST, chosen)
        notes.append(
            f"its config does not say with which token its decoder begins ({FIRST}); "
            "that of padding takes its place, as in T5"
        )
    if tokenizer.pad_token_id != chosen:
        tokenizer.pad_token = None if chosen is None else tokenizer.convert_ids_to_tokens(chosen)
    return notes


SEGMENT_IDS = "token_type_ids"
GENERIC = "PreTrainedTokenizerFast"
"""What version 4 called the class of a tokenizer without one of its own; 5 calls it otherwise."""


def restore_pair_encoding(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    folder: Path,
    stored: Mapping[str, Any],  # Any: JSON values
) -> None:
    """Join two texts as the model learnt it; `stored` is its tokenizer_config.json."""
    facts = architecture(model.config.model_type)
    if facts.own_post_processor:
        restore_post_processor(tokenizer, folder)
    generic = stored.get("tokenizer_class") == GENERIC and "model_input_names" not in stored
    takes = SEGMENT_IDS in inspect.signature(model.forward).parameters
    reads = takes and int(getattr(model.config, "type_vocab_size", 0) or 0) > 1
    if facts.segment_ids or (generic and reads):
        give_segment_ids(tokenizer)


def give_segment_ids(tokenizer: PreTrainedTokenizerBase) -> None:
    """Let a tokenizer give segment ids unasked, and say so in the files that it is saved to."""
    if SEGMENT_IDS not in tokenizer.model_input_names:
        tokenizer.model_input_names = [*tokenizer.model_input_names, SEGMENT_IDS]
        tokenizer.init_kwargs["model_input_names"] = tokenizer.model_input_names


def restore_post_processor(tokenizer: PreTrainedTokenizerBase, folder: Path) -> None:
    """Join texts as `tokenizer.json` says, or as DeBERTa was trained where there is none."""
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        return
    file = folder / "tokenizer.json"
    stored = Tokenizer.from_file(str(file)).post_processor if file.is_file() else None
    first, last = str(tokenizer.cls_token), str(tokenizer.sep_token)
    tokenizer.backend_tokenizer.post_processor = stored or TemplateProcessing(
        single=f"{first} $A {last}",
        pair=f"{first} $A {last} $B:1 {last}:1",
        special_tokens=[(name, tokenizer.convert_tokens_to_ids(name)) for name in (first, last)],
    )


loading = RLock()


INSIDE = "base_model.model."
"""What peft puts before the names of a model's own parts."""


def read_adapter(
    name: str, folder: Path, head: "Head"
) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:  # Any: settings of a config
    """Return the parts that an adapter replaces as a whole, by their names in the model.

    And what the base model's config must be told: the outputs that its head has. Raises ModelError
    for an adapter of another kind, or one that cannot be read here.
    """
    settings = read_json(name, folder / ADAPTER)
    kind, purpose = settings.get("peft_type"), settings.get("task_type")
    if kind != "LORA" or purpose != head.adapter:
        raise ModelError(
            f"the adapter {name!r} is of the kind {kind} for {purpose}; into a {head.title} only "
            f"LORA for {head.adapter} can be merged"
        )
    if not (folder / ADAPTER_WEIGHTS).is_file():
        raise ModelError(f"the adapter {name!r} has no safetensors weights ({ADAPTER_WEIGHTS})")
    try:
        import peft  # noqa: F401
    except ImportError as problem:
        raise ModelError(
            f"the model {name!r} is a LoRA adapter, and to merge it the package peft is needed: "
            "pip install peft"
        ) from problem
    with reading_part(folder.name, folder / ADAPTER_WEIGHTS):
        weights = load_file(folder / ADAPTER_WEIGHTS)
    parts = {part: value for part, value in weights.items() if "lora_" not in part}
    whole = {part.removeprefix(INSIDE): value for part, value in parts.items()}
    sizes = [len(value) for value in whole.values() if value.ndim == 2]
    if not sizes or head is LANGUAGE_MODEL:
        return whole, {}
    names = read_json(name, folder / CONFIG).get("id2label") or {}
    labels = {int(at): str(label) for at, label in names.items()}
    told = {"id2label": labels} if len(labels) == min(sizes) else {"num_labels": min(sizes)}
    return whole, {"ignore_mismatched_sizes": True, **told}


def merged(
    name: str,
    model: PreTrainedModel,
    random: set[str],
    head: Mapping[str, torch.Tensor],
    folder: Path,
    base: Path,
) -> PreTrainedModel:
    """Return a model with an adapter merged in. `random` are parts that its files do not have.

    Raises ModelError where such a part, as the head, does not come from the adapter either.
    """
    from peft import PeftModel

    lost = [] if head else read_json(name, folder / ADAPTER).get("modules_to_save") or []
    lacking = [*sorted(random - set(head)), *lost]
    if lacking:
        raise ModelError(
            f"the adapter {name!r} lacks {lacking[0]}, which {base} does not have either or which "
            "was trained with it, so that its answers would be chance; save it again with its head "
            '(modules_to_save, such as ["classifier"])'
        )
    with loading:
        whole: Any = PeftModel.from_pretrained(model, str(folder))
    result: PreTrainedModel = whole.merge_and_unload()
    for part, value in head.items():
        if not torch.equal(result.state_dict()[part].cpu(), value.to(result.dtype)):
            raise ModelError(f"the part {part} of the adapter {name!r} was not taken over by peft")
    return result


AnyT = TypeVar("AnyT", Classifier, Reader, Prompted)
VOCABULARIES = ("tokenizer.json", "vocab.*", "*.model")
disable_progress_bar()  # transformers draws one even for weights that load in a moment
set_verbosity_error()  # and prints tables of weights; our own messages say what is needed


class Head(NamedTuple):
    """What a model does, in a sentence's words, with the class and the kinds of such models."""

    title: str
    cannot: str
    auto: Any  # Any: one of transformers' Auto classes
    kinds: Any  # Any: its mapping from config classes
    adapter: str = ""
    """What peft calls the purpose of its adapters."""


CLASSIFIER = Head(
    "sequence classifier",
    "classifies no text",
    AutoModelForSequenceClassification,
    MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING,
    "SEQ_CLS",
)
READER = Head(
    "reader",
    "answers no question",
    AutoModelForQuestionAnswering,
    MODEL_FOR_QUESTION_ANSWERING_MAPPING,
)
LANGUAGE_MODEL = Head(
    "language model",
    "goes on with no text",
    AutoModelForCausalLM,
    MODEL_FOR_CAUSAL_LM_MAPPING,
    "CAUSAL_LM",
)
ENCODER = Head("encoder", "encodes no text", AutoModel, MODEL_MAPPING)


def outputs_of(model: PreTrainedModel) -> tuple[str, ...]:
    """Return the names of a classifier's outputs, in their order."""
    labels: dict[Any, str] = dict(model.config.id2label or {})  # Any: numbers
    return tuple(str(labels[index]) for index in sorted(labels))


def read_classifier(
    name: str,
    folder: Path,
    revision: str | None = None,
    base: Path | None = None,
    order: tuple[Label, ...] | None = None,
    task: Task | None = None,
    likely: Task | None = None,
    template: str = "",
) -> Classifier:
    """Read a sequence classifier; `base` is what an adapter in the folder is merged into.

    `order`, `task` and `likely` are as of `read_outputs`, and a `template` takes the place of a
    decoder's own. Raises ModelError for a folder with anything else.
    """
    read = read_checkpoint(name, folder, CLASSIFIER, base)
    config, notes, outputs = read.model.config, read.notes, outputs_of(read.model)
    read_temperature(config), read_invalid_below(config)  # numbers that can be used
    if config.problem_type in UNREAD_PROBLEMS:
        raise ModelError(f"the model {name!r} {UNREAD_PROBLEMS[config.problem_type]}")
    number = config.num_labels == 1  # it has two outputs here, one for each side of 0
    if number:
        (output,) = outputs
        sides = f"{output} below 0", f"{output} above 0"
        # the softmax of 0 and a number is the sigmoid of that number
        change_outputs(name, read.model, lambda row: torch.cat([torch.zeros_like(row), row]), sides)
        outputs = sides
    own, guess = TASKS.get(str(getattr(config, "task", ""))), order == GUESS
    given = None if guess else order
    answered, known = read_outputs(name, outputs, own, task, given, likely)
    usual = answered.labels[::-1] if number else answered.labels
    if number and not guess and is_probability(config):
        known = known or usual
    if known and number:
        low, high = known
        why = "" if order else ", since its config.json names a sigmoid, which a score may have too"
        notes += (f"its one output is read as the logit of {high}, below 0 as {low}{why}",)
    elif known and is_merged(known):
        notes += (merged_sentence(outputs, known),)
    classifier = Classifier(
        *(name, read.model, read.tokenizer, answered, known or usual),
        revision=revision,
        notes=notes,
    )
    if template and not classifier.frame:
        raise ModelError(
            f"the model {name!r} reads its texts as they are; a template is for a decoder, which "
            "reads them as one"
        )
    if template:
        setattr(config, TEMPLATE, template)
    read_template(config, answered.fields)
    if frame := classifier.frame:
        classifier = replace(classifier, notes=(*notes, framed_sentence(frame)))
    that_answers(classifier)
    return (
        classifier if known and not guess else _by_its_answers(classifier, outputs, number, guess)
    )


def _by_its_answers(
    classifier: Classifier, outputs: Sequence[str], number: bool, guess: bool
) -> Classifier:
    """Return a classifier with the order that answers its sanity examples best, and say so.

    Raises ModelError where no order gets all but one of them right, or several get as many; without
    `guess` always UnclearLabels, with the order that would be it.
    """
    name, task, check = classifier.name, classifier.task, check_labels(classifier)
    best = f"{check.best_correct} of {check.n}" if check else ""
    right, suggestion = f"{best} plain {task.unit}s right", check.suggestion if check else None
    if not guess:
        asked = right if check else ""
        raise UnclearLabels(name, outputs, classifier.order, suggestion, asked, number)
    if not (check and suggestion and check.alone):
        raise ModelError(
            f"no order of the labels of {name!r} can be guessed from plain {task.unit}s "
            f"({f'the best gets {best}' if check else 'there are none'}); give the labels in their "
            "order"
        )
    pairs = zip(outputs, suggestion, strict=True)
    said = ", ".join(f"{output} = {label}" for output, label in pairs)
    note = f"its outputs were guessed to be {said}: so it gets {right}"
    return replace(classifier, order=suggestion, notes=(*classifier.notes, note))


UNREAD_PROBLEMS = {
    "regression": "answers with a number on a scale (problem_type is "
    f'"regression" in its {CONFIG}) and not with labels; train a classifier from it, or '
    "take one whose outputs are labels",
    "multi_label_classification": "says of each label alone whether it holds, so that several or "
    'none may (problem_type is "multi_label_classification" in its config.json), and the answer '
    "here is one label; if it was trained to choose one, write "
    '"single_label_classification" there',
}
"""What is said of classifiers whose answer is not one label, by their config's `problem_type`."""


def read_reader(name: str, folder: Path, revision: str | None = None) -> Reader:
    """Read a model that answers with spans. Raises ModelError as above."""
    read = read_checkpoint(name, folder, READER)
    network = read.model, read.tokenizer
    return that_answers(Reader(name, *network, revision=revision, notes=read.notes))


def read_prompted(
    name: str,
    folder: Path,
    revision: str | None,
    asking: Asking,
    task: Task | None = None,
    template: str = "",
    files: bool = True,
    base: Path | None = None,
) -> Prompted:
    """Read a language model that is asked by a prompt, `template` or what `asking` names.

    It is asked about a task: the one that `asking` or a person wants, or inference.
    With `files` a prompt may be a file; `base` is as of `read_checkpoint`. Raises ModelError.
    """
    asked = chosen_task(name, asking, task)
    if asked.has_spans and asking.calibration != "none":
        raise ModelError(f"{name!r} answers in words of its own, which no calibration is for")
    read = read_checkpoint(name, folder, LANGUAGE_MODEL, base)
    chats = bool(read.tokenizer.chat_template)
    prompt = chosen_prompt(name, asking, asked, chats, template, files)
    kind = PromptedReader if asked.has_spans else Prompted
    model: Prompted = kind(
        *(name, read.model, read.tokenizer, asked, prompt, asking),
        revision=revision,
        notes=read.notes,
    )
    with in_a_sentence(name):
        model = that_answers(model)
        return model if asked.has_spans else stepwise(model)


def read_checkpoint(
    name: str,
    adapted: Path,
    head: Head,
    base: Path | None = None,
    to_train: bool = False,
    **changes: Any,  # settings of the config, as transformers takes them
) -> TextModel:
    """Read a model with its tokenizer; `base` is what an adapter in the folder is merged into.

    A head that it lacks comes from a fixed seed where it is `to_train` further. Raises ModelError.
    """
    folder = base or adapted
    stored = check_folder(name, folder, head)
    head_of_adapter, told = read_adapter(name, adapted, head) if base else ({}, {})
    options = {"trust_remote_code": False, "local_files_only": True}
    own = adapted if any(path for each in VOCABULARIES for path in adapted.glob(each)) else folder
    with in_a_sentence(name, adapted, folder), loading, torch.random.fork_rng(enabled=to_train):
        if to_train:
            torch.manual_seed(0)
        tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(str(own), **options)
        model, report = head.auto.from_pretrained(
            str(folder),
            dtype=torch.float32,
            use_safetensors=True,
            output_loading_info=True,
            **options,
            **changes | told,
        )
        lacking = {*report["missing_keys"], *(key for key, *_ in report["mismatched_keys"])}
        if base:
            model, lacking = merged(name, model, lacking, head_of_adapter, adapted, base), set()
        model = model.eval().to(device())
    notes = [f"an adapter, merged into {folder}"] if base else []
    if not to_train:
        if lacking:  # transformers fills them with random numbers
            missing = ", ".join(sorted(lacking)[:3])
            raise ModelError(f"the model {name!r} is no trained {head.title}: it lacks {missing}")
        notes += _unused(name, model, report["unexpected_keys"])
    if change := getattr(model.config, TEXTS_CHANGED, ""):
        notes.append(f"in a training of it all texts were changed by {change}")
    restore_pair_encoding(model, tokenizer, own, stored)
    if head is not LANGUAGE_MODEL:  # which is padded where it is asked
        notes += set_padding(model, tokenizer)
    if to_train and tokenizer.pad_token_id is None:
        raise ModelError(
            f"the tokenizer of {name!r} has no token for padding, so that no batch can be made of "
            f'texts to train on; name one in its {TOKENIZER}, such as "pad_token": "[PAD]"'
        )
    return TextModel(name, model, tokenizer, notes=tuple(notes))


@contextmanager
def in_a_sentence(name: str, *folders: Path) -> Iterator[None]:
    """Raise ModelError for what a broken folder makes transformers raise: errors of many kinds.

    A file of the folders that is damaged is named.
    """
    try:
        yield
    except UserError:
        raise
    except Exception as problem:
        for folder in folders:
            read_sizes(name, weight_files(folder))
        for path in (path for folder in folders for path in sorted(folder.glob("*.json"))):
            with reading_part(name, path, "JSON"):
                json.loads(path.read_text(encoding="utf-8"))
        written = f"{type(problem).__name__}: {problem}"
        told = [said.format(name) for words, said in LOADING.items() if re.search(words, written)]
        if told:
            raise ModelError(told[0]) from problem
        # of files that hold other values than they should; tokenizers raise Exception
        of_content = isinstance(problem, TypeError | AttributeError | IndexError)
        plain = of_content or type(problem) is Exception
        words = what_is_wrong(problem) if plain else library_words(problem)
        if isinstance(problem, KeyError):
            words = f"{problem} is not known here"
        raise ModelError(f"the model {name!r} cannot be loaded: {words}") from problem


NEEDS_CODE = "the model {!r} needs Python code of its own, and such code is never run here"
LOADING: Mapping[str, str] = {
    "MemoryError|not enough memory|can't allocate memory|out of memory|annot allocate m": (
        "the model {!r} does not fit into the memory that is free"
    ),
    "trust_remote_code": NEEDS_CODE,
    "tiktoken": (  # the fallback of transformers
        "the SentencePiece vocabulary of the model {!r} cannot be read; that needs the packages "
        "sentencepiece and protobuf"
    ),
    "ignore_mismatched_sizes": "the model {!r} has weights of other shapes than its config says",
}
"""What is said of what libraries raise, by a pattern in it; the first counts."""


def that_answers(model: AnyT) -> AnyT:
    """Return a model that answers one plain example. Raises ModelError for one that cannot."""
    task = model.task
    with in_a_sentence(model.name):
        model.predict([task.example(**dict.fromkeys(task.fields, "A man walks."))])
    return model


def _unused(name: str, model: PreTrainedModel, unexpected: Collection[str]) -> tuple[str, ...]:
    """Return what is to be said of weights that the network has no place for.

    Raises ModelError where it has places of the same names and other numbers: layers that the
    config does not count.
    """
    places = {_NUMBER.sub("#", key) for key in model.state_dict()}
    beyond = sorted(key for key in unexpected if _NUMBER.sub("#", key) in places)
    if beyond:
        raise ModelError(
            f"the weights of the model {name!r} have more layers than its config says, such as "
            f"{beyond[0]}; correct the number of layers in its config.json"
        )
    others = sorted(key for key in unexpected if not _OF_OTHER_HEADS.search(key))
    if not others:
        return ()
    listed = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
    return (
        f"a {type(model).__name__} has no place for some of its weights, {listed}, which are left "
        "out: its own code may answer otherwise",
    )


_NUMBER = re.compile(r"(?<=\.)\d+(?=\.)")
_OF_OTHER_HEADS = re.compile(
    r"(^|\.)(pooler|cls|lm_head|mlm|nsp|predictions|qa_outputs|seq_relationship|position_ids|"
    r"\w*(discriminator|generator|lm|mask)_(predictions|head|loss)|vocab_\w+|rotary_emb|"
    r"attn\.bias|masked_bias)(\.|$)"
)
"""Parts of heads for other tasks, and tables that networks make anew: many files hold them."""


def check_folder(name: str, folder: Path, head: Head) -> dict[str, Any]:  # Any: JSON values
    """Refuse a folder that holds no model which can be loaded so. Raises ModelError.

    Returns its tokenizer_config.json.
    """
    config = read_config(name, folder)
    model_type = str(config["model_type"])
    if model_type not in CONFIG_MAPPING:
        if "auto_map" in config:
            raise ModelError(NEEDS_CODE.format(name))
        raise ModelError(f"the model {name!r} is of a kind that is not known here: {model_type!r}")
    if CONFIG_MAPPING[model_type] not in head.kinds:
        raise ModelError(
            f"the model {name!r} is no {head.title}: a {model_type} model {head.cannot}"
        )
    names = config.get("id2label") or {}
    if not isinstance(names, dict) or {*names} != {str(at) for at in range(len(names))}:
        raise ModelError(
            f"id2label in the {CONFIG} of {name!r} does not number its outputs from 0 on: "
            f"{listed([*map(str, names)])}; name each output there by its number"
        )
    check_weights(name, folder)
    stored = read_json(name, folder / TOKENIZER)
    _check_tokenizer(name, folder, config, stored)
    return stored


FORMER_CLASSES = ("MT5Tokenizer", "RetriBertTokenizer", "RealmTokenizer")
"""Classes of transformers 4 without code of their own, which its version 5 has under other names;
a folder with such a class is read by its tokenizer.json."""


def _check_tokenizer(
    name: str, folder: Path, config: dict[str, Any], stored: dict[str, Any]
) -> None:
    """Refuse a tokenizer that transformers would replace by another. Raises ModelError."""
    named = stored.get("tokenizer_class") or config.get("tokenizer_class")
    if "AutoTokenizer" in (stored.get("auto_map") or {}):
        raise ModelError(
            f"the tokenizer of the model {name!r}, {named or 'a class of its own'}, needs Python "
            "code of its own, and such code is never run here"
        )
    written = str(named or TOKENIZER_MAPPING_NAMES.get(config["model_type"]) or "TokenizersBackend")
    most = stored.get("model_max_length")
    if most is not None and not (isinstance(most, int | float) and most >= 1):
        raise ModelError(
            f"model_max_length in the {TOKENIZER} of {name!r} is no number of tokens: {most!r}; "
            "correct it, or leave it out"
        )
    plain, whole = written.removesuffix("Fast"), (folder / "tokenizer.json").is_file()
    kind: Any = tokenizer_class_from_name(written) or tokenizer_class_from_name(plain)
    former = whole and plain in FORMER_CLASSES
    if named and kind is None and not former:
        raise ModelError(
            f"the tokenizer of the model {name!r} is of a class that is not known here, {written}, "
            "and another might read texts otherwise; if its tokenizer.json says all, write "
            f'"tokenizer_class": "TokenizersBackend" in its {TOKENIZER}'
        )
    # a class of Python without files has no vocabulary, for any other an empty one would be made up
    needs = kind is None or issubclass(kind, TokenizersBackend) or kind.vocab_files_names
    own = VOCABULARIES + tuple((getattr(kind, "vocab_files_names", None) or {}).values())
    if needs and not any(path for pattern in own for path in folder.glob(pattern)):
        raise ModelError(
            f"the model {name!r} has no vocabulary, such as a tokenizer.json; copy the files of "
            "the tokenizer that it was trained with into its folder"
        )


def start_from_encoder(path: str, task: Task = NLI) -> Classifier:
    """Load an encoder to train for a task.

    A classifier of the task keeps its head and the order of its outputs; any other gets a new
    head, initialised from a fixed seed. Raises ModelError.
    """
    check_folder(path, Path(path), CLASSIFIER)
    with in_a_sentence(path), loading:
        config = AutoConfig.from_pretrained(path, trust_remote_code=False)
    known = task.read_order([config.id2label[at] for at in range(config.num_labels)])
    order = known or task.labels
    labels = dict(enumerate(order))
    numbers = {label: index for index, label in labels.items()}
    read = read_checkpoint(
        path,
        Path(path),
        CLASSIFIER,
        to_train=True,
        id2label=labels,
        label2id=numbers,
        ignore_mismatched_sizes=known is None,
    )
    network = read.model, read.tokenizer
    return that_answers(Classifier(Path(path).name, *network, task, order, notes=read.notes))
