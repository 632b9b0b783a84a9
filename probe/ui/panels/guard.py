"""Whether the files of a result are guarded for spreadsheets, which compute some cells."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gradio as gr

from probe.data.source import form_of
from probe.data.writers import GUARDED_FORMS, write_guarded_copy
from probe.errors import FileError
from probe.ui.events import LAST, QUIET
from probe.ui.results.result_files import kept_folder

LABEL = "Guard the files for spreadsheets"
HELP = (
    "Spreadsheets compute a cell that begins with =, +, - or @; this puts an apostrophe before it. "
    "Otherwise every text comes back as it was."
)
ORDER = ("-scored", "-compared", "-summary", "-comparison", "-pairs")
"""How the names of result files end, in the order in which they are offered."""


@dataclass(frozen=True)
class ResultFiles:
    """Where the files of a result are offered, and whether they are guarded.

    `key` is that of the result; `buttons` offer files alone too, by the ends of their names.
    """

    key: gr.Textbox
    files: gr.Files
    guard: gr.Checkbox
    buttons: Mapping[str, gr.DownloadButton]

    def offer_on(self, listen: Callable[..., Any]) -> None:
        """Offer the files on an event, such as `guard.input`, or `then` of what brings a result."""
        shown = [self.files, self.guard, *self.buttons.values()]
        listen(self._offer, [self.key, self.guard], shown, **LAST, **QUIET)

    def _offer(self, key: str, guard: bool) -> list[Any]:  # Any: gradio's updates
        return offer(key, guard, *self.buttons)


def build_guard(
    files: gr.Files, key: gr.Textbox, elem_id: str, **buttons: gr.DownloadButton
) -> ResultFiles:
    """Lay out the question, which waits until there are files; `key` is that of the results.

    `buttons` offer a file alone, by how its name ends: `scored` that of `…-scored.csv`.
    """
    guard = gr.Checkbox(False, label=LABEL, info=HELP, visible=False, elem_id=elem_id)
    offered = ResultFiles(key, files, guard, {f"-{end}": button for end, button in buttons.items()})
    offered.offer_on(guard.input)
    return offered


def offer(key: str, guard: bool, *alone: str) -> list[Any]:  # Any: gradio's updates
    """Offer the files of a result, and the question where one of them can be guarded.

    Those with the ends of their names in `alone` are offered by a button each, too.
    """
    try:
        files = _files(kept_folder(key or ""))
    except FileError:  # there are none yet, or no more
        return [
            gr.skip(),
            gr.Checkbox(visible=False),
            *(gr.DownloadButton(visible=False),) * len(alone),
        ]
    shown = {_kind(path): str(_as_asked(path, guard)) for path in files}
    return [
        gr.Files(list(shown.values()), visible=True),
        gr.Checkbox(visible=any(map(_guardable, files))),
        *(gr.DownloadButton(value=shown.get(end), visible=end in shown) for end in alone),
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
        with TemporaryDirectory(dir=path.parent) as folder:  # nobody is offered half of it
            write_guarded_copy(path, fresh := Path(folder) / copy.name)
            fresh.replace(copy)
    return copy
