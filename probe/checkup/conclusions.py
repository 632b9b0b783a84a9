"""What a check-up says in plain sentences, and what to try next."""

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from probe.checkup.measuring import Figure, figure_of, merged_name
from probe.models.bundled import title_of
from probe.published import PublishedShare, published_share
from probe.statistics import (
    AS_SURE,
    FEWEST,
    LESS_SURE,
    MAX_P,
    SURE_WITHIN,
    SURER,
    CalibrationError,
    Estimate,
    adjusted,
    interval_p,
    joined_difference,
    mean,
    mean_score,
    paired_p,
    percent,
    sureness,
)
from probe.tasks.task import Task
from probe.text.words import listing
from probe.transforms.options import PUBLISHED, with_sign


def difference(first: Figure, second: Figure) -> tuple[Estimate, float]:
    """Return second less first with its 95 % interval, and the two-sided p of there being none.

    Where both hold the scores of as many texts these are taken to be the same ones and compared
    one by one (Student's interval); otherwise the two intervals are joined as if independent. The
    interval and p are NaN where one of them is not known.
    """
    if first.rows and len(first.rows) == len(second.rows):
        gains = [after - before for before, after in zip(first.rows, second.rows, strict=True)]
        return mean(gains, least=-1.0), paired_p(first.rows, second.rows)
    found = joined_difference(first.estimate, second.estimate)
    return found, interval_p(found)


def points(found: Estimate) -> str:
    """Write the size of a difference in points with its interval."""
    low, high = sorted((abs(found.low), abs(found.high)))
    if found.low < 0 < found.high:
        return f"{100 * abs(found.value):.1f} points"
    return f"{100 * abs(found.value):.1f} points ({100 * low:.1f} to {100 * high:.1f})"


HOW = (
    "Differences are tested on the same texts where both sides answered them (McNemar's exact test "
    "of right answers, a paired t-test of other scores), else from their intervals; one is named "
    "where it remains at 5 % after the correction of Benjamini and Hochberg over all tests of its "
    "kind, so that about one in twenty of those named, or fewer, is there by chance."
)
"""How a report decides which differences it names."""


@dataclass(frozen=True)
class Compared:
    """Two figures, their difference with its interval, and the p-value of there being none.

    `adjusted` is p after the correction over the family; both are NaN where an interval is not
    known.
    """

    before: Figure
    after: Figure
    found: Estimate
    p: float
    adjusted: float

    @property
    def remains(self) -> bool:
        """Whether the difference remains after the correction."""
        return self.adjusted < MAX_P

    @property
    def alone(self) -> bool:
        """Whether it would be named were it the only one that is tested."""
        return self.p < MAX_P


def compared(pairs: Sequence[tuple[Figure, Figure]]) -> list[Compared]:
    """Test second less first of each pair, all as one family (Benjamini and Hochberg 1995)."""
    tested = [difference(*pair) for pair in pairs]
    rows = zip(pairs, tested, adjusted([p for _, p in tested]), strict=True)
    return [Compared(*pair, *found, corrected) for pair, found, corrected in rows]


Family = Literal["changes", "beside", "kinds"]
FAMILIES: dict[Family, str] = {
    "changes": "a change of the texts",
    "beside": "another model or a rule",
    "kinds": "a kind of texts, beside all other texts",
}
"""What the tests of a report are about; each kind is corrected for by itself."""
Figures = Mapping[str, Figure]
Others = Mapping[str, Figures]
Tests = Mapping[Family, Mapping[str, Compared]]


def families_of(task: Task, own: Figures, others: Others) -> Tests:
    """Test the figures of a model, against each other and those of other models by their names.

    Each change is beside the same texts before, or where another answer is right beside all texts;
    before and after have as many texts where they are the same ones, and the same classes. Each
    kind of texts, but for kinds of a few, is beside all others.
    """
    measure = task.measure.lower()
    plain = own[measure]
    wholes = {
        each.merged: replace(each, title=f"all texts as they are{each.classes}", rows=())
        for each in (own.get(merged_name(task), plain), plain)
    }
    beside = {each: own[each] for each in RULES if each in own}
    for other, known in others.items():
        if measure in known:
            beside[other] = replace(known[measure], title=title_of(other))
    kinds = {}
    for each in own.values():
        if each.group in ("labels", "slices") and each.n >= FEWEST:
            rest = mean_score(task, list((Counter(plain.rows) - Counter(each.rows)).elements()))
            if rest.n:
                others_alone = figure_of(plain.name, "all other texts", plain.group, rest)
                kinds[each.name] = (others_alone, each)
    pairs: dict[Family, dict[str, tuple[Figure, Figure]]] = {
        "changes": losses(own)
        | {
            each.name: (wholes.get(each.merged, wholes[plain.merged]), each)
            for each in computed(own)
        },
        "beside": {name: (figure, plain) for name, figure in beside.items()},
        "kinds": kinds,
    }
    return {
        family: dict(zip(each, compared(list(each.values())), strict=True))
        for family, each in pairs.items()
    }


