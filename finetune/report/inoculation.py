"""Several runs looked at together: their lines, their panels, their points in one table."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cache, lru_cache
from itertools import takewhile
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import pandas as pd

from finetune.report.command_line import command
from finetune.training.recipes import mode_words
from finetune.trials.challenges import title_of
from finetune.trials.inoculation import (
    BASE,
    BY_SIZE,
    MORE_TEXTS,
    OUTCOMES,
    Epoch,
    InoculationRun,
    Outcome,
    Plan,
    Point,
    Selection,
    badge,
    choose,
    inoculation_runs,
    merge,
    telling_plan,
)
from probe.errors import UserError
from probe.models import bundled
from probe.pictures.curves import Panel, PanelStyle, counter_tests_in, style_for
from probe.runs.gallery import FOLDER, OWNER, gallery_runs
from probe.runs.run import OPEN, Json
from probe.statistics import mean_score, over_repeats
from probe.tasks.nli import NLI
from probe.tasks.task import Task, task_named
from probe.text.words import listing
from probe.transforms import REGISTRY

SCORES = ("original", "challenge", "dev", "control")
"""The mean scores that a point holds; of the first two how right each test row was, too."""


def model_name(run: InoculationRun) -> str:
    """Return the model's name without the folders of its path."""
    return Path(run.plan.model).name


def model_title(run: InoculationRun) -> str:
    """Return what a person calls a run's model."""
    return bundled.title_of(model_name(run))


def task_of(run: InoculationRun) -> Task:
    """Return the task of a run's model and examples."""
    return task_named(run.plan.task)


def measure_of(runs: Sequence[InoculationRun]) -> str:
    """Return what the scores of some runs are called."""
    named = (run.artefacts.get("measure", task_of(run).measure) for run in runs)
    return " or ".join(dict.fromkeys(named))


_title = lru_cache(maxsize=256)(title_of)


def challenge_title(run: InoculationRun) -> str:
    """Return what a person calls the challenge of a run."""
    return _title(run.plan.challenge, task_of(run))


def run_label(run: InoculationRun) -> str:
    """Return what tells a run from another of the same model and challenge."""
    return OWNER if run.owner == OWNER else f"{mode_words(run.plan.mode)}, {run.id}"


def line_names(runs: Sequence[InoculationRun]) -> dict[str, str]:
    """Return each run's name in a figure by its id: the model, or more where two are alike."""
    count = Counter((model_name(run), run.plan.challenge) for run in runs)
    alike = {run.id: count[model_name(run), run.plan.challenge] > 1 for run in runs}
    return {run.id: model_title(run) + f" ({run_label(run)})" * alike[run.id] for run in runs}


def by_panel(runs: Sequence[InoculationRun]) -> dict[str, list[InoculationRun]]:
    """Return the runs of each panel that has points, by its name: the challenge, and the task of
    several.
    """
    several, runs_of = len({run.plan.task for run in runs}) > 1, dict[str, list[InoculationRun]]()
    for run in runs:
        title = f"{run.plan.challenge} ({run.plan.task})" if several else run.plan.challenge
        runs_of.setdefault(title, []).append(run)
    return {title: own for title, own in runs_of.items() if any(run.results for run in own)}


def frames(runs: Sequence[InoculationRun], selection: Selection) -> dict[str, pd.DataFrame]:
    """Return the rows of each panel."""
    names = line_names(runs)

    def frame(run: InoculationRun) -> pd.DataFrame:
        return curve_frame(run.results, selection, names[run.id], task_of(run))

    return {
        title: pd.concat([frame(run) for run in own if run.results], ignore_index=True)
        for title, own in by_panel(runs).items()
    }


def baselines_of(runs: Sequence[InoculationRun]) -> dict[str, float]:
    """Return the rule baselines in percent where one run is drawn; among several they crowd."""
    shares: Mapping[str, float] = runs[0].verdict.get("baselines", {}) if len(runs) == 1 else {}
    return {name.replace("_", " "): 100 * share for name, share in shares.items()}


