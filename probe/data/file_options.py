"""What a person says of a file that it does not tell itself."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class FileOptions:
    """How a file is read; what is left as it is here is told by the file, or asked.

    `header` says whether its first row names the columns, `encoding` in what its text is written,
    `sheet` which sheet of a workbook holds the rows, by name or number from 1, and `quotes` whether
    quotes enclose fields or belong to the text. `columns` are the columns of texts by field, `gold`
    that of the gold label, and `values` the names of labels by the values that mean them, an empty
    one for no gold label.
    """

    header: bool | None = None
    encoding: str = ""
    sheet: str = ""
    quotes: bool | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    gold: str = ""
    values: Mapping[str, str] = field(default_factory=dict)


AS_THE_FILE_TELLS = FileOptions()
