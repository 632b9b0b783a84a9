"""Whether the files of a result are guarded for spreadsheets, which compute some cells."""

from pathlib import Path

import gradio as gr

from probe.data.source import form_of
from probe.data.spreadsheets import write_guarded_copy
from probe.data.writers.output import GUARDED_FORMS
from probe.errors import FileError
from probe.ui.events import QUIET
from probe.ui.result_files import kept_folder

LABEL = "Guard the files for spreadsheets"
HELP = (
    "Spreadsheets compute a cell that begins with =, +, - or @; this puts an apostrophe before it. "
    "Otherwise every text comes back as it was."
)
ORDER = ("-scored", "-compared", "-summary", "-comparison", "-pairs")
"""How the names of result files end, in the order in which they are offered."""


def build_guard(files: gr.Files, key: gr.Textbox, elem_id: str) -> gr.Checkbox:
    """Lay out the question, which waits until there are files; `key` is that of the results."""
    guard = gr.Checkbox(False, label=LABEL, info=HELP, visible=False, elem_id=elem_id)
    guard.input(offer, [key, guard], [files, guard], **QUIET)
    return guard


def offer(key: str, guard: bool) -> tuple[gr.Files, gr.Checkbox]:
    """Offer the files of a result, and the question where one of them can be guarded."""
    try:
        files = _files(kept_folder(key or ""))
    except FileError:  # there are none yet, or no more
        return gr.skip(), gr.Checkbox(visible=False)
    shown = [str(_as_asked(path, guard)) for path in files]
    return gr.Files(shown, visible=True), gr.Checkbox(visible=any(map(_guardable, files)))


def offer_alone(key: str, guard: bool, *kinds: str) -> list[gr.DownloadButton]:
    """Offer the files of a result with these ends of their names, each by a button of its own."""
    try:
        files = {_kind(path): path for path in _files(kept_folder(key or ""))}
    except FileError:
        files = {}
    return [
        gr.DownloadButton(value=str(_as_asked(files[kind], guard)), visible=True)
        if kind in files
        else gr.DownloadButton(visible=False)
        for kind in kinds
    ]


def _files(folder: Path) -> list[Path]:
    beside = (path for path in folder.iterdir() if _kind(path) in ORDER)
    return sorted(beside, key=lambda path: ORDER.index(_kind(path)))


def _as_asked(path: Path, guard: bool) -> Path:
    return _guarded_copy(path) if guard and _guardable(path) else path


def _kind(path: Path) -> str:
    return "".join(path.stem.rpartition("-")[1:])


def _guardable(path: Path) -> bool:
    return form_of(path) in GUARDED_FORMS


def _guarded_copy(path: Path) -> Path:
    copy = path.with_name(f"{path.stem}-guarded{path.suffix}")
    if not copy.exists():
        write_guarded_copy(path, copy)
    return copy
