"""Lesson: did the model learn the skill, or the set? (Rozen et al. 2019)."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial

from markupsafe import Markup

from finetune.trials.datasets import Examples
from finetune.trials.generalisation import (
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
from probe.ui.answers.answering import model_key
from probe.ui.html.elements import join, link, meter, told
from probe.ui.lessons import drawing
from probe.ui.lessons.lesson import (
    Comparison,
    Finding,
    Guess,
    Lesson,
    Question,
    Setting,
    Step,
    measured,
    published,
    to_talk_about,
)
from probe.ui.lessons.live import once
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


def answered(skill: str, claim: str, setting: Setting) -> Iterator[Finding]:
    """Let the chosen model answer examples of each kind, beside the paper's claim."""
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
        yield Finding(progress=meter(words, len(right) / len(tests)) + told(words))
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
    onward = link(link_to_run([run.id], aim="generalise"), "this run in Generalise")
    yield Finding(
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


KNOWS = Guess(
    "How many will the model get right?",
    ("Most: more than 70 %", "About half: 40 to 70 %", "Few: 40 % or less"),
)
KEEPS = Guess(
    "How well does it do on the kind of sentence on which it does worst?",
    (
        "Nearly as well as on what it was trained on: less than 10 points are lost",
        "Much worse: 10 points or more are lost",
    ),
)
QUESTIONS = (
    Question(
        "A model is right on nearly all examples of the kind that it was trained on. What does "
        "that say of the skill?",
        "That it can fit such examples. Whether it learnt the skill shows only where the examples "
        "differ from what it saw: other sentences, other words, other numbers.",
    ),
    Question(
        "Why may no template be both trained and tested on?",
        "Pairs of one template differ in a few words only. A model that remembers the template "
        "would be right without the skill, and the test would not notice.",
    ),
    Question(
        "Inoculation closed the gap on numbers. Does that contradict what you saw here?",
        "No. There the test came from the same set as the few training examples. A closed gap "
        "shows that such examples were missing; it does not show that the skill was learnt.",
    ),
    Question(
        "The accuracy on the original set falls while the skill is trained. Why?",
        "The new examples look alike and have their own habits, and nothing reminds the model of "
        "the old ones. What is learnt last overwrites some of what was there; how much depends "
        "on the learning rate and on which weights learn.",
    ),
    Question(
        "The verdict has a limit of 10 points. Who set it, and what would another one change?",
        "We did; Rozen et al. draw the line by eye. With 5 points more runs would be called learnt "
        "the set, with 20 fewer. Near the limit the figures say more than the badge.",
    ),
)
STEPS = (
    Step(
        "before",
        "What it knows",
        (
            "A model for natural language inference (NLI) says whether a hypothesis follows from "
            "a premise. Here the answer hangs on numbers, in simple, medium and complex "
            "sentences, which templates make as many of as one likes.",
            "You let the model answer 240 of them as it is. Choose a model that you inoculated, "
            "if you have one, to see what it learnt.",
        ),
        exhibit=partial(show_kinds, "numerical"),
        guess=KNOWS,
        live=partial(answered, "numerical", "before.numerical.bert"),
    ),
    Step(
        "numbers",
        "Trained on one kind",
        (
            "Rozen et al. train on one kind of sentence alone and test on every kind. A model "
            "that learnt to compare numbers can do so in any sentence; one that learnt its "
            "training set does only what it saw.",
            "This run of the app's gallery trained MiniLM on 1,000 examples of each kind, two "
            "times, and tested on templates that it never saw.",
        ),
        guess=KEEPS,
        live=partial(from_gallery, "numerical"),
        finished=True,
    ),
    Step(
        "giving",
        "Giving and receiving",
        (
            "The second skill: who gives what to whom. “The brewer got a well” follows from “the "
            "engineer built the brewer a well”, and “the engineer built the brewer” does not. "
            "First let the model answer as it is.",
        ),
        exhibit=partial(show_kinds, "dative"),
        guess=KNOWS,
        live=partial(answered, "dative", "before.dative.bert"),
    ),
    Step(
        "giving-trained",
        "Learnt, or memorised?",
        (
            "Now the gallery's run on giving and receiving: again trained on one kind of "
            "sentence, tested on all.",
        ),
        guess=KEEPS,
        live=partial(from_gallery, "dative"),
        finished=True,
    ),
    to_talk_about(*QUESTIONS),
)
GENERALISE = Lesson(
    "generalise",
    "Learn or memorise",
    20,
    "A model that is right on what it was trained on may have learnt the set and not the skill.",
    "Rozen, Shwartz, Aharoni and Dagan 2019, Diversify Your Datasets",
    {NLI.name: STEPS},
)