def panels(
    runs: Sequence[InoculationRun], selection: Selection, size: tuple[int, int]
) -> tuple[dict[str, Panel], PanelStyle]:
    """Return the panels on one axis, and the look they share.

    Of one challenge there is room for what rules reach and for the goal.
    """
    frames_of, rules, runs_of = frames(runs, selection), baselines_of(runs), by_panel(runs)
    together = pd.concat(frames_of.values()) if frames_of else curve_frame(())
    style = replace(style_for(together, rules), size=size)
    sizes = {name: [it for run in own for it in run.plan.sizes] for name, own in runs_of.items()}
    alone = len(frames_of) == 1
    drawn = {name: Panel(it, tuple(sizes[name]), rules, alone) for name, it in frames_of.items()}
    return drawn, style


def counted(counts: Iterable[int]) -> str:
    """Say of how many test examples figures are, such as n = 600 to 1,000."""
    ordered = sorted({int(n) for n in counts})
    ends = dict.fromkeys((ordered[0], ordered[-1]))
    return f"n = {' to '.join(f'{n:,}' for n in ends)}"


def counter_titles(drawn: Iterable[Panel]) -> dict[str, str]:
    """Return the titles of the counter-tests that panels show, by name."""
    names = dict.fromkeys(name for panel in drawn for name in counter_tests_in(panel.frame))
    return {name: REGISTRY[name].title for name in names}


def point_rows(runs: Iterable[InoculationRun]) -> Iterator[Json]:
    """Yield a row for each finished cell of each run; `on_` are mean scores from 0 to 1."""
    for run in runs:
        about = {"run": run.id, "model": model_name(run), "challenge": run.plan.challenge}
        for point in run.results:
            facts = asdict(point)
            tests, cell = facts.pop("counter_tests"), facts.pop("cell")
            scores = {f"on_{name}": facts.pop(name) for name in SCORES}
            scores |= {f"on_{name}": fmean(rows_of) for name, rows_of in tests.items()}
            counts = {f"n_{name}": len(facts.pop(f"{name}_right")) for name in SCORES[:2]}
            about |= {"mode": run.plan.mode, **cell}
            yield {**about, **scores, **counts, **facts, "task": run.plan.task}


class Said(NamedTuple):
    """An outcome in a run, and in an overview of one model and of several."""

    tone: str
    meaning: str
    clause: str
    many: str


SAID: Mapping[Outcome, Said] = {
    "1": Said("good", "only lacked examples", "{model} recovers from {names} {after}", "closed"),
    "between": Said("keep", "between: part closes", "on {names} part of the gap closes", "partly"),
    "2": Said("bad", "lacks the ability", "on {names} it learns little", "not"),
    "not_taken_up": Said(
        "keep", "not taken up", "on {names} examples in its prompt do little", "not"
    ),
    "3": Said(
        "bad",
        "original lost",
        "{names} {costs} it part of what it knew",
        "at the cost of the original set",
    ),
    "0": Said("plain", "no gap to close", "on {names} it has no gap", "without a gap"),
    "too_little": Said(
        "plain",
        "too little to tell",
        "on {names} there is too little to tell",
        "too little to tell",
    ),
}
TONES = {outcome: said.tone for outcome, said in SAID.items()}
"""The class of each outcome's badge."""
MEANINGS = {outcome: said.meaning for outcome, said in SAID.items()}
"""What each outcome says of the model, in the fewest words."""