def losses(own: Figures) -> dict[str, tuple[Figure, Figure]]:
    """Return before and after of each change that has a right answer, by its name."""
    return {
        name: (own[f"{name}.before"], figure)
        for name, figure in own.items()
        if figure.group == "stress" and f"{name}.before" in own
    }


def computed(own: Figures, *, few: bool = False) -> list[Figure]:
    """Return the figures of changes after which another answer is right, the lowest first.

    Those of fewer than `FEWEST` texts are not among them; with `few` these alone.
    """
    stress = {name: figure for name, figure in own.items() if figure.group == "stress"}
    alone = [
        figure
        for name, figure in stress.items()
        if not name.endswith(".before") and f"{name}.before" not in own
    ]
    if few:
        return [each for each in alone if each.n < FEWEST]
    return sorted((each for each in alone if each.n >= FEWEST), key=lambda each: each.value)


def published_beside(figure: Figure, task: Task, model: str) -> PublishedShare | None:
    """Return the published share beside which a figure of word salad stands, None without one.

    `model` may be named after the data set that it learnt. A note says where the paper's sign is
    another one than the figure's.
    """
    name = {"confidence": "confidence.original"}.get(figure.name, figure.name)
    agreement = f"agreement.{name.removeprefix('salad.')}"
    names = {**dict.fromkeys(("salad", "families", "by_label"), agreement), "confidence": name}
    told = "" if figure.group == "by_label" else model  # by label of one model alone
    found = published_share(f"{names.get(figure.group)}.{task.name}", told)
    if found and figure.sign not in ("", PUBLISHED.sign):
        return replace(found, note=with_sign("", PUBLISHED.sign))
    return found


COSTS, KEPT, TRICKED, BOUND, MOST = 0.02, 0.5, 0.5, 0.1, 3
"""A loss that is worth a try at a cure; answers that stay on texts that nobody can read; the share
of pairs that are not entailed which is right at least; a loss that must be ruled out before nothing
is said to be lost; changes of a kind that are advised against, the worst first."""
RULES = {
    "majority": "one label for all",
    "hypothesis_only": "a rule that sees only the words of the hypothesis",
}
"""What rules are called beside which a model is set."""
Tone = Literal["good", "bad", ""]


@dataclass(frozen=True)
class Finding:
    """A sentence, and whether it speaks for the model, against it, or neither."""

    sentence: str
    tone: Tone = ""


@dataclass(frozen=True)
class Advice:
    """What to try, why, and the command that does it.

    `tab` is where the page does it, `challenge` what an inoculation is against there.
    """

    why: str
    command: str
    tab: str = "repair"
    challenge: str = ""


def findings(task: Task, model: str, own: Figures, tests: Tests) -> list[Finding]:
    """Say what a model is good and bad at, by its figures and their tests."""
    return [
        *_plain(task, own, tests),
        *_salad(task, model, own),
        *_sure(own),
        *_stress(task, own, tests),
        *_another(task, own, tests),
        *_hans(own),
        *_kinds_found(tests),
    ]


def _plain(task: Task, own: Figures, tests: Tests) -> Iterator[Finding]:
    """Say how good it is on texts as they are, beside others, and how well calibrated."""
    found = own[task.measure.lower()]
    reached = percent(found.estimate)
    if task.has_spans:
        yield Finding(f"Its answers to {found.n:,} {task.unit}s have an F1 of {reached}.")
    else:
        yield Finding(f"It is right on {reached} of {found.n:,} {task.unit}s{found.classes}.")
    for name, each in tests["beside"].items():
        other, reached = RULES.get(name, title_of(name)), percent(each.before.estimate)
        score = f"Its {task.measure}{each.after.classes}"
        if each.remains:
            better, size = each.found.value > 0, points(each.found)
            said = f"{score} is {size} {'above' if better else 'below'} {other}, {reached}."
            yield Finding(said, "good" if better else "bad")
        else:
            unsure = _unless_chance(each, tests["beside"])
            yield Finding(f"{score} is not measurably different from {other}, {reached}.{unsure}")
    if error := error_of(own):
        yield Finding(
            f"Its confidence is {100 * error.found.value:.1f} points from how often it is right"
            f"{own['ece'].classes}, "
            f"on average (expected calibration error, 15 bins; {error.beside}).",
            tone_of_error(error),
        )


