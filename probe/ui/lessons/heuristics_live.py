"""What the lesson on heuristics shows and computes."""

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from probe.analysis.batch import Chunk
from probe.analysis.hans import Profiled, in_heuristics, profile
from probe.statistics import Estimate, share
from probe.tasks.nli import ENTAILMENT, NLI, NON_ENTAILMENT
from probe.tasks.task import Label
from probe.templates import Request, TemplatePair, generate, subcases
from probe.templates.generate import HEURISTICS
from probe.transforms import Options, apply
from probe.ui.answers.shared_answers import model_key
from probe.ui.html.elements import join, link
from probe.ui.lessons import drawing
from probe.ui.lessons.bundled_scores import bundled_example, progress, scored
from probe.ui.lessons.lesson import (
    Comparison,
    Finding,
    Setting,
    measured,
)
from probe.ui.lessons.published import published
from probe.ui.lessons.shared_results import once
from probe.ui.links import link_to_example

PER_SUBCASE = 40
"""Pairs of each of 30 sub-cases: 600 entailed and 600 others, 200 of each for a heuristic."""
SWAPPED = "ln_subject/object_swap"
CUT = "news-12-1"
"""The bundled pair of whose premise a part is shown."""
RARELY, OFTEN = 0.10, 0.50
TITLES = {
    "lexical_overlap": "Shared words",
    "subsequence": "A run of words",
    "constituent": "A whole clause",
}
MEANINGS = {
    "lexical_overlap": "Every word of the hypothesis stands somewhere in the premise.",
    "subsequence": "The hypothesis is a run of neighbouring words of the premise.",
    "constituent": "The hypothesis is a clause of the premise, whole in itself.",
}


def _pair(heuristic: str = "", subcase: str = "") -> TemplatePair:
    """Return the first pair that does not follow from its premise."""
    pairs = generate(Request("hans", heuristic=heuristic, subcase=subcase), 20, 0)
    pair: TemplatePair = next(pair for pair in pairs if pair.gold != ENTAILMENT)
    return pair


def show_swapped() -> Markup:
    """Show a pair whose two nouns change places."""
    return drawing.example(NLI, _pair(subcase=SWAPPED))


def show_heuristics() -> Markup:
    """Show what each heuristic is, with a pair that it gets wrong."""
    terms = drawing.definitions((TITLES[name], MEANINGS[name]) for name in HEURISTICS)
    return terms + join(
        drawing.example(NLI, _pair(heuristic=name), f"{TITLES[name]}: it does not follow.")
        for name in HEURISTICS
    )


def show_cut() -> Markup:
    """Show a premise and a piece of it."""
    pair = bundled_example(NLI, CUT)
    ((result,),) = apply("premsubseq", [pair], NLI, 0, Options(), lambda examples: [])
    return drawing.example(NLI, result.example)


def swap(setting: Setting) -> Iterator[Finding]:
    """Compare the student's answer, and the model's, with the label of the pair."""
    pair = _pair(subcase=SWAPPED)
    (said,) = setting.classifier.predict([pair])
    ending = "it is fooled" if said.label == ENTAILMENT else "this one it gets right"
    onward = link(link_to_example(NLI, pair, setting.model), "this pair in Probe")
    yield Finding(
        f"It does not follow. {setting.title} says {said.label}: {ending}.",
        drawing.answers([(setting.title, said)])
        + Markup("<p>Change the names and verbs of {}, and look again.</p>").format(onward),
        came_true=1,
    )


def _profiled(setting: Setting) -> Iterator[Chunk[Profiled]]:
    """Profile the model by what Compare's HANS panel calls, once for a model."""
    classifier = setting.classifier

    def compute() -> Iterator[Chunk[Profiled]]:
        rows, total = list[Profiled](), len(subcases())
        for row in profile(classifier, PER_SUBCASE):
            rows.append(row)
            yield Chunk(tuple(rows), len(rows), total, 0.0)

    yield from once((model_key(classifier), "hans"), compute)


def _right(rows: Sequence[Profiled], gold: Label) -> Estimate:
    """Return the accuracy over all pairs of a gold label."""
    of_gold = [row for row in rows if row.gold == gold]
    n, correct = sum(row.n for row in of_gold), sum(row.correct for row in of_gold)
    return share([at < correct for at in range(n)])


def both_kinds(setting: Setting) -> Iterator[Finding]:
    """Measure the pairs that follow and those that do not apart."""
    for chunk in _profiled(setting):
        if chunk.done < chunk.total:
            yield Finding(progress=progress(chunk, "sub-case"))
            continue
        entailed, others = (_right(chunk.rows, gold) for gold in (ENTAILMENT, NON_ENTAILMENT))
        yield Finding(
            f"Right on {100 * entailed.value:.0f} % of the pairs that follow and on "
            f"{100 * others.value:.0f} % of those that do not.",
            compared=tuple(
                Comparison(
                    title,
                    (
                        published(f"hans.{kind}.da"),
                        published(f"hans.{kind}.esim"),
                        measured(f"{setting.title} on pairs like those of HANS", estimate),
                    ),
                )
                for title, kind, estimate in (
                    ("Right where the hypothesis follows", "entailed", entailed),
                    ("Right where it does not follow", "non_entailed", others),
                )
            ),
            came_true=int(others.value >= RARELY) + int(others.value > OFTEN),
        )


def by_heuristic(setting: Setting) -> Iterator[Finding]:
    """Measure each heuristic apart."""
    for chunk in _profiled(setting):
        if chunk.done < chunk.total:
            yield Finding(progress=progress(chunk, "sub-case"))
            continue
        rows = {(row.heuristic, row.gold): row.estimate for row in in_heuristics(chunk.rows)}
        others = {name: rows[name, NON_ENTAILMENT] for name in HEURISTICS}
        worst = min(others, key=lambda name: others[name].value)
        yield Finding(
            f"“{TITLES[worst]}” fools {setting.title} most: right on "
            f"{100 * others[worst].value:.0f} % of its pairs that do not follow.",
            compared=tuple(
                Comparison(
                    title,
                    tuple(measured(TITLES[name], rows[name, gold]) for name in HEURISTICS),
                )
                for title, gold in (
                    ("Right where it does not follow", NON_ENTAILMENT),
                    ("Right where it follows", ENTAILMENT),
                )
            ),
            came_true=HEURISTICS.index(worst),
        )


def cut(setting: Setting) -> Iterator[Finding]:
    """Measure how many pieces of a premise are not called entailed."""
    for so_far in scored(setting, ("premsubseq",)):
        if not so_far.ended:
            yield Finding(progress=progress(so_far.chunk, "pair"))
            continue
        right = so_far.summary.transforms["premsubseq"]["non_entailed"]
        yield Finding(
            f"{setting.title} calls {100 * (1 - right.value):.0f} % of the fragments entailed.",
            compared=(
                Comparison(
                    "Fragments that are not called entailed",
                    (
                        published("premsubseq.da"),
                        published("premsubseq.esim"),
                        measured(f"{setting.title} on this app's pairs", right),
                    ),
                ),
            ),
            came_true=0 if right.value > OFTEN else 1 if right.value > 0.25 else 2,
        )
