"""The parameters of each kind of trial: what a person may choose, and how it is called.

The commands are made of these tables, and so is the command that repeats a run.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from finetune.training.recipes import Mode
from finetune.trials import calibration, generalisation_plan, mitigation, transfer
from finetune.trials import inoculation_plan as inoculation
from finetune.trials.challenges import MAX_PAIRS

REQUIRED = ...
"""The default of what has none."""


@dataclass(frozen=True)
class Param:
    """A parameter by the name of its option, its type, what it is if nobody says, and what it is.

    `type` None is that of an option which other commands have too. `field` is where a plan holds
    it, if not under its own name: such as thresholds.gap.
    """

    name: str
    type: Any = None
    default: Any = REQUIRED
    help: str = ""
    choices: tuple[str, ...] = ()
    field: str = ""


MODEL = Param("model")
OUTPUTS = (Param("task", default=""), Param("labels", default=""))
COMPUTING = (
    Param("in_process", default=False),
    Param("threads", default=1),
    Param("precision", default="auto", field="training.precision"),
)
GALLERY = Param("gallery", default=None)
EACH_DRAWS = "Each draws its own examples and dropout."
SIZE = "1000"
"""Examples of a training where nobody asks for another number."""


def _mode(default: Mode, field: str = "") -> Param:
    said = "full: all weights, as published; fast: the upper ones."
    return Param("mode", Mode, default, said, get_args(Mode), field)


def _path(name: str, help: str) -> Param:
    return Param(name, Path | None, None, help)


BATCH = Param("batch", int | None, None, "As the model was trained, if none.")
BUNDLED = "Instead of the bundled ones."
ORIGINALS = (_path("original_dev", BUNDLED), _path("original_test", BUNDLED))
ORIGINAL = _path("original", "Split into dev and test.")
SAMPLE_SEED = Param("sample_seed", int, 0, "Splits --original.")
REPAIR_TAIL = (
    _mode("fast", "training.mode"),
    Param("lr", float | None, None, "The usual one of its kind, if none.", field="training.lr"),
    Param("epochs", int, 3, "Of each training.", field="training.epochs"),
    Param("batch", int | None, None, BATCH.help, field="training.batch"),
    ORIGINAL,
    *ORIGINALS,
    _path("pool", "Examples to train on."),
    SAMPLE_SEED,
    GALLERY,
    *COMPUTING,
)


def _draws(sizes: str, tests: str) -> tuple[Param, ...]:
    return (
        Param("sizes", str, SIZE, sizes),
        Param("seeds", str, "0,1", EACH_DRAWS),
        Param("tests", int, 200, tests),
    )


DESTROYED = "How many test examples are destroyed."
CLEAN_SIZES = "How many clean examples each training has."
BROKEN_SHARE = "Of the examples, those destroyed too."
LIMITS = inoculation.THRESHOLDS


def _limit(name: str, field: str, help: str) -> Param:
    default = getattr(LIMITS, field)
    return Param(name, type(default), default, help, field=f"thresholds.{field}")


PARAMS: Mapping[str, tuple[Param, ...]] = {
    inoculation.KIND: (
        MODEL,
        Param("challenge", str, help="A challenge, or a name for your own sets."),
        Param("out", Path, help="Folder for points, summary and curve."),
        *OUTPUTS,
        Param("sizes", str, "10,50,100,400", "How many examples; all: all."),
        Param("lrs", str, "", "Rates; else the usual one of its kind."),
        Param("seeds", str, "0", EACH_DRAWS),
        _mode("full"),
        ORIGINAL,
        *ORIGINALS,
        _path("pool", "Examples to make the training set of."),
        _path("challenge_file", "Has a `split`, or is drawn."),
        Param("train", int, MAX_PAIRS, "How many drawn of --challenge-file."),
        _path("challenge_train", "With --challenge-test."),
        _path("challenge_test", "Of your own."),
        _path("control", "A test set that is never trained on."),
        Param("sample_seed", int, 0, "Draws and changes the examples."),
        BATCH,
        Param("max_epochs", int, 10, "At most; dev stops it earlier."),
        Param("patience", int, 5, "Epochs to wait for a better dev score."),
        Param("include_epoch0", bool, False, "May keep the model as it was."),
        _limit("min_gap", "gap", "Outcome 0 below."),
        _limit("max_drop", "drop", "Outcome 3 from."),
        _limit("cured", "cured", "Outcome 1 from."),
        _limit("uncured", "uncured", "Outcome 2 below."),
        _limit("max_majority", "majority", "Warn from."),
        _limit("max_damage", "damage", "Warn from."),
        _limit("min_tests", "tests", "Warn below."),
        Param("in_process", default=False),
        Param("threads", default=1),
        Param("precision", default="auto"),
    ),
    generalisation_plan.KIND: (
        MODEL,
        Param("out", Path, help="Folder for points, summary and figure."),
        Param("phenomenon", str, "", "dative or numerical; with your own file a name for it."),
        Param("vary", str, "complexity", "complexity, lexical, or (numerical) range."),
        *OUTPUTS,
        Param(
            "sizes", str, "50,200,1000", "Training examples; published: 50,200,1000,4000 and more."
        ),
        Param("lrs", str, "", "Rates to choose among; else the usual one and a lower."),
        Param("seeds", str, "0,1", "Each splits and draws anew; published: 0,1,2,3,4."),
        _mode("fast"),
        Param("tests", int, 400, "Test examples of each condition and seed."),
        _path("original", "The original set, whole."),
        *ORIGINALS,
        SAMPLE_SEED,
        _path("challenge_file", "Your own rows instead of templates."),
        Param("condition", str, "condition", "The file's column that names each row's condition."),
        BATCH,
        Param("max_epochs", int, 10, "At most; held-out rows stop it earlier."),
        Param("patience", int, 3, "Epochs to wait for a better accuracy."),
        Param(
            "max_loss",
            float,
            generalisation_plan.THRESHOLDS.loss,
            "A loss from here on means the data set was learnt.",
            field="thresholds.loss",
        ),
        GALLERY,
        Param("in_process", default=False),
        Param("threads", default=1),
        Param("precision", default="auto"),
    ),
    calibration.KIND: (
        MODEL,
        Param("out", Path, help="Folder for points, summary and diagrams."),
        *OUTPUTS,
        Param(
            "methods",
            str,
            ",".join(calibration.REPAIRS),
            "The first is the summary's: temperature, smoothing, focal.",
        ),
        *_draws("How many examples each training has.", DESTROYED),
        Param("epsilon", float, 0.1, "Of label smoothing."),
        Param("gamma", float, 2.0, "Of focal loss."),
        *REPAIR_TAIL,
    ),
    mitigation.KIND: (
        MODEL,
        Param("out", Path, help="Folder for points, summary and heat map."),
        *OUTPUTS,
        Param(
            "methods",
            str,
            ",".join(mitigation.REPAIRS),
            "The model of the first is kept: invalid, entropic, threshold.",
        ),
        Param("transforms", str, "", "What breaks texts; all of the task's, if none."),
        *_draws(CLEAN_SIZES, "How many dev and test examples are destroyed."),
        Param("share", float, mitigation.SHARE, BROKEN_SHARE),
        Param(
            "gradient_share",
            float,
            mitigation.SHARE,
            "The same for transforms that ask the model; less if it collapses",
        ),
        Param(
            "balance", bool, True, "Clean and broken texts weigh alike; the paper counts each text."
        ),
        Param("weight", float, 0.1, "Of the entropic term."),
        Param(
            "tolerance", float, mitigation.TOLERANCE, "Clean accuracy that a threshold may cost."
        ),
        *REPAIR_TAIL,
    ),
    transfer.KIND: (
        MODEL,
        Param("out", Path, help="Folder for points, summary and matrix."),
        *OUTPUTS,
        Param("transforms", str, "", "Rows and columns; all of the task's, if none."),
        *_draws(CLEAN_SIZES, DESTROYED),
        Param("share", float, 0.5, BROKEN_SHARE),
        Param("salad_only", bool, True, "Train on shuffled texts only, too."),
        *REPAIR_TAIL,
    ),
}
"""The parameters of each kind, in the order in which its command explains them."""
