"""Which of the heuristics of HANS a model follows, on pairs from our own templates.

McCoy et al. 2019: a model that answers entailment wherever the hypothesis's words stand in the
premise is nearly always right on the entailed sub-cases and nearly never on the others, so the
two are never pooled.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from probe.errors import ModelError
from probe.models.classifier import Model, Precision, resolve
from probe.statistics import FEWEST, Drawn, Estimate, clustered
from probe.tasks.nli import ENTAILMENT, NON_ENTAILMENT, Pair
from probe.tasks.task import Label
from probe.templates import Request, generate, subcases
from probe.templates.generate import HEURISTICS

MIN_HIGH, MAX_LOW = 0.9, 0.1  # accuracies that count as high and as low


@dataclass(frozen=True)
class Profiled:
    """What a model reaches on a sub-case, or on all of one heuristic and gold label.

    `subcase` is empty for the latter. Two classes are compared. `templates` has of each how many of
    its pairs are right, and how many it has; those of one go right or wrong together.
    """

    heuristic: str
    subcase: str
    gold: Label
    n: int
    correct: int
    templates: Mapping[str, tuple[int, int]]

    @property
    def estimate(self) -> Estimate:
        """The accuracy with an interval over the templates."""
        return over_templates([self])


def over_templates(rows: Iterable[Profiled]) -> Estimate:
    """Return the accuracy of several together, with an interval over their templates."""
    drawn = [(name, *each) for row in rows for name, each in row.templates.items()]
    return clustered([Drawn("", *each) for each in drawn])


@dataclass(frozen=True)
class Reported:
    """A published count on HANS itself, 30,000 pairs, over all three heuristics."""

    model: str
    gold: Label
    correct: int
    n: int = 15000
    source: str = "fritz"


REPORTED = (
    Reported("Decomposable Attention", ENTAILMENT, 14691),
    Reported("Decomposable Attention", NON_ENTAILMENT, 411),
    Reported("ESIM", ENTAILMENT, 14788),
    Reported("ESIM", NON_ENTAILMENT, 506),
)
NOTE = (
    "McCoy et al. 2019 report the same of models trained on MNLI: near 100 % where the hypothesis "
    "is entailed, near 0 % where it is not, on lexical overlap. Those figures are for HANS itself; "
    "ours are for pairs from our own templates of the same sub-cases, so compare the shape and not "
    "the decimals. Intervals are over the templates, four of each sub-case."
)


def profile(
    model: Model, per_subcase: int = 100, seed: int = 0, precision: Precision = "auto"
) -> Iterator[Profiled]:
    """Yield what the model reaches on each of the 30 sub-cases, in the order of the templates.

    `in_heuristics` sums them up. Raises ModelError for a model of another task than NLI and
    TemplateError where a sub-case has fewer pairs.
    """
    if model.task.example is not Pair:
        raise ModelError(f"HANS is about NLI; {model.name!r} is a model for {model.task.title}")
    for subcase in subcases():
        if pairs := list(generate(Request("hans", subcase=subcase), per_subcase, seed)):
            first = pairs[0]  # a sub-case has one heuristic and one label
            gold: Label = ENTAILMENT if first.gold == ENTAILMENT else NON_ENTAILMENT
            said = model.predict(pairs, precision)
            right, made = Counter[str](), Counter(pair.template for pair in pairs)
            for pair, each in zip(pairs, said, strict=True):
                right[pair.template] += (each.label == ENTAILMENT) == (gold == ENTAILMENT)
            templates = {name: (right[name], n) for name, n in made.items()}
            yield Profiled(
                first.heuristic, first.subcase, gold, len(pairs), right.total(), templates
            )


def profiled(told: Iterable[tuple[str, str, str, Label, Label]]) -> list[Profiled]:
    """Return what HANS was answered, by heuristic, sub-case, template, gold label and answer."""
    hits: dict[tuple[str, str, Label], dict[str, list[bool]]] = {}
    for heuristic, subcase, template, gold, answer in told:
        of: Label = ENTAILMENT if gold == ENTAILMENT else NON_ENTAILMENT
        own = hits.setdefault((heuristic, subcase, of), {}).setdefault(template, [])
        own.append((answer == ENTAILMENT) == (of == ENTAILMENT))
    counted = {
        part: {name: (sum(each), len(each)) for name, each in own.items()}
        for part, own in sorted(hits.items())
    }
    return [
        Profiled(*part, sum(n for _, n in own.values()), sum(r for r, _ in own.values()), own)
        for part, own in counted.items()
    ]


def profile_json(rows: Sequence[Profiled]) -> dict[str, Any]:
    """Return subcases, heuristics and verdicts of one model."""
    return {
        "subcases": [_row_json(row) for row in rows],
        "heuristics": [_row_json(row) for row in in_heuristics(rows)],
        "verdicts": verdicts(rows),
    }


def in_heuristics(rows: Iterable[Profiled]) -> list[Profiled]:
    """Sum sub-cases up to one row for each heuristic and gold label, entailed ones first."""
    profiled = list(rows)
    return [
        Profiled(
            heuristic,
            "",
            gold,
            sum(row.n for row in part),
            sum(row.correct for row in part),
            {name: each for row in part for name, each in row.templates.items()},
        )
        for heuristic in HEURISTICS
        for gold in (ENTAILMENT, NON_ENTAILMENT)
        if (part := [r for r in profiled if (r.heuristic, r.gold) == (heuristic, gold)])
    ]


def _reading(entailed: float, others: float) -> str:
    """Say what the accuracies on entailed and on other pairs mean."""
    high = entailed >= MIN_HIGH
    if high and others <= MAX_LOW:
        return "the published profile: that the words are there decides"
    if high and others >= MIN_HIGH:
        return "not the profile: it tells the two apart"
    if abs(entailed + others - 1) <= MAX_LOW:
        alike = "it answers alike whether they are entailed or not"
        return f"not the profile, but no skill either: {alike}"
    if high:
        return "the profile in part: it says entailment too often, yet tells some of them apart"
    return "not the profile: it misses entailments too"


def verdicts(rows: Iterable[Profiled]) -> dict[str, str]:
    """Say for each heuristic whether a model shows the published profile, and if not, what else.

    Of fewer than `FEWEST` pairs of either kind it is said that they are too few.
    """
    found = {(row.heuristic, row.gold): row for row in in_heuristics(rows)}
    said = {}
    for heuristic in HEURISTICS:
        both = [found.get((heuristic, gold)) for gold in (ENTAILMENT, NON_ENTAILMENT)]
        if not all(both):
            continue
        entailed, others = (row.estimate for row in both if row)
        said[heuristic] = f"{entailed.n} entailed pairs and {others.n} others are too few to tell"
        if min(entailed.n, others.n) >= FEWEST:
            said[heuristic] = (
                f"says entailment of {100 * entailed.value:.0f} % of the entailed pairs and of "
                f"{100 * (1 - others.value):.0f} % of the others, "
                + _reading(entailed.value, others.value)
            )
    return said


def hans_json(
    profiles: dict[str, list[Profiled]], n: int, seed: int, precision: Precision
) -> dict[str, Any]:
    """Return per_subcase, seed, precision, models by name, what others report of HANS itself.

    Each model has its subcases, heuristics and verdicts.
    """
    return {
        "per_subcase": n,
        "seed": seed,
        "precision": resolve(precision),
        "models": {name: profile_json(rows) for name, rows in profiles.items()},
        "reported_on_hans": [vars(reported) for reported in REPORTED],
        "note": NOTE,
    }


def _row_json(row: Profiled) -> dict[str, Any]:
    found, values = row.estimate, asdict(row)
    values["templates"] = len(row.templates)
    if not row.subcase:
        del values["subcase"]
    return {**values, "accuracy": found.value, "low": found.low, "high": found.high}
