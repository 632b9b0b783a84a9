"""Lesson: what does a set give away, and does a model live on it? A student's project in small."""

from collections.abc import Iterator, Sequence

import pandas as pd
from markupsafe import Markup

from probe.analysis.artefacts import Artefacts, find_artefacts
from probe.analysis.batch import Chunk, in_chunks
from probe.analysis.comparison import Row, keyed
from probe.analysis.contrast_sets import contrast_json
from probe.analysis.slices import measure
from probe.analysis.smallest import smallest
from probe.models.classifier import predict_each
from probe.statistics import FEWEST, Estimate, percent
from probe.tasks.examples import bundled_examples, bundled_file
from probe.tasks.nli import LABELS, NLI
from probe.ui.html.elements import join, link, sheet, shown_texts, told
from probe.ui.html.prediction import label_name
from probe.ui.lessons import drawing
from probe.ui.lessons.lesson import Finding, Lesson, Setting, measured, published, written
from probe.ui.lessons.live import CHUNK, bundled_example, counted
from probe.ui.links import link_to_example

SET = ("news-03-1", "news-03-2", "news-03-3")
"""The bundled pairs of one premise that are looked at."""
FLIPPED = "news-16-1"
"""The bundled pair whose answer is flipped."""
HYPOTHESIS = "bag_of_words"
"""The rule that reads the hypothesis alone."""
HALF, MANY = 0.50, 0.67
SHOWN = 3
"""Words of each label that are shown."""
FEW, SEVERAL = 5, 50
"""Words that tell a label, of which there are few, or several."""
NARROW, WIDE = 0.10, 0.30
"""Points, as shares, below which slices are alike and above which they are far apart."""


def show_set() -> Markup:
    """Show the three pairs of one premise."""
    first, *_ = pairs = [bundled_example(NLI, name) for name in SET]
    named = {f"Hypothesis, {pair.gold}": pair.hypothesis for pair in pairs}
    return shown_texts({"Premise": first.premise, **named})


def show_flipped() -> Markup:
    """Show the pair whose answer is to be flipped."""
    return drawing.example(NLI, bundled_example(NLI, FLIPPED))


def _looked(setting: Setting) -> Iterator[Chunk[Artefacts]]:
    """Look at all bundled pairs; no model is asked."""
    for step in find_artefacts(bundled_file(NLI), NLI):
        if isinstance(step, Artefacts):
            yield Chunk((step,), 1, 1, 0.0)


def _answered(setting: Setting) -> Iterator[Chunk[Row]]:
    """Let the model answer all bundled test pairs."""
    pairs, model = bundled_examples(NLI, "test"), setting.classifier

    def answer(part: Sequence[int]) -> list[Row]:
        asked = [pairs[number] for number in part]
        said = predict_each(model, asked, "auto")
        return [
            Row(number, NLI, pair, (each,), cut=(False,))
            for number, pair, each in zip(part, asked, said, strict=True)
            if not isinstance(each, Exception)
        ]

    yield from in_chunks(range(len(pairs)), len(pairs), answer, CHUNK)


@counted("artefacts", _looked, "file")
def words(setting: Setting, found: Sequence[Artefacts]) -> Finding:
    """Show the words that tell each label, the strongest first."""
    (looked,) = found
    single = [each for each in looked.words if each.words == 1]
    strongest = max(single, key=lambda each: each.z)
    rows = [
        (label, each.text, f"{each.count} of {each.n}", f"{each.z:.1f}")
        for label in LABELS
        for each in [one for one in single if one.label == label][:SHOWN]
    ]
    frame = pd.DataFrame(rows, columns=["label", "word", "pairs with this label", "z"])
    return Finding(
        f"A label is told by {looked.telling:,} of {looked.tested:,} words and pairs of words; "
        f"“{strongest.text}” has {strongest.label} in {strongest.count} of {strongest.n} pairs.",
        sheet(frame, "words that tell a label"),
        came_true=int(looked.telling > FEW) + int(looked.telling > SEVERAL),
    )


@counted("artefacts", _looked, "file")
def blind(setting: Setting, found: Sequence[Artefacts]) -> Finding:
    """Measure what a rule gets right that never sees the premise."""
    (looked,) = found
    rule = next(each for each in looked.rules if each.name == HYPOTHESIS)
    here = measured("The same kind of rule on this app's pairs", rule.accuracy)
    return Finding(
        f"Without the premise a bag of words is right on {percent(rule.accuracy)}; always the most "
        f"frequent label would be on {percent(looked.majority)}.",
        compared={
            "Right without the premise": (
                published("hypothesis_only.snli"), published("hypothesis_only.mnli"), here,
            )
        },
        came_true=int(rule.accuracy.value > HALF) + int(rule.accuracy.value > MANY),
    )  # fmt: skip


@counted("answered", _answered)
def parts(setting: Setting, rows: Sequence[Row]) -> Finding:
    """Measure the model on each slice of the pairs, the worst and the best told."""
    lines = [each for each in measure(rows) if each.gold == "all" and each.n >= FEWEST]
    worst, *_, best = sorted(lines, key=lambda line: line.scores[0].value)
    apart = best.scores[0].value - worst.scores[0].value
    told_of = [
        (f"{each.slice.group}: {each.slice.name}", each.n, percent(each.scores[0]))
        for each in lines
    ]
    return Finding(
        f"Worst where {worst.slice.where}: {percent(worst.scores[0])}; best where "
        f"{best.slice.where}: {percent(best.scores[0])}.",
        sheet(pd.DataFrame(told_of, columns=["slice", "n", "right"]), "accuracy by slice"),
        came_true=int(apart >= NARROW) + int(apart > WIDE),
    )