def _unless_chance(each: Compared, family: Mapping[str, Compared]) -> str:
    """Say of what would be a difference by itself that it does not remain; "" of all else."""
    if not each.alone or each.remains:
        return ""
    return f" That may be chance: it does not remain after the correction for {len(family)} tests."


def error_of(own: Figures) -> CalibrationError | None:
    """Return the calibration error beside what chance gives, None where that was not measured."""
    if not {"ece", "ece_by_chance"} <= {*own}:
        return None
    return CalibrationError(own["ece"].estimate, own["ece_by_chance"].estimate)


def tone_of_error(error: CalibrationError) -> Tone:
    """Say whether an error speaks against the model; by as much as chance gives it does not."""
    return "bad" if error.is_fault else "good" if error.is_small else ""


def _salad(task: Task, model: str, own: Figures) -> Iterator[Finding]:
    stays: Mapping[Tone, str] = {
        "bad": "It mostly answers texts that nobody can read as if it could read them, after {}.",
        "good": "Its answers mostly change with texts that nobody can read, after {}.",
        "": "About half of its answers stay on texts that nobody can read, after {}.",
    }
    for tone, words in stays.items():
        told = []
        for each in own.values():
            if each.group == "salad" and _around(each, KEPT) == tone:
                known = published_beside(each, task, model)
                beside = f", published {100 * known.share:.0f} %{known.note}" if known else ""
                told.append(f"“{each.title}” ({100 * each.value:.0f} % stay{beside})")
        if told:
            yield Finding(words.format(listing(told)), tone)


def _around(figure: Figure, middle: float) -> Tone:
    """Return the tone of a figure whose interval lies on one side of the middle."""
    if not (figure.low > middle or figure.high < middle):
        return ""
    return "good" if (figure.low > middle) == bool(figure.more_is_better) else "bad"


def _sure(own: Figures) -> Iterator[Finding]:
    """Say after how many changes it is as sure as before, and after which less."""
    pairs = [
        (difference(own[f"{figure.name}.before"], figure)[0], figure)
        for figure in own.values()
        if figure.group == "confidence" and f"{figure.name}.before" in own
    ]
    sure = {figure.name: sureness(found) for found, figure in pairs}
    if alike := [each.value for _, each in pairs if sure[each.name] in (AS_SURE, SURER)]:
        yield Finding(
            f"It is {AS_SURE}, within {100 * SURE_WITHIN:.0f} points, after {len(alike)} of "
            f"{len(pairs)} changes that make a text unreadable: {100 * min(alike):.0f} to "
            f"{100 * max(alike):.0f} % sure.",
            "bad",
        )
    if less := [each for _, each in pairs if sure[each.name] == LESS_SURE]:
        told = [f"“{each.title}” ({100 * each.value:.0f} % sure)" for each in less]
        yield Finding(f"It is {LESS_SURE} after {listing(told)}.", "good")


def _stress(task: Task, own: Figures, tests: Tests) -> Iterator[Finding]:
    family, unmoved, untold = tests["changes"], list[str](), list[str]()
    for name, (before, after) in losses(own).items():
        each = family[name]
        costs = "costs" if each.found.value < 0 else "gains"
        moved = (
            f"“{after.title}” {costs} {points(each.found)}: {task.measure} goes from "
            f"{100 * before.value:.1f} to {100 * after.value:.1f} % (n {after.n})."
        )
        if each.remains:
            yield Finding(moved, "bad" if each.found.value < 0 else "good")
        elif each.alone:
            yield Finding(moved + _unless_chance(each, family))
        else:
            (unmoved if each.found.low > -BOUND else untold).append(f"“{after.title}”")
    if unmoved:
        yield Finding(f"Nothing that can be measured is lost by {listing(unmoved)}.", "good")
    if untold:
        yield Finding(f"Too few texts to tell what is lost by {listing(untold)}.")


