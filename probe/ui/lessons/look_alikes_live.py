"""What the lesson on look-alikes shows and computes."""

from collections.abc import Iterator

from markupsafe import Markup

from probe.addsent.statements import distractor
from probe.analysis.transformed import examine
from probe.statistics import Estimate
from probe.tasks.reading import READING, Question
from probe.ui.html.elements import link
from probe.ui.lessons import drawing
from probe.ui.lessons.bundled_scores import Scored, bundled_example, progress, scored
from probe.ui.lessons.lesson import Comparison, Figure, Finding, Setting, measured
from probe.ui.lessons.published import published
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
    return drawing.text("The sentence that is added", _look_alike())


def _asked() -> Question:
    question: Question = bundled_example(READING, ASKED)
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


def many(setting: Setting) -> Iterator[Finding]:
    """Measure F1 with and without the look-alike, over the bundled questions."""
    for so_far in _scored(setting):
        if not so_far.ended:
            yield Finding(progress=progress(so_far.chunk, "question"))
            continue
        before, after = _f1(so_far), _f1(so_far, ADDED)
        lost = before.value - after.value
        yield Finding(
            f"F1 falls from {100 * before.value:.0f} to {100 * after.value:.0f}.",
            compared=(
                Comparison(
                    "F1 on the questions as they are",
                    (published("squad.f1.original"), _of(setting, before)),
                ),
                Comparison(
                    "F1 with a look-alike at the end",
                    (
                        published("squad.f1.addonesent"),
                        published("squad.f1.addsent"),
                        _of(setting, after),
                    ),
                ),
            ),
            came_true=int(lost >= FEW) + int(lost > MANY),
        )


def place(setting: Setting) -> Iterator[Finding]:
    """Measure F1 with the look-alike in front, and with another false answer."""
    for so_far in _scored(setting):
        if not so_far.ended:
            yield Finding(progress=progress(so_far.chunk, "question"))
            continue
        end, front, other = (_f1(so_far, name) for name in (ADDED, IN_FRONT, OTHER))
        apart = front.value - end.value
        yield Finding(
            f"At the end it costs {_cost(so_far, end)} points of F1, in front "
            f"{_cost(so_far, front)}, with another false answer {_cost(so_far, other)}.",
            compared=(
                Comparison(
                    f"F1 of {setting.title} with a look-alike",
                    tuple(
                        measured(title, estimate)
                        for title, estimate in (
                            ("at the end", end),
                            ("in front", front),
                            ("at the end, another false answer", other),
                        )
                    ),
                ),
            ),
            came_true=0 if apart < -NEAR else 1 if apart > NEAR else 2,
        )


def _scored(setting: Setting) -> Iterator[Scored]:
    """Score all bundled questions with every look-alike, once for a model."""
    yield from scored(setting, (ADDED, IN_FRONT, OTHER), ROWS)


def _f1(so_far: Scored, name: str = "") -> Estimate:
    """Return the F1 with a look-alike, or without any."""
    summary = so_far.summary
    estimate: Estimate = (summary.transforms[name] if name else summary.original)["f1"]
    return estimate


def _cost(so_far: Scored, after: Estimate) -> str:
    return f"{100 * (_f1(so_far).value - after.value):.0f}"


def _of(setting: Setting, estimate: Estimate) -> Figure:
    return measured(f"{setting.title} on this app's passages", estimate)
