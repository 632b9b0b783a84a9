"""What a report tells who asks for more: the tests behind its sentences, and examples."""

from markupsafe import Markup

from probe.checkup.conclusions.families import FAMILIES
from probe.runs.run import Json
from probe.tasks.task import Task, task_named
from probe.transforms import REGISTRY

TEST_HEADS = ("kind", "what", "against", "difference", "p", "p, corrected", "remains")


def rows_of_tests(report: Json) -> list[tuple[str, ...]]:
    """Return a row for each test with `TEST_HEADS`; a difference is in points."""
    return [
        (
            FAMILIES[row["family"]],
            row["title"] if row["family"] != "beside" else "Accuracy",
            row["against"],
            f"{100 * row['value']:+.1f}",
            _p(row["p"]),
            _p(row["adjusted"]),
            "yes" if row["remains"] else "no",
        )
        for row in report["tests"]
    ]


def _p(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"


def examples(report: Json) -> Markup:
    """Show the examples of each change, folded by change."""
    task = task_named(report["task"])
    one = Markup('<details class="twin"><summary>{}</summary>{}</details>')
    return Markup("").join(
        one.format(_title(name), Markup("").join(_example(task, each) for each in several))
        for name, several in report["examples"].items()
    )


def _title(name: str) -> str:
    return REGISTRY[name].title if name in REGISTRY else name


def _example(task: Task, each: Json) -> Markup:
    """Show the texts after a change with what they were, and the answer before and after."""
    line = Markup("<div><b>{}</b> {}</div>")
    lines = [
        line.format(f"{task.title_of(name)}{when}:", text)
        for key, when in (("texts", ""), ("before", " before"))
        for name, text in each[key].items()
    ]
    answers = (
        f"{each['answer_before']} ({each['confidence_before']:.2f}) before, {each['answer']} "
        f"({each['confidence']:.2f}) now; right: {each['gold'] or 'nothing, it cannot be read'}"
    )
    lines.append(line.format("Answer:", answers))
    return Markup('<div class="example">{}</div>').format(Markup("").join(lines))
