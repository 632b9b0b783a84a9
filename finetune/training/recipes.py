"""Training recipes: the rates of architectures, and the papers' word models' presets.

"All else as in the original training" (Liu et al. 2019): an inoculation keeps the recipe of the
model's architecture, all but the learning rate. Presets are Liu et al.'s AllenNLP configurations
and the original papers'. Word vectors are ours throughout (`finetune.training.word_models`),
where both took GloVe's. The ESIM paper's are cased: make them with `python -m finetune vectors
--cased`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from probe.errors import ExperimentError
from probe.models.architectures import ARCHITECTURES, Recipe, WordLayers, architecture
from probe.models.library import find
from probe.models.served import is_served
from probe.models.weights import CONFIG, read_json
from probe.tasks.task import Task
from probe.terms import Term

Mode = Literal["full", "fast", "context", "lora"]
"""Train all weights, as published, or the upper ones, on states of the lower ones computed once; or
nothing: a language model finds the examples in its prompt; or adapters beside its weights."""
CONTEXT: Mode = "context"
LORA: Mode = "lora"
IN_WORDS: tuple[Mode, ...] = (CONTEXT, LORA)
"""The modes of language models that are asked in words."""
TRAINED: tuple[Mode, ...] = ("full", "fast")
MODES: Mapping[Mode, Term] = {
    "fast": Term("Quick", "Only the upper layers learn."),
    "full": Term("As published", "All weights learn."),
    CONTEXT: Term("In the prompt", "Nothing learns: the examples stand in the model's prompt."),
    LORA: Term("Adapters", "Adapters learn beside the weights (LoRA)."),
}
"""What each is called, in the order in which the page offers them."""


ADAPTERS = Recipe("adamw", lr=1e-3, batch=8)
"""How adapters are trained; of an example each label and order is a row, so a batch has few."""


PLAIN = "plain"
"""The loss of `losses.NAMED` that models are trained with where nobody says another."""


WEAK: Mapping[str, Term] = {
    "hypothesis": Term(
        "One text alone", "A bag of the judged text's words, which never sees the other."
    ),
    "overlap": Term("Shared words", "How many of the judged text's words the other has."),
    "bag": Term("Words of both", "A bag of each text's words, which sees no word beside another."),
}
"""The weak models that a training can be against: `finetune.training.weak` fits them."""


def weak_problem(name: str, task: Task) -> str:
    """Say why a task's examples have no weak model of this name, "" where they have."""
    if name not in WEAK:
        return f"there is no weak model {name!r}; there are: {', '.join(WEAK)}"
    if not task.labels:
        return f"{task.title.lower()} is answered with spans, which no weak model of ours gives"
    if name == "overlap" and not task.source:
        return f"the weak model {name} compares two texts, and {task.title.lower()} has one"
    return ""


def require_mode(name: str, asked: bool, mode: Mode) -> None:
    """Refuse modes of other models for a language model, which is `asked`, and its own for others.

    Raises ExperimentError, also for adapters at an address or without the package peft.
    """
    if asked and mode not in IN_WORDS:
        raise ExperimentError(
            f"{name} is asked in words; in runs without other models it gets the examples in its "
            f"prompt with the mode {CONTEXT}, and trains adapters with {LORA}"
        )
    if mode in IN_WORDS and not asked:
        lacks = "prompt for examples" if mode == CONTEXT else "prompt by which adapters learn"
        raise ExperimentError(f"{name} has no {lacks}; choose full or fast")
    if mode == LORA and is_served(name):
        raise ExperimentError(
            f"{name} is at an address, where nothing can be trained; with the mode {CONTEXT} it "
            "gets the examples in its prompt"
        )
    if mode == LORA and not find_spec("peft"):
        raise ExperimentError(
            "to train adapters the package peft is needed: pip install 'nli-clinic[adapters]'"
        )


def mode_words(mode: Mode) -> str:
    """Return what a mode is called within a sentence."""
    return MODES[mode].title.lower()


