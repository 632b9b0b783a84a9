"""The parameters of each kind of trial: what a person may choose, and how it is called and read.

The commands, the endpoints over HTTP, the page's fields and the command that repeats a run are made
of these tables.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from finetune.training.recipes import CONTEXT, TRAINED, WEAK, Mode
from finetune.trials import (
    calibration,
    debiasing,
    generalisation,
    inoculation,
    mitigation,
    transfer,
)
from finetune.trials.challenges import MAX_PAIRS

REQUIRED = ...
"""The default of what has none."""
USUAL_RATE = "usual"
"""Stands for the learning rate to begin with, by model and mode."""
GRID_RATES = "grid"
"""Stands for the learning rates of Liu et al. 2019, of an inoculation."""


@dataclass(frozen=True)
class Param:
    """A parameter by the name of its option, its type, what it is if nobody says, and what it is.

    `type` None is that of an option which other commands have too. `field` is where a plan holds
    it, if under another name: such as thresholds.gap. A text `reads` as several values or a
    rate; `title` is what the page calls it, which shows `unit` for each one of it. With `http` it
    is an argument over HTTP, where it and the page begin with `first` if that is another value. The
    page begins with `quick` where it asks for less, and puts `published` in its place on a press.
    """

    name: str
    type: Any = None
    default: Any = REQUIRED
    help: str = ""
    choices: tuple[str, ...] = ()
    field: str = ""
    reads: Literal["", "sizes", "whole", "rates", "rate", "names"] = ""
    title: str = ""
    unit: float = 1
    http: bool = False
    first: Any = None
    quick: Any = None
    published: Any = None

    def on_page(self, published: bool) -> Any:
        """Return what the page begins with, or what it puts in its place."""
        other = self.published if published else self.quick
        return self.begins if other is None else other

    @property
    def shown(self) -> str:
        """What the page calls it, and HTTP where the page has none."""
        return self.title or self.name

    @property
    def option(self) -> str:
        """What the command line calls it."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def begins(self) -> Any:
        """What the page and HTTP begin with."""
        return self.default if self.first is None else self.first


MODEL = Param("model", http=True, help="A model that the page offers.")
OUTPUTS = (Param("task", default=""), Param("labels", default=""))
COMPUTING = (
    Param("in_process", default=False),
    Param("threads", default=1),
    Param("precision", default="auto"),
)
GALLERY = Param("gallery", default=None)
EACH_DRAWS = "A repeat each, with its own examples and dropout."


def _mode(default: Mode, quick: Mode = "fast", modes: Sequence[Mode] = TRAINED) -> Param:
    said = "Which weights learn. full: all, as published; fast: the upper ones."
    if CONTEXT in modes:
        said += " Of a language model: context: none, its prompt has the examples; lora: adapters."
    return Param(
        "mode",
        Mode,
        default,
        said,
        tuple(modes),
        "",
        "",
        "Weights that learn",
        1,
        True,
        "fast",
        quick,
        "full",
    )


def _path(name: str, help: str, title: str = "") -> Param:
    return Param(name, Path | None, None, help, title=title)


def _sizes(
    default: str,
    help: str,
    reads: Literal["sizes", "whole"] = "whole",
    quick: str | None = None,
    published: str | None = None,
) -> Param:
    return Param(
        "sizes", str, default, help, (), "", reads, "Examples", 1, True, None, quick, published
    )


def _rates(help: str, name: str = "lrs", more: str = "") -> Param:
    reads: Literal["rates", "rate"] = "rates" if name == "lrs" else "rate"
    title = "Learning rates" if name == "lrs" else "Learning rate"
    said = f"{help}; {USUAL_RATE}: that of the model's kind{more}."
    return Param(name, str, USUAL_RATE, said, (), "", reads, title, http=True)


def _seeds(
    default: str, help: str = EACH_DRAWS, quick: str | None = None, published: str | None = None
) -> Param:
    title = "Seeds, a repeat each"
    return Param(
        "seeds", str, default, help, (), "", "whole", title, 1, True, None, quick, published
    )


def _epochs(default: int, help: str) -> tuple[Param, Param]:
    waits = "Epochs to wait for a better score."
    most = Param("max_epochs", int, 10, help, title="Epochs at most", http=True)
    return most, Param("patience", int, default, waits, title="Patience, epochs", http=True)


BATCH = Param("batch", int | None, None, "As the model was trained, if none.", title="Batch")
BUNDLED = "Instead of the bundled ones."
ORIGINALS = (
    _path("original_dev", BUNDLED, "Original dev (early stopping)"),
    _path("original_test", BUNDLED, "Original test"),
)
ORIGINAL = _path("original", "Split into dev and test.", "Original, dev and test in one")
SAMPLE_SEED = Param("sample_seed", int, 0, "Splits --original.")
OWN = "Of your own."


