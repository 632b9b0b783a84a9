"""What Probe shows of an examination: the answer, a sentence, a row a change, one in full."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence

import pandas as pd
from markupsafe import Markup

from probe.analysis.importance import Importance
from probe.analysis.smallest import BUDGET, FLIP, WAYS, Smallest
from probe.analysis.transformed import Examination, Transformed
from probe.baselines import BASELINES
from probe.models.asked import Asked
from probe.models.classifier import Prediction
from probe.models.reader import SpanPrediction
from probe.models.served import Served
from probe.pictures.svg import FILE, box, drawing, text
from probe.tasks.reading import in_words
from probe.tasks.task import INVALID, Task
from probe.transforms.apply import Result, Step
from probe.transforms.registry import (
    FAMILIES,
    REGISTRY,
    chain_title,
    leaves_gold,
    missing,
    summary_of,
)
from probe.ui.html.edits import changes, edited_line
from probe.ui.html.elements import (
    NOTHING,
    alert,
    join,
    link,
    note,
    term,
    title,
    twin,
    uncapitalised,
)
from probe.ui.html.importance import importance, score_table, shaded
from probe.ui.html.meaning import badge, meaning, summary
from probe.ui.html.picture import picture
from probe.ui.html.prediction import (
    Tone,
    bar,
    label_name,
    legend,
    next_best,
    place_of,
    tone,
    tone_class,
    verdict,
)
from probe.ui.links import link_to_example, link_to_inoculation

ROW = Markup(
    '<details class="result" data-transform="{transform}" data-number="{number}" '
    'data-confidence="{confidence:.4f}" data-change="{change:.4f}" data-title="{title}">'
    '<summary><span class="what"><b>{title}</b> <code>{name}</code></span>'
    '<span class="predicted">{label} <span class="num">{sure}</span></span>'
    '<span class="bars">{bar}{was}</span>'
    '<span class="sense">{badge}</span>'
    '<span class="more" aria-hidden="true">›</span>'
    "{edits}</summary>"
    '<div class="full" aria-live="polite"><p class="fine">Opening …</p></div></details>'
)


def row(transformed: Transformed, before: Prediction) -> Markup:
    """Show one result; what opens on a press is asked for then."""
    result, now = transformed.result, transformed.prediction
    return ROW.format(
        transform=result.transform,
        number=result.number,
        confidence=now.confidence if now.probabilities else 0.0,
        sure=now.sure,
        change=_moved(now, before),
        title=chain_title(result.transform),
        name=result.name,
        label=label_name(now.label),
        bar=bar(now, stays=result.task.agrees(before.label, now.label)),
        was=bar(before, "was"),
        badge=badge(transformed, before).markup(),
        edits=_edits(transformed),
    )


def _moved(now: Prediction, before: Prediction) -> float:
    """Return by how much the probability of the label before has changed."""
    return abs(now.by_label.get(before.label, 0.0) - before.by_label.get(before.label, 0.0))


def _edits(transformed: Transformed) -> Markup:
    """Show what changed, and behind it what else there is to know of the new text."""
    result = transformed.result
    if not result.changed:
        return Markup('<span class="edit soft">{}</span>').format(result.note or "no change")
    gold = result.gold if result.gold != result.original.gold else None
    words = [
        *([f"right answer now: {gold}"] if gold else []),
        *(["not exact"] if not result.exact else []),
        *filter(None, [transformed.note]),
    ]
    more = Markup('<span class="edit soft tiny">{}</span>').format("; ".join(words))
    return edited_line(result) + (more if words else NOTHING)


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
        _asked(examination),
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
    facts = [f"{1000 * examination.seconds:.0f} ms"]
    if not isinstance(model, Served):
        facts.append("fp32")
    if model.revision:
        facts.append(f"revision {model.revision[:12]}")
    return Markup(
        '<p class="verdict"><strong class="label {}">{}</strong>'
        '<span class="num confidence">{}</span><span class="soft">{}</span>'
        '<span class="soft tiny facts hide-phone">{}</span></p>{}'
    ).format(
        tone_class(prediction.label),
        _name(examination),
        prediction.sure,
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


def _asked(examination: Examination) -> Markup:
    """Show all that a language model read of the example."""
    model = examination.model
    if not isinstance(model, Asked):
        return NOTHING
    words = f"the whole prompt: {model.told.removesuffix(f': {model.prompt.text}')}"
    asked = note(f"{model.connection.counted}.") if isinstance(model, Served) else NOTHING
    return twin(words, Markup("<pre>{}</pre>{}").format(model.shown(examination.example), asked))


def announcement(examination: Examination) -> str:
    """Say the answer and what the changes mean in one breath, for who cannot see them come."""
    prediction = examination.prediction
    said = f"{_name(examination)}, {prediction.sure}"
    right = rightness(examination)
    changes = summary(examination.transformed, prediction) if examination.transformed else ""
    return f"{said}{f', {right}' if right else ''}. {changes}"


def rows(examination: Examination, troubles: Sequence[object] = ()) -> Markup:
    """Show the sentence, and a row for each transformed example; unchanged ones are folded away.

    `troubles` are what is wrong with changes that were asked for.
    """
    wrong = join(alert(trouble) for trouble in troubles)
    offer = Markup('<div class="card">{}</div>').format(flip_row("", ""))
    if not examination.transformed:
        return wrong + (NOTHING if troubles else EMPTY) + offer
    before = examination.prediction
    listed = Markup('<p class="say">{}</p>{}<div class="card results">{}</div>').format(
        summary(examination.transformed, before),
        _sorting() if len(examination.transformed) >= GROUPED_FROM else NOTHING,
        _listed(examination.transformed, before),
    )
    return wrong + listed + offer


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


WIDTH, MARGIN, LINE = 760, 20, 20
CHARACTERS = 100
"""Characters of a line of text."""
MAX_LINES = 12
"""Lines of one text; the rest of a longer one is left out."""
BAR_COLOURS: Mapping[Tone, str] = {
    "first": "#0072b2",
    "middle": "#6e6e6e",
    "last": "#c44e00",
    "invalid": "#a65e8e",
}


def before_after_svg(
    title: str, texts: Mapping[str, str], before: Prediction, after: Prediction
) -> Markup:
    """Draw both answers as stacked bars over the changed texts, by their titles."""
    lines = [line for name, words in texts.items() for line in _lines(name, words)]
    top = MARGIN + LINE
    parts = [text(MARGIN, top, title)]
    for name, prediction in (("before", before), ("after", after)):
        top += LINE + 10
        words = f"{name}: {prediction.label} {prediction.sure}"
        parts += [text(MARGIN, top, words), *_drawn_bar(prediction, top + 6)]
        top += 34
        shares = (f"{label} {share:.2f}" for label, share in prediction.by_label.items())
        words = f"from 0 to 1, left to right: {', '.join(shares)}"
        parts.append(text(MARGIN, top, words, fill=FILE.soft))
    for line in lines:
        top += LINE
        parts.append(text(MARGIN, top + 8, line, fill=FILE.soft))
    return drawing(WIDTH, top + MARGIN + 8, title, parts)


def _lines(name: str, words: str) -> list[str]:
    return textwrap.wrap(f"{name}: {words}", CHARACTERS)[:MAX_LINES]


def _drawn_bar(prediction: Prediction, top: float) -> Iterator[Markup]:
    left, room = float(MARGIN), WIDTH - 2 * MARGIN
    for label, share in prediction.by_label.items():
        yield box(left, top, max(0.0, room * share - 1), 12, BAR_COLOURS[tone(label)])
        left += room * share


def full_view(
    transformed: Transformed,
    before: Prediction,
    scores: Importance | str,
    others: Sequence[Transformed],
    model: str,
) -> Markup:
    """Show all there is about one result; `others` are the same change with other seeds.

    `scores` may say why there are none.
    """
    result = transformed.result
    parts = [
        Markup('<p class="meaning">{}</p>').format(meaning(transformed, before)),
        _onward(result, model),
        importance(result.example, scores, place_of(transformed.prediction)),
        _picture(transformed, before),
        _steps(result),
        _seeds(transformed, others),
        flip_row(result.transform, str(result.number)),
        note(_facts(result)),
    ]
    return join(parts)


GRADIENT = ": its word vector times the gradient of the loss, which is what it adds to the answer"
"""What gradient × input is."""


def _facts(result: Result) -> str:
    """Say what the change is, what becomes of the right answer, and how to make it again."""
    steps = " ".join(summary_of(REGISTRY[step.transform], result.task) for step in result.steps)
    variant = "usual options" if result.variant == "safe" else f"options {result.variant}"
    rule = result.rule.words.replace("gold label", "right answer")
    ranked = f" How much a token matters is told by {result.ranked_by}"
    ranked += f"{GRADIENT if 'gradient' in ranked else ''}."
    if not result.ranked_by:
        ranked = ""
    return f"{steps}{ranked} Rule: {rule}. Seed {result.seed}, {variant}."


def _onward(result: Result, model: str) -> Markup:
    """Offer to go on with the new example, or to fine-tune on what leaves a gold label."""
    links = [link(link_to_example(result.task, result.example, model), "Open in Probe")]
    if leaves_gold(result.transform) and not result.task.has_spans:
        links.append(
            link(
                link_to_inoculation(result.transform, model, result.task), "Inoculate against this"
            )
        )
    return Markup('<p class="onward">{}</p>').format(join(links))


def _picture(transformed: Transformed, before: Prediction) -> Markup:
    """Show both answers as bars, to be taken away with the texts."""
    result, now = transformed.result, transformed.prediction
    task = result.task
    texts = {task.title_of(name): text for name, text in task.texts(result.example).items()}
    name = chain_title(result.transform)
    labels = dict.fromkeys((*now.labels, *before.labels))
    frame = pd.DataFrame(
        [(label, before.by_label.get(label), now.by_label.get(label)) for label in labels],
        columns=["label", "before", "after"],
    ).round(4)
    stays = task.agrees(before.label, now.label)
    lines = join(
        Markup('<p class="both"><span class="soft">{}</span> {}{}</p>').format(
            words, verdict(prediction), bar(prediction, stays=same)
        )
        for words, prediction, same in (("before", before, True), ("after", now, stays))
    )
    svg = before_after_svg(name, texts, before, now)
    return picture(
        "The answer before and after", lines, frame, svg, stem=f"probe-{result.transform}"
    )


FLIPS = " flip"
"""What is behind the number of a row where what is asked for is what flips its answer."""
FLIP_ROW = Markup(
    '<details class="flip" data-transform="{}" data-number="{}">'
    '<summary><b>{}</b> <span class="soft">{}</span></summary>'
    '<div class="full" aria-live="polite"><p class="fine">Looking for it …</p></div></details>'
)
WHAT_FLIPS = (
    "How few words, taken out, replaced or hidden, make another answer, and how few keep it. Asks "
    "the model about up to {:,} texts in each way."
)


def flip_row(transform: str, number: str) -> Markup:
    """Offer to look for the smallest change of the example, or of what a change made of it.

    What is found is asked for on a press.
    """
    return FLIP_ROW.format(transform, f"{number}{FLIPS}", FLIP, WHAT_FLIPS.format(BUDGET))


def flips(found: Iterable[Smallest], task: Task) -> Markup:
    """Show what each way came to: a sentence, and the texts on the way with their answers."""
    return join(_way(each, task) for each in found)


def _way(found: Smallest, task: Task) -> Markup:
    way, count = WAYS[found.way], len(found.steps)
    lines = join(
        Markup("<li>{} {}</li>").format(verdict(step.prediction), step.text)
        for step in (found.steps if found.found else ())
    )
    texts = Markup('<ol class="seeds">{}</ol>').format(lines) if lines else NOTHING
    if count > LISTED:
        texts = twin(f"all {count} texts on the way", texts) + Markup(
            '<ol class="seeds"><li>{} {}</li></ol>'
        ).format(verdict(found.steps[-1].prediction), found.steps[-1].text)
    return title(term(way.title, way.summary)) + Markup("<p>{}</p>{}").format(found.sentence, texts)


LISTED = 2
"""Texts of a way that are shown at once; more are folded away."""


def _steps(result: Result) -> Markup:
    """Show the steps of a chain."""
    if len(result.steps) < 2:
        return NOTHING
    return title("Step by step") + Markup('<ol class="lineage">{}</ol>').format(
        join(map(_step, result.steps))
    )


def _step(step: Step) -> Markup:
    """Show one link of a chain: what it changed, its gold label, its note."""
    gold = f" · right answer {step.example.gold}" if step.example.gold else ""
    sides = changes(step) or Markup("<p>no change</p>")
    return Markup("<li><b>{}</b> <code>{}</code>{}{}{}</li>").format(
        REGISTRY[step.transform].title,
        step.transform,
        gold,
        sides,
        note(step.note) if step.note else NOTHING,
    )


def _seeds(transformed: Transformed, others: Sequence[Transformed]) -> Markup:
    """Show the same change with other seeds, or say that chance has no part in it."""
    example = transformed.result.example
    if all(other.result.example == example for other in others):
        return note("Another seed makes the same text.") if others else NOTHING
    lines = join(
        Markup('<li>{} <span class="soft tiny">seed {}</span> {}</li>').format(
            verdict(other.prediction), other.result.seed, edited_line(other.result)
        )
        for other in others
    )
    return title("With other seeds") + Markup('<ol class="seeds">{}</ol>').format(lines)
