"""What a model can be inoculated against, the templates, and the rule baselines."""

from documentation.markdown import code, page, table
from finetune.trials.challenges import KIND_TITLES, catalogue
from probe.baselines import BASELINES
from probe.tasks.task import Task, offered_tasks
from probe.templates import kinds
from probe.templates.grammar import grammar

ABOUT = (
    "A challenge is any transform that leaves a gold label, a set of templates, or a file of your "
    "own. `python -m finetune challenges --task TASK` prints the list."
)
TEMPLATES = (
    "Pairs generated from words and sentences in a TOML file each; their labels hold by "
    "construction. `python -m probe templates KIND --n 1000 --out FILE` writes them, and Batch "
    "makes them on the page."
)
RULES = (
    "Rules that understand nothing. Where one does as well as a model, the set is too easy. "
    "`python -m probe rules NAME FILE` measures one on a file."
)


def challenges_page() -> str:
    """Return the page of the challenges."""
    tasks = [_of_task(task) for task in offered_tasks()]
    about_templates = f"## Templates\n\n{TEMPLATES}"
    about_rules = f"## Rule baselines\n\n{RULES}"
    return page("Challenges", ABOUT, *tasks, about_templates, _templates(), about_rules, _rules())


def _of_task(task: Task) -> str:
    rows = [
        (
            code(challenge.name),
            f"**{challenge.title}**: {challenge.summary}",
            KIND_TITLES[challenge.kind],
            challenge.labels,
            challenge.source,
        )
        for challenge in catalogue(task)
    ]
    head = ("name", "what it is", "kind", "gold label", "source")
    return f"## {task.title}\n\n" + table(head, rows)


def _templates() -> str:
    rows = [
        (code(kind), f"**{grammar(kind).title}**: {grammar(kind).summary}", task.title)
        for task in offered_tasks()
        for kind in kinds(task)
    ]
    return table(("name", "what they are", "task"), rows)


def _rules() -> str:
    rows = [
        (code(rule.name), f"**{rule.title}**: {rule.summary}", rule.source)
        for rule in BASELINES.values()
    ]
    return table(("name", "what it says", "source"), rows)
