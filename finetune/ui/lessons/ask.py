"""Lesson: ask a language model in words, or train a small one? (Liu et al. 2019, Gupta et al.)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

from markupsafe import Markup
from pydantic import TypeAdapter

from finetune.report.inoculation import model_name, model_title, shown_runs
from finetune.trials.inoculation import Outcome
from finetune.ui.lessons.inoculate import (
    IN_PROMPT,
    PROMPT_TESTS,
    STRESSED,
    accuracies,
    own_again,
    own_run,
    show_changed,
    stop_own,
)
from probe.analysis.batch import Chunk
from probe.analysis.hans import Profiled, over_templates, profile
from probe.analysis.summary import Summary
from probe.models.asked import Asked
from probe.models.library import DEFAULT, is_asked
from probe.settings import ASSETS
from probe.tasks.nli import ENTAILMENT, NLI, NON_ENTAILMENT
from probe.templates import subcases
from probe.transforms.options import PUBLISHED
from probe.ui.html.elements import NOTHING, link, note, uncapitalised
from probe.ui.lessons import drawing
from probe.ui.lessons.lesson import Compared, Finding, Lesson, Live, Setting, measured, written
from probe.ui.lessons.live import ROWS, bundled_example, counted, on_bundled
from probe.ui.links import link_to
from probe.ui.page import Core

PER_SUBCASE = 10
"""Pairs of each of 30 sub-cases: 150 that follow and 150 that do not."""
SHOWN = "news-03-1"
"""The bundled pair with which a prompt is shown, by id."""
RIGHT, STAY = "Right answers", "Answers that stay when the hypothesis is sorted"
FOLLOWS, FOLLOWS_NOT = "Right where the hypothesis follows", "Right where it does not follow"
NEAR = 0.10
DOSES: tuple[Outcome, ...] = ("0", "1", "not_taken_up", "3")
"""The outcomes of examples in a prompt, in the order in which they are guessed."""


@dataclass(frozen=True)
class Kept:
    """What a language model came to, for who has none: its name, how it was asked, its figures.

    `figures` are by the names of steps.
    """

    title: str
    told: str
    figures: Mapping[str, Compared]
    outcome: Outcome
    headline: str


KEPT = TypeAdapter(Kept)
KEPT_FILE = ASSETS / "lessons" / "asked.json"


@cache
def kept() -> Kept:
    """Return the kept result."""
    return KEPT.validate_json(KEPT_FILE.read_bytes())


def kept_words() -> Markup:
    """Say that a result is a kept one, and how to run one's own."""
    mine = link(link_to("mine"), "Mine")
    return note(
        Markup(
            "The language model's figures are a kept result: {}. Bring one in {} and choose it as "
            "the model, and this runs with yours."
        ).format(kept().told, mine)
    )


def show_prompt() -> Markup:
    """Show the words by which a pair is asked."""
    pair = bundled_example(NLI, SHOWN)
    asked = f"{pair.premise.rstrip('.')}, right? [Yes | Maybe | No], {pair.hypothesis}"
    return drawing.example(NLI, pair, f"Asked in words: {asked}")


@on_bundled("sort", options=PUBLISHED)
def answers(setting: Setting, summary: Summary) -> Finding:
    """Measure right answers, and those that stay when the words are sorted."""
    found = {
        RIGHT: summary.original["accuracy"],
        STAY: summary.transforms["sort"]["agreement"],
    }
    return Finding(compared={title: (measured(setting.title, it),) for title, it in found.items()})


def _profiled(setting: Setting) -> Iterator[Chunk[Profiled]]:
    for done, row in enumerate(profile(setting.classifier, PER_SUBCASE), 1):
        yield Chunk((row,), done, len(subcases()), 0.0)


@counted(f"hans {PER_SUBCASE}", _profiled, "sub-case")
def heuristics(setting: Setting, rows: Sequence[Profiled]) -> Finding:
    """Measure the pairs of HANS that follow and those that do not apart."""
    kinds = {FOLLOWS: ENTAILMENT, FOLLOWS_NOT: NON_ENTAILMENT}
    found = {
        title: over_templates(row for row in rows if row.gold == gold)
        for title, gold in kinds.items()
    }
    return Finding(compared={title: (measured(setting.title, it),) for title, it in found.items()})


