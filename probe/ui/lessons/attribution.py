"""Lesson: which words did an answer hang on, and whom to believe? (Gupta et al., Feng et al.)."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from markupsafe import Markup

from probe.analysis.batch import Chunk
from probe.analysis.deletion import HALF, RANDOM, Cut, Ranking, deletion_test
from probe.analysis.importance import FIRST, METHODS, PAPER, Method, attribute
from probe.analysis.summary import Summary
from probe.models.classifier import text_lengths
from probe.settings import ASSETS
from probe.statistics import Share
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI
from probe.transforms.options import PUBLISHED, with_sign
from probe.transforms.registry import Scored
from probe.ui.html.elements import join
from probe.ui.html.importance import KEYS, tokens
from probe.ui.lessons import drawing
from probe.ui.lessons.lesson import (
    Compared,
    Figure,
    Finding,
    Lesson,
    Setting,
    as_choices,
    measured,
    published,
    written,
)
from probe.ui.lessons.live import ROWS, bundled_example, counted, on_bundled

PAIRS = 200
"""Pairs of the test: the shortest, since the best methods ask the model once for each of their
tokens, or many times for a path."""
PATH_STEPS = 20
"""Steps of that path, so that a class need not wait for more."""
SHOWN = {name: row for name, row in METHODS.items() if row.place == "words"}
"""The methods of the lesson, all at the word vectors."""
RANKINGS = (*map(Ranking, SHOWN), RANDOM)
ASKED = "news-16-1"
Changes = Mapping[tuple[Ranking, Cut], bool]
TITLES = {Ranking(name): row.title for name, row in SHOWN.items()} | {RANDOM: "By chance"}
CHOICES = ("Nobody", "came to ask for", "a job", "at the Senna shipyard")
"""The stretches of the asked pair's hypothesis, as a student chooses among them."""


def show_pair() -> Markup:
    """Show the pair whose tokens are scored."""
    return drawing.example(NLI, bundled_example(NLI, ASKED))


def show_methods() -> Markup:
    """Say what each method measures, and show the pair."""
    return drawing.definitions((term.title, term.summary) for term in SHOWN.values()) + (
        show_pair()
    )


@dataclass(frozen=True)
class Read:
    """The scores of the pair's hypothesis for the model's own answer."""

    label: str
    text: str
    scored: Sequence[Scored]

    @property
    def first(self) -> Scored:
        """The token with the highest score."""
        return max(self.scored, key=lambda token: token.score)

    @property
    def top(self) -> str:
        """That token, as it stands in the text."""
        return self.text[self.first.start : self.first.end]

    @property
    def shaded(self) -> Markup:
        """The text, each token shaded by its score."""
        largest = max((abs(token.score) for token in self.scored), default=0.0)
        return Markup('<div class="tokens">{}</div>').format(
            tokens(self.text, self.scored, largest)
        )


def _read(setting: Setting, method: Method) -> Read:
    pair, classifier = bundled_example(NLI, ASKED), setting.classifier
    (said,) = classifier.predict([pair])
    (importance,) = attribute(classifier, [pair], [said.answer], method)
    return Read(importance.label, pair.hypothesis, importance.tokens(NLI.target))


LEGEND = Markup('<p class="rests">Shaded {}; saliency knows no sides.</p>').format(KEYS["support"])


def one_method(setting: Setting) -> Iterator[Finding]:
    """Score the pair by gradient × input; the final mark is no choice."""
    read = _read(setting, "gradient_x_input")
    begins, start = [read.text.index(choice) for choice in CHOICES], int(read.first.start)
    behind = start >= begins[-1] + len(CHOICES[-1])
    yield Finding(
        f"Gradient × input blames “{read.top}” most for the answer {read.label}.",
        LEGEND + read.shaded,
        came_true=None if behind else sum(start >= begin for begin in begins) - 1,
    )


def four_methods(setting: Setting) -> Iterator[Finding]:
    """Score the pair by each method."""
    read = {row.title: _read(setting, name) for name, row in SHOWN.items()}
    (word, most), *_ = Counter(each.top for each in read.values()).most_common()
    line = Markup("<p><b>{}</b> puts “{}” first</p>{}")
    yield Finding(
        f"{most} of 4 methods put “{word}” first.",
        LEGEND + join(line.format(title, each.top, each.shaded) for title, each in read.items()),
        came_true={4: 0, 3: 1}.get(most, 2),
    )


def shortest(n: int) -> Sequence[Any]:
    """Return the shortest bundled test pairs."""
    pairs = bundled_examples(NLI, "test")
    lengths = dict(zip(pairs, text_lengths(NLI, pairs), strict=True))
    return sorted(pairs, key=lambda pair: (lengths[pair], pair.id))[:n]


def _deleted(setting: Setting) -> Iterator[Chunk[Changes]]:
    return deletion_test(setting.classifier, shortest(PAIRS), RANKINGS, most_steps=PATH_STEPS)


@counted("deletion", _deleted, grows=True)
def decide(setting: Setting, rows: Sequence[Changes]) -> Finding:
    """Take out the higher half of each ranking and count the answers that change."""
    changed = {
        order: Share(sum(row[order, HALF] for row in rows), len(rows)).estimate()
        for order in RANKINGS
    }
    ranked = sorted(RANKINGS, key=lambda order: -changed[order].value)
    best = next(order for order in ranked if order != RANDOM)
    return Finding(
        f"{TITLES[best]} finds what the answer hangs on best: without it "
        f"{100 * changed[best].value:.0f} % of the answers change, by chance "
        f"{100 * changed[RANDOM].value:.0f} %.",
        compared={
            "Answers that change without the half that a method calls important": tuple(
                measured(TITLES[order], changed[order]) for order in ranked
            ),
            **curve(),
        },
        came_true=RANKINGS.index(best),
    )


