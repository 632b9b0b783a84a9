"""A phrase-based translator from premises to hypotheses, trained on the pairs of one label.

Gupta et al. 2021, section 3.1: Moses with a KenLM language model. Here: eflomal, our own
extraction and scoring, and KenLM's `lmplz`; none of the three is needed to translate.
"""

import gzip
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from probe.errors import TrainingError, writing
from probe.pbsmt.align import align
from probe.pbsmt.extract import extract
from probe.pbsmt.score import Pruning, Weights, lexicons, score
from probe.text.tokens import tokenise

LONGEST_TEXT = 80  # words of a premise or hypothesis to extract from, as in Moses's recipe


@dataclass(frozen=True)
class Settings:
    """How to train. `prune` is lmplz's: n-grams of order 1, 2, ... seen as often at most go."""

    longest: int = 4
    order: int = 5
    prune: tuple[int, ...] = (0, 0, 1, 2)
    weights: Weights = field(default_factory=Weights)
    pruning: Pruning = field(default_factory=Pruning)
    lmplz: str = "lmplz"


@dataclass(frozen=True)
class Trained:
    """How much training found: texts, links between words, different phrase pairs.

    And how much it kept: `kept` translations of `sources` phrases, and n-grams of each order.
    """

    label: str
    pairs: int
    links: int
    extracted: int
    sources: int
    kept: int
    grams: tuple[int, ...]


def train(
    label: str,
    pairs: Iterable[tuple[str, str]],
    out: Path,
    links: Path,
    settings: Settings = Settings(),
) -> Trained:
    """Write `<label>.phrases.gz` and `<label>.arpa.gz`, from premises and hypotheses.

    `links` is a folder for eflomal's answer, which is taken from there if it is there. Raises
    TrainingError.
    """
    words = [(_words(premise), _words(hypothesis)) for premise, hypothesis in pairs]
    clean = [pair for pair in words if all(0 < len(side) <= LONGEST_TEXT for side in pair)]
    premises, hypotheses = [pair[0] for pair in clean], [pair[1] for pair in clean]
    points = align(premises, hypotheses, links)
    aligned = list(zip(premises, hypotheses, points, strict=True))
    counts = Counter(found for it in aligned for found in extract(*it, settings.longest))
    table = score(counts, *lexicons(aligned), settings.weights, settings.pruning)
    _write(out / f"{label}.phrases.gz", map(_line, table.items()))
    arpa = estimate([target for _, target in words if target], settings)
    _write(out / f"{label}.arpa.gz", map(_shortened, arpa))
    return Trained(
        label,
        len(clean),
        sum(map(len, points)),
        len({(found.source, found.target) for found in counts}),
        len(table),
        sum(map(len, table.values())),
        tuple(int(line.split("=")[1]) for line in arpa if line.startswith("ngram ")),
    )


def _words(text: str) -> list[str]:
    return tokenise(text.lower())


def _line(row: tuple[tuple[str, ...], Sequence[tuple[float, tuple[str, ...]]]]) -> str:
    source, found = row
    cells = [cell for total, target in found for cell in (f"{total:.2f}", " ".join(target))]
    return "\t".join([" ".join(source), *cells])


def estimate(texts: Sequence[Sequence[str]], settings: Settings = Settings()) -> list[str]:
    """Return the lines of an ARPA file: interpolated modified Kneser-Ney, by KenLM's `lmplz`.

    Raises TrainingError.
    """
    prune = map(str, settings.prune[: settings.order])
    with tempfile.TemporaryDirectory() as folder:
        command = [settings.lmplz, "-o", str(settings.order), "-S", "1G", "-T", f"{folder}/"]
        command += ["--skip_symbols", "--discount_fallback", "--prune", *prune]
        text = "".join(" ".join(words) + "\n" for words in texts)
        try:
            ended = subprocess.run(command, input=text.encode(), capture_output=True, check=True)
        except FileNotFoundError as absent:
            raise TrainingError(
                f"training needs KenLM's {settings.lmplz}; build KenLM and name it by --lmplz"
            ) from absent
        except subprocess.CalledProcessError as failed:
            last = failed.stderr.decode(errors="replace").strip().splitlines()[-1:]
            raise TrainingError(f"lmplz failed: {' '.join(last)}") from failed
    return ended.stdout.decode().split("\n")


def _shortened(line: str) -> str:
    """Round an ARPA line's numbers to three decimals: half the size, 0.1 % of a probability."""
    cells = line.split("\t")
    if len(cells) == 1:
        return line
    numbers = [f"{float(cell):.3f}" for cell in (cells[0], *cells[2:])]
    return "\t".join([numbers[0], cells[1], *(it for it in numbers[1:] if float(it))])


def _write(path: Path, lines: Iterable[str]) -> None:
    """Write gzipped text; the same lines make the same bytes."""
    data = "\n".join(lines).rstrip("\n") + "\n"
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(data.encode(), mtime=0))
