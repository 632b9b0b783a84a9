"""NLI Clinic: the tabs, put into one page and served. Settings are environment variables."""

import os

from probe.native_environment import NATIVE_ENVIRONMENT

# before torch and gradio are imported, which tells nobody
os.environ.update(NATIVE_ENVIRONMENT | os.environ)
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")

import atexit
import signal
import sys
from functools import partial

from finetune.trials.planning import register_experiments
from finetune.ui.generalise import tab as generalise_tab
from finetune.ui.inoculate import tab as inoculate_tab
from finetune.ui.lessons.generalise import GENERALISE
from finetune.ui.lessons.inoculate import INOCULATE
from finetune.ui.repair import tab as repair_tab
from probe.models.library import ModelCache
from probe.runs.backup import start_backups
from probe.runs.engine import Engine
from probe.runs.store import Store
from probe.settings import OTHERS, settings
from probe.ui.first_answer import load_behind
from probe.ui.lessons.attribution import ATTRIBUTION
from probe.ui.lessons.heuristics import HEURISTICS
from probe.ui.lessons.look_alikes import LOOK_ALIKES
from probe.ui.lessons.word_salad import WORD_SALAD
from probe.ui.page import Core, TabEntry, build_page
from probe.ui.server import zero_gpu
from probe.ui.server.serving import start
from probe.ui.tabs import admin, annotate, batch, catalogue, compare, my_data
from probe.ui.tabs.learn import tab as learn
from probe.ui.tabs.probe import tab as probe
from probe.ui.task_choice import has_labels
from probe.ui.visitors.expiry import remove_old_regularly

LESSONS = (WORD_SALAD, HEURISTICS, INOCULATE, GENERALISE, ATTRIBUTION, LOOK_ALIKES)
TABS = (
    TabEntry("learn", "Learn", partial(learn.build, lessons=LESSONS)),
    TabEntry("probe", "Probe", probe.build),
    TabEntry("batch", "Batch", batch.build),
    TabEntry("compare", "Compare", compare.build),
    TabEntry("annotate", "Annotate", annotate.build),
    TabEntry("inoculate", "Inoculate", inoculate_tab.build),
    TabEntry("repair", "Repair", repair_tab.build, has_labels),
    TabEntry("generalise", "Generalise", generalise_tab.build, has_labels),
    TabEntry("catalogue", "Catalogue", catalogue.build),
    TabEntry("data", "My data", my_data.build),
)
ADMIN = TabEntry("admin", "Admin", admin.build)


def tabs() -> tuple[TabEntry, ...]:
    """Return the tabs; the admin's only where a password guards it."""
    return (*TABS, ADMIN) if settings().admin_password.get_secret_value() else TABS


def main() -> None:
    """Serve the page until interrupted; unfinished runs go on."""
    os.umask(OTHERS)  # runs, models and uploads are for this account alone, its workers' too
    zero_gpu.register()
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
    start(page := build_page(tabs(), core))
    load_behind(core.cache)  # after the page, which then need not share the interpreter with it
    page.block_thread()


if __name__ == "__main__":
    main()
