"""What the lesson on attributions shows and computes."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from markupsafe import Markup

from probe.analysis.batch import Chunk
from probe.analysis.deletion import HALF, RANDOM, Cut, Ranking, deletion_test
from probe.analysis.importance import FIRST, METHODS, PAPER, Importance, Method, attribute
from probe.models.classifier import text_lengths
from probe.settings import ASSETS
from probe.statistics import Estimate, Share
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI
from probe.transforms.registry import Scored
from probe.ui.answers.shared_answers import model_key
from probe.ui.html.elements import join
from probe.ui.html.importance import KEYS, tokens
from probe.ui.lessons import drawing
from probe.ui.lessons.bundled_scores import bundled_example, progress, scored
from probe.ui.lessons.lesson import Comparison, Figure, Finding, Setting, measured
from probe.ui.lessons.published import published
from probe.ui.lessons.shared_results import once

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


def one_method(setting: Setting) -> Iterator[Finding]:
    """Score the pair by gradient × input."""
    scores = _scores(setting, "gradient_x_input")
    token = _top(scores)
    yield Finding(
        f"Gradient × input blames “{token}” most for the answer {scores.label}.",
        _legend() + _shaded(scores),
        came_true=_stretch(scores),
    )


def four_methods(setting: Setting) -> Iterator[Finding]:
    """Score the pair by each method."""
    read = {name: _scores(setting, name) for name in SHOWN}
    tops = {name: _top(scores) for name, scores in read.items()}
    (word, most), *_ = Counter(tops.values()).most_common()
    yield Finding(
        f"{most} of 4 methods put “{word}” first.",
        _legend()
        + join(
            Markup("<p><b>{}</b> puts “{}” first</p>{}").format(
                SHOWN[name].title, tops[name], _shaded(scores)
            )
            for name, scores in read.items()
        ),
        came_true={4: 0, 3: 1}.get(most, 2),
    )


def _scores(setting: Setting, method: Method) -> Importance:
    """Score the pair for the model's own answer."""
    pair, classifier = bundled_example(NLI, ASKED), setting.classifier
    (said,) = classifier.predict([pair])
    (importance,) = attribute(classifier, [pair], [said.answer], method)
    return importance


def _best(scores: Importance) -> Scored:
    return max(scores.tokens(NLI.target), key=lambda token: token.score)


def _top(scores: Importance) -> str:
    """Return the token of the hypothesis with the highest score, as it stands in the text."""
    token = _best(scores)
    return str(bundled_example(NLI, ASKED).hypothesis[token.start : token.end])


def _stretch(scores: Importance) -> int | None:
    """Return the number of the choice in which the token lies, None for the final mark."""
    text, start = str(bundled_example(NLI, ASKED).hypothesis), int(_best(scores).start)
    begins = [text.index(choice) for choice in CHOICES]
    if start >= begins[-1] + len(CHOICES[-1]):
        return None
    return sum(start >= begin for begin in begins) - 1


def _legend() -> Markup:
    """Say what the shades mean."""
    return Markup('<p class="rests">Shaded {}; saliency knows no sides.</p>').format(
        KEYS["support"]
    )


def _shaded(scores: Importance) -> Markup:
    text, scored = bundled_example(NLI, ASKED).hypothesis, scores.tokens(NLI.target)
    largest = max((abs(token.score) for token in scored), default=0.0)
    return Markup('<div class="tokens">{}</div>').format(tokens(text, scored, largest))


def shortest(n: int) -> Sequence[Any]:
    """Return the shortest bundled test pairs."""
    pairs = bundled_examples(NLI, "test")
    lengths = dict(zip(pairs, text_lengths(NLI, pairs), strict=True))
    return sorted(pairs, key=lambda pair: (lengths[pair], pair.id))[:n]


def decide(setting: Setting) -> Iterator[Finding]:
    """Take out the higher half of each ranking and count the answers that change."""
    classifier = setting.classifier
    key = model_key(classifier), "deletion"
    for chunk in once(key, lambda: _deleted(setting)):
        changed = {order: _changed(chunk.rows, order) for order in RANKINGS}
        best = max(RANKINGS[:-1], key=lambda order: changed[order].value)
        table = Comparison(
            "Answers that change without the half that a method calls important",
            tuple(
                measured(TITLES[order], changed[order])
                for order in sorted(RANKINGS, key=lambda order: -changed[order].value)
            ),
        )
        if chunk.done < chunk.total:
            yield Finding(progress=progress(chunk, "pair"), compared=(table,))
            continue
        yield Finding(
            f"{TITLES[best]} finds what the answer hangs on best: without it "
            f"{100 * changed[best].value:.0f} % of the answers change, by chance "
            f"{100 * changed[RANDOM].value:.0f} %.",
            compared=(table, curve()),
            came_true=RANKINGS.index(best),
        )


@cache
def curve() -> Comparison:
    """Return what was measured before: answers that change without the highest tokens of a pair.

    `python -m benchmarks.importance curves` measures it, docs/importance.md has it of all methods.
    """
    held = json.loads((ASSETS / "importance_curves.json").read_text(encoding="utf-8"))
    rows = {(row["method"], row["sign"]): row for row in held["changed"]}
    titles = {FIRST: METHODS[FIRST].title, PAPER: METHODS[PAPER].title, None: "By chance"}
    return Comparison(
        f"Measured beforehand: answers of {held['model']} that change without the highest tokens "
        f"of both texts, {held['n']} pairs",
        tuple(
            Figure(
                f"{title}: {count} token{'s' if count > 1 else ''}",
                rows[method, "support"][f"deletion {count}"] / held["n"],
                f"n = {held['n']}, docs/importance.md",
            )
            for method, title in titles.items()
            for count in (1, 3, 5)
        ),
    )


def _deleted(setting: Setting) -> Iterator[Chunk[Changes]]:
    """Yield the chunks of the test, each with all rows so far."""
    rows = list[Changes]()
    for chunk in deletion_test(
        setting.classifier, shortest(PAIRS), RANKINGS, most_steps=PATH_STEPS
    ):
        rows += chunk.rows
        yield Chunk(tuple(rows), chunk.done, chunk.total, chunk.seconds)


def _changed(rows: Sequence[Changes], order: Ranking) -> Estimate:
    return Share(sum(row[order, HALF] for row in rows), len(rows)).estimate()


def lower_half(setting: Setting) -> Iterator[Finding]:
    """Drop the half that gradient × input calls unimportant, as Gupta et al. do."""
    for so_far in scored(setting, ("drop",)):
        if not so_far.ended:
            yield Finding(progress=progress(so_far.chunk, "pair"))
            continue
        stays = so_far.summary.transforms["drop"]["agreement"]
        yield Finding(
            f"{100 * stays.value:.0f} % of the answers stay without that half.",
            compared=(
                Comparison(
                    "Answers that stay without the less important half",
                    (
                        published("agreement.drop.nli"),
                        measured(f"{setting.title} on this app's pairs", stays),
                    ),
                ),
            ),
            came_true=int(stays.value >= 0.5) + int(stays.value > 0.75),
        )