def _limit(field: str, help: str, title: str, unit: float = 100, name: str = "") -> Param:
    default = getattr(inoculation.THRESHOLDS, field)
    where = f"thresholds.{field}"
    return Param(name or field, type(default), default, help, (), where, "", title, unit)


def _repair(
    out: str, *own: Param, tests: str, quick: str, mode: Mode = "fast"
) -> tuple[Param, ...]:
    """Return the parameters of a repair, `own` of which its kind alone has.

    The page begins with `quick` examples and the weights of `mode`.
    """
    first = tuple(param for param in own if param.name in ("methods", "transforms"))
    return (
        MODEL,
        Param("out", Path, help=f"Folder for points, summary and {out}."),
        *OUTPUTS,
        *first,
        _sizes("1000", "How many clean examples each training has.", "whole", quick, "all"),
        _rates("The learning rate", "lr"),
        _seeds("0,1", quick="0"),
        Param("tests", int, 200, tests),
        *(param for param in own if param not in first),
        _mode("fast", mode),
        Param("epochs", int, 3, "Epochs of each training.", http=True),
        replace(BATCH, title=""),
        ORIGINAL,
        *ORIGINALS,
        _path("pool", "Examples to train on.", "Examples to train on"),
        SAMPLE_SEED,
        GALLERY,
        *COMPUTING,
    )


def _names(name: str, default: tuple[str, ...], help: str) -> Param:
    return Param(name, str, ",".join(default), help, reads="names", http=True)


def _number(name: str, default: float, help: str, title: str) -> Param:
    return Param(name, float, default, help, title=title, http=True)


def _share(name: str, default: float, help: str, title: str) -> Param:
    return Param(name, float, default, help, title=title, unit=100, http=True)


