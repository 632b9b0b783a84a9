"""Lesson: does a reader find what is asked, or what looks like it? (Jia and Liang 2017)."""

from collections.abc import Iterator

from markupsafe import Markup

from probe.addsent.statements import distractor
from probe.analysis.summary import Summary
from probe.analysis.transformed import examine
from probe.statistics import Estimate
from probe.tasks import reading
from probe.tasks.reading import READING
from probe.ui.html.elements import link, shown_texts
from probe.ui.lessons import drawing
from probe.ui.lessons.lesson import Finding, Lesson, Setting, measured, published, written
from probe.ui.lessons.live import bundled_example, on_bundled
from probe.ui.links import link_to_example

ASKED = "reading-024-2"
"""The bundled question that is looked at."""
ADDED, IN_FRONT, OTHER = "addsent", "addsent_first", "addsent_other"
ROWS = 300
"""All bundled questions: two of three have a look-alike."""
FEW, MANY = 0.10, 0.30
"""Points of F1, as shares, below which little and above which much is lost."""
NEAR = 0.03


def show_asked() -> Markup:
    """Show the passage and the question."""
    return drawing.example(READING, _asked())


def show_look_alike() -> Markup:
    """Show the sentence that is added, and that it says nothing of what is asked."""
    return shown_texts({"The sentence that is added": _look_alike()})


def _asked() -> reading.Question:
    question: reading.Question = bundled_example(READING, ASKED)
    return question


def _look_alike() -> str:
    made = distractor(_asked())
    assert made is not None, f"{ASKED} has no look-alike"
    return made.sentence


def answer(setting: Setting) -> Iterator[Finding]:
    """Compare the model's answer with the reference."""
    (said,) = setting.classifier.predict([_asked()])
    right = READING.matches(said.label, _asked().gold or "")
    ending = "it is right" if right else f"right is “{_asked().references[0]}”"
    yield Finding(
        f"{setting.title} answers “{said.label}”: {ending}.",
        drawing.answers([(setting.title, said)]),
        came_true=0 if right else 1,
    )


def add(setting: Setting) -> Iterator[Finding]:
    """Add the look-alike and answer again."""
    looked = examine(setting.classifier, _asked(), [ADDED])
    before, (changed,) = looked.prediction, looked.transformed
    after = changed.prediction
    if changed.agrees:
        came_true, says = 0, f"It still answers “{after.label}”."
    elif after.label in _look_alike():
        came_true, says = 1, f"It jumps to the look-alike: “{after.label}”."
    else:
        came_true, says = 2, f"It moves elsewhere: “{after.label}”."
    onward = link(link_to_example(READING, _asked(), setting.model), "this question in Probe")
    yield Finding(
        says,
        drawing.answers([("the passage as it is", before), ("with the look-alike", after)])
        + Markup("<p>Put the sentence elsewhere on {}, and look again.</p>").format(onward),
        came_true=came_true,
    )


@on_bundled(ADDED, IN_FRONT, OTHER, rows=ROWS)
def many(setting: Setting, summary: Summary) -> Finding:
    """Measure F1 with and without the look-alike, over the bundled questions."""
    before, after = _f1(summary), _f1(summary, ADDED)
    lost, here = before.value - after.value, f"{setting.title} on this app's passages"
    return Finding(
        f"F1 falls from {100 * before.value:.0f} to {100 * after.value:.0f}.",
        compared={
            "F1 on the questions as they are": (
                published("squad.f1.original"),
                measured(here, before),
            ),
            "F1 with a look-alike at the end": (
                published("squad.f1.addonesent"),
                published("squad.f1.addsent"),
                measured(here, after),
            ),
        },
        came_true=int(lost >= FEW) + int(lost > MANY),
    )


