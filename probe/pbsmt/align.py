"""Word alignment of premises and hypotheses: eflomal in both directions, symmetrised.

Only training needs eflomal. It takes its random numbers from the system and cannot be seeded: keep
its links (`folder` of `align`) to train the same tables again.
"""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from probe.errors import TrainingError

Link = tuple[int, int]
"""The index of a word of the premise and that of a word of the hypothesis."""
NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def align(
    premises: Sequence[Sequence[str]], hypotheses: Sequence[Sequence[str]], folder: Path
) -> list[set[Link]]:
    """Align pairs of token lists, all of them together; return one set of links for each pair.

    Writes eflomal's links into `folder`, one file a direction, and reads them from there where
    both files exist. Raises TrainingError.
    """
    paths = [folder / "forward", folder / "backward"]
    if not all(path.exists() for path in paths):
        _run_eflomal(premises, hypotheses, *paths)
    directions = [path.read_text(encoding="ascii").splitlines() for path in paths]
    if {len(lines) for lines in directions} != {len(premises)}:
        raise TrainingError(f"the links in {folder} are not of these pairs; remove them")
    return [symmetrise(*map(_links, lines)) for lines in zip(*directions, strict=True)]


def _run_eflomal(
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


def _links(line: str) -> set[Link]:
    pairs = (link.split("-") for link in line.split())
    return {(int(i), int(j)) for i, j in pairs}


def symmetrise(forward: set[Link], backward: set[Link]) -> set[Link]:
    """Join two alignments by grow-diag-final-and (Koehn et al. 2003; Och and Ney 2003).

    From the intersection, grow to neighbours in the union that link a word not linked yet; then
    add the remaining links of which neither word is linked. NLTK's function of that name is not
    used: it looks for word numbers among the names of its tables, finds none, and so returns the
    union.
    """
    links = forward & backward
    linked = {i for i, _ in links}, {j for _, j in links}
    _grow(links, forward | backward, linked)
    for direction in (forward, backward):
        for i, j in sorted(direction):
            if i not in linked[0] and j not in linked[1]:
                _add(links, (i, j), linked)
    return links


def _grow(links: set[Link], union: set[Link], linked: tuple[set[int], set[int]]) -> None:
    frontier = sorted(links)
    while frontier:
        added = []
        for i, j in frontier:
            for down, right in NEIGHBOURS:
                neighbour = (i + down, j + right)
                links_new_word = neighbour[0] not in linked[0] or neighbour[1] not in linked[1]
                if links_new_word and neighbour in union:
                    _add(links, neighbour, linked)
                    added.append(neighbour)
        frontier = added


def _add(links: set[Link], link: Link, linked: tuple[set[int], set[int]]) -> None:
    links.add(link)
    linked[0].add(link[0])
    linked[1].add(link[1])
