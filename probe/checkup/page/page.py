"""A check-up as one HTML file that needs nothing else."""

from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup

from probe.checkup.conclusions.published import published_beside
from probe.checkup.figure import GROUPS, Figure
from probe.checkup.measuring.part import bins_from
from probe.checkup.page import reliability
from probe.checkup.page.details import TEST_HEADS, examples, rows_of_tests
from probe.checkup.page.glance import TONE_WORDS, glances, verdict
from probe.checkup.report import changes_words, figures_of, references
from probe.metrics import percent
from probe.models.bundled import title_of
from probe.runs.run import Json
from probe.tasks.task import Task, task_named

STYLE = Markup(
    ":root{color-scheme:light dark;--ink:#16202c;--soft:#566272;--line:#dfe3e8;--ground:#fff;"
    "--card:#f5f7f9;--accent:#0b6e62;--good:#0b6e62;--bad:#b3400a}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa7b5;--line:#2a3442;"
    "--ground:#0d1117;--card:#161d27;--accent:#4cc2b0;--good:#4cc2b0;--bad:#ff9a5c}}"
    "*{box-sizing:border-box}body{font:16px/1.5 system-ui,sans-serif;max-width:64rem;margin:0 auto;"
    "padding:1.5rem 1rem 3rem;color:var(--ink);background:var(--ground)}"
    "h1{font-size:1.5rem;margin:0}h2{font-size:1.1rem;margin:0 0 .5rem}.soft{color:var(--soft)}"
    ".say{font-size:1.2rem;margin:.75rem 0}ul{margin:0;padding-left:1.2rem}li{margin:.25rem 0}"
    ".glances,.halves{display:grid;gap:.75rem;margin:1rem 0}"
    ".glances{grid-template-columns:repeat(auto-fit,minmax(10.5rem,1fr))}"
    ".halves{grid-template-columns:repeat(auto-fit,minmax(min(22rem,100%),1fr))}"
    ".glance,.half,.card{background:var(--card);border-radius:.5rem;padding:.75rem 1rem}"
    ".glance{border-left:4px solid var(--line);font-size:.9rem}"
    ".glance b{display:block;font-size:1.5rem;line-height:1.2}"
    ".glance.good{border-color:var(--good)}.glance.bad{border-color:var(--bad)}"
    ".good b,.good h2{color:var(--good)}.bad b,.bad h2{color:var(--bad)}"
    "details{border-top:1px solid var(--line);padding:.5rem 0}details details{margin-left:1rem}"
    "li+details,ul+details{border:0}summary{cursor:pointer;font-weight:600}"
    "table{border-collapse:collapse;width:100%;font-size:.9rem}"
    "th,td{text-align:left;padding:.3rem .5rem;border-bottom:1px solid var(--line);"
    "vertical-align:top}tbody th{font-weight:400;min-width:9rem}td{overflow-wrap:anywhere}"
    "td.number{white-space:nowrap}.facts th{min-width:0}.facts td{width:85%}"
    "pre{background:var(--card);padding:.6rem;margin:.25rem 0;white-space:pre-wrap;"
    "overflow-wrap:anywhere}.bar{background:var(--line);height:.5rem;min-width:5rem;"
    "margin-top:.5rem}.bar i{display:block;height:.5rem;background:var(--accent)}"
    ".wide{overflow-x:auto}.reliability{max-width:26rem;width:100%;display:block}"
    ".example{padding:.4rem 0 .4rem 1rem;font-size:.9rem;border-bottom:1px solid var(--line)}"
    "@media print{details>*{display:block}}"
)
PAGE = Markup(
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" '
    'content="width=device-width"><title>Check-up of {name}</title><style>{style}</style>'
    "<main><h1>Check-up of {name}</h1>{parts}</main></html>\n"
)
SECTION = Markup('<section class="card"><h2>{}</h2>{}</section>')
FOLD = Markup("<details><summary>{}</summary>{}</details>")
TONES = {"good": "What it is good at", "bad": "What it is bad at"}
"""What speaks for a model and against it, and how each is called."""
REST = "What is neither good nor bad"
RELIABILITY = "How often it is right by how sure it is"
EXAMPLES = "Examples of each change"
TESTS = "Which differences remain when all are tested"
FIRST = "Up to three of each, those on which the model fails first: they show how, not how often."
SHOWN_AT_ONCE = 5
"""Sentences of a list that are not folded away."""
MANY = (
    "95 %; of {} figures about one in twenty lies outside its own by chance alone. All are of one "
    "draw of the texts; another seed draws others."
)


def checkup_page(report: Json, changes: Sequence[Json] | None = None) -> Markup:
    """Return the report as a page; `changes` are what differs from an older one."""
    parts = [_unfinished(report), _first_screen(report)]
    if changes is not None:
        parts.append(SECTION.format("Since the older report", listed(changes_words(changes))))
    parts.append(SECTION.format("What to try", _advice(report["advice"])))
    parts += [FOLD.format(title, content) for title, content in _details(report)]
    whole = Markup("").join(parts)
    return PAGE.format(name=title_of(report["model"]["name"]), style=STYLE, parts=whole)


