"""What the papers report: assets/paper_tables.json, and single shares in paper_figures.json."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from pydantic import TypeAdapter

from probe.settings import ASSETS


@dataclass(frozen=True)
class PublishedTable:
    """A published table, or a part of one: shares from 0 to 1 by row and column.

    `who` is the model, `data` what it was trained on and tested with, `source` paper and table.
    `note` says what in the table does not agree with itself or with another one, "" for nothing.
    """

    name: str
    task: str
    data: str
    who: str
    source: str
    columns: tuple[str, ...]
    rows: Mapping[str, tuple[float, ...]]
    note: str = ""

    def value(self, row: str, column: str) -> float | None:
        """Return a figure, None where the table has no such row or column."""
        if row not in self.rows or column not in self.columns:
            return None
        return self.rows[row][self.columns.index(column)]


@dataclass(frozen=True)
class PublishedShare:
    """A published share from 0 to 1: of whom, where it is from, of how many if that is told.

    `note` says what else it differs in from what it stands beside.
    """

    who: str
    share: float
    source: str
    n: int | None = None
    note: str = ""


@cache
def published_shares() -> Mapping[str, PublishedShare]:
    """Return the published shares by their names, such as agreement.sort.nli."""
    kind = TypeAdapter(dict[str, PublishedShare])
    return kind.validate_json((ASSETS / "paper_figures.json").read_bytes())


@cache
def published_tables() -> tuple[PublishedTable, ...]:
    """Return all tables that are known, in the order of the file."""
    kind = TypeAdapter(tuple[PublishedTable, ...])
    return kind.validate_json((ASSETS / "paper_tables.json").read_bytes())


def published(name: str, task: str, data: str = "") -> PublishedTable | None:
    """Return a published table for a task by its name, None where no paper has it for that task.

    Rows and columns are named as in the runs' plans and points. Gupta et al. 2021:

    - calibration (table 8): a method's accuracy and ece;
    - calibrated_agreement (table 9): by method the agreement on the lexical, gradient and
      statistical families of word salad;
    - salad_only (table 11): the accuracy on whole texts of models trained on whole texts alone (row
      clean) and on shuffled ones alone (row salad);
    - mitigation (table 12): a method's clean accuracy and the share invalid_found;
    - transfer (table 18): the share found, trained on the row's transform, tested on the column's;
    - agreement_by_model, confidence_by_model (tables 16, 17): by model and transform;
    - kinds_by_model (tables 10 and 19): the mean agreement over each family and over all.

    Rozen et al. 2019: before_dative, before_numerical and original (table 3), the accuracy before
    any training by complexity and gold label; after_training, what the text says of figures 1 to 3.

    Of several data sets of a task `data` names one (MNLI, SNLI, QQP, MRPC, SST-2), in any case; by
    default it is the first. Raises KeyError where no table has this name.
    """
    named = [table for table in published_tables() if table.name == name]
    if not named:
        raise KeyError(f"no published table is called {name!r}")
    for table in named:
        if table.task == task and (not data or table.data.casefold() == data.casefold()):
            return table
    return None


def published_for(name: str, task: str, model: str) -> PublishedTable | None:
    """Return a published table for a task, that of the data set that a model is named after.

    The first of the task where it is named after none, or the paper has none for it; a repaired
    model's name begins with its parent's. Raises KeyError where no table has this name.
    """
    return published(name, task, _data_of(model)) or published(name, task)


def published_share(name: str, model: str) -> PublishedShare | None:
    """Return a published share, of the data set that a model is named after where it has its own.

    `name` is as in `published_shares`; those of a further data set of a task, or of ESIM, have its
    name behind them. None where the paper has none.
    """
    shares, data = published_shares(), _data_of(model)
    if any(key.endswith(f".{data}") for key in shares):
        return shares.get(f"{name}.{data}")
    return shares.get(name)


def _data_of(model: str) -> str:
    """Return the data set that a model is named after, where papers have several; "" for none.

    One that is named after ESIM stands beside the paper's, which was trained on MNLI alone.
    """
    return next((each for each in ("ESIM", "MRPC", "QQP", "SNLI") if each in model.upper()), "")