@counted("answered", _answered)
def sets(setting: Setting, rows: Sequence[Row]) -> Finding:
    """Measure how many premises the model has right with all three hypotheses."""
    pairs = bundled_examples(NLI, "test")
    judged = list(keyed(rows, [pair.premise for pair in pairs]))
    shape = contrast_json(judged, [setting.model], "premise")["models"][setting.model]
    whole, single = (Estimate(**shape[name]) for name in ("consistency", "by_row"))
    here = f"{setting.title} on this app's pairs"
    return Finding(
        f"Right on {percent(single)} of the pairs, and on all three of {percent(whole)} of the "
        "premises.",
        compared={
            "Single pairs that are right": (measured(here, single),),
            "Premises with all three right": (measured(here, whole),),
        },
        came_true=0 if whole.value < HALF else 1 if whole.value < single.value - NARROW else 2,
    )


def flip(setting: Setting) -> Iterator[Finding]:
    """Take out as few words as flip the answer."""
    pair = bundled_example(NLI, FLIPPED)
    (found,) = smallest(setting.classifier, pair, ["delete"])
    count = len(found.steps[-1].changes) if found.found else 0
    texts = join(
        told(Markup("{} {:.2f}: {}").format(
            label_name(step.prediction.label), step.prediction.confidence, step.text
        ))
        for step in found.steps
    )  # fmt: skip
    onward = link(link_to_example(NLI, pair, setting.model), "this pair in Probe")
    yield Finding(
        found.sentence,
        texts + Markup("<p>Synonyms and opposites are tried on {}.</p>").format(onward),
        came_true=0 if count == 1 else 1 if count else 2,
    )


TEXT = f"""
# words: Words that give the label away
Each premise here has three hypotheses: one that follows, one that may be true, one that cannot.
Whoever writes hundreds of them falls into habits. Gururangan et al. found in SNLI that “nobody” and
“sleeping” tell a contradiction and “outdoors” entailment, whatever the premise says.
Gardner et al. count for each word how far the labels beside it are from chance: the number z.

All pairs that come with this app are counted, their words and their pairs of words. No model is
asked.
? How many of them tell a label, beyond what chance would do?
- Up to {FEW}
- Up to {SEVERAL}
- More

# blind: Without the premise
If words give labels away, one may answer without reading what the answer is about. A rule learns
which words of the hypothesis go with which label, from four fifths of the pairs, and answers the
last fifth; this five times. These pairs were written to give little away; SNLI's were not.
? How often is it right, where a guess is right on a third?
- Up to half
- From half to two thirds
- More often

# parts: Where is your model weak?
One accuracy hides much. The pairs are split by how many words of the hypothesis stand in the
premise, whether it has a negation, and how long it is: slices, as in the tables of many a paper.
? How far is the worst slice from the best?
- Less than {100 * NARROW:.0f} points
- {100 * NARROW:.0f} to {100 * WIDE:.0f} points
- Further

# sets: All three of a premise
Who understood a premise answers all three of its hypotheses. Gardner et al. call rows that differ
in little, with other labels, a contrast set, and the share of sets that are right throughout the
consistency. A habit of words helps with single rows, and seldom with a whole set.
? Of how many premises will the model have all three right?
- Fewer than half
- At least half, but far fewer than of single pairs
- Nearly as many as of single pairs

# flip: The smallest change
Slices and sets say how often. What the model looks at in one pair you see by what flips its answer.
The premise stays, and words of the hypothesis are taken out, as few as can be.
? How many words have to go until the answer is another?
- One
- Two or more
- None that was tried flips it

# questions: Mend it, and what to write
Now your own set and your own model: Data and Compare in Measure take them, a Trainer's folder and a
file of answers too. Train mends: a few examples of what fails, mixed in. Talk about these before
you unfold an answer.
? A word tells a label in 90 % of its rows. Is that an artefact, or is it the language?
> Gardner et al. take every such word for one: in a set that asks for reading, no word alone should
tell. But “not” does make contradictions likelier among people who speak. What counts is whether a
model that goes by the word fails where the word misleads; so look for rows where it does.
? The rule without the premise is right more often than chance. Does that show that your model
cheats?
> No. It shows that a model could. Ask the model about the rows on which the rule is wrong: where it
fails there far more often than elsewhere, it goes the same way.
? After mending, accuracy on the contrast sets rises by six points and on the old set falls by two.
What else do you report?
> n and intervals of both, a paired test on the same rows, who mended and who broke which rows,
several seeds, and a set of the same phenomenon made in another way: it may have learnt your
examples only.
? Your worst slice has 14 rows. What may you say?
> Next to nothing: its interval is some forty points wide, and with ten slices the worst of them is
partly chance. Say n, or find more such rows, and test the slice on those.
"""
ARTEFACTS = Lesson(
    "artefacts",
    "Artefacts",
    20,
    "Sets give labels away by the words that their writers like, and models may live on that.",
    "Gururangan et al. 2018, Annotation Artifacts in Natural Language Inference Data; Gardner et "
    "al. 2020 and 2021",
    {
        NLI.name: written(
            TEXT,
            exhibit={"words": show_set, "sets": show_set, "flip": show_flipped},
            live={"words": words, "blind": blind, "parts": parts, "sets": sets, "flip": flip},
        )
    },
)