def _first_screen(report: Json) -> Markup:
    """Say what was asked and found, in a sentence, in numbers, and good beside bad."""
    task, data = task_named(report["task"]), report["data"]
    about = (
        f"{task.title}: {task.question} {data['n']:,} {task.unit}s ({data['name']}), "
        f"{min(report['asked']['n'], data['n']):,} of them changed in each way."
    )
    half = Markup('<section class="half {}"><h2>{}</h2>{}</section>')
    halves = [
        half.format(tone, title, listed(lines))
        for tone, title in TONES.items()
        if (lines := said_in(report, tone))
    ]
    return Markup(
        '<p class="soft">{}</p><p class="say">{}</p>{}<div class="halves">{}</div>'
    ).format(about, verdict(report), glance_tiles(report), Markup("").join(halves))


def glance_tiles(report: Json) -> Markup:
    """Show the numbers of a report, each good, bad or neither in colour and in words."""
    tile = Markup('<div class="glance {tone}" title="{told}"><b>{number}</b>{words}</div>')
    tiles = Markup("").join(
        tile.format(told=TONE_WORDS[each.tone], **vars(each)) for each in glances(report)
    )
    return Markup('<div class="glances">{}</div>').format(tiles)


def _details(report: Json) -> Iterator[tuple[str, Markup]]:
    """Yield what is folded away: titles and contents."""
    task = task_named(report["task"])
    if rest := said_in(report, "")[1:]:
        yield REST, listed(rest)
    others = references(task, report["data"]["sha256"], report["model"]["name"])
    for group, title in GROUPS.items():
        if figures := [each for each in figures_of(report).values() if each.group == group]:
            yield title, _table(task, report["model"]["name"], figures, others)
    if bins := bins_from(report["reliability"]):
        drawn = reliability.diagram(bins, len(task.labels))
        note = Markup('<p class="soft">{}</p>').format(reliability.NOTE)
        yield RELIABILITY, drawn + note + _plain_table(reliability.HEADS, reliability.rows(bins))
    if report["examples"]:
        yield EXAMPLES, Markup('<p class="soft">{}</p>{}').format(FIRST, examples(report))
    if report["tests"]:
        how = Markup('<p class="soft">{}</p>').format(report["how_tested"])
        yield TESTS, how + _plain_table(TEST_HEADS, rows_of_tests(report))
    yield "How it was made", _made(report)


def said_in(report: Json, tone: str) -> list[str]:
    """Return the sentences of a report that speak for the model, against it or neither."""
    return [
        sentence
        for sentence, own in zip(report["findings"], report["tones"], strict=True)
        if own == tone
    ]


def listed(lines: Sequence[str]) -> Markup:
    """List sentences, the first few at once and the others folded."""
    item, whole = Markup("<li>{}</li>"), Markup("<ul>{}</ul>")
    items = [item.format(line) for line in lines]
    first, more = (
        whole.format(Markup("").join(part))
        for part in (items[:SHOWN_AT_ONCE], items[SHOWN_AT_ONCE:])
    )
    count = len(items) - SHOWN_AT_ONCE
    return first + FOLD.format(f"{count} more", more) if count > 0 else first


def _advice(rows: Sequence[Mapping[str, str]]) -> Markup:
    if not rows:
        return Markup("<p>Nothing that was measured here asks for a cure.</p>")
    one = Markup("<li>{why}.<pre>{command}</pre></li>")
    return Markup("<ul>{}</ul>").format(Markup("").join(one.format(**row) for row in rows))


def _plain_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    cells = (Markup("").join(Markup("<td>{}</td>").format(cell) for cell in row) for row in rows)
    body = Markup("").join(Markup("<tr>{}</tr>").format(each) for each in cells)
    return _framed(heads, body)


def _framed(heads: Sequence[str], body: Markup) -> Markup:
    head = Markup("").join(Markup('<th scope="col">{}</th>').format(name) for name in heads)
    return Markup(
        '<div class="wide" tabindex="0" role="region" aria-label="table"><table><thead><tr>{}</tr>'
        "</thead><tbody>{}</tbody></table></div>"
    ).format(head, body)


def _table(
    task: Task, model: str, figures: Sequence[Figure], others: Mapping[str, Mapping[str, Figure]]
) -> Markup:
    heads = ("", "", "this model", "n", *map(title_of, others), "published")
    return _framed(heads, Markup("").join(_row(task, model, figure, others) for figure in figures))


def _row(
    task: Task, model: str, figure: Figure, others: Mapping[str, Mapping[str, Figure]]
) -> Markup:
    known = published_beside(figure, task, model)
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
    table = Markup('<pre>{}</pre><table class="facts">{}</table>')
    return table.format(report["command"], rows)


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
