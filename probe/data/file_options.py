"""What a person says of a file that it does not tell itself, and the options that say it."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from probe.errors import FileError

Said = dict[str, str | list[str] | bool]
"""Options of a command without their dashes: a text, several, or a flag that is set."""


@dataclass(frozen=True)
class FileOptions:
    """How a file is read; what is left as it is here is told by the file, or asked.

    `header` says whether its first row names the columns, `encoding` in what its text is written,
    `sheet` which sheet of a workbook holds the rows, by name or number from 1, or which list of a
    JSON file or split of a folder, and `quotes` whether quotes enclose fields or belong to the
    text. `columns` are the columns of texts by field, `gold`
    that of the gold label, and `values` the names of labels by the values that mean them, an empty
    one for no gold label. Where several files are read alike, they are of no `one_file`: what is
    not in one of them is left out there, and said.
    """

    header: bool | None = None
    encoding: str = ""
    sheet: str = ""
    quotes: bool | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    gold: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    one_file: bool = True

    @property
    def said(self) -> Said:
        """The options of the command line that say the same."""
        flags = {"header": self.header, "quotes": self.quotes}
        return {
            **{name if on else f"no-{name}": True for name, on in flags.items() if on is not None},
            **{name: text for name in ("encoding", "sheet") if (text := getattr(self, name))},
            **_assigned("column", self.columns),
            **({"gold": self.gold} if self.gold else {}),
            **_assigned("label-value", self.values),
        }


AS_THE_FILE_TELLS = FileOptions()
FLAGS: dict[str, str] = {
    "--header": "The first row names the columns",
    "--no-header": "The first row is data",
    "--quotes": "Quotes enclose the fields",
    "--no-quotes": "Quotes belong to the text",
}
"""Answers to what a file does not tell of its form, in words."""
TEXTS = ("encoding", "sheet")


def read_form(words: str) -> FileOptions:
    """Read options of a file's form as a question offers them, such as `--no-header --sheet A`.

    Raises FileError for others.
    """
    said: dict[str, bool | str] = {}
    for option in re.split(r"\s+(?=--)", words.strip()) if words.strip() else []:
        name, _, text = option.removeprefix("--").partition(" ")
        if option in FLAGS:
            said[name.removeprefix("no-")] = not name.startswith("no-")
        elif name in TEXTS and text.strip():
            said[name] = _plain(text)
        else:
            raise FileError("how the file is read cannot be understood; choose it again")
    return FileOptions(**said)  # type: ignore[arg-type]  # a flag or a text, by its name


def _plain(text: str) -> str:
    """Return a text without the quotes by which a command line takes it for one word."""
    try:
        return " ".join(shlex.split(text))
    except ValueError:
        return text.strip()


def _assigned(option: str, values: Mapping[str, str]) -> Said:
    return {option: [f"{name}={value}" for name, value in values.items()]} if values else {}


def option_words(said: Said) -> tuple[str, ...]:
    """Return options as a command line has them."""
    words: list[str] = []
    for option, value in said.items():
        if value is True:
            words.append(f"--{option}")
        elif value is not False:
            for each in [value] if isinstance(value, str) else value:
                words += [f"--{option}", each]
    return tuple(words)
