"""What lessons draw: pairs, answers, figures under each other."""

from collections.abc import Iterable, Sequence
from typing import Any

from markupsafe import Markup

from probe.models.classifier import Prediction
from probe.pictures.bars import Bar, bars_frame, bars_svg
from probe.tasks.task import Task
from probe.ui.html.elements import NOTHING, each, join
from probe.ui.html.picture import picture
from probe.ui.html.prediction import bar, verdict
from probe.ui.lessons.lesson import Comparison, Figure

PARAGRAPH = Markup("<p>{}</p>")


def paragraphs(texts: Iterable[str]) -> Markup:
    """Return a paragraph for each text."""
    return each(PARAGRAPH, texts)


def example(
    task: Task, shown: Any, note: str | Markup = ""
) -> Markup:  # Any: of the task's own dataclass
    """Show the texts of an example, each under its title, and a note behind them."""
    fields = join(
        Markup('<div class="shown-text"><span class="tiny soft">{}</span><p>{}</p></div>').format(
            task.title_of(field), text
        )
        for field, text in task.texts(shown).items()
    )
    behind = Markup('<p class="tiny soft">{}</p>').format(note) if note else NOTHING
    return Markup('<div class="shown-example">{}{}</div>').format(fields, behind)


def text(title: str, shown: str) -> Markup:
    """Show one text under a title."""
    return Markup(
        '<div class="shown-example"><div class="shown-text"><span class="tiny soft">{}</span>'
        "<p>{}</p></div></div>"
    ).format(title, shown)


def definitions(meanings: Iterable[tuple[object, str]]) -> Markup:
    """Show terms, each with what it means."""
    line = Markup("<div><dt>{}</dt><dd>{}</dd></div>")
    return Markup('<dl class="terms">{}</dl>').format(
        join(line.format(term, meaning) for term, meaning in meanings)
    )


def answers(named: Iterable[tuple[str, Prediction]]) -> Markup:
    """Show predictions under each other, each with what it is of and its bar."""
    line = Markup('<div class="answer-line"><span class="soft">{}</span><span>{}</span>{}</div>')
    return join(line.format(name, verdict(shown), bar(shown)) for name, shown in named)


def figures(title: str, compared: Sequence[Comparison]) -> Markup:
    """Show comparisons under a title, with their table and files to take away; nothing of none."""
    bars = [
        Bar(each.title, figure.who, figure.share, figure.note, figure.live)
        for each in compared
        for figure in each.figures
    ]
    if not bars:
        return NOTHING
    drawn, svg = join(map(comparison, compared)), bars_svg(bars, title)
    return picture(title, drawn, bars_frame(bars), svg, stem="lesson")


def comparison(shown: Comparison) -> Markup:
    """Show figures of one measure as bars with their numbers, n and interval or source."""
    return Markup('<table class="compared"><caption>{}</caption><tbody>{}</tbody></table>').format(
        shown.title, join(map(_figure, shown.figures))
    )


def _figure(figure: Figure) -> Markup:
    percent = 100 * figure.share
    return Markup(
        '<tr class="{}"><th scope="row">{}<span class="tiny soft">{}</span></th>'
        '<td class="drawn" aria-hidden="true"><span class="compared-bar">'
        '<span style="width:{:.1f}%"></span></span></td>'
        '<td class="num">{:.1f}&nbsp;%</td></tr>'
    ).format("live" if figure.live else "published", figure.who, figure.note, percent, percent)