@on_bundled(ADDED, IN_FRONT, OTHER, rows=ROWS)
def place(setting: Setting, summary: Summary) -> Finding:
    """Measure F1 with the look-alike in front, and with another false answer."""
    titles = ("at the end", "in front", "at the end, another false answer")
    after = [_f1(summary, name) for name in (ADDED, IN_FRONT, OTHER)]
    end, front, other = (f"{100 * (_f1(summary).value - each.value):.0f}" for each in after)
    apart = after[1].value - after[0].value
    return Finding(
        f"At the end it costs {end} points of F1, in front {front}, with another false answer "
        f"{other}.",
        compared={f"F1 of {setting.title} with a look-alike": tuple(map(measured, titles, after))},
        came_true=0 if apart < -NEAR else 1 if apart > NEAR else 2,
    )


def _f1(summary: Summary, name: str = "") -> Estimate:
    """Return the F1 with a look-alike, or without any."""
    estimate: Estimate = (summary.transforms[name] if name else summary.original)["f1"]
    return estimate


TEXT = f"""
# task: Read and answer
A model for reading comprehension reads a passage and a question and answers with a stretch of the
passage. On the SQuAD data set, models do nearly as well as people. Read the passage, and find the
answer.
? Will the model find the answer?
- It finds it
- It answers something else

# add: Add a look-alike
Jia and Liang take the question, change a name or a thing in it, and make a statement of it with a
false answer. The statement is put at the end of the passage. It looks like the answer but is about
something else, so the right answer stays what it was.
? What will the model do?
- It stays with its answer
- It jumps to the look-alike
- It moves elsewhere

# rule: Is it a rule?
Now all {ROWS} questions that come with this app are asked, about two thirds of them with a
look-alike: where no word can be altered, none is made. The measure is F1: how far the words of an
answer are those of a right one, from 0 to 100.
? How much F1 does the look-alike cost?
- Fewer than {100 * FEW:.0f} points
- {100 * FEW:.0f} to {100 * MANY:.0f} points
- More than {100 * MANY:.0f} points

# place: Place or words?
Does the model trust the last sentence, or does it follow the words? Put the same sentence before
the passage, and see. And take another false answer, in case it is drawn to the first.
? Where does the look-alike cost more?
- In front
- At the end
- About the same, within 3 points

# questions: Questions
Talk about these with your neighbour before you unfold an answer.
? A person who reads the passage with the added sentence is hardly ever fooled. What does a person
do that the model does not?
> A person notes that the sentence is about somebody or something else, and that one word which
differs makes it useless. The model has learnt on SQuAD that the answer stands in the sentence that
shares most words with the question. That was nearly always so, and nothing in training spoke
against it.
? The sentence is false, or about other things. Why is the right answer still the old one?
> The question asks for what it names; of that the added sentence says nothing. Jia and Liang call
such a sentence compatible: it contradicts neither the passage nor the answer. So the label stays,
and a model that changes its answer is wrong.
? Train the model on passages with such sentences, always at the end and with the same few false
answers. It does better on them. What may it have learnt?
> To pass over the last sentence, or over “Jeff Dean”. Jia and Liang put the sentence in front and
took a second list of false answers: much of the gain was gone. Inoculate, in Train, draws both
counter-tests beside the curve.
? These sentences are made by rules, and no person has checked them. How does that bear on the
figures?
> Some are no good English, and now and then one answers the question after all; then a jump is no
error. Jia and Liang had people repair the sentences and vote on them. Compare with their figures in
direction, not to the point. In Ask people, a class votes.
? F1 counts shared words of two answers; exact match counts only equal ones. When do they differ,
and which would you report?
> “the oak” and “oak” are equal after the articles are dropped; “old oak” and “oak” share a word, so
F1 is two thirds and exact match 0. F1 is milder where the borders are a matter of taste. SQuAD
reports both.
"""
LOOK_ALIKES = Lesson(
    "look_alikes",
    "Look-alikes",
    20,
    "Readers answer with what looks like the question, even where it is about something else.",
    "Jia and Liang 2017, Adversarial Examples for Evaluating Reading Comprehension Systems",
    {
        READING.name: written(
            TEXT,
            exhibit={"task": show_asked, "add": show_look_alike},
            live={"task": answer, "add": add, "rule": many, "place": place},
        )
    },
)
