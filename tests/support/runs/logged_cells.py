"""An experiment whose cells write down that they are computed: in which order, and how often."""

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from probe.runs.experiment import CellContext, Experiment, Progress, Result
from probe.runs.run import Json, RunRequest
from probe.stopping import raise_if_stopped


def log_cell(
    plan: Json, inputs: Json, key: Json, context: CellContext
) -> Iterator[Progress | Result]:
    """Write a line, and wait until there is a file `gate`, where the plan names one."""
    with Path(plan["log"]).open("a") as log:
        log.write(f"{plan['name']}{key['cell']}\n")
    yield Progress({"logged": True})
    while plan["gate"] and not Path(plan["gate"]).exists():
        raise_if_stopped(context.stop)
        time.sleep(0.01)
    if key["cell"] == plan["fails"]:
        raise ValueError("this one <b>fails</b>")
    filling = {"filling": "x" * plan["size"]} if plan["size"] else {}
    yield Result({"number": key["cell"], **filling})


LOGGED = Experiment(
    kind="logged",
    cells=lambda plan: [{"cell": number} for number in range(1, plan["cells"] + 1)],
    run_cell=log_cell,
    title=lambda plan: str(plan["name"]),
    brief=lambda result: {"number": result and result["number"]},
    conclude=lambda run, inputs: {"sum": sum(result["number"] for result in run.results)},
    pack=lambda result: {"bits": f"{result['number']:b}"},
    unpack=lambda values, artefacts: {"number": int(values["bits"], 2)},
)


class Log:
    """A file in which the cells of several runs are noted, and the gate that they wait at."""

    def __init__(self, folder: Path) -> None:
        self.path, self.gate = folder / "cells.log", folder / "gate"
        self.path.touch()

    def request(
        self, name: str, cells: int, gated: bool = True, size: int = 0, fails: int = 0
    ) -> RunRequest:
        """Return a run whose cells are noted as `name` and number; a result has `size` bytes.

        The cell of the number `fails` fails.
        """
        gate = str(self.gate) if gated else ""
        where = {"log": str(self.path), "gate": gate}
        plan = {"name": name, "cells": cells, "size": size, "fails": fails, **where}
        return RunRequest(LOGGED.kind, plan, {"secret": "input"})

    def lines(self) -> list[str]:
        """Return the cells that were begun, in their order."""
        return self.path.read_text().split()

    def repeated(self) -> list[str]:
        """Return the cells that were begun more than once."""
        return [cell for cell, count in Counter(self.lines()).items() if count > 1]
