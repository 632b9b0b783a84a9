"""What the Probe tab shows of an examination: the answer, a sentence, a row for each change."""

from collections.abc import Sequence

from markupsafe import Markup

from probe.analysis.transformed import Examination, Transformed
from probe.baselines import BASELINES
from probe.models.classifier import Prediction
from probe.models.reader import SpanPrediction
from probe.tasks.reading import in_words
from probe.tasks.task import INVALID, Task
from probe.transforms.registry import FAMILIES, REGISTRY, missing
from probe.ui.html.elements import NOTHING, alert, join, note, term, twin, uncapitalised
from probe.ui.html.importance import importance, score_table, shaded
from probe.ui.html.prediction import bar, legend, next_best, place_of
from probe.ui.html.probe.meaning import summary
from probe.ui.html.probe.transformed import row
from probe.ui.html.tones import tone_class

GROUPED_FROM = 9
"""Rows from which they stand under the titles of their families."""
SORTS = (("place", "family"), ("confidence", "confidence"), ("change", "change"), ("title", "name"))
FACTS = (
    "How long the answer took, and the numbers it was computed with: fp32 are those of 32 bits, in "
    "which the model is as exact as it can be."
)
UNANSWERABLE = "The text says nothing that could be judged."
"""What a model means by the label invalid, that some of them have learnt."""
WAITING = Markup(
    '<div class="answer waiting" aria-busy="true"><p class="verdict"><strong>…</strong></p>'
    '<p class="soft">{}</p></div>'
)
EMPTY = Markup(
    '<p class="empty card soft">What the model says of changed texts stands here. Take one of the '
    "presets above, or search for a change.</p>"
)
NO_ANSWER = note("The changed texts stand here as soon as there is an answer.")


def hint(lesson: str) -> Markup:
    """Say to a first visitor what to do, with the address of a lesson."""
    return Markup(
        '<p class="hint"><span>Type a text of your own, break it, and see whether the answer '
        'notices. New here? <a href="{}">Take the 20-minute lesson</a></span>'
        '<button type="button" data-dismiss>dismiss ×</button></p>'
    ).format(lesson)


def question(task: Task) -> Markup:
    """Say what the model is asked."""
    return Markup('<p class="soft question">{}</p>').format(task.question)


def notices(sentences: Sequence[str]) -> Markup:
    """Show what a link names that is not here."""
    if not sentences:
        return NOTHING
    listed = join(Markup("<p>{}</p>").format(sentence) for sentence in sentences)
    return Markup('<div class="notice" role="status">{}</div>').format(listed)


def not_available() -> Markup:
    """Say which transforms cannot run here, and what would have to be done."""
    names_by_reason: dict[str, list[str]] = {}
    for name, entry in REGISTRY.items():
        if reason := missing(entry):
            names_by_reason.setdefault(reason, []).append(name)
    return join(
        Markup('<p class="fine off"><b>Not available here:</b> {}. {}</p>').format(
            ", ".join(names), reason
        )
        for reason, names in names_by_reason.items()
    )


def waiting(words: str) -> Markup:
    """Hold the place of the answer until it is there."""
    return WAITING.format(words)


def answer(examination: Examination) -> Markup:
    """Show the prediction, and what it rests on."""
    prediction, scores = examination.prediction, examination.importance
    folds = [
        twin("scores as table", score_table(examination.example, scores)) if scores else NOTHING,
        _rules(examination),
    ]
    return Markup('<div class="answer">{}{}{}{}{}{}<div class="folds">{}</div></div>').format(
        _head(examination),
        *_shares(prediction),
        _cut(examination),
        shaded(examination.example, scores, place_of(prediction))
        if scores
        else importance(examination.example, examination.no_importance),
        _next(prediction),
        join(folds),
    )


def _shares(prediction: Prediction) -> tuple[Markup, Markup]:
    """Show the probability of each label; the answers of a span task are named below."""
    if isinstance(prediction, SpanPrediction):
        return NOTHING, NOTHING
    return bar(prediction), legend(prediction)


def _next(prediction: Prediction) -> Markup:
    return next_best(prediction) if isinstance(prediction, SpanPrediction) else NOTHING


def _head(examination: Examination) -> Markup:
    prediction = examination.prediction
    model = examination.model
    facts = [f"{1000 * examination.seconds:.0f} ms", "fp32"]
    if model.revision:
        facts.append(f"revision {model.revision[:12]}")
    return Markup(
        '<p class="verdict"><strong class="label {}">{}</strong>'
        '<span class="num confidence">{:.2f}</span><span class="soft">{}</span>'
        '<span class="soft tiny facts hide-phone">{}</span></p>{}'
    ).format(
        tone_class(prediction.label),
        _name(examination),
        prediction.confidence,
        rightness(examination),
        term(" · ".join(facts), FACTS),
        _meaning(prediction.label, model.task),
    )


