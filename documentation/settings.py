"""The settings, each with its variable."""

from documentation.markdown import page
from probe.settings import table

ABOUT = (
    "Environment variables, read when they are needed; an empty one counts as none, save "
    "`NLI_CLINIC_OWN_MODELS`. `python -m probe settings` prints those in force. Limits hold on the "
    "page and over HTTP, not on the command line; those of a public app are the first named. "
    "`GRADIO_SERVER_NAME` and `GRADIO_SERVER_PORT` say where the page is served: `127.0.0.1` and "
    "`7860`; `GRADIO_TEMP_DIR` is the folder of uploads and results."
)


def settings_page() -> str:
    """Return the page of the settings."""
    return page("Settings", ABOUT, table())
