"""Lesson: does a model read, or does it count shared words? (McCoy et al. 2019, fritz)."""

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from probe.analysis.batch import Chunk
from probe.analysis.hans import Profiled, in_heuristics, over_templates, profile
from probe.analysis.summary import Summary
from probe.tasks.nli import ENTAILMENT, NLI, NON_ENTAILMENT
from probe.templates import Request, TemplatePair, generate, subcases
from probe.templates.generate import HEURISTICS as NAMES
from probe.transforms import Options, apply
from probe.ui.html.elements import join, link
from probe.ui.lessons import drawing
from probe.ui.lessons.lesson import Finding, Lesson, Setting, measured, published, written
from probe.ui.lessons.live import ROWS, bundled_example, counted, on_bundled
from probe.ui.links import link_to_example

PER_SUBCASE = 40
"""Pairs of each of 30 sub-cases: 600 entailed and 600 others, 200 of each for a heuristic."""
SWAPPED = "ln_subject/object_swap"
CUT = "news-12-1"
"""The bundled pair of whose premise a part is shown."""
RARELY, OFTEN = 0.10, 0.50
SHORTCUTS = {
    "lexical_overlap": (
        "Shared words", "Every word of the hypothesis stands somewhere in the premise.",
    ),
    "subsequence": (
        "A run of words", "The hypothesis is a run of neighbouring words of the premise.",
    ),
    "constituent": (
        "A whole clause", "The hypothesis is a clause of the premise, whole in itself.",
    ),
}  # fmt: skip
TITLES = {name: title for name, (title, _) in SHORTCUTS.items()}


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
    terms = drawing.definitions(SHORTCUTS[name] for name in NAMES)
    return terms + join(
        drawing.example(NLI, _pair(heuristic=name), f"{TITLES[name]}: it does not follow.")
        for name in NAMES
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
    """Profile the model by what the check-up's HANS calls."""
    for done, row in enumerate(profile(setting.classifier, PER_SUBCASE), 1):
        yield Chunk((row,), done, len(subcases()), 0.0)


@counted("hans", _profiled, "sub-case")
def both_kinds(setting: Setting, rows: Sequence[Profiled]) -> Finding:
    """Measure the pairs that follow and those that do not apart."""
    entailed, others = (
        over_templates(row for row in rows if row.gold == gold)
        for gold in (ENTAILMENT, NON_ENTAILMENT)
    )
    here = f"{setting.title} on pairs like those of HANS"
    return Finding(
        f"Right on {100 * entailed.value:.0f} % of the pairs that follow and on "
        f"{100 * others.value:.0f} % of those that do not.",
        compared={
            title: (
                published(f"hans.{kind}.da"),
                published(f"hans.{kind}.esim"),
                measured(here, estimate),
            )
            for title, kind, estimate in (
                ("Right where the hypothesis follows", "entailed", entailed),
                ("Right where it does not follow", "non_entailed", others),
            )
        },
        came_true=int(others.value >= RARELY) + int(others.value > OFTEN),
    )


@counted("hans", _profiled, "sub-case")
def by_heuristic(setting: Setting, profiled: Sequence[Profiled]) -> Finding:
    """Measure each heuristic apart."""
    rows = {(row.heuristic, row.gold): row.estimate for row in in_heuristics(profiled)}
    worst = min(NAMES, key=lambda name: rows[name, NON_ENTAILMENT].value)
    return Finding(
        f"“{TITLES[worst]}” fools {setting.title} most: right on "
        f"{100 * rows[worst, NON_ENTAILMENT].value:.0f} % of its pairs that do not follow.",
        compared={
            title: tuple(measured(TITLES[name], rows[name, gold]) for name in NAMES)
            for title, gold in (
                ("Right where it does not follow", NON_ENTAILMENT),
                ("Right where it follows", ENTAILMENT),
            )
        },
        came_true=NAMES.index(worst),
    )


@on_bundled("premsubseq")
def cut(setting: Setting, summary: Summary) -> Finding:
    """Measure how many pieces of a premise are not called entailed."""
    right = summary.transforms["premsubseq"]["non_entailed"]
    here = measured(f"{setting.title} on this app's pairs", right)
    figures = (published("premsubseq.da"), published("premsubseq.esim"), here)
    return Finding(
        f"{setting.title} calls {100 * (1 - right.value):.0f} % of the fragments entailed.",
        compared={"Fragments that are not called entailed": figures},
        came_true=0 if right.value > OFTEN else 1 if right.value > 0.25 else 2,
    )


TEXT = f"""
# words: The same words
A model for natural language inference (NLI) reads a premise, which counts as true, and a
hypothesis, and says whether the hypothesis follows: entailment, or not. Here the hypothesis has the
words of the premise and no other. Read both slowly.
? Does the hypothesis follow from the premise?
- It follows
- It does not

# kinds: Two kinds of pairs
McCoy et al. wrote templates that make pairs of two kinds: in both the hypothesis consists of words
of the premise, but only in one does it follow. Somebody who only looks whether the words are there
answers both kinds alike.

You run {30 * PER_SUBCASE:,} such pairs, half of each kind, made from our own templates after
theirs.
? Of the pairs that do not follow, how many will the model get right?
- Fewer than one in ten
- From one in ten to half
- More than half

# heuristics: Three shortcuts
The pairs fall into three groups, each for one shortcut, a heuristic: a rule that is quick and often
right.
? Which shortcut fools the model most?
- Shared words
- A run of words
- A whole clause

# cut: A piece of the premise
Now without templates. fritz cuts a piece out of an ordinary premise and makes it the hypothesis.
Often the piece says nothing at all, as here.

The same is done to {ROWS} pairs that come with this app.
? How many of the pieces will the model call entailed?
- Fewer than half
- From half to three quarters
- More than three quarters

# questions: Questions
Talk about these with your neighbour before you unfold an answer.
? Why are the pairs that follow and those that do not never put into one accuracy?
> Half of the pairs follow. A model that always says entailment would reach 50 %, which looks like
half an understanding. Apart, the two figures read 100 and 0 and show that it reads nothing. McCoy
et al. report them apart for that reason.
? Where would a model have learnt that shared words mean entailment?
> From its training pairs: people who are asked for a sentence that follows like to repeat the
premise's words, and those asked for one that does not bring new ones. On such pairs the shortcut is
nearly always right, so nothing in training speaks against it.
? fritz counts every fragment of a premise as not entailed. Is that always so?
> No. “The old man laughed” may be cut out of “The old man laughed and sat down” and does follow. So
the right share has a ceiling below 100 %, and a low one is worth less than on the templates, whose
labels are certain. A label rule is a claim to be checked too.
? Go back to “Two kinds of pairs”, choose another model and run it again. Which of them would you
trust more, and are 1,200 pairs enough to say so?
> Compare the intervals: 600 pairs of a kind give about plus or minus 4 points. Where they do not
overlap the models differ on these templates. Other sentences may say otherwise, since all pairs of
a sub-case come from four templates.
? Name a shortcut that a person uses when reading quickly.
> Skipping function words, trusting names, taking the first noun for the one who acts. Most of the
time it works, which is why it exists; the difference is that we can stop and read again.
"""
HEURISTICS = Lesson(
    "heuristics",
    "Heuristics",
    20,
    "Models call a hypothesis entailed because its words stand in the premise, whether it follows "
    "or not.",
    "McCoy, Pavlick and Linzen 2019, Right for the Wrong Reasons; Dickerson, fritz",
    {
        NLI.name: written(
            TEXT,
            exhibit={"words": show_swapped, "heuristics": show_heuristics, "cut": show_cut},
            live={"words": swap, "kinds": both_kinds, "heuristics": by_heuristic, "cut": cut},
        )
    },
)
