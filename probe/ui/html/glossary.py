"""The glossary as the page shows it; a term can be linked to by its id, as #term-agreement."""

from collections.abc import Mapping

from markupsafe import Markup

from probe.glossary import SECTIONS, glossary
from probe.tasks.task import Task
from probe.terms import Titled
from probe.ui.html.elements import join

CARDS = frozenset({"families", "transforms", "templates", "baselines"})
"""The sections whose terms have cards of their own above."""


def shown_glossary(task: Task) -> Markup:
    """Show the terms by section, those with cards left out."""
    sections = {name: terms for name, terms in glossary(task).items() if name not in CARDS}
    listed = join(_section(SECTIONS[name].title, terms) for name, terms in sections.items())
    return Markup(
        '<div class="part-of-page" id="glossary"><h2 class="title">Glossary</h2>'
        '<p class="soft">What the words on these pages mean.</p></div>{}'
    ).format(listed)


def _section(title: str, terms: Mapping[str, Titled]) -> Markup:
    listed = join(
        Markup('<div class="searched" id="term-{}"><dt>{}</dt><dd>{}</dd></div>').format(
            id, term.title, term.summary
        )
        for id, term in terms.items()
    )
    return Markup(
        '<section><h3 class="title small">{}</h3><dl class="card definitions">{}</dl></section>'
    ).format(title, listed)
