"""The kinds of runs, and the way from what a person chose to a plan and what it works on."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, is_dataclass, replace
from typing import Any, Literal, get_type_hints

from finetune.training.recipes import CONTEXT, default_rate
from finetune.trials import (
    calibration,
    debiasing,
    generalisation,
    inoculation,
    mitigation,
    transfer,
)
from finetune.trials.base import TrialKind, numbers
from finetune.trials.challenges import (
    UserFiles,
    bundled_sets,
    challenge_name,
    read_sets,
    read_source_data,
    require_challenge,
    sources_of,
)
from finetune.trials.datasets import Sets, SourceData, labelled
from finetune.trials.generalisation import read_data
from finetune.trials.inoculation import fast_notes
from finetune.trials.params import GRID_RATES, PARAMS, REQUIRED, USUAL_RATE, Param, param_of
from finetune.trials.word_salad import salad_names
from probe import experiments, glossary, limits
from probe.data.names import stem_of
from probe.errors import ExperimentError
from probe.first_import import first_import
from probe.models.library import AnyModel
from probe.runs.experiment import Experiment, register
from probe.runs.run import Json, RunRequest, environment
from probe.tasks.task import Label, Task
from probe.terms import Titled

NO_FILES = UserFiles()


@dataclass(frozen=True)
class Choices:
    """What is chosen for a kind of run on a model of a task; what is not named is the default.

    `labels` are the order of the model's outputs where a person says it. `called` says what a
    refusal calls a parameter.
    """

    kind: str
    task: Task
    values: Mapping[str, Any]  # Any: each has a type of its own
    files: UserFiles = NO_FILES
    labels: tuple[Label, ...] = ()
    called: Literal["shown", "option"] = "shown"

    def __getitem__(self, name: str) -> Any:  # Any: as above
        """Return a value as it was chosen. Raises ExperimentError where it was emptied."""
        return self._value(param_of(self.kind, name))

    def _value(self, param: Param) -> Any:  # Any: as above
        value = self.values.get(param.name, param.default)
        if value is REQUIRED or (value is None and param.default is not None):
            raise ExperimentError(f"{getattr(param, self.called)} is empty; give a number")
        return value

    def read(self, param: Param) -> Any:  # Any: as a plan holds it
        """Return a value as a plan holds it. Raises ExperimentError with a sentence."""
        value, name = self._value(param), getattr(param, self.called)
        if param.reads == "sizes":
            if self["mode"] == CONTEXT and value == param.default:
                return inoculation.IN_PROMPT
            return inoculation.read_sizes(name, value)
        if param.reads == "whole":
            return numbers(name, value, int)
        if param.reads == "names":
            names = value.split(",") if isinstance(value, str) else value
            return tuple(part.strip() for part in names if part.strip())
        if not param.reads:
            return value if value is None or param.type not in (int, int | None) else int(value)
        word = value.strip().lower()
        if word == GRID_RATES and self.kind == inoculation.KIND:
            return inoculation.liu_rates(self.task)
        if word in ("", USUAL_RATE):
            rate = default_rate(self["model"], self["mode"])
            usual = KINDS[self.kind].usual(rate)
            return usual if param.reads == "rates" else usual[0]
        rates = numbers(name, value, float)
        if param.reads == "rate" and len(rates) != 1:
            raise ExperimentError("give one learning rate")
        return rates if param.reads == "rates" else rates[0]

    def plan(self, kind: type[Any], within: str = "", **others: Any) -> Any:  # Any: of any plan
        """Return a plan, or what stands `within` it, of the values that it has fields for.

        `others` are fields that the values do not say. Raises ExperimentError with a sentence.
        """
        own, params = dict[str, Any](), PARAMS[self.kind]
        places = {param.field or param.name: param for param in params}
        for name, hint in get_type_hints(kind).items():
            if name in others:
                continue
            if is_dataclass(hint):
                own[name] = self.plan(hint, f"{name}.")  # type: ignore[arg-type]  # a type
            elif param := places.get(f"{within}{name}") or places.get(name):
                own[name] = self.read(param)
        return kind(**own, **others)


@dataclass(frozen=True)
class Kind:
    """A kind of run: how its choices become a plan, what that works on, how it is computed.

    `verb` names its command and endpoint, `folder` what the command writes into, `about` what a run
    of it does. The glossary has its `words` under `title`, with a link to the `aim` of Train.
    """

    verb: str
    folder: str
    about: str
    trials: TrialKind[Any, Any, Any, Any]  # Any: each kind has types of its own
    experiment: Experiment
    title: str
    words: Callable[[Task], Mapping[str, Titled]]
    aim: str
    data: Callable[[Choices, Any], Any]
    whole: Callable[[Choices, Any, Any], Any]
    check: Callable[[Any, Any], None]
    others: Callable[[Choices], Json] = lambda choices: {}
    usual: Callable[[float], tuple[float, ...]] = lambda rate: (rate,)
    warnings: Callable[[Any], Iterable[str]] = lambda plan: ()


@dataclass(frozen=True)
class Planned:
    """A plan that can run, what it works on, and the files that this was read from, by option.

    `notes` are what a person would not expect of it.
    """

    kind: Kind
    plan: Any  # Any: of the kind
    data: Any
    sources: Json
    notes: tuple[str, ...] = ()

    def request(self, **artefacts: Any) -> RunRequest:  # Any: JSON
        """Return what the store needs to begin the run."""
        kept = {**artefacts, **({"sources": self.sources} if self.sources else {})}
        return self.kind.trials.request(self.plan, self.data, environment(), kept)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is known of such runs that may change what a person asks for."""
        return tuple(self.kind.warnings(self.plan))

    def trainings(self) -> int:
        """Return how many trainings it takes; none where the examples stand in a prompt."""
        if getattr(self.plan, "mode", "") == CONTEXT:
            return 0
        return sum(bool(cell.size) for cell in self.kind.trials.cells(self.plan))

    def seconds(self, model: AnyModel | None = None) -> float:
        """Return about how long it takes on one core; `model` where it is loaded already."""
        with first_import:
            from finetune.trials.duration import run_seconds

        return run_seconds(self.plan, self.data, model)


