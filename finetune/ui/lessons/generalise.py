"""Lesson: did the model learn the skill, or the set? (Rozen et al. 2019)."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from markupsafe import Markup

from finetune.trials.generalisation import (
    Plan,
    SourceData,
    chosen,
    cluster_of,
    conditions,
    described,
    draw_tests,
    generalisation_runs,
    on_original,
    untrained,
    worst_in,
)
from finetune.ui.generalise import skill_title
from finetune.ui.html.generalisation import in_words
from probe.analysis.batch import Chunk
from probe.errors import RunError
from probe.models.bundled import title_of
from probe.runs.gallery import gallery_runs
from probe.statistics import Drawn, Estimate, clustered
from probe.stopping import check_stop
from probe.tasks.nli import NLI
from probe.templates import Request, generate
from probe.ui.html.elements import join, link
from probe.ui.lessons import drawing
from probe.ui.lessons.lesson import Finding, Lesson, Live, Setting, measured, published, written
from probe.ui.lessons.live import CHUNK, counted
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


class Answered(NamedTuple):
    """An answered example: its kind, gold label, whether the answer is right, its template."""

    kind: str
    gold: str
    right: bool
    template: str


def answered(skill: str, claim: str) -> Live:
    """Let the chosen model answer examples of each kind, beside the paper's claim."""

    def asked(setting: Setting) -> Iterator[Chunk[Answered]]:
        plan = Plan(setting.model, skill, VARY, (), (), (1,), (1.0,), (SEED,), tests=TESTS)
        each = tuple(kind.name for kind in conditions(skill, VARY))
        tests = draw_tests(replace(plan, columns=each), SourceData(()), SEED)
        examples = [(kind, example) for kind, some in tests.items() for example in some]
        begun = time.monotonic()
        for start in range(0, len(examples), CHUNK):
            check_stop()
            some = examples[start : start + CHUNK]
            said = setting.classifier.predict([example for _, example in some])
            rows = tuple(
                Answered(
                    kind,
                    example.gold,
                    NLI.matches(answer.label, example.gold),
                    cluster_of(NLI, example),
                )
                for (kind, example), answer in zip(some, said, strict=True)
            )
            yield Chunk(rows, start + len(rows), len(examples), time.monotonic() - begun)

    @counted(f"generalise {skill}", asked, "example")
    def right(setting: Setting, rows: Sequence[Answered]) -> Finding:
        def reached(*kinds: str) -> Estimate:
            """Return how many are right, with an interval over templates."""
            return clustered(
                [Drawn("", row.template, row.right, 1) for row in rows if row.kind in kinds]
            )

        constant = max(Counter(row.gold for row in rows).values()) / len(rows)
        known = described(tuple(dict.fromkeys(row.kind for row in rows)), VARY)
        every = reached(*known)
        kinds = (measured(f"{each.title}, here", reached(name)) for name, each in known.items())
        return Finding(
            f"{setting.title} is right on {100 * every.value:.0f} % of {every.n} examples; one and "
            f"the same answer to all would be right on {100 * constant:.0f} %.",
            compared={
                "Right answers": (
                    published(claim), measured(f"{setting.title}, all kinds, here", every), *kinds,
                )
            },
            came_true=int(every.value <= MOST) + int(every.value <= LITTLE),
        )  # fmt: skip

    return right


def from_gallery(skill: str, setting: Setting) -> Iterator[Finding]:
    """Show the gallery's run of the chosen model on a skill."""
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
    (run, *_) = of_model
    worst = worst_in(run.verdict)
    if worst is None:
        yield Finding(in_words(run))
        return
    known = described(run.plan.columns, run.plan.vary)
    own, away = known[worst.row].phrase, known[worst.column].phrase
    after = chosen(run.results)[worst.row, max(run.plan.sizes)]
    repeats = len({point.cell.seed for point in after})
    onward = link(link_to_run([run.id], aim="generalise"), "this run in Generalise")
    yield Finding(
        in_words(run),
        Markup(
            "<p>Trained on {:,} examples of a kind, {} time{}.</p>"
            "<p>{} (Rozen et al. 2019, text on figures 1 to 3).</p>"
            "<p>See all kinds and curves: {}.</p>"
        ).format(
            after[0].cell.size,
            repeats,
            "s" if repeats != 1 else "",
            IN_THE_PAPER[run.plan.phenomenon],
            onward,
        ),
        {
            f"Right answers after training on {own}": (
                measured(f"On {own}", worst.own),
                measured(f"On {away}", worst.away),
            ),
            "Right answers on the original set": (
                measured("Before", on_original(untrained(run.results))),
                measured("After", on_original(after)),
            ),
        },
        int(worst.loss.value >= run.plan.thresholds.loss),
    )


