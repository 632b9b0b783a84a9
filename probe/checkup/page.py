"""A check-up as one HTML file that needs nothing else."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from probe.checkup.conclusions import (
    BOUND,
    FAMILIES,
    KEPT,
    TRICKED,
    Tone,
    error_of,
    published_beside,
    tone_of_error,
)
from probe.checkup.measuring import GROUPS, Figure, bins_from
from probe.checkup.report import changes_words, figures_of, references
from probe.errors import writing
from probe.models.bundled import title_of
from probe.pictures.reliability import LEGEND, Diagram, bins_frame, diagram
from probe.pictures.svg import join
from probe.runs.run import Json
from probe.statistics import FEWEST, first_bin, interval, percent, spread_words
from probe.tasks.task import Task, task_named
from probe.terms import capitalised
from probe.transforms import REGISTRY
from probe.transforms.options import with_sign

TONE_WORDS: Mapping[Tone, str] = {"good": "good", "bad": "bad", "": "neither good nor bad"}
"""What a colour says, for who does not see it."""


@dataclass(frozen=True)
class Glance:
    """A number, what it is of, and whether it speaks for the model, against it, or neither."""

    number: str
    words: str
    tone: Tone = ""


def _counted(report: Json, own: Mapping[str, Figure]) -> tuple[list[Json], int, list[Figure], int]:
    """Return the tests of changes that leave the right answer, and how many of these cost some.

    And the figures of word salad, and how many of these say that most answers stay.
    """
    harmless = [row for row in report["tests"] if f"{row['name']}.before" in own]
    salad = [each for each in own.values() if each.group == "salad"]
    costly = sum(row["remains"] and row["value"] < 0 for row in harmless)
    return harmless, costly, salad, sum(each.low > KEPT for each in salad)


def verdict(report: Json) -> str:
    """Say in a sentence or two how good a model is and what it cannot do; "" before it is known."""
    task, own = task_named(report["task"]), figures_of(report)
    if task.measure.lower() not in own:
        return ""
    whole, told = own[task.measure.lower()], []
    harmless, costly, salad, kept = _counted(report, own)
    if n := len(harmless):
        changes, cost = ("change", "costs") if n == 1 else ("changes", "cost")
        told.append(f"{costly} of {n} harmless {changes} of the texts {cost} it answers")
    if n := len(salad):
        told.append(
            f"in {kept} of {n} {'way' if n == 1 else 'ways'} of making a text unreadable it mostly "
            "answers as if nothing had happened"
        )
    score = "has an F1 of" if task.has_spans else "is right on"
    name, texts = title_of(report["model"]["name"]), f"{whole.n:,} {task.unit}s"
    first = f"{name} {score} {_percent(whole)} of {texts}{whole.classes}"
    return f"{first}. {capitalised('; '.join(told))}." if told else f"{first}."


def glances(report: Json) -> Iterator[Glance]:
    """Yield the numbers of a report, none before the texts as they are have been measured."""
    task, own = task_named(report["task"]), figures_of(report)
    if task.measure.lower() not in own:
        return
    whole = own[task.measure.lower()]
    known = f"{interval(whole.estimate)} %"
    if "majority" in own:
        better = [
            r["remains"] and r["value"] > 0 for r in report["tests"] if r["name"] == "majority"
        ]
        yield Glance(
            _percent(whole),
            f"right on texts as they are{whole.classes} ({known}); one answer for all: "
            f"{_percent(own['majority'])}",
            "good" if any(better) else "bad",
        )
    else:
        yield Glance(_percent(whole), f"{task.measure} on texts as they are ({known})")
    harmless, costly, salad, kept = _counted(report, own)
    if n := len(harmless):
        changes, cost = ("change", "costs") if n == 1 else ("changes", "cost")
        bounded = all(row["low"] > -BOUND for row in harmless)
        words = f"harmless {changes}, such as a spelling mistake, {cost} it answers"
        tone: Tone = "bad" if costly else "good" if bounded else ""
        yield Glance(f"{costly} of {n}", words, tone)
    if n := len(salad):
        words = "of making a text unreadable after which it mostly answers as before"
        tone = "bad" if kept else "good" if all(each.high < KEPT for each in salad) else ""
        yield Glance(f"{kept} of {n}", f"{'way' if n == 1 else 'ways'} {words}", tone)
    hans = [each for each in own.values() if each.group == "hans" and each.n >= FEWEST]
    if telling := [each for each in hans if each.name.endswith(".non-entailment")]:
        worst = min(telling, key=lambda each: each.value)
        words = "right where the same words suggest a yes and the answer is no (HANS, the worst)"
        tone = "bad" if worst.high < TRICKED else "good" if worst.low > TRICKED else ""
        yield Glance(_percent(worst), words, tone)
    if "ece" in own:
        error = error_of(own)
        beside = error.beside if error else "its interval is not known"
        yield Glance(
            f"{100 * own['ece'].value:.1f} points",
            f"between how sure it says it is and how often it is right ({beside})",
            tone_of_error(error) if error else "",
        )


def _percent(figure: Figure) -> str:
    return f"{100 * figure.value:.0f} %"


TEST_HEADS = ("kind", "what", "against", "difference", "p", "p, corrected", "remains")


def rows_of_tests(report: Json) -> list[tuple[str, ...]]:
    """Return a row for each test with `TEST_HEADS`; a difference is in points."""

    def p(value: float | None) -> str:
        return "–" if value is None else f"{value:.3f}" if value >= 0.001 else "< 0.001"

    return [
        (
            FAMILIES[row["family"]],
            row["title"] if row["family"] != "beside" else "Accuracy",
            row["against"],
            f"{100 * row['value']:+.1f}",
            p(row["p"]),
            p(row["adjusted"]),
            "yes" if row["remains"] else "no",
        )
        for row in report["tests"]
    ]


def examples(report: Json) -> Markup:
    """Show the examples of each change, folded by change: texts and answers now and before."""
    task, line = task_named(report["task"]), Markup("<div><b>{}</b> {}</div>")

    def shown(each: Json) -> Markup:
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
        return Markup('<div class="example">{}</div>').format(join(lines))

    one = Markup('<details class="twin"><summary>{}</summary>{}</details>')
    return join(
        one.format(REGISTRY[name].title if name in REGISTRY else name, join(map(shown, several)))
        for name, several in report["examples"].items()
    )


STYLE = Markup(
    ":root{color-scheme:light dark;--ink:#16202c;--soft:#566272;--line:#dfe3e8;--ground:#fff;"
    "--card:#f5f7f9;--accent:#0b6e62;--good:#0b6e62;--bad:#b3142d}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa7b5;--line:#2a3442;"
    "--ground:#0d1117;--card:#161d27;--accent:#4cc2b0;--good:#4cc2b0;--bad:#ff8a8f}}"
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
    ".wide{overflow-x:auto}.reliability{--track:var(--line);--for:var(--accent);max-width:26rem}"
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
    """Return the report as a page; `changes` are what differs from an older one.

    The first screen says what was asked and found, in a sentence, in numbers, and good beside bad.
    """
    task, data, parts = task_named(report["task"]), report["data"], list[Markup]()
    if report["missing"]:
        lacking = Markup("<p><b>Not finished.</b> Not measured yet: {}.</p>")
        parts.append(lacking.format(", ".join(report["missing"])))
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
    parts.append(
        Markup('<p class="soft">{}</p><p class="say">{}</p>{}<div class="halves">{}</div>').format(
            about, verdict(report), glance_tiles(report), join(halves)
        )
    )
    if changes is not None:
        parts.append(SECTION.format("Since the older report", listed(changes_words(changes))))
    one = Markup("<li>{why}.<pre>{command}</pre></li>")
    tries = Markup("<ul>{}</ul>").format(join(one.format(**row) for row in report["advice"]))
    nothing = Markup("<p>Nothing that was measured here asks for a cure.</p>")
    parts.append(SECTION.format("What to try", tries if report["advice"] else nothing))
    parts += [FOLD.format(title, content) for title, content in _details(report)]
    return PAGE.format(name=title_of(report["model"]["name"]), style=STYLE, parts=join(parts))


def glance_tiles(report: Json) -> Markup:
    """Show the numbers of a report, each good, bad or neither in colour and in words."""
    tile = Markup('<div class="glance {tone}" title="{told}"><b>{number}</b>{words}</div>')
    tiles = join(tile.format(told=TONE_WORDS[each.tone], **vars(each)) for each in glances(report))
    return Markup('<div class="glances">{}</div>').format(tiles)


def _details(report: Json) -> Iterator[tuple[str, Markup]]:
    """Yield what is folded away: titles and contents."""
    task = task_named(report["task"])
    if rest := said_in(report, "")[1:]:
        yield "What is neither good nor bad", listed(rest)
    others = references(task, report["data"]["sha256"], report["model"]["name"])
    for group, title in GROUPS.items():
        if figures := [each for each in figures_of(report).values() if each.group == group]:
            yield title, _table(task, report["model"]["name"], figures, others)
    if bins := bins_from(report["reliability"]):
        drawn = diagram(Diagram(bins, first_bin(bins, len(task.labels))), RELIABILITY)
        note, frame = Markup('<p class="soft">{}</p>').format(LEGEND), bins_frame(bins)
        table = _plain_table(list(map(str, frame)), frame.astype(str).to_numpy().tolist())
        yield RELIABILITY, Markup('<div class="reliability">{}</div>').format(drawn) + note + table
    if report["examples"]:
        yield EXAMPLES, Markup('<p class="soft">{}</p>{}').format(FIRST, examples(report))
    if report["tests"]:
        how = Markup('<p class="soft">{}</p>').format(report["how_tested"])
        yield TESTS, how + _plain_table(TEST_HEADS, rows_of_tests(report))
    row = Markup('<tr><th scope="row">{}</th><td>{}</td></tr>')
    facts = join(row.format(*fact) for fact in facts_of(report).items())
    made = Markup('<pre>{}</pre><table class="facts">{}</table>')
    yield "How it was made", made.format(report["command"], facts)


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
        whole.format(join(part)) for part in (items[:SHOWN_AT_ONCE], items[SHOWN_AT_ONCE:])
    )
    count = len(items) - SHOWN_AT_ONCE
    return first + FOLD.format(f"{count} more", more) if count > 0 else first


def _plain_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    cells = (join(Markup("<td>{}</td>").format(cell) for cell in row) for row in rows)
    return _framed(heads, join(Markup("<tr>{}</tr>").format(each) for each in cells))


def _framed(heads: Sequence[str], body: Markup) -> Markup:
    head = join(Markup('<th scope="col">{}</th>').format(name) for name in heads)
    return Markup(
        '<div class="wide" tabindex="0" role="region" aria-label="table"><table><thead><tr>{}</tr>'
        "</thead><tbody>{}</tbody></table></div>"
    ).format(head, body)


def _table(
    task: Task, model: str, figures: Sequence[Figure], others: Mapping[str, Mapping[str, Figure]]
) -> Markup:
    rows, number = [], Markup('<td class="number">{}</td>')
    for figure in figures:
        known = published_beside(figure, task, model)
        beside = (each.get(figure.name) for each in others.values())
        cells = [
            _share(figure),
            f"{figure.n:,}",
            *(
                with_sign(_share(each), each.sign if each.sign != figure.sign else "")
                if each
                else "–"
                for each in beside
            ),
            f"{100 * known.share:.1f} % ({known.who}){known.note}" if known else "",
        ]
        less = Markup(' <span class="soft">(less is better)</span>')
        rows.append(
            Markup(
                '<tr><th scope="row">{}{}</th><td><div class="bar"><i style="width:{:.0f}%"></i>'
                "</div></td>{}</tr>"
            ).format(
                figure.title,
                less if figure.more_is_better is False else "",
                100 * figure.value,
                join(map(number.format, cells)),
            )
        )
    heads = ("", "", "this model", "n", *map(title_of, others), "published")
    return _framed(heads, join(rows))


def _share(figure: Figure) -> str:
    if figure.low != figure.low:  # no interval is known
        return f"{100 * figure.value:.1f} %"
    return f"{percent(figure.estimate)}{spread_words(figure.spread)}"


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


def report_files(folder: Path) -> tuple[Path, Path]:
    """Return where the page and the values of a report lie in their folder."""
    return folder / "report.html", folder / "report.json"


def write_report(report: Json, folder: Path, changes: Sequence[Json] | None = None) -> list[Path]:
    """Write report.html and report.json into a folder and return their paths. Raises FileError.

    `changes` are what differs from an older report.
    """
    page, values = report_files(folder)
    whole = report if changes is None else {**report, "changes": list(changes)}
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        page.write_text(checkup_page(report, changes), encoding="utf-8")
        values.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    return [page, values]
