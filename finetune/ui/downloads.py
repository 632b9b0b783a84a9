"""Where the files that a person takes away wait for the download."""

from collections.abc import Sequence

from finetune.report.files import export
from finetune.trials.inoculation import InoculationRun, Selection
from probe.ui.visitors.visitor_files import fresh_folder


def write_files(visitor: str, runs: Sequence[InoculationRun], selection: Selection) -> list[str]:
    """Write what `export` writes into a folder of its own; return the files' places.

    Raises RunError where no cell is finished.
    """
    return [str(path) for path in export(runs, selection, fresh_folder(visitor))]