def _another(task: Task, own: Figures, tests: Tests) -> Iterator[Finding]:
    cases: tuple[tuple[bool, str, Tone], ...] = (
        *((True, "Lower", "bad"), (False, "Not measurably lower", "")),
    )
    for worse, start, tone in cases:
        if told := [
            f"“{each.title}” ({100 * each.value:.0f} % of {each.n})"
            for each in computed(own)
            if _is_worse(tests["changes"][each.name]) == worse
        ]:
            after = "after changes that may call for another answer"
            yield Finding(f"{start} {task.measure} {after}: {listing(told)}.", tone)
    if few := [f"“{each.title}” ({each.n})" for each in computed(own, few=True)]:
        yield Finding(f"Too few texts to tell how it answers after {listing(few)}.")


def _is_worse(each: Compared) -> bool:
    return each.remains and each.found.value < 0


def _hans(own: Figures) -> Iterator[Finding]:
    """Say how often it is right by heuristic, of the pairs that are entailed and of the others.

    Who always says entailment is right on the entailed ones too, so that these speak for nobody.
    """
    for end, follows in ((".entailment", "follows"), (".non-entailment", "does not follow")):
        figures = [f for f in own.values() if f.group == "hans" and f.n and f.name.endswith(end)]
        tones = {_around(each, TRICKED) for each in figures}
        tone: Tone = tones.pop() if end == ".non-entailment" and len(tones) == 1 else ""
        if told := [f"{100 * f.value:.0f} % ({f.title.split(',')[0].lower()})" for f in figures]:
            words = f"HANS, where the words stand in the other text and it {follows}"
            yield Finding(f"{words}: right on {listing(told)}.", tone)


def _kinds_found(tests: Tests) -> Iterator[Finding]:
    low = [each for each in tests["kinds"].values() if each.alone and each.found.value < 0]
    for each in sorted(low, key=lambda one: one.after.value):
        kind, rest = each.after, percent(each.before.estimate)
        reached, unsure = percent(kind.estimate), _unless_chance(each, tests["kinds"])
        yield Finding(
            f"It is weaker on {kind.title}: {reached} of {kind.n}, elsewhere {rest}.{unsure}",
            "bad" if each.remains else "",
        )


def advice(task: Task, model: str, own: Figures, tests: Tests) -> list[Advice]:
    """Return what to try, the largest loss first."""
    changes = tests["changes"]
    found = [
        (after.value - before.value, name, after)
        for name, (before, after) in losses(own).items()
        if changes[name].remains and before.value - after.value >= COSTS
    ]
    wanted = [
        _inoculate(
            f"“{after.title}” costs {-100 * lost:.1f} points. See whether examples close the gap",
            *(model, name, name),
        )
        for lost, name, after in sorted(found, key=lambda each: each[0])[:MOST]
    ]
    wanted += [
        _inoculate(
            f"“{each.title}” leaves {100 * each.value:.1f} % right. See whether examples help",
            *(model, each.name, each.name),
        )
        for each in computed(own)[:MOST]
        if _is_worse(changes[each.name])
    ]
    tricked = [f for f in own.values() if f.group == "hans" and f.name.endswith(".non-entailment")]
    if any(figure.high < TRICKED for figure in tricked):
        why = "It says entailment where only the words are there. See whether that is learnt"
        wanted.append(_inoculate(why, model, "templates_hans", "hans"))
    kept = any(figure.group == "salad" and figure.low > KEPT for figure in own.values())
    if kept and not task.has_spans:
        why = "It answers texts that nobody can read. Let it say that they are broken"
        wanted.append(Advice(why, _finetune("mitigate", model, "repaired/mitigation")))
    if (error := error_of(own)) and error.is_fault:
        why = "Its confidence is off. Scale it"
        wanted.append(Advice(why, _finetune("calibrate", model, "repaired/calibration")))
    return wanted


def _inoculate(why: str, model: str, challenge: str, folder: str) -> Advice:
    command = _finetune("inoculate", model, f"inoculated/{folder}", "--challenge", challenge)
    return Advice(why, command, "inoculate", challenge)


def _finetune(command: str, model: str, out: str, *more: str) -> str:
    words = ["python", "-m", "finetune", command, "--model", model, *more, "--out", out]
    return shlex.join(words)
