"""What the lesson "learn or memorise" shows and computes: answers to templates, finished runs."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial

from markupsafe import Markup

from finetune.trials.datasets import Examples
from finetune.trials.generalisation import (
    GeneralisationRun,
    Plan,
    SourceData,
    chosen,
    conditions,
    described,
    draw_tests,
    generalisation_runs,
    on_original,
    untrained,
    with_conditions,
    worst_in,
)
from finetune.ui.generalise import skill_title
from finetune.ui.html.generalisation import in_words
from probe.errors import RunError
from probe.models.bundled import title_of
from probe.runs.gallery import gallery_runs
from probe.statistics import share
from probe.stopping import check_stop
from probe.tasks.nli import NLI
from probe.templates import Request, generate
from probe.ui.answers.shared_answers import model_key
from probe.ui.html.elements import join, link, meter, note
from probe.ui.lessons import drawing
from probe.ui.lessons.lesson import Comparison, Finding, Live, Setting, measured
from probe.ui.lessons.published import published
from probe.ui.lessons.shared_results import once
from probe.ui.links import link_to_run

VARY = "complexity"
TESTS = 80
"""Examples of each of the three kinds: 240 in all."""
LITTLE, MOST = 0.40, 0.70
SEED = 0
IN_THE_PAPER = {
    "numerical": "In the paper BERT, after 3,000 examples with numbers, lost 3.2 points on "
    "sentences of another syntax, and at most 6.5 points on the original set",
    "dative": "In the paper BERT came to 90 % on contradictions of giving and receiving, and lost "
    "2 points on the original set after 4,000 examples",
}
"""What Rozen et al. report of such a run, by skill."""


def show_kinds(skill: str) -> Markup:
    """Show an example of each kind of a skill."""
    return join(
        drawing.example(NLI, example, f"{kind.title}. The right answer: {example.gold}.")
        for kind in conditions(skill, VARY)
        for example in generate(Request(skill, **kind.test), 1, SEED)
    )


def answered(skill: str, claim: str) -> Live:
    """Return what lets the chosen model answer examples of each kind, beside the paper's claim."""
    return partial(_answered, skill, claim)


def _answered(skill: str, claim: str, setting: Setting) -> Iterator[Finding]:
    key = model_key(setting.classifier), "generalise", skill
    yield from once(key, lambda: _answers(skill, claim, setting))


def _answers(skill: str, claim: str, setting: Setting) -> Iterator[Finding]:
    plan = Plan(setting.model, skill, VARY, (), (), (1,), (1.0,), (SEED,), tests=TESTS)
    tests = draw_tests(with_conditions(plan, SourceData(())), SourceData(()), SEED)
    right: dict[str, list[bool]] = {}
    for kind, examples in tests.items():
        check_stop()
        said = setting.classifier.predict(examples)
        right[kind] = [
            NLI.matches(answer.label, example.gold)
            for answer, example in zip(said, examples, strict=True)
        ]
        words = f"{len(right)} of {len(tests)} kinds answered"
        yield Finding(progress=meter(words, len(right) / len(tests)) + note(words))
    every = share([hit for hits in right.values() for hit in hits])
    known = described(tuple(right), VARY)
    kinds = [measured(f"{known[kind].title}, here", share(hits)) for kind, hits in right.items()]
    yield Finding(
        f"{setting.title} is right on {100 * every.value:.0f} % of {every.n} examples; one and "
        f"the same answer to all would be right on {100 * _constant(tests):.0f} %.",
        compared=(
            Comparison(
                "Right answers",
                (published(claim), measured(f"{setting.title}, all kinds, here", every), *kinds),
            ),
        ),
        came_true=int(every.value <= MOST) + int(every.value <= LITTLE),
    )


def _constant(tests: Mapping[str, Examples]) -> float:
    """Return the share of examples that the best single answer is right on."""
    golds = Counter(example.gold for examples in tests.values() for example in examples)
    return max(golds.values()) / golds.total()


def from_gallery(skill: str) -> Live:
    """Return what shows the gallery's run of the chosen model on a skill."""
    return partial(_from_gallery, skill)


def _from_gallery(skill: str, setting: Setting) -> Iterator[Finding]:
    runs = [
        run
        for run in generalisation_runs(gallery_runs(setting.core.gallery))
        if (run.plan.phenomenon, run.plan.vary) == (skill, VARY)
    ]
    of_model = [run for run in runs if run.plan.model == setting.model]
    if not of_model:
        others = ", ".join(dict.fromkeys(title_of(run.plan.model) for run in runs)) or "none"
        raise RunError(
            f"no finished run of {setting.title} on {skill_title(skill).lower()} lies in the "
            f"gallery; choose one of these models: {others}"
        )
    yield _judged(of_model[0])


def _judged(run: GeneralisationRun) -> Finding:
    """Say what a run came to: on what it saw, away from it, and on the original set."""
    worst = worst_in(run.verdict)
    if worst is None:
        return Finding(in_words(run))
    known = described(run.plan.columns, run.plan.vary)
    own, away = known[worst.row].phrase, known[worst.column].phrase
    after = chosen(run.results)[worst.row, max(run.plan.sizes)]
    onward = link(link_to_run([run.id], aim="generalise"), "this run in Generalise")
    return Finding(
        in_words(run),
        Markup(
            "<p>{} (Rozen et al. 2019, text on figures 1 to 3).</p>"
            "<p>See all kinds and curves: {}.</p>"
        ).format(IN_THE_PAPER[run.plan.phenomenon], onward),
        (
            Comparison(
                f"Right answers after training on {own}",
                (measured(f"On {own}", worst.own), measured(f"On {away}", worst.away)),
            ),
            Comparison(
                "Right answers on the original set",
                (
                    measured("Before", on_original(untrained(run.results))),
                    measured("After", on_original(after)),
                ),
            ),
        ),
        int(worst.loss.value >= run.plan.thresholds.loss),
    )
