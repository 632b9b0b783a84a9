"""The files that a person takes away from Score and Compare, and what is read of them again.

The page knows results by a key, which nobody can guess and which names nothing else. So it finds
them again when its session was dropped, or the app has started again.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import gradio as gr
from markupsafe import Markup

from probe.analysis import comparison as comparison
from probe.analysis.comparison_report import compared_frame, keep, kept
from probe.analysis.tables import WRITERS, write_tables
from probe.data.rows import Source
from probe.data.source import form_of
from probe.data.writers import GUARDED_FORMS, write_guarded_copy, write_table
from probe.errors import FileError, write_json
from probe.ui.events import cell_of
from probe.ui.html.elements import NOTHING, alert, join
from probe.ui.visitors.visitor_files import TAKEN, VISITORS, cache_folder

KEY = re.compile(f"[0-9a-f]{{32}}/({TAKEN})?[A-Za-z0-9_-]{{22}}")
"""A visitor's folder, and in it the random name of that of the results."""
COMPARED, MODELS = "rows.jsonl", "models.json"
HELP = (
    "Spreadsheets compute a cell that begins with =, +, - or @; this puts an apostrophe before it. "
    "Otherwise every text comes back as it was."
)
KINDS = {
    "-scored": "every column as it was, then the answer, how sure, right or wrong, and the changes",
    "-compared": "every column as it was, then each model's answer",
    "-summary": "all figures with n and interval",
    "-comparison": "all figures with n and interval",
    "-data": "all figures with n and interval",
    "-map": "the confidence, variability and correctness of every row, and its regions",
    "-words": "the words that give a label away, a row each",
    "-pairs": "the texts that the changes made, each with what it was made from",
    "-importance": "the words of every row with their scores, a row each",
    "-training": "those with a right answer in the form of SNLI or SQuAD, to train on elsewhere",
    "-tables.csv": "the tables of the summary",
    "-tables.md": "the same tables as Markdown",
    "-tables.tex": "the same tables as LaTeX, with the package booktabs",
}
"""How the names of result files end, in the order in which they are offered, and what they hold."""


def kept_folder(key: str) -> Path:
    """Return the folder of the results with this key. Raises FileError where it is gone."""
    folder = cache_folder() / VISITORS / key
    if not KEY.fullmatch(key) or not folder.is_dir():
        raise FileError("these results are no longer kept here; compute them again")
    return folder


def result_key(folder: Path) -> str:
    """Return the key of the results in a folder."""
    return f"{folder.parent.name}/{folder.name}"


def write_comparison(
    folder: Path,
    table: Source,
    rows: Sequence[comparison.Row],
    names: Sequence[str],
    summary: Mapping[str, Any],  # Any: JSON values
    stem: str,
) -> tuple[list[str], str]:
    """Write the scored file, the summary and what the cells show; return places and key."""
    compared = folder / f"{stem}-compared.{table.form}"
    write_table(compared_frame(table, rows, names), compared)
    note = write_json(summary, folder / f"{stem}-comparison.json")
    keep(rows, folder / COMPARED)
    write_json({"models": list(names)}, folder / MODELS)
    write_all_tables(summary, folder, stem)
    return [str(compared), str(note)], result_key(folder)


def write_all_tables(summary: Mapping[str, Any], folder: Path, stem: str) -> None:
    """Write the tables of a summary in each form."""
    for end in WRITERS:
        write_tables(summary, folder / f"{stem}-tables{end}")


def kept_comparison(key: str) -> tuple[list[comparison.Row], list[str]]:
    """Return the compared rows and the models. Raises FileError."""
    folder = kept_folder(key)
    models = json.loads((folder / MODELS).read_text(encoding="utf-8"))["models"]
    return kept(folder / COMPARED), models


def files_of(key: str, guard: bool = False) -> dict[str, Path]:
    """Return the files of a result by the ends of their names. Raises FileError."""
    here = {_kind(path): path for path in kept_folder(key).iterdir()}
    found = {kind: here[kind] for kind in KINDS if kind in here}
    return {
        kind: _guarded_copy(path) if guard and _guardable(path) else path
        for kind, path in found.items()
    }


def download(path: Path, words: str, kind: str = "") -> Markup:
    """Link to a file of a result."""
    return Markup('<a class="{}" download="{}" href="gradio_api/file={}">{}</a>').format(
        kind, path.name, quote(str(path)), words
    )


def files_view(key: str, guard: bool = False, words: str = "") -> Markup:
    """Offer the files of a result, and to guard those that a spreadsheet would compute.

    `words` say what more is to be known of them. Raises FileError.
    """
    files = files_of(key, guard)
    lines = join(
        Markup(
            '<p><b>{}</b> <span class="soft">{}</span><span class="grow"></span>'
            '<span class="soft num">{}</span> {}</p>'
        ).format(path.name, KINDS[kind], _size(path), download(path, "Download"))
        for kind, path in files.items()
    )
    ask = NOTHING
    if any(map(_guardable, files.values())):
        ask = Markup(
            '<label><input type="checkbox" name="guard"{}> Guard the files for spreadsheets '
            '<span class="fine">{}</span></label>'
        ).format(Markup(" checked") if guard else NOTHING, HELP)
    return Markup(
        '<form class="card files"><h3>Files of this result</h3>{}{}<p class="fine">{}</p>'
        '<input type="hidden" name="key" value="{}"><input type="hidden" name="words" value="{}">'
        "</form>"
    ).format(lines, ask, words, key, words)


def guard(event: gr.EventData) -> Markup:
    """Offer the files of a result guarded or as they are."""
    try:
        said = dict(json.loads(cell_of(event)))
        return files_view(str(said["key"]), "guard" in said, str(said.get("words", "")))
    except (KeyError, TypeError, ValueError):  # of no page of ours
        return alert("say which result: press the button anew")
    except FileError as trouble:
        return alert(trouble)


def _size(path: Path) -> str:
    count = path.stat().st_size
    return f"{count / 1e6:.1f} MB" if count >= 1e5 else f"{count / 1e3:.1f} kB"


def _kind(path: Path) -> str:
    kind = "".join(path.stem.rpartition("-")[1:])
    return kind if kind in KINDS else kind + path.suffix


def _guardable(path: Path) -> bool:
    return "-tables" not in _kind(path) and form_of(path) in GUARDED_FORMS


def _guarded_copy(path: Path) -> Path:
    copy = path.with_name(f"{path.stem}-guarded{path.suffix}")
    if not copy.exists():
        with TemporaryDirectory(dir=path.parent) as folder:  # nobody is offered half of it
            write_guarded_copy(path, fresh := Path(folder) / copy.name)
            fresh.replace(copy)
    return copy