MEASURES: Mapping[str, Live] = {"answers": answers, "heuristics": heuristics}
"""What is measured of either model, by the name under which its figures are kept."""
Shares = Mapping[str, tuple[float, float]]
"""Of the trained model and of the asked one, by title."""


def beside(
    measure: str,
    titles: Sequence[str],
    guess: Callable[[Shares], int],
    setting: Setting,
) -> Iterator[Finding]:
    """Measure a trained and an asked model on the same texts; the latter may be the kept result."""
    asked = isinstance(setting.classifier, Asked)
    trained = setting
    if asked:
        models = setting.core.models
        trained = replace(setting, classifier=models.get(setting.visitor, DEFAULT, NLI))
    found = list[Compared]()
    for side in (trained, *([setting] if asked else [])):
        finding = Finding()
        for finding in MEASURES[measure](side):
            if finding.progress:
                yield Finding(progress=finding.progress)
        found.append(finding.compared)
    if not asked:
        found.append(kept().figures[measure])
    both = {title: tuple(figure for each in found for figure in each[title]) for title in titles}
    shares = {title: (one.share, other.share) for title, (one, other) in both.items()}
    told = "; ".join(
        f"{uncapitalised(title)}: {one.who} {100 * one.share:.0f} %, {other.who} "
        f"{100 * other.share:.0f} %"
        for title, (one, other) in both.items()
    )
    yield Finding(
        f"{told[0].upper()}{told[1:]}.", NOTHING if asked else kept_words(), both, guess(shares)
    )


def _more_right(shares: Shares) -> int:
    trained, asked = shares[RIGHT]
    return 1 if abs(trained - asked) <= NEAR else 0 if trained > asked else 2


def _more_kept(shares: Shares) -> int:
    trained, asked = shares[STAY]
    return 1 if abs(trained - asked) <= NEAR else 0 if trained > asked else 2


def _fooled(shares: Shares) -> int:
    """Tell who is right on less than half of the pairs that do not follow."""
    trained, asked = (share < 0.5 for share in shares[FOLLOWS_NOT])
    return 2 if trained and asked else 0 if trained else 1 if asked else 3


def _trained_dose(setting: Setting) -> Compared:
    """Return what the gallery's training of the usual model came to on the same challenge."""
    wanted = DEFAULT, STRESSED
    runs = shown_runs(setting.core.gallery)
    run = next(each for each in runs if (model_name(each), each.plan.challenge) == wanted)
    return accuracies(run.verdict["oracle_lr"], run.results, model_title(run))


def dose(setting: Setting) -> Iterator[Finding]:
    """Show a language model examples of a challenge in its prompt, beside a trained model."""
    finding = Finding()
    if isinstance(setting.classifier, Asked):
        for finding in own_run(setting):
            yield finding
        yield _with_trained(setting, finding)
        return
    yield _kept_dose(setting)


def dose_again(setting: Setting) -> Iterator[Finding]:
    """Show what became of the latest run of one's own, or the kept one."""
    if not isinstance(setting.classifier, Asked):
        yield _kept_dose(setting)
        return
    for finding in own_again(setting):
        yield finding if finding.progress else _with_trained(setting, finding)


def _kept_dose(setting: Setting) -> Finding:
    known = kept()
    finding = Finding(
        f"{known.title}: {known.headline}.", kept_words(), known.figures["dose"],
        DOSES.index(known.outcome) if known.outcome in DOSES else None,
    )  # fmt: skip
    return _with_trained(setting, finding)


def _with_trained(setting: Setting, finding: Finding) -> Finding:
    """Put what training came to behind what the examples in the prompt did."""
    trained = _trained_dose(setting)
    both = {title: (*own, *trained[title]) for title, own in finding.compared.items()}
    return replace(finding, compared=both)


