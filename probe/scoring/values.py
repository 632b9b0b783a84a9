"""What is written of scored rows: our cells of each, those of every example made, the variants'."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from probe.analysis.batch import Row
from probe.analysis.variants import VariantScore, variant_scores
from probe.data.writers.lines import Values
from probe.models.classifier import Classifier, Model
from probe.models.windows import Long
from probe.reports.scored import (
    made_cells,
    made_columns,
    model_labels,
    scored_cells,
    scored_columns,
    with_legible,
)
from probe.tasks.task import Label, Task


@dataclass(frozen=True)
class RowValues:
    """What is written of some rows: of each row a list, of each example that was made another."""

    scored: Sequence[Values]
    made: Sequence[Values] = ()
    variants: Sequence[VariantScore] = ()


@dataclass(frozen=True)
class ValueColumns:
    """The columns of what is written, by the model's labels, its task and the transforms."""

    labels: tuple[Label, ...]
    task: Task
    transforms: tuple[str, ...]
    long: Long = "cut"

    @cached_property
    def scored(self) -> list[str]:
        """The columns behind those of the input."""
        return scored_columns(self.labels, self.task, self.transforms, self.long)

    @cached_property
    def made(self) -> list[str]:
        """The columns of the examples that were made."""
        return made_columns(self.labels, self.task)

    def completed(self, values: RowValues) -> RowValues:
        """Return what an earlier version wrote of rows with all columns of today."""
        return replace(values, scored=[with_legible(row, self.scored) for row in values.scored])

    def values(self, rows: Sequence[Row]) -> RowValues:
        """Return what is written of rows."""
        return RowValues(
            [scored_cells(row, self.scored) for row in rows],
            [cells for row in rows for cells in made_cells(row, self.made)],
            list(variant_scores(rows)),
        )


def value_columns(model: Model, transforms: Sequence[str]) -> ValueColumns:
    """Return the columns of what is written of a model's answers."""
    long = model.long if isinstance(model, Classifier) else "cut"
    return ValueColumns(model_labels(model), model.task, tuple(transforms), long)