def overview(runs: Sequence[InoculationRun], selection: Selection) -> str:
    """Say which challenges closed, which did not, and what was lost; "" where nothing is judged.

    Of one model each challenge is named, of several they are counted.
    """
    by_model: dict[str, list[InoculationRun]] = {}
    for run in runs:
        if run.verdict:
            by_model.setdefault(model_title(run), []).append(run)
    if len(by_model) == 1:
        return _one_model(*by_model.popitem(), selection)
    counts = []
    for name, own in by_model.items():
        found = Counter(outcome_in(run, selection) for run in own)
        told = [f"{found[each]} {said.many}" for each, said in SAID.items() if each in found]
        counts.append(f"{name}: {', '.join(told)}")
    return f"Gaps closed by examples. {'; '.join(counts)}." if counts else ""


def outcome_in(run: InoculationRun, selection: Selection) -> Outcome:
    """Return the outcome of a judged run."""
    outcome: Outcome = run.verdict[selection]["outcome"]
    return outcome


def _one_model(name: str, runs: Sequence[InoculationRun], selection: Selection) -> str:
    found: dict[Outcome, dict[str, None]] = {}
    for run in runs:  # what changes the meaning of an outcome stands with it
        marks = ", ".join(run.verdict[selection]["marks"])
        title = f"“{challenge_title(run)}”" + (f" ({marks})" if marks else "")
        found.setdefault(outcome_in(run, selection), {})[title] = None
    sizes = {_enough(run, selection) for run in runs if outcome_in(run, selection) == "1"}
    after = f"after {'at most ' * (len(sizes) > 1)}{max(sizes, default=0)} examples"
    costs = "costs" if sum(outcome_in(run, selection) == "3" for run in runs) == 1 else "cost"
    text = "; ".join(
        said.clause.format(model=name, names=listing([*found[each]]), after=after, costs=costs)
        for each, said in SAID.items()
        if each in found
    )
    return f"{text}." if "1" in found else f"{name}: {text}."


def _enough(run: InoculationRun, selection: Selection) -> int:
    """Return the smallest size from which on, up to the one that shows it, the outcome is 1."""
    by_size, enough = run.verdict[BY_SIZE[selection]], int(run.verdict[selection]["shown_at"])
    smaller = sorted((size for size in map(int, by_size) if size <= enough), reverse=True)
    same = takewhile(lambda size: by_size[str(size)]["outcome"] == "1", smaller)
    return min(same, default=enough)


def status(runs: Sequence[InoculationRun]) -> str:
    """Say how far own runs are that are under way or ended early; "" where none is."""
    going = [run for run in runs if run.state in OPEN]
    if going:
        names = listing([*dict.fromkeys(f"“{challenge_title(run)}”" for run in going)])
        return f"Learning {names}: {_trainings(going)} done."
    stopped = [run for run in runs if run.state in ("failed", "cancelled")]
    if not stopped:
        return ""
    failed = any(run.state == "failed" for run in stopped)
    what = "It failed" if failed else "It was stopped"
    return f"{what} after {_trainings(stopped)}; it can be taken up where it ended."


def _trainings(runs: Sequence[InoculationRun]) -> str:
    """Say how many trainings are done; testing the model as it was is none."""
    cells = [cell for run in runs for cell in run.cells if cell.key != BASE]
    return f"{sum(cell.result is not None for cell in cells)} of {len(cells)} trainings"


CAUTION = (
    "An outcome speaks of this challenge set and this model. That a gap closes shows that the "
    "model can fit such examples, not that it has learnt the phenomenon: other wordings may "
    "still fool it."
)
SELECTION_TITLES: Mapping[Selection, str] = {
    "oracle_lr": "best on the challenge test (as published)",
    "dev_lr": "best on original dev (peeks at no test)",
}
Verdict = Mapping[str, Any]  # Any: a verdict is JSON


def badge_of(outcome: Verdict) -> str:
    """Return what was concluded as a badge names it, with what changes its meaning."""
    return " · ".join([badge(outcome["outcome"]), *outcome["marks"]])


def meaning(outcome: Verdict) -> str:
    """Say what was concluded means; where it is too little to tell, what the figures would."""
    words = OUTCOMES[outcome["outcome"]].summary
    if not outcome["lacks"]:
        return words
    figures = OUTCOMES[outcome["figures"]].name
    return f"{words} The figures alone would read “{figures}”, which is not shown."