def draft(choices: Choices) -> Any:  # Any: a plan of the kind
    """Return the plan of what is chosen before it is known what it works on."""
    kind, task = KINDS[choices.kind], choices.task.name
    others = kind.others(choices)
    return choices.plan(kind.trials.plan, task=task, labels=choices.labels, **others)


def planned(choices: Choices, data: object = None, bounded: bool = False) -> Planned:
    """Return the plan of what is chosen, checked against what it works on.

    That is read, unless `data` is given. A plan that is `bounded` has no more cells than a visitor
    may have. Raises a sentence for the person.
    """
    kind, plan = KINDS[choices.kind], draft(choices)
    if bounded:  # before any cell is listed
        product = len(plan.sizes) * len(plan.seeds) * len(getattr(plan, "lrs", [0]))
        limits.check("max_cells", product + 1)
    there = kind.data(choices, plan) if data is None else data
    whole = kind.whole(choices, plan, there)
    if bounded:
        limits.check("max_cells", len(kind.trials.cells(whole)))
    kind.check(whole, there)
    notes: tuple[str, ...] = ()
    if isinstance(there, SourceData) and whole.sizes != plan.sizes:
        unit = f"{len(there.pool)} {there.task.unit}s"
        notes = (f"there are {unit} to train on, so that all are taken",)
    sources: Json = dict(sources_of(choices.files))
    if choices.kind == generalisation.KIND and sources.pop("train", None):
        sources["condition"] = choices["condition"]
    return Planned(kind, whole, there, sources, notes)


def _challenge(choices: Choices) -> Json:
    """Return the challenge, whose name is only a label where files are it.

    Raises ExperimentError where there is none.
    """
    name, files, task = choices["challenge"], choices.files, choices.task
    if not (files.challenge or files.challenge_train):
        name = challenge_name(name, task)
        require_challenge(name, task)
    return {"challenge": name}


def _sets(choices: Choices, plan: inoculation.Plan) -> Sets:
    if not sources_of(choices.files):
        return bundled_sets(plan.challenge, choices.task)
    return read_sets(plan.challenge, choices.files, choices.task)