def _meaning(label: str, task: Task) -> Markup:
    """Say what an answer claims, to somebody who does not know the task."""
    words = UNANSWERABLE if label == INVALID else task.meanings.get(label, "")
    return note(f"The model says: {uncapitalised(words)}") if words else NOTHING


def _name(examination: Examination) -> str:
    """Return the answer as a heading; a span stands as in its text."""
    label = examination.prediction.label
    if not examination.model.task.has_spans:
        return label.capitalize()
    return label or "No answer"


def rightness(examination: Examination) -> str:
    """Say whether the answer is right, where that is known."""
    gold, task = examination.example.gold, examination.model.task
    if gold is None:
        return ""
    if task.matches(examination.prediction.label, gold):
        return "right"
    return f"wrong: {in_words(gold)}"


def _cut(examination: Examination) -> Markup:
    """Say what the model does not read, reads in parts, may not understand, or cannot find."""
    task, said = examination.model.task, examination.notes
    if task.problem and (wrong := task.problem(examination.example)):
        said.append(f"Look at the right answer: {wrong}.")
    return join(map(note, said))


def _rules(examination: Examination) -> Markup:
    """Say what rules answer that understand nothing; some tasks have none."""
    if not examination.rules:
        return NOTHING
    answers = join(
        Markup("<li>{} <b>{}</b></li>").format(BASELINES[name].summary, label)
        for name, label in examination.rules.items()
    )
    return twin("rules that understand nothing", Markup("<ul>{}</ul>").format(answers))


def announcement(examination: Examination) -> str:
    """Say the answer and what the changes mean in one breath, for who cannot see them come."""
    prediction = examination.prediction
    said = f"{_name(examination)}, {prediction.confidence:.2f}"
    right = rightness(examination)
    changes = summary(examination.transformed, prediction) if examination.transformed else ""
    return f"{said}{f', {right}' if right else ''}. {changes}"


def rows(examination: Examination, troubles: Sequence[object] = ()) -> Markup:
    """Show the sentence, and a row for each transformed example; unchanged ones are folded away.

    `troubles` are what is wrong with changes that were asked for.
    """
    wrong = join(alert(trouble) for trouble in troubles)
    if not examination.transformed:
        return wrong + (NOTHING if troubles else EMPTY)
    before = examination.prediction
    return wrong + Markup('<p class="say">{}</p>{}<div class="card results">{}</div>').format(
        summary(examination.transformed, before),
        _sorting() if len(examination.transformed) >= GROUPED_FROM else NOTHING,
        _listed(examination.transformed, before),
    )


def _listed(transformed: Sequence[Transformed], before: Prediction) -> Markup:
    """List the rows, many of them by family, with what did not change at the end."""
    if len(transformed) < GROUPED_FROM:
        return join(row(each, before) for each in transformed)
    changed = [each for each in transformed if each.result.changed]
    unchanged = [each for each in transformed if not each.result.changed]
    groups = {family: [each for each in changed if _family(each) == family] for family in FAMILIES}
    listed = join(
        Markup('<h3 class="family">{}</h3>').format(FAMILIES[family].title)
        + join(row(each, before) for each in members)
        for family, members in groups.items()
        if members
    )
    return listed + _unchanged(unchanged, before)


def _family(transformed: Transformed) -> str:
    """Return the family of a transform, of a chain that of its last link."""
    return REGISTRY[transformed.result.steps[-1].transform].family


def _unchanged(transformed: Sequence[Transformed], before: Prediction) -> Markup:
    if not transformed:
        return NOTHING
    count = len(transformed)
    words = f"{count} more {'does' if count == 1 else 'do'} not apply here"
    return Markup('<details class="unchanged"><summary>{}</summary>{}</details>').format(
        words, join(row(each, before) for each in transformed)
    )


def _sorting() -> Markup:
    buttons = join(
        Markup('<button type="button" data-sort="{}" aria-pressed="{}">{}</button>').format(
            key, "true" if key == "place" else "false", words
        )
        for key, words in SORTS
    )
    return Markup(
        '<div class="sorting tiny" role="group" aria-label="order of the rows">'
        '<span class="soft">Order by</span>{}</div>'
    ).format(buttons)