def default_rate(model: str, mode: Mode = "full") -> float:
    """Return the learning rate to begin with, for a model by name, folder or hub id.

    A hub's model that is not on this disk has the default recipe's; what is not trained has 0.
    """
    if mode == CONTEXT:
        return 0.0
    if mode == LORA:
        return ADAPTERS.lr
    settings = read_json(model, Path(find(model)) / CONFIG)
    recipe = architecture(str(settings.get("model_type"))).recipe
    return recipe.fast_lr if mode == "fast" else recipe.lr


def published_with_grid(model: str) -> bool:
    """Whether a model is of the kind that Liu et al. 2019 chose a rate of their grid for.

    Theirs were word models, whose recipes' rates need not suit a challenge; an encoder keeps its
    one.
    """
    settings = read_json(model, Path(find(model)) / CONFIG)
    return isinstance(architecture(str(settings.get("model_type"))).frozen, WordLayers)


@dataclass(frozen=True)
class Preset:
    """A published configuration of a word model: its settings and its training.

    The rate rises over `warmup` steps. It is halved after more than `halve_patience` epochs in a
    row without a gain, counted anew from each halving, never where that is None; or it falls to
    zero over all epochs (`fall`). `patience` is how many epochs without a gain end the training;
    `max_tokens` cuts training pairs. What follows is as in an encoder's `TrainingOptions`.
    """

    settings: Mapping[str, object]
    recipe: Recipe
    epochs: int
    patience: int
    halve_patience: int | None = None
    fall: bool = False
    warmup: int = 0
    max_tokens: int = 96
    teachers: tuple[str, ...] = ()
    teacher_weight: float = 0.5
    transform: str = ""
    loss: str = PLAIN
    weak: str = ""


@dataclass(frozen=True)
class WordModel:
    """The presets of a word model by name, and the settings that all of them share."""

    model_type: str
    presets: Mapping[str, Preset]
    settings: Mapping[str, object] = field(default_factory=dict)


_DA, _ESIM = ARCHITECTURES["decomposable"].recipe, ARCHITECTURES["esim"].recipe
DA = {
    "allennlp": Preset(
        {"aggregate": 1, "initial": "xavier", "unit_vectors": True},
        _DA,
        epochs=140,
        patience=20,
    ),
    "paper": Preset(
        {"aggregate": 2, "initial": "normal", "unit_vectors": True},
        replace(
            _DA, lr=0.05, batch=4, clip_value=None, settings={"initial_accumulator_value": 0.1}
        ),
        epochs=140,
        patience=20,
    ),
}
ESIM = {
    "allennlp": Preset({"activation": "relu"}, _ESIM, epochs=75, patience=5, halve_patience=0),
    "paper": Preset({"activation": "tanh"}, _ESIM, epochs=75, patience=7),
}
WORD_MODELS: Mapping[str, WordModel] = {
    "da": WordModel("decomposable", DA),
    "esim": WordModel("esim", ESIM),
    "esim_char": WordModel("esim", ESIM, {"characters": True}),
}

_BIDAF = Preset({}, ARCHITECTURES["bidaf"].recipe, epochs=20, patience=10, halve_patience=2)
_QANET = Preset({}, ARCHITECTURES["qanet"].recipe, epochs=50, patience=10)
_SMALL = {"hidden_size": 64, "blocks": 3, "heads": 2, "character_size": 32, "filters": 50}
_MEDIUM = {**_SMALL, "hidden_size": 96, "blocks": 4, "heads": 4, "position_scale": 0.1}
WORD_READERS: Mapping[str, WordModel] = {
    "bidaf": WordModel(
        "bidaf",
        {
            "allennlp": _BIDAF,
            "small": replace(_BIDAF, settings={"hidden_size": 50, "filters": 50}),
        },
    ),
    "qanet": WordModel(
        "qanet",
        {
            "allennlp": _QANET,
            "small": replace(_QANET, settings=_SMALL),
            "medium": replace(_QANET, settings=_MEDIUM, halve_patience=1, warmup=1_000),
        },
    ),
}
"""Liu et al. 2019's AllenNLP configurations, and sizes that a processor trains in an hour or, in a
night, `medium`, whose warm-up is the paper's."""