def missing_texts(outcome: Verdict) -> str:
    """Name what would tell where only more texts can, "" elsewhere."""
    missing = [each["missing"] for each in outcome["lacks"]]
    told = [MORE_TEXTS[each] for each in missing if each in MORE_TEXTS]
    return f"What would tell: {' and '.join(told)}." if told else ""


def interval(value: Mapping[str, float | None]) -> str:
    """Write a share as percent with its interval."""
    middle, low, high = value["value"], value["low"], value["high"]
    if middle is None or low is None or high is None:
        return "–"
    return f"{100 * middle:.1f} ({100 * low:.1f} to {100 * high:.1f})".replace("-", "−")


def summary(outcome: Verdict) -> str:
    """Say gap, closed share and drop with their intervals; of no gap no share."""
    gap = f"The gap was {interval(outcome['gap'])} points"
    lost = f"the original test lost {interval(outcome['drop'])} points."
    if outcome["outcome"] == "0" or outcome["closed"]["value"] is None:
        return (
            f"{gap}, too small for a share of it to close; with {outcome['size']} examples {lost}"
        )
    closed = f"{interval(outcome['closed'])} % of it closed"
    earlier = outcome["shown_at"]
    shown = f" The outcome is that of {earlier} examples." if earlier != outcome["size"] else ""
    return f"{gap}. {closed} with {outcome['size']} examples; {lost}{shown}"


IN_PROMPT = "Nothing was trained: the examples stood in the model's prompt."


def details(verdict: Verdict, selection: Selection) -> list[str]:
    """Say how the rate was chosen, what the other choice gives, and what rules reach.

    And how much of the examples was learnt, and what happened on the control set, if there is one.
    """
    other: Selection = "dev_lr" if selection == "oracle_lr" else "oracle_lr"
    outcome, rival = verdict[selection], verdict[other]
    shares = verdict["evidence"]["doses"].get(str(outcome["size"]), {})
    learnt = [
        f"{100 * share:.0f} % at rate {rate}" for rate, share in shares.items() if share is not None
    ]
    trained = [
        f"Learning rate {outcome['lr']:g}, {SELECTION_TITLES[selection]}. The rate "
        f"{SELECTION_TITLES[other]} is {rival['lr']:g}: {rival['name']}.",
        f"Of the {outcome['size']} examples themselves the model had learnt at the last epoch "
        f"trained: {', '.join(learnt) or 'not recorded'}.",
    ]
    lines = [
        *(trained if outcome["lr"] else [IN_PROMPT]),
        f"95 % intervals from 1,000 paired resamples; n = {outcome['gap']['n']} test examples, "
        f"{outcome['seeds']} seed{'s' if outcome['seeds'] > 1 else ''}.",
    ]
    if baselines := verdict.get("baselines"):
        rules = [f"{rule.replace('_', ' ')} {100 * it:.1f} %" for rule, it in baselines.items()]
        lines.append(
            f"Rules that understand nothing get right of the challenge test: {'; '.join(rules)}."
        )
    if control := verdict.get("control"):
        lines.append(
            "On a control set, the same kind of change by other words, which is never trained on, "
            f"{verdict.get('measure', NLI.measure)} went from {100 * control['before']:.1f} to "
            f"{100 * control['after']:.1f} %."
        )
    return lines


def counter_lines(verdict: Verdict) -> list[str]:
    """Say what the counter-tests show, where there are any."""
    return [test["sentence"] for test in verdict.get("counter_tests", ())]


def short(name: str) -> str:
    """Return an outcome's name without the word."""
    return name.removeprefix("Outcome ")