def stop_dose(core: Core, visitor: str, model: str) -> None:
    """Cancel the run of one's own that goes."""
    if is_asked(model):
        stop_own(core, visitor, model)


WHO = """- The trained one, by more than 10 points
- Neither: they are within 10 points
- The one that is asked, by more than 10 points"""
TEXT = f"""
# ask: Two ways to an answer
There are two ways to make a model answer whether a hypothesis follows from a premise. One is to
train a small model on many thousand labelled pairs: MiniLM was. The other is to ask a language
model, which was only ever taught to go on with texts, in words, as below: of the words that stand
for the labels the likeliest one is its answer. Nothing is trained for that, so it is cheap to
begin with.

Both answer the same {ROWS} pairs. A language model of your own takes some minutes for this: each
pair is read once more with its words sorted, for the next step.
? Which one is right more often?
{WHO}

# salad: Without order
Now the words of each hypothesis are sorted, which leaves most of them without a meaning (Gupta et
al. 2021). A model that reads should change many of its answers, or answer by chance. One that
keeps nearly all of them did not need the order; one that always says the same keeps them too.
? Whose answers stay more often?
{WHO}

# hans: Shared words
McCoy et al. 2019 made pairs whose hypothesis has only words of the premise; half of them follow and
half do not. Who counts shared words is right on the first half and wrong on the second.
? Who is right on less than half of the pairs that do not follow?
- The trained one only
- The one that is asked only
- Both
- Neither

# dose: Examples in the prompt
Liu et al. 2019 show a model a few examples of what it fails on and train it a little. A language
model need not be trained for that: the examples can stand in its prompt, each with its answer. The
challenge adds words to the hypothesis that change nothing; up to {IN_PROMPT[-1]} changed pairs are
shown, and {PROMPT_TESTS} changed and {PROMPT_TESTS} original ones are asked. What MiniLM came to by
training, in the gallery, stands beside it. A model that is right by chance alone has no gap either.

A language model of your own takes some minutes, more on a busy machine, and goes on if you leave:
you find it again in Train and in Mine. A gap that
stays here says nothing of what a training would do, so that there is no outcome 2.
? What do the examples in the prompt do?
- There is no gap to close
- They close the gap
- They are not taken up, or close only a part
- They cost points on the original pairs

# questions: Questions
Talk about these with your neighbour before you unfold an answer.
? A model that always says “entailment” keeps all of its answers on sorted texts. What has to stand
beside the share of answers that stay?
> How often it is right on whole texts, and how often it says each label. Where it is right no more
often than chance, an answer that stays says nothing of reading.
? The language model here is a very small one. What can be said of large ones from this?
> Nothing but how to ask them. The measures are the same for any: bring one in Mine, or name one on
the command line.
? Change a word of the prompt and its answers change. What is then measured, the model or the
prompt?
> Both together. A result therefore names its prompt, and one prompt that fails does not show that
the model cannot do it. The orders of listed labels are averaged here, since an order alone turns
answers.
? Training took thousands of labelled pairs, the prompt none. When is that the better way?
> Where there are no labels, or the question changes every day; and where somebody checks a sample
of the answers. For one question asked a million times a small trained model is cheaper and, here,
right more often.
"""
ASK = Lesson(
    "ask",
    "Ask or train?",
    15,
    "A language model can be asked what a small one is trained for; whether it reads or guesses is "
    "measured in the same ways.",
    "Liu, Schwartz and Smith 2019; Gupta et al. 2021; McCoy, Pavlick and Linzen 2019",
    {
        NLI.name: written(
            TEXT,
            exhibit={"ask": show_prompt, "dose": partial(show_changed, STRESSED)},
            live={
                "ask": partial(beside, "answers", (RIGHT,), _more_right),
                "salad": partial(beside, "answers", (STAY, RIGHT), _more_kept),
                "hans": partial(beside, "heuristics", (FOLLOWS, FOLLOWS_NOT), _fooled),
                "dose": dose,
            },
            again={"dose": dose_again},
            stop={"dose": stop_dose},
        )
    },
)
