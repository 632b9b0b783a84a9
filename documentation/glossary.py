"""The glossary of all tasks."""

from documentation.markdown import page, table
from probe.glossary import SECTIONS, glossary
from probe.tasks.task import offered_tasks

ABOUT = (
    "Every word of results and pages in a sentence, as *Look up* in Learn and `python -m finetune "
    "glossary --task TASK` show it. A word that several tasks use differently stands once for each."
)


def glossary_page() -> str:
    """Return the page of the glossary."""
    parts = [f"## {section.title}\n\n{_terms(name)}" for name, section in SECTIONS.items()]
    return page("Glossary", ABOUT, *parts)


def _terms(section: str) -> str:
    rows: dict[tuple[str, str], None] = {}
    for task in offered_tasks():
        for term in glossary(task).get(section, {}).values():
            rows[(f"**{term.title}**", term.summary)] = None
    return table(("word", "what it means"), rows)