@cache
def curve() -> Compared:
    """Return what was measured before: answers that change without the highest tokens of a pair.

    `python -m benchmarks.importance curves` measures it, docs/importance.md has it of all methods.
    """
    held = json.loads((ASSETS / "importance_curves.json").read_text(encoding="utf-8"))
    rows = {(row["method"], row["sign"]): row for row in held["changed"]}
    titles = {FIRST: METHODS[FIRST].title, PAPER: METHODS[PAPER].title, None: "By chance"}
    return {
        f"Measured beforehand: answers of {held['model']} that change without the highest tokens "
        f"of both texts, {held['n']} pairs": tuple(
            Figure(
                f"{title}: {count} token{'s' if count > 1 else ''}",
                rows[method, "support"][f"deletion {count}"] / held["n"],
                f"n = {held['n']}, docs/importance.md",
            )
            for method, title in titles.items()
            for count in (1, 3, 5)
        )
    }


@on_bundled("drop", options=PUBLISHED)
def lower_half(setting: Setting, summary: Summary) -> Finding:
    """Drop the half that gradient × input calls unimportant, as Gupta et al. do."""
    stays = summary.transforms["drop"]["agreement"]
    figures = (
        published("agreement.drop.nli"),
        measured(f"{setting.title} on this app's pairs", stays),
    )
    return Finding(
        f"{100 * stays.value:.0f} % of the answers stay without that half.",
        compared={
            with_sign("Answers that stay without the less important half", PUBLISHED.sign): figures
        },
        came_true=int(stays.value >= 0.5) + int(stays.value > 0.75),
    )


TEXT = f"""
# blame: Which words mattered?
A model for natural language inference (NLI) reads a premise, which counts as true, and a
hypothesis, and says whether the hypothesis follows, contradicts it, or neither. It calls this
hypothesis a contradiction, if it answers as most models do. An attribution method gives each token,
a word or a piece of one, a score for its part in that answer. The first here is gradient × input:
how far the answer moves as the numbers that stand for a token grow.
? Which part of the hypothesis will it blame most?
{as_choices(CHOICES)}

# methods: Four methods, one pair
There are many such methods. Here are four, on the same model, the same pair and the same answer. A
gradient says how the answer moves when the numbers that stand for a token, its vector, move a
little.
? Do they put the same token first?
- All four do
- Three of them do
- No more than two do

# test: A test that decides
If a method is right about what matters, its favourite tokens should be missed. So take half of the
hypothesis away, the half that it calls important, on {PAIRS} pairs, and count the answers that
change. Half of the tokens drawn by chance show what any deletion does.

The pairs are the {PAIRS} shortest of this app's test pairs. The figures grow while they are
computed: two minutes on an idle machine, more on a busy one. The path of integrated gradients has
{PATH_STEPS} steps here.
? Whose favourites are missed most?
{as_choices(row.title for row in SHOWN.values())}

# rest: The other half
Gupta et al. turn it round: they drop the half that gradient × input calls less important and look
how many answers stay. Theirs is another sign: important is what raises the loss (`gupta`), and
above what speaks for the answer. You do so with {ROWS} pairs, by the change “Drop the unimportant
half”, which Probe and Measure offer too.
? How many answers stay?
- Fewer than half
- From half to three quarters
- More

# questions: Questions
Talk about these with your neighbour before you unfold an answer.
? Four methods, four rankings, and no column “true importance”. What made the test able to decide at
all?
> It asks the model itself: what is important should be missed when it is gone. That turns an
opinion into a prediction that can fail. Chance is in the table since any deletion changes some
answers.
? A text without half of its words is no sentence any more. What may go wrong with the test?
> The model was never trained on such texts, so an answer may change since the text is strange and
not because the word mattered. Chance measures a part of that. Feng et al. show the other side:
models stay sure of what is left when hardly any word is.
? Leaving each token out asks the model once for each, integrated gradients many times for a path,
the other two once. Is the best method worth its price?
> Compare the intervals: where two overlap widely, {PAIRS} pairs do not tell the methods apart, and
the cheap one is enough for a first look. For one pair that matters, take the better one.
? Saliency has no sign. Why may that hurt it here?
> It ranks tokens that speak for the answer and tokens that speak against it alike. Taking out one
that speaks against the answer makes the answer firmer, so fewer change.
? The less important half could go and most answers stayed. Is that good news?
> For the method yes: it found tokens that the model does not need. For the model it is the claim of
Gupta et al.: it answers what is left as surely, though a person would call it nonsense.
"""
ATTRIBUTION = Lesson(
    "attribution",
    "Which attribution?",
    20,
    "The words that a gradient calls unimportant can go, and the answer stays; methods disagree on "
    "which these are.",
    "Gupta et al. 2021; Feng et al. 2018, Pathologies of Neural Models",
    {
        NLI.name: written(
            TEXT,
            exhibit={"blame": show_pair, "methods": show_methods},
            live={
                "blame": one_method, "methods": four_methods, "test": decide, "rest": lower_half,
            },
        )
    },
)  # fmt: skip
