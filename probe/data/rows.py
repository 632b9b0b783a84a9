"""Read the labelled pairs of a file, and say how many rows are none."""

from pathlib import Path

from probe.data.tables import guess, is_missing, read_table
from probe.errors import FileError
from probe.tasks.nli import NLI, Pair
from probe.tasks.spelling import DISPUTED


def labelled(path: Path) -> tuple[list[Pair], int]:
    """Return the pairs with a gold label and how many other rows the file has.

    Broken and disputed rows and those without a label or a text are the others. Raises FileError
    and LabelError with a sentence.
    """
    table = read_table(path)
    names = list(table.frame.columns)
    columns = guess(names)
    if columns.gold is None:
        raise FileError(f"no column 'label' in {path.name}; it has: {', '.join(names)}")
    cells = [_texts(list(table.frame[name])) for name in (columns.premise, columns.hypothesis)]
    golds = _texts(list(table.frame[columns.gold]))
    pairs = [
        Pair(premise, hypothesis, gold, str(number))
        for number, (premise, hypothesis, label) in enumerate(zip(*cells, golds, strict=True))
        if number not in table.broken and premise.strip() and hypothesis.strip()
        if label.strip() not in DISPUTED and (gold := NLI.read_gold(label))
    ]
    if not pairs:
        raise FileError(f"{path.name} holds no pair with a premise, a hypothesis and a label")
    return pairs, len(table.frame) - len(pairs)


def _texts(cells: list[object]) -> list[str]:
    return ["" if is_missing(cell) else str(cell) for cell in cells]
