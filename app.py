"""NLI Clinic: puts the tabs into one page and serves it. Settings are environment variables."""

import os

# before torch and gradio are imported: probing stays quick beside a fine-tune, nobody is told
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")

import atexit
from collections.abc import Sequence
from threading import Thread
from typing import Any

import gradio as gr

from finetune.experiments.inoculation.run import InoculationRun
from finetune.experiments.registry import register_experiments
from finetune.report.gallery import shown_runs
from finetune.ui import inoculate_tab
from finetune.ui.owner import browser_token
from probe.models.cache import ModelCache
from probe.runs.engine import Engine
from probe.runs.store import Store
from probe.settings import ASSETS, settings
from probe.ui import batch_tab, catalogue_tab, compare_tab, probe_tab
from probe.ui.widgets import model_names

FONT = ["system-ui", "-apple-system", "Segoe UI", "Roboto", "sans-serif"]
MONO = ["ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "monospace"]
QUIET: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}


def build(
    cache: ModelCache, store: Store, engine: Engine, public: Sequence[InoculationRun] = ()
) -> gr.Blocks:
    """Return the page with its tabs."""
    blocks: gr.Blocks
    with gr.Blocks(title="NLI Clinic", delete_cache=(3600, 86400)) as blocks:
        gr.HTML((ASSETS / "header.html").read_text(encoding="utf-8"), elem_id="header")
        owner = browser_token()
        tabs = []
        with gr.Tabs() as shown:
            with gr.Tab("Probe", id="probe") as tab:
                tabs.append((tab, probe_tab.build(cache, blocks)))
            with gr.Tab("Batch", id="batch") as tab:
                tabs.append((tab, batch_tab.build(cache)))
            with gr.Tab("Compare", id="compare") as tab:
                tabs.append((tab, compare_tab.build(cache, blocks)))
            with gr.Tab("Inoculate", id="inoculate") as tab:
                tabs.append((tab, inoculate_tab.build(store, engine, blocks, owner, tab, public)))
            with gr.Tab("Catalogue", id="catalogue") as tab:
                tabs.append((tab, catalogue_tab.build(cache, tab)))

        def open_tab(request: gr.Request) -> Any:  # Any: gradio's own mark to skip
            """Open the tab that a permalink names."""
            asked = request.query_params.get("tab", "")
            return gr.Tabs(selected=asked) if asked in (tab.id for tab, _ in tabs) else gr.skip()

        blocks.load(open_tab, None, shown, **QUIET)
        for tab, models in tabs:  # a model that was inoculated meanwhile can be chosen at once
            tab.select(lambda: gr.Dropdown(choices=model_names()), None, models, **QUIET)
    return blocks


def theme() -> gr.themes.Base:
    """Return a calm theme that needs no font from the network."""
    return gr.themes.Base(
        primary_hue="teal", neutral_hue="slate", font=FONT, font_mono=MONO, radius_size="sm"
    ).set(  # white on the default teal has a contrast of 2.5:1
        button_primary_background_fill="*primary_700",
        button_primary_background_fill_hover="*primary_800",
        button_primary_background_fill_dark="*primary_700",
        button_primary_text_color="white",
    )


def launch_options() -> dict[str, Any]:
    """Return what is passed to launch()."""
    return {
        "theme": theme(),
        "css_paths": [ASSETS / "style.css"],
        "js": (ASSETS / "page.js").read_text(encoding="utf-8"),
        "max_file_size": settings().max_upload,
        "allowed_paths": [],
        "footer_links": ["api", "settings"],
        "ssr_mode": False,
        "show_error": True,
    }


def main() -> None:
    """Serve the page until interrupted; unfinished runs go on."""
    register_experiments()
    cache, store = ModelCache(), Store()
    engine = Engine(store)
    atexit.register(engine.close)
    engine.resume()
    Thread(target=cache.get, args=("minilm",), daemon=True).start()
    page = build(cache, store, engine, shown_runs())
    page.queue(default_concurrency_limit=4).launch(**launch_options())


if __name__ == "__main__":
    main()