KNOWS = f"""? How many will the model get right?
- Most: more than {100 * MOST:.0f} %
- About half: {100 * LITTLE:.0f} to {100 * MOST:.0f} %
- Few: {100 * LITTLE:.0f} % or less"""
KEEPS = """? How well does it do on the kind of sentence on which it does worst?
- Nearly as well as on what it was trained on: less than 10 points are lost
- Much worse: 10 points or more are lost"""
TEXT = f"""
# before: What it knows
A model for natural language inference (NLI) says whether a hypothesis follows from a premise. Here
the answer hangs on numbers, in simple, medium and complex sentences, which templates make as many
of as one likes.

You let the model answer {3 * TESTS} of them as it is. Choose a model that you inoculated, if you
have one, to see what it learnt.
{KNOWS}

# numbers: Trained on one kind
Rozen et al. train on one kind of sentence alone and test on every kind. A model that learnt to
compare numbers can do so in any sentence; one that learnt its training set does only what it saw.

The app's gallery has a finished run: the model was trained on one kind alone, on another each
time, and tested on templates that it never saw.
{KEEPS}

# giving: Giving and receiving
The second skill: who gives what to whom. “The brewer got a well” follows from “the engineer built
the brewer a well”, and “the engineer built the brewer” does not. First let the model answer as it
is.
{KNOWS}

# giving-trained: Learnt, or memorised?
Now the gallery's run on giving and receiving: again trained on one kind of sentence, tested on all.
{KEEPS}

# questions: Questions
Talk about these with your neighbour before you unfold an answer.
? A model is right on nearly all examples of the kind that it was trained on. What does that say of
the skill?
> That it can fit such examples. Whether it learnt the skill shows only where the examples differ
from what it saw: other sentences, other words, other numbers.
? Why may no template be both trained and tested on?
> Pairs of one template differ in a few words only. A model that remembers the template would be
right without the skill, and the test would not notice.
? Inoculation closed the gap on numbers. Does that contradict what you saw here?
> No. There the test came from the same set as the few training examples. A closed gap shows that
such examples were missing; it does not show that the skill was learnt.
? The accuracy on the original set falls while the skill is trained. Why?
> The new examples look alike and have their own habits, and nothing reminds the model of the old
ones. What is learnt last overwrites some of what was there; how much depends on the learning rate
and on which weights learn.
? The verdict has a limit of 10 points. Who set it, and what would another one change?
> We did; Rozen et al. draw the line by eye. With 5 points more runs would be called learnt the set,
with 20 fewer. Near the limit the figures say more than the badge.
"""
GENERALISE = Lesson(
    "generalise",
    "Learn or memorise",
    20,
    "A model that is right on what it was trained on may have learnt the set and not the skill.",
    "Rozen, Shwartz, Aharoni and Dagan 2019, Diversify Your Datasets",
    {
        NLI.name: written(
            TEXT,
            exhibit={
                "before": partial(show_kinds, "numerical"), "giving": partial(show_kinds, "dative"),
            },
            live={
                "before": answered("numerical", "before.numerical.bert"),
                "numbers": partial(from_gallery, "numerical"),
                "giving": answered("dative", "before.dative.bert"),
                "giving-trained": partial(from_gallery, "dative"),
            },
            finished={"numbers": True, "giving-trained": True},
        )
    },
)  # fmt: skip
