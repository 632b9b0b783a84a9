"""Screenshots of every place and state: wide, tablet and phone, light and dark.

    python -m benchmarks.page.screenshots [NAME ...] [--out var/screenshots] [--url URL]

Starts the app on a free port with an empty home, unless one is named that runs already, and writes
NAME-WIDTH-THEME.png of each view of `VIEWS` whose name begins with one of those given, or of all.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer
from playwright.sync_api import Browser, Page

from benchmarks.page.app_process import ROOT
from benchmarks.page.browser import SLOW, chromium, open_calmly
from benchmarks.page.load import served
from benchmarks.page.views import VIEWS, View

WIDTHS = {1280: 800, 768: 1024, 375: 800}
"""The widths in pixels, each with its height; a view is photographed in full length."""
THEMES = ("light", "dark")


def show(page: Page, url: str, view: View) -> None:
    """Open a view in a fresh page; take its steps once every question of the page is answered."""
    open_calmly(page, f"{url}{view.address}{'&' if '?' in view.address else '?'}__theme=light")
    view.steps(page)


def turn(page: Page, theme: str) -> None:
    """Show the page in a theme."""
    page.evaluate("dark => document.body.classList.toggle('dark', dark)", theme == "dark")


def take(browser: Browser, url: str, view: View, out: Path) -> None:
    """Open a view and photograph it in each theme and width."""
    widest = max(WIDTHS)
    context = browser.new_context(viewport={"width": widest, "height": WIDTHS[widest]})
    page = context.new_page()
    page.set_default_timeout(SLOW)
    show(page, url, view)
    for theme in THEMES:
        turn(page, theme)
        for width, height in WIDTHS.items():
            page.set_viewport_size({"width": width, "height": height})
            page.evaluate("scrollTo(0, 0)")
            page.wait_for_timeout(300)
            page.screenshot(path=out / f"{view.name}-{width}-{theme}.png", full_page=True)
    context.close()


def main(
    names: Annotated[list[str] | None, typer.Argument(help="Beginnings of views' names.")] = None,
    out: Annotated[Path, typer.Option(help="Where the screenshots go.")] = Path("var/screenshots"),
    url: Annotated[str, typer.Option(help="An app that runs already.")] = "",
) -> None:
    """Write the screenshots."""
    out.mkdir(parents=True, exist_ok=True)
    with ExitStack() as ends:
        if not url:
            _, port = ends.enter_context(served(ROOT))
            url = f"http://127.0.0.1:{port}/"
        browser = ends.enter_context(chromium())
        for view in chosen(names or ()):
            take(browser, url, view, out)
            typer.echo(view.name)


def chosen(names: Sequence[str]) -> list[View]:
    """Return the views whose names begin with one of these, all without any."""
    return [view for view in VIEWS if view.name.startswith(tuple(names) or "")]


if __name__ == "__main__":
    typer.run(main)