DESTROYED = "How many test examples are destroyed."
BROKEN_SHARE = "Of the examples, those destroyed too."
BROKEN_TITLE = "Examples that are broken too"
PARAMS: dict[str, tuple[Param, ...]] = {
    inoculation.KIND: (
        MODEL,
        Param("challenge", str, help="A challenge, or a name for your own sets.", http=True),
        Param("out", Path, help="Folder for points, summary and curve."),
        *OUTPUTS,
        _sizes(
            "10,50,100,400",
            "Examples of each training; all: all there are.",
            "sizes",
            published=",".join("all" if size < 0 else str(size) for size in inoculation.LIU_SIZES),
        ),
        _rates(
            "Learning rates to choose among",
            more=f"; {GRID_RATES}: those of Liu et al. 2019, 1e-6 (readers 1e-5) to 1e-2",
        ),
        _seeds("0"),
        _mode("full", modes=get_args(Mode)),
        ORIGINAL,
        *ORIGINALS,
        _path("pool", "Examples to make the training set of."),
        _path("challenge_file", "Has a `split`, or is drawn.", "Challenge in one file"),
        Param("train", int, MAX_PAIRS, "Drawn of --challenge-file.", title="Pairs to train on"),
        _path("challenge_train", "With --challenge-test.", "Challenge to train on"),
        _path("challenge_test", OWN, "Challenge to test on"),
        _path("control", "A test set that is never trained on."),
        Param("sample_seed", int, 0, "Draws and changes the examples."),
        BATCH,
        *_epochs(5, "Of a training at most; dev stops it earlier."),
        Param(
            "include_epoch0",
            bool,
            False,
            "Whether the model as it was may be the best epoch.",
            title="Let epoch 0, the model as it was, compete (not published)",
            http=True,
        ),
        _limit("gap", "Outcome 0 below.", "Outcome 0: gap below, points", name="min_gap"),
        _limit("drop", "Outcome 3 from.", "Outcome 3: lost on original, points", name="max_drop"),
        _limit("cured", "Outcome 1 from.", "Outcome 1: closed from, %"),
        _limit("uncured", "Outcome 2 below.", "Outcome 2: closed below, %"),
        _limit("majority", "Warn from.", "Warn of one label from, %", name="max_majority"),
        _limit("damage", "Warn from.", "Warn of lost dev, points", name="max_damage"),
        _limit("tests", "Warn below.", "Warn of tests below", 1, "min_tests"),
        *COMPUTING,
    ),
    generalisation.KIND: (
        MODEL,
        Param("out", Path, help="Folder for points, summary and figure."),
        Param(
            "phenomenon",
            str,
            "",
            "The skill, dative or numerical; with your own file a name for it.",
            http=True,
            first="numerical",
        ),
        Param(
            "vary",
            str,
            "complexity",
            "What tells kinds apart: complexity, lexical, or (numerical) range.",
            http=True,
        ),
        replace(
            _names(
                "train_on",
                (),
                "Kinds to train on, such as simple,all: all complexities together; every one, if "
                "none.",
            ),
            field="rows",
            title="Kinds to train on, every one if empty",
        ),
        *OUTPUTS,
        _sizes(
            "50,200,1000",
            "Training examples; published: 50,200,1000,4000, with numbers 20000 too.",
            published=generalisation.PUBLISHED_SIZES["dative"],
        ),
        _rates("Learning rates to choose among"),
        _seeds(
            "0,1",
            "A repeat each, split and drawn anew; published: 0,1,2,3,4.",
            quick="0",
            published="0,1,2,3,4",
        ),
        _mode("fast"),
        Param("tests", int, 400, "Test examples of each condition and seed."),
        _path("original", "The original set, whole."),
        *ORIGINALS,
        SAMPLE_SEED,
        _path("challenge_file", "Your own rows instead of templates."),
        Param("condition", str, "condition", "The file's column that names each row's condition."),
        BATCH,
        Param(
            "max_loss",
            float,
            generalisation.THRESHOLDS.loss,
            "A loss from here on means the data set was learnt.",
            field="thresholds.loss",
            title="“Learnt the set” from this loss on, points",
            unit=100,
            http=True,
        ),
        *_epochs(3, "Of a training at most; held-out rows stop it earlier."),
        GALLERY,
        *COMPUTING,
    ),
    calibration.KIND: _repair(
        "diagrams",
        _names(
            "methods",
            calibration.REPAIRS,
            "The first is the summary's, its model is kept: temperature, smoothing, focal, plain.",
        ),
        _number("epsilon", 0.1, "Of label smoothing.", "Label smoothing, ε"),
        _number("gamma", 2.0, "Of focal loss.", "Focal loss, γ"),
        tests=DESTROYED,
        quick="1000",
    ),
    mitigation.KIND: _repair(
        "heat map",
        _names(
            "methods",
            mitigation.REPAIRS,
            "The first is the summary's, its model is kept: invalid, entropic, threshold.",
        ),
        _names("transforms", (), "What breaks texts; all of the task's, if none."),
        _share("share", mitigation.SHARE, BROKEN_SHARE, BROKEN_TITLE),
        _share(
            "gradient_share",
            mitigation.SHARE,
            "The same for transforms that ask the model; less if it collapses.",
            "The same of those that ask the model",
        ),
        Param(
            "balance",
            bool,
            True,
            "Clean and broken texts weigh alike; the paper counts each text.",
            title="Whole and broken texts weigh alike (not published)",
            http=True,
        ),
        _number("weight", 0.1, "Of the entropic term.", "Be unsure of salad, λ"),
        Param(
            "entropy_by",
            Literal["rows", "kinds"],
            "rows",
            "What counts alike in it: each text, as in the paper's code, or whole and broken ones.",
            ("rows", "kinds"),
        ),
        _share(
            "tolerance",
            mitigation.TOLERANCE,
            "Clean accuracy that a threshold may cost.",
            "A threshold may cost, points",
        ),
        tests="How many dev and test examples are destroyed.",
        quick="200",
        mode="full",
    ),
    debiasing.KIND: _repair(
        "heat map",
        _names(
            "methods",
            debiasing.REPAIRS,
            "The first is the summary's, its model is kept: poe, reweight, regularise, augment, "
            "plain.",
        ),
        Param(
            "weak",
            str,
            "hypothesis",
            "The short cut that is learnt against, by cross-validation.",
            tuple(WEAK),
            http=True,
        ),
        Param("augment", str, "negation", "What changes texts that are learnt, too.", http=True),
        Param(
            "relabel",
            bool,
            True,
            "Labels by the rule of what changes texts; else as they were.",
            title="Changed texts have the labels of the rule, not those they had",
            http=True,
        ),
        _names("challenges", (), "Tested; HANS and the stress tests, if none."),
        tests="How many examples of each challenge are tested.",
        quick="1000",
        mode="full",
    ),
    transfer.KIND: _repair(
        "matrix",
        _names("transforms", (), "Rows and columns; all of the task's, if none."),
        _share("share", 0.5, BROKEN_SHARE, BROKEN_TITLE),
        Param("salad_only", bool, True, "Begin the upper layers anew on shuffled texts only, too."),
        tests=DESTROYED,
        quick="300",
    ),
}
"""The parameters of each kind, in the order in which its command explains them."""


def param_of(kind: str, name: str) -> Param:
    """Return a parameter of a kind by its name."""
    return next(param for param in PARAMS[kind] if param.name == name)