def _conditions(choices: Choices) -> Json:
    """Return what a file of conditions says of a plan, which is completed by what it holds."""
    file = choices.files.challenge
    phenomenon = choices["phenomenon"] or (stem_of(file) if file else "numerical")
    vary = generalisation.FILE if file else choices["vary"]
    return {"phenomenon": phenomenon, "vary": vary, "columns": ()}


def _of_conditions(choices: Choices, plan: generalisation.Plan) -> generalisation.SourceData:
    files = choices.files
    column = choices["condition"] if files.challenge else ""
    return read_data(files, files.challenge, column, choices.task)


def _source(choices: Choices, plan: object) -> SourceData:
    return labelled(read_source_data(choices.files, choices.task))


def _fitting(choices: Choices, plan: Any, source: SourceData) -> Any:  # Any: of a repair
    """Return the plan with all transforms, where none is named, and no more examples than there
    are where nobody asked for a number.
    """
    if isinstance(plan, transfer.Plan) and not plan.transforms:
        plan = replace(plan, transforms=salad_names(choices.task))
    if choices["sizes"] != param_of(choices.kind, "sizes").default:
        return plan
    sizes = (min(size, len(source.pool)) for size in plan.sizes)
    return replace(plan, sizes=tuple(dict.fromkeys(sizes)))


def _repair(verb: str, about: str, module: Any, *facts: Any, **others: Any) -> Kind:
    """Return a kind of repair; what comes after its module is as in a kind.  # Any: one of three"""
    title, experiment = facts
    return Kind(
        verb, f"{module.KIND}/{{model}}", about, module.TRIALS, experiment, title,
        lambda task: module.WORDS, "repair", _source, _fitting, module.check, **others,
    )  # fmt: skip


KINDS: Mapping[str, Kind] = {
    inoculation.KIND: Kind(
        "inoculate",
        "inoculated/{model}-{plan.challenge}",
        "trains a model on a little of a challenge, on bundled examples",
        inoculation.TRIALS,
        inoculation.INOCULATION,
        "Inoculation",
        lambda task: inoculation.WORDS,
        "inoculate",
        _sets,
        lambda choices, plan, sets: inoculation.resolved(plan, sets),
        inoculation.check,
        _challenge,
        warnings=lambda plan: fast_notes([plan]),
    ),
    generalisation.KIND: Kind(
        "generalise",
        "generalised/{model}-{plan.phenomenon}-{plan.vary}",
        "trains on each kind of example and tests on all",
        generalisation.TRIALS,
        generalisation.GENERALISATION,
        "Generalisation",
        generalisation.generalisation_terms,
        "generalise",
        _of_conditions,
        lambda choices, plan, data: generalisation.with_conditions(plan, data),
        lambda plan, data: generalisation.check(plan),
        _conditions,
        generalisation.usual_rates,
    ),
    calibration.KIND: _repair(
        "calibrate", "calibrates a model in several ways", calibration,
        "Calibration", calibration.CALIBRATION,
    ),
    mitigation.KIND: _repair(
        "mitigate", "teaches a model to say when a text is broken", mitigation,
        "Invalid inputs", mitigation.MITIGATION,
        warnings=lambda plan: filter(None, [mitigation.quick_cost(plan)]),
    ),
    debiasing.KIND: _repair(
        "debias", "trains against a short cut, or beside changed texts", debiasing,
        "Short cuts", debiasing.DEBIASING,
    ),
    transfer.KIND: _repair(
        "transfer", "teaches one kind of broken text and tests on all", transfer,
        "Transfer", transfer.TRANSFER,
    ),
}  # fmt: skip
"""The kinds of runs: a new one is its module, its `params`, how a cell of it is computed in
`trial`, its files in `report`, an aim or a method of one in `ui`, and a row here."""
EXPERIMENTS = {name: kind.experiment for name, kind in KINDS.items()}


def register_experiments() -> None:
    """Make the experiments known to the run system, and their words to the glossary.

    Those of `probe` too: who changes models also looks at them.
    """
    experiments.register_experiments()
    for name, kind in KINDS.items():
        register(kind.experiment)
        glossary.register(name, kind.title, kind.words, f"train?aim={kind.aim}")
