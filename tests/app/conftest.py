"""What the tests of the running app share: clients, a browser, a tiny model."""

from collections.abc import Iterator

import pytest
from gradio_client import Client
from playwright.sync_api import Browser, Page

from benchmarks.page.browser import chromium
from tests.conftest import App
from tests.support.pages.browser import SLOW, WIDE
from tests.support.processes.running_app import add_model


@pytest.fixture(scope="session")
def client(app: App) -> Client:
    """A client of the app's endpoints."""
    return Client(app.url, verbose=False)


@pytest.fixture(scope="session")
def second(app: App) -> str:
    """A tiny model beside the bundled one."""
    return add_model(app, "tiny-second")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests."""
    with chromium() as one:
        yield one


@pytest.fixture(scope="module")
def page(browser: Browser, app: App) -> Iterator[Page]:
    """One window for the tests of a module."""
    yield from opened(browser, app)


@pytest.fixture
def newcomer(browser: Browser, app: App) -> Iterator[Page]:
    """The window of somebody who was never here."""
    yield from opened(browser, app)


@pytest.fixture
def other(browser: Browser, app: App) -> Iterator[Page]:
    """The window of somebody else."""
    yield from opened(browser, app)


def opened(browser: Browser, app: App, *scripts: str) -> Iterator[Page]:
    """Open a window that has nothing in it; addresses are the app's, `scripts` run in each page."""
    context = browser.new_context(viewport=WIDE, base_url=app.url)
    for script in scripts:
        context.add_init_script(script)
    page = context.new_page()
    page.set_default_timeout(SLOW)
    yield page
    context.close()
