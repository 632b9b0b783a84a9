"""What several runs say together, in a sentence; what one says in a few words."""

from collections.abc import Mapping, Sequence

from finetune.experiments.inoculation.outcomes import Outcome
from finetune.experiments.inoculation.plan import BASE
from finetune.experiments.inoculation.run import InoculationRun
from finetune.experiments.inoculation.selection import Selection
from finetune.experiments.inoculation.verdict import BY_SIZE
from finetune.report.inoculation.sweep import challenge_title, model_title
from probe.runs.run import OPEN

TONES: Mapping[Outcome, str] = {
    "1": "good",
    "2": "bad",
    "3": "bad",
    "between": "keep",
    "0": "plain",
    "too_little": "plain",
}
"""The class of each outcome's badge."""
MEANINGS: Mapping[Outcome, str] = {
    "1": "only lacked examples",
    "2": "lacks the ability",
    "3": "original lost",
    "between": "between: part closes",
    "0": "no gap to close",
    "too_little": "too little to tell",
}
"""What each outcome says of the model, in the fewest words."""
COUNTS: Mapping[Outcome, str] = {
    "1": "{} closed",
    "between": "{} partly",
    "2": "{} not",
    "3": "{} at the cost of the original set",
    "0": "{} without a gap",
    "too_little": "{} too little to tell",
}


def overview(runs: Sequence[InoculationRun], selection: Selection) -> str:
    """Say which challenges closed, which did not, and what was lost; "" where nothing is judged.

    Of one model each challenge is named, of several they are counted.
    """
    judged = [run for run in runs if run.verdict]
    by_model: dict[str, list[InoculationRun]] = {}
    for run in judged:
        by_model.setdefault(model_title(run), []).append(run)
    if len(by_model) == 1:
        return _one_model(*by_model.popitem(), selection)
    counts = [f"{name}: {_counted(own, selection)}" for name, own in by_model.items()]
    return f"Gaps closed by examples. {'; '.join(counts)}." if counts else ""


def outcome_in(run: InoculationRun, selection: Selection) -> Outcome:
    """Return the outcome of a judged run."""
    outcome: Outcome = run.verdict[selection]["outcome"]
    return outcome


def _one_model(name: str, runs: Sequence[InoculationRun], selection: Selection) -> str:
    found: dict[Outcome, list[InoculationRun]] = {}
    for run in runs:
        found.setdefault(outcome_in(run, selection), []).append(run)
    said = {
        outcome: _listed([_named(run, selection) for run in own]) for outcome, own in found.items()
    }
    sizes = sorted({_enough(run, selection) for run in found.get("1", ())})
    after = f"after {'at most ' if len(sizes) > 1 else ''}{sizes[-1]} examples" if sizes else ""
    lost = "costs" if len(found.get("3", ())) == 1 else "cost"
    clauses = {
        "1": f"{name} recovers from {said.get('1')} {after}",
        "2": f"on {said.get('2')} it learns little",
        "between": f"on {said.get('between')} part of the gap closes",
        "3": f"{said.get('3')} {lost} it part of what it knew",
        "0": f"on {said.get('0')} it has no gap",
        "too_little": f"on {said.get('too_little')} there is too little to tell",
    }
    text = "; ".join(clauses[outcome] for outcome in COUNTS if outcome in found)
    return f"{text}." if "1" in found else f"{name}: {text}."


def _named(run: InoculationRun, selection: Selection) -> str:
    """Name a challenge with what changes the meaning of its outcome."""
    title, marks = f"“{challenge_title(run)}”", run.verdict[selection]["marks"]
    return f"{title} ({', '.join(marks)})" if marks else title


def _enough(run: InoculationRun, selection: Selection) -> int:
    """Return the smallest size from which on, up to the one that shows it, the outcome is 1."""
    by_size, enough = run.verdict[BY_SIZE[selection]], int(run.verdict[selection]["shown_at"])
    for size in sorted((size for size in map(int, by_size) if size <= enough), reverse=True):
        if by_size[str(size)]["outcome"] != "1":
            break
        enough = size
    return enough


def _counted(runs: Sequence[InoculationRun], selection: Selection) -> str:
    outcomes = [outcome_in(run, selection) for run in runs]
    return ", ".join(
        words.format(outcomes.count(outcome))
        for outcome, words in COUNTS.items()
        if outcome in outcomes
    )


def _listed(names: Sequence[str]) -> str:
    *others, last = dict.fromkeys(names)
    return f"{', '.join(others)} and {last}" if others else last


def status(runs: Sequence[InoculationRun]) -> str:
    """Say how far own runs are that are under way or ended early; "" where none is."""
    going = [run for run in runs if run.state in OPEN]
    if going:
        names = _listed([f"“{challenge_title(run)}”" for run in going])
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


def seconds_left(run: InoculationRun) -> float | None:
    """Return about how long the trainings that are missing take, None before one has ended.

    A training takes what testing takes, and longer by its examples.
    """
    ended = [(cell.key.size, cell.result.seconds) for cell in run.cells if cell.result]
    trained = [(size, seconds) for size, seconds in ended if size]
    missing = [cell.key.size for cell in run.cells if not cell.result]
    if not trained or not missing:
        return None
    fixed = min(seconds for _, seconds in ended)
    per_example = sum(seconds - fixed for _, seconds in trained) / sum(size for size, _ in trained)
    return sum(fixed + per_example * size for size in missing)
