"""Which words of a hypothesis come from which of its premise: eflomal both ways, symmetrised.

Only training needs eflomal. It takes its chance from the system and cannot be seeded: keep its
answer (`folder` of `align`) to train the same tables again.
"""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from probe.errors import TrainingError

Point = tuple[int, int]
"""A place in the premise and the place in the hypothesis that it is linked to."""
NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def align(
    premises: Sequence[Sequence[str]], hypotheses: Sequence[Sequence[str]], folder: Path
) -> list[set[Point]]:
    """Align pairs of token lists, all of them together; one set of points for each pair.

    Leaves eflomal's links in `folder`, one file a direction, and takes them from there where it
    finds them. Raises TrainingError.
    """
    ways = [folder / "forward", folder / "backward"]
    if not all(way.exists() for way in ways):
        _eflomal(premises, hypotheses, *ways)
    read = [way.read_text(encoding="ascii").splitlines() for way in ways]
    if {len(lines) for lines in read} != {len(premises)}:
        raise TrainingError(f"the links in {folder} are not of these pairs; remove them")
    return [symmetrise(*map(_points, lines)) for lines in zip(*read, strict=True)]


def _eflomal(
    premises: Sequence[Sequence[str]],
    hypotheses: Sequence[Sequence[str]],
    forward: Path,
    backward: Path,
) -> None:
    try:
        eflomal = import_module("eflomal")
    except ImportError as absent:
        raise TrainingError("training aligns words by eflomal: pip install eflomal") from absent
    forward.parent.mkdir(parents=True, exist_ok=True)
    sides = [[" ".join(words) + "\n" for words in side] for side in (premises, hypotheses)]
    eflomal.Aligner().align(
        *sides, links_filename_fwd=str(forward), links_filename_rev=str(backward)
    )


def _points(line: str) -> set[Point]:
    pairs = (link.split("-") for link in line.split())
    return {(int(i), int(j)) for i, j in pairs}


def symmetrise(forward: set[Point], backward: set[Point]) -> set[Point]:
    """Join two alignments by grow-diag-final-and (Koehn et al. 2003; Och and Ney 2003).

    From what both have, grow to neighbours that one has and that link a word not linked yet;
    then take of what is left the links of which neither word is linked. NLTK's function of that
    name is not used: it looks for word numbers among the names of its tables, finds none, and so
    returns the union.
    """
    points = forward & backward
    linked = {i for i, _ in points}, {j for _, j in points}
    _grow(points, forward | backward, linked)
    for way in (forward, backward):
        for i, j in sorted(way):
            if i not in linked[0] and j not in linked[1]:
                _add(points, (i, j), linked)
    return points


def _grow(points: set[Point], union: set[Point], linked: tuple[set[int], set[int]]) -> None:
    fresh = sorted(points)
    while fresh:
        added = []
        for i, j in fresh:
            for down, right in NEIGHBOURS:
                near = (i + down, j + right)
                opens = near[0] not in linked[0] or near[1] not in linked[1]
                if opens and near in union:
                    _add(points, near, linked)
                    added.append(near)
        fresh = added


def _add(points: set[Point], point: Point, linked: tuple[set[int], set[int]]) -> None:
    points.add(point)
    linked[0].add(point[0])
    linked[1].add(point[1])
