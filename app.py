"""NLI Clinic: puts the tabs into one page and serves it. Settings are environment variables."""

import os

# before torch and gradio are imported: probing stays quick beside a fine-tune, nobody is told
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")

from threading import Thread
from typing import Any

import gradio as gr

from probe.models.cache import ModelCache
from probe.pairs import ASSETS
from probe.ui import batch_tab, probe_tab

FONT = ["system-ui", "-apple-system", "Segoe UI", "Roboto", "sans-serif"]
MONO = ["ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "monospace"]


def build(cache: ModelCache) -> gr.Blocks:
    """Return the page with its tabs."""
    blocks: gr.Blocks
    with gr.Blocks(title="NLI Clinic", delete_cache=(3600, 86400)) as blocks:
        gr.HTML((ASSETS / "header.html").read_text(encoding="utf-8"), elem_id="header")
        with gr.Tab("Probe", id="probe"):
            probe_tab.build(cache, blocks)
        with gr.Tab("Batch", id="batch"):
            batch_tab.build(cache)
    return blocks


def theme() -> gr.themes.Base:
    """Return a calm theme that needs no font from the network."""
    return gr.themes.Base(
        primary_hue="teal", neutral_hue="slate", font=FONT, font_mono=MONO, radius_size="sm"
    )


def settings() -> dict[str, Any]:
    """Return what is passed to launch()."""
    return {
        "theme": theme(),
        "css_paths": [ASSETS / "style.css"],
        "max_file_size": os.environ.get("NLI_CLINIC_MAX_UPLOAD", "50mb"),
        "allowed_paths": [],
        "footer_links": ["api", "settings"],
        "ssr_mode": False,
        "show_error": True,
    }


def main() -> None:
    """Serve the page until interrupted."""
    cache = ModelCache()
    Thread(target=cache.get, args=("minilm",), daemon=True).start()
    build(cache).queue(default_concurrency_limit=4).launch(**settings())


if __name__ == "__main__":
    main()