def plan_that_tells(run: InoculationRun, selection: Selection) -> Plan | None:
    """Return the smallest plan that would tell what a judged run does not.

    None where nothing is lacking, where only more texts would do, where every training diverged, or
    where the model is gone.
    """
    found, available = run.verdict[selection], run.verdict["evidence"]["available"]
    if all(point.diverged for point in run.results if point.cell.size == found["shown_at"]):
        return None
    missing = [each["missing"] for each in found["lacks"]]
    with suppress(UserError):
        return telling_plan(run.plan, missing, found["shown_at"], available)
    return None


def telling_command(run: InoculationRun, selection: Selection) -> str:
    """Give the command of that plan in a sentence, "" where there is none."""
    plan = plan_that_tells(run, selection)
    return f"What would tell: {command(run, plan)}" if plan else ""


def epoch_text(row: Any) -> str:  # Any: an epoch of some kind
    """Return how far a training is."""
    return (
        f"epoch {row.epoch}  loss {row.loss:.4f}  dev {row.dev:.4f}  "
        f"{row.examples_per_second:.1f} examples/s"
    )


def row_text(row: Epoch | Point) -> str:
    """Return size, rate and seed, and how far the cell is or what it came to."""
    cell = f"size {row.cell.size:<4} lr {row.cell.lr:g}  seed {row.cell.seed}"
    if isinstance(row, Epoch):
        return f"{cell}  {epoch_text(row)}"
    ended = "diverged  " if row.diverged else ""
    lost = f"{row.unanswered} without an answer  " if row.unanswered else ""
    dose = "" if row.dose is None else f"dose {row.dose:g} of {row.cell.size}  "
    return (
        f"{cell}  original {row.original:.4f}  challenge {row.challenge:.4f}  "
        f"best epoch {row.best_epoch} of {row.epochs}  {dose}{ended}{lost}{row.seconds:.1f} s"
    )


MODELS = ["da", "esim", "esim_char", "minilm"]
NUMERICAL = "numerical"
"""The challenge that is the released file, not the transform of that name."""
CHALLENGES = ["word_overlap", "negation", "spelling", "length_mismatch", NUMERICAL]
"""The stress tests of Liu et al.'s figure 3."""
READERS = ["minilm_reader", "bidaf", "qanet"]
"""Of figure 3f, Adversarial SQuAD."""


@cache
def shown_runs(folder: Path = FOLDER) -> tuple[InoculationRun, ...]:
    """Return the inoculations of a gallery in the orders above, others behind by name."""
    orders = (CHALLENGES, [*MODELS, *READERS])

    def place(run: InoculationRun) -> tuple[list[int], str]:
        named = zip(orders, (run.plan.challenge, run.plan.model), strict=True)
        return [own.index(it) if it in own else len(own) for own, it in named], run.id

    return tuple(sorted(inoculation_runs(gallery_runs(folder)), key=place))


def _tests(point: Point) -> Mapping[str, Sequence[float]]:
    """Return the scores of the rows of each test set, by its name."""
    own = {"challenge": point.challenge_right, "original": point.original_right}
    return {**own, **point.counter_tests}


COLUMNS = ["examples", "set", "accuracy", "low", "high", "n", "lr", "seeds"]


def curve_frame(
    points: Sequence[Point],
    selection: Selection = "oracle_lr",
    name: str = "model",
    task: Task = NLI,
) -> pd.DataFrame:
    """Return a row for each size and test set, in percent with its 95 % interval (`mean_score`).

    Of several learning rates the one that the selection chooses; of several seeds the mean, with an
    interval over them too.
    """
    rows = []
    for seeds in choose(points, selection):
        point = merge(seeds)
        repeats = [_tests(seed) for seed in seeds]
        for which, scores in _tests(point).items():
            by_seed = [fmean(each[which]) for each in repeats]
            found = over_repeats(mean_score(task, scores), by_seed)
            shares = (100 * share for share in (found.value, found.low, found.high))
            rows.append((point.cell.size, which, *shares, found.n, point.cell.lr, len(seeds)))
    return pd.DataFrame(rows, columns=COLUMNS).assign(name=name)
