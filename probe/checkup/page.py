"""A check-up as one HTML file that needs nothing else."""

from collections.abc import Iterable, Mapping, Sequence

from markupsafe import Markup

from probe.checkup.figure import GROUPS, Figure
from probe.checkup.published import published_beside
from probe.checkup.report import changes_words, figures_of, references
from probe.metrics import percent
from probe.runs.run import Json
from probe.tasks.task import Task, task_named

STYLE = Markup(
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;"
    "color:#16202c;background:#fff}h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2rem}"
    "table{border-collapse:collapse;width:100%;font-size:.9rem}th,td{text-align:left;padding:.3rem "
    ".5rem;border-bottom:1px solid #dfe3e8;vertical-align:top}td{overflow-wrap:anywhere}"
    "td.number{white-space:nowrap}"
    "pre{background:#f5f7f9;padding:.6rem;overflow-x:auto;white-space:pre-wrap}"
    ".bar{background:#dfe3e8;height:.5rem;min-width:6rem;margin-top:.5rem}"
    ".bar i{display:block;height:.5rem;background:#0b6e62}.soft{color:#566272}"
    ".wide{overflow-x:auto}@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}"
    "pre,.bar{background:#1b2430}th,td{border-color:#2a3442}.soft{color:#9aa7b5}"
    ".bar i{background:#4cc2b0}}"
)
PAGE = Markup(
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" '
    'content="width=device-width"><title>Check-up of {name}</title><style>{style}</style>'
    "<h1>Check-up of {name}</h1><p>{about}</p>{parts}</html>\n"
)
TONES = {"": "In words", "good": "What it is good at", "bad": "What it is bad at"}
"""What the sentences of a report are grouped by, and how each group is called."""
SECTION = Markup("<h2>{}</h2>{}")


MANY = (
    "95 %; of {} figures about one in twenty lies outside its own by chance alone. All are of one "
    "draw of the texts; another seed draws others."
)


def checkup_page(report: Json, changes: Sequence[Json] | None = None) -> Markup:
    """Return the report as a page; `changes` are what differs from an older one."""
    task, model, data = task_named(report["task"]), report["model"], report["data"]
    about = (
        f"{task.title}. {data['n']:,} {task.unit}s ({data['name']}), "
        f"{report['asked']['n']} of them changed in each way. "
        "In brackets stand 95 % intervals."
    )
    parts = [_unfinished(report)]
    parts += [
        SECTION.format(title, _listed(lines))
        for tone, title in TONES.items()
        if (lines := said_in(report, tone))
    ]
    if changes is not None:
        parts.append(SECTION.format("Since the older report", _listed(changes_words(changes))))
    parts.append(SECTION.format("What to try", _advice(report["advice"])))
    others = references(task, data["sha256"], model["name"])
    parts += [
        SECTION.format(title, _table(task, found, others))
        for group, title in GROUPS.items()
        if (found := [each for each in figures_of(report).values() if each.group == group])
    ]
    parts.append(SECTION.format("How it was made", _made(report)))
    return PAGE.format(name=model["name"], style=STYLE, about=about, parts=Markup("").join(parts))


def said_in(report: Json, tone: str) -> list[str]:
    """Return the sentences of a report that speak for the model, against it or neither."""
    return [
        sentence
        for sentence, own in zip(report["findings"], report["tones"], strict=True)
        if own == tone
    ]


def _listed(lines: Iterable[str]) -> Markup:
    items = Markup("").join(Markup("<li>{}</li>").format(line) for line in lines)
    return Markup("<ul>{}</ul>").format(items)


def _advice(rows: Sequence[Mapping[str, str]]) -> Markup:
    if not rows:
        return Markup("<p>Nothing that was measured here asks for a cure.</p>")
    one = Markup("<p>{why}:</p><pre>{command}</pre>")
    return Markup("").join(one.format(**row) for row in rows)


def _table(
    task: Task, figures: Sequence[Figure], others: Mapping[str, Mapping[str, Figure]]
) -> Markup:
    heads = ("", "", "this model", "n", *others, "published")
    head = Markup("").join(Markup('<th scope="col">{}</th>').format(name) for name in heads)
    rows = Markup("").join(_row(task, figure, others) for figure in figures)
    return Markup(
        '<div class="wide"><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>'
    ).format(head, rows)


def _row(task: Task, figure: Figure, others: Mapping[str, Mapping[str, Figure]]) -> Markup:
    known = published_beside(figure, task)
    cells = [
        _share(figure),
        f"{figure.n:,}",
        *(_share(each[figure.name]) if figure.name in each else "–" for each in others.values()),
        f"{100 * known.share:.1f} % ({known.who})" if known else "",
    ]
    bar = Markup('<td><div class="bar"><i style="width:{:.0f}%"></i></div></td>')
    numbers = Markup("").join(Markup('<td class="number">{}</td>').format(cell) for cell in cells)
    title = Markup('<th scope="row">{}{}</th>').format(
        figure.title,
        ""
        if figure.more_is_better is not False
        else Markup(' <span class="soft">(less is better)</span>'),
    )
    return Markup("<tr>{}{}{}</tr>").format(title, bar.format(100 * figure.value), numbers)


def _share(figure: Figure) -> str:
    if figure.low != figure.low:  # no interval is known
        return f"{100 * figure.value:.1f} %"
    return percent(figure.estimate)


def _made(report: Json) -> Markup:
    rows = Markup("").join(
        Markup('<tr><th scope="row">{}</th><td>{}</td></tr>').format(name, words)
        for name, words in facts_of(report).items()
    )
    return Markup("<pre>{}</pre><table>{}</table>").format(report["command"], rows)


def facts_of(report: Json) -> dict[str, str]:
    """Return what a report was made of and on, in words: model, data, seeds, versions."""
    facts = {
        "model": report["model"],
        "data": report["data"],
        "asked": report["asked"],
        "made": {"on": report["made"], "in": f"{report['seconds']:.0f} seconds"},
        "ran on": report["environment"],
        "left out": report["left_out"],
    }
    named = {
        name: ", ".join(f"{key} {value}" for key, value in values.items() if value is not None)
        for name, values in facts.items()
        if values
    }
    return {**named, "intervals": MANY.format(len(report["figures"]))}


def _unfinished(report: Json) -> Markup:
    """Say which parts have not been measured, nothing where all have."""
    if not report["missing"]:
        return Markup("")
    parts = ", ".join(report["missing"])
    return Markup("<p><b>Not finished.</b> Not measured yet: {}.</p>").format(parts)
