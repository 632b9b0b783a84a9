"""Where the files that a person takes away wait for the download."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from finetune.experiments.inoculation.run import InoculationRun
from finetune.experiments.inoculation.selection import Selection
from finetune.report.export import export
from probe.ui.html.batch import cache_folder


def write_files(runs: Sequence[InoculationRun], selection: Selection) -> list[str]:
    """Write what `export` writes into a folder of its own; return the files' places.

    Raises RunError where no cell is finished.
    """
    folder = Path(tempfile.mkdtemp(prefix="nli-clinic-", dir=cache_folder()))
    return [str(path) for path in export(runs, selection, folder)]
