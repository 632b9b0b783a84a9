"""NLI Clinic: its places, put together and served. Settings are environment variables."""

import gc
import os

from probe.native_environment import NATIVE_ENVIRONMENT

# before torch and gradio are imported, which tells nobody
os.environ.update(NATIVE_ENVIRONMENT | os.environ)
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
if __name__ == "__main__":
    gc.disable()  # until the page is served: looking through what stays takes a fifth of the start

import atexit
import signal
import sys
from functools import partial

from finetune.trials.planning import register_experiments
from finetune.ui import train
from finetune.ui.lessons.ask import ASK
from finetune.ui.lessons.generalise import GENERALISE
from finetune.ui.lessons.inoculate import INOCULATE
from probe.models.library import ModelCache
from probe.runs.backup import start_backups
from probe.runs.engine import Engine
from probe.runs.store import Store
from probe.settings import OTHERS, settings
from probe.ui.annotation import answering, fooling, own_sets
from probe.ui.api.endpoint import HTTP, build_page
from probe.ui.lessons.artefacts import ARTEFACTS
from probe.ui.lessons.attribution import ATTRIBUTION
from probe.ui.lessons.heuristics import HEURISTICS
from probe.ui.lessons.look_alikes import LOOK_ALIKES
from probe.ui.lessons.word_salad import WORD_SALAD
from probe.ui.measure import checkup, choice, compare, data, score
from probe.ui.page import Core, Place, View, build_pages
from probe.ui.server import serving
from probe.ui.server.serving import load_behind, start
from probe.ui.tabs import admin, learn, mine
from probe.ui.tabs.probe import tab as probe
from probe.ui.visitors.belongings import remove_old_regularly

LESSONS = (
    WORD_SALAD, HEURISTICS, INOCULATE, ASK, GENERALISE, ATTRIBUTION, LOOK_ALIKES, ARTEFACTS
)  # fmt: skip
PLACES = (
    Place("", "Probe", (View("probe", "Probe", probe.build),)),
    Place(
        "learn",
        "Learn",
        (View("learn", "Learn", partial(learn.build, lessons=LESSONS)),),
    ),
    Place(
        "measure",
        "Measure",
        (
            View("score", "Score", score.build),
            View("compare", "Compare", compare.build),
            View("checkup", "Check-up", checkup.build),
            View("data", "Data", data.build),
            View("people", "Ask people", own_sets.build),
        ),
        shared=choice.build,
    ),
    Place("train", "Train", (View("train", "Train", train.build),)),
    Place("mine", "Mine", (View("mine", "Mine", mine.build),), key="kind"),
)
GUESTS = (
    Place("set", "Set", (View("set", "Set", answering.build_guest),), in_bar=False),
    Place("fool", "Fool the model", (View("fool", "Fool", fooling.build_guest),), in_bar=False),
    Place(
        "class",
        "Class",
        (View("class", "Class", partial(learn.build, lessons=LESSONS, guests=True)),),
        in_bar=False,
    ),
)
OVER_HTTP = Place(HTTP, "Use over HTTP", (View("http", "Use over HTTP", build_page),), in_bar=False)
ADMIN = Place("admin", "Admin", (View("admin", "Admin", admin.build),), in_bar=False)


def places() -> tuple[Place, ...]:
    """Return the places; the admin's only where a password guards it."""
    admin = (ADMIN,) if settings().admin_password.get_secret_value() else ()
    return (*PLACES, *GUESTS, OVER_HTTP, *admin)


def main() -> None:
    """Serve the page until interrupted; unfinished runs go on."""
    os.umask(OTHERS)  # runs, models and uploads are for this account alone, its workers' too
    serving.register_zero_gpu()
    register_experiments()
    if folder := settings().backup:
        atexit.register(start_backups(folder))  # before the store: it may restore the database
        signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # a Space ends so; back up once more
    core = Core(ModelCache(), store := Store(), Engine(store))
    atexit.register(core.engine.close)
    if damage := store.database.damage:
        print(f"error: {damage}", file=sys.stderr)
    else:
        core.engine.resume()
    remove_old_regularly(store)
    start(page := build_pages(places(), core))
    gc.freeze()
    gc.enable()
    load_behind(page, core.behind)
    page.block_thread()


if __name__ == "__main__":
    main()
