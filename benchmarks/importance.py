"""Which method of attribution explains best, and what each costs on the page.

    python -m benchmarks.importance curves [--model minilm] [--pairs 100] [--out FILE]
    python -m benchmarks.importance seconds [--rounds 5] [--method NAME]...

`curves` takes the tokens that a method ranks highest out of all texts of an example, 1, 3 and 5 of
them, or puts these alone into empty texts, for every method, place and sign, and prints the share
of answers that are others than of the whole texts; beside it stands what tokens drawn at random do,
the mean of several draws. The label explained is the model's own answer. OUT takes the shares as
JSON, from which the lesson on attribution draws.

`seconds` types a hypothesis into the Probe tab, by each method in turn, and prints the seconds from
the key to the rows, the pause after the last key included, and their ratio to gradient × input.
"""

import json
import os

from probe.native_environment import NATIVE_ENVIRONMENT

os.environ.update(NATIVE_ENVIRONMENT | os.environ)  # as app.py does

import time
from pathlib import Path
from statistics import mean, median
from typing import Annotated
from urllib.parse import urlencode

import typer

from benchmarks.latency import PAIR
from benchmarks.page.app_process import ROOT
from benchmarks.page.browser import SLOW, chromium
from benchmarks.page.load import SETTLING_SECONDS, served
from benchmarks.page.speed import SIZE, TYPED, opened
from probe.analysis.deletion import Cut, Ranking, deletion_test, rankings
from probe.analysis.importance import AUTO, METHODS, PAPER
from probe.models.library import load_any
from probe.models.weights import weights_hash
from probe.statistics import Share, interval
from probe.tasks.examples import bundled_examples

CUTS = [Cut(way, count) for way in ("deletion", "insertion") for count in (1, 3, 5)]
DRAWS = 5
"""Of tokens by chance, of each example."""
app = typer.Typer(add_completion=False)


@app.command()
def curves(
    model: str = "minilm",
    pairs: int = 100,
    out: Annotated[Path | None, typer.Option(help="Write the shares as JSON.")] = None,
) -> None:
    """Print the shares of answers that change, method by method."""
    classifier = load_any(model)
    examples = bundled_examples(classifier.task, "test")[:pairs]
    typer.echo(f"{model}, {len(examples)} {classifier.task.unit}s; changed answers in percent\n")
    typer.echo(
        "| method | sign | " + " | ".join(f"{cut.way} {cut.amount:g}" for cut in CUTS) + " |"
    )
    typer.echo("|---" * (2 + len(CUTS)) + "|")
    chance = [Ranking(None, draw=draw) for draw in range(DRAWS)]
    orders = list(rankings())
    groups = [chance, *([one for one in orders if one.method == name] for name in METHODS)]
    shares: list[dict[str, object]] = []
    for group in groups:
        chunks = deletion_test(classifier, examples, group, CUTS, classifier.task.fields)
        rows = [row for chunk in chunks for row in chunk.rows]
        for order in group[: 1 if group is chance else None]:
            alike = group if group is chance else [order]
            counts = [mean(sum(row[one, cut] for row in rows) for one in alike) for cut in CUTS]
            title = METHODS[order.method].title if order.method else "by chance"
            cells = [f"{100 * count / len(rows):.0f}" for count in counts]
            typer.echo(f"| {title} | {order.sign if order.method else '–'} | {' | '.join(cells)} |")
            shares.append(
                {
                    "method": order.method,
                    "sign": order.sign,
                    **{f"{cut.way} {cut.amount:g}": n for cut, n in zip(CUTS, counts, strict=True)},
                }
            )
    half = Share(len(examples) // 2, len(examples)).estimate()
    typer.echo(f"\nThe 95 % interval of a share of one half: {interval(half)}.")
    if out:
        folder = ROOT / "assets" / "models" / model
        held = {
            "model": model,
            "weights": weights_hash(folder) if folder.is_dir() else None,
            "n": len(examples),
            "changed": shares,
        }
        out.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")


ROWS = """() => document.querySelector("#rows .result")?.textContent.includes("village")
    && !document.querySelector("#rows.stale, #answer.stale")"""
"""Says, asked at every frame, that the rows of what was typed are there."""


@app.command()
def seconds(
    rounds: int = 5,
    method: Annotated[list[str], typer.Option(help="Beside gradient × input; all if none.")] = [],  # noqa: B006
) -> None:
    """Print the seconds from a key to the rows, at some 40 tokens, by each method in turn."""
    shown = load_any("minilm")
    taken: dict[str, list[float]] = {name: [] for name in (PAPER, *(method or (AUTO, *METHODS)))}
    with served(ROOT) as (_, port), chromium() as browser:
        time.sleep(SETTLING_SECONDS)
        for number in range(rounds + 1):  # the first loads what each needs
            for name in taken:
                query = {"premise": PAIR.premise, "hypothesis": PAIR.hypothesis, "method": name}
                context = browser.new_context(viewport=SIZE)
                try:
                    page = context.new_page()
                    metrics = context.new_cdp_session(page)
                    metrics.send("Performance.enable")
                    opened(page, metrics, f"http://127.0.0.1:{port}/?{urlencode(query)}")
                    text = TYPED.format(f"{number}{list(taken).index(name)}")  # asked of none yet
                    began = time.perf_counter()
                    page.locator("#text-2 textarea").fill(text)
                    page.wait_for_function(ROWS, timeout=SLOW)
                    spent = time.perf_counter() - began
                finally:
                    context.close()
                taken[name] += [spent] if number else []
    tokens = len(shown.sub_words(PAIR.premise)) + len(shown.sub_words(TYPED.format(10)))
    typer.echo(f"{tokens} tokens; medians of {rounds} rounds after a first one")
    usual = median(taken[PAPER])
    for name, several in taken.items():
        typer.echo(f"{name:32} {median(several):6.2f} s   ratio {median(several) / usual:.2f}")


if __name__ == "__main__":
    app()
