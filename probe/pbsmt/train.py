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
from probe.pbsmt.score import FeatureWeights, Pruning, lexicons, score
from probe.text.tokens import tokenise

MAX_TEXT_WORDS = 80  # of a premise or hypothesis to extract from, as in Moses's recipe


@dataclass(frozen=True)
class TrainingSettings:
    """How to train: the words of a phrase, the order of the language model, and what is pruned.

    `prune` is lmplz's: of order 1, 2, ... the n-grams seen at most so often are dropped.
    """

    max_phrase_words: int = 4
    order: int = 5
    prune: tuple[int, ...] = (0, 0, 1, 2)
    weights: FeatureWeights = field(default_factory=FeatureWeights)
    pruning: Pruning = field(default_factory=Pruning)
    lmplz: str = "lmplz"


@dataclass(frozen=True)
class TrainingCounts:
    """How many text pairs, links between words and different phrase pairs were read.

    And how many were written: `translations` of `sources` phrases, and n-grams of each order.
    """

    label: str
    pairs: int
    links: int
    phrase_pairs: int
    sources: int
    translations: int
    ngrams: tuple[int, ...]


def train(
    label: str,
    pairs: Iterable[tuple[str, str]],
    out: Path,
    links_folder: Path,
    settings: TrainingSettings = TrainingSettings(),
) -> TrainingCounts:
    """Write `<label>.phrases.gz` and `<label>.arpa.gz`, from premises and hypotheses.

    `links_folder` is where eflomal's links are written, or read if they exist. Raises
    TrainingError.
    """
    words = [(_words(premise), _words(hypothesis)) for premise, hypothesis in pairs]
    clean = [pair for pair in words if all(0 < len(side) <= MAX_TEXT_WORDS for side in pair)]
    premises, hypotheses = [pair[0] for pair in clean], [pair[1] for pair in clean]
    links = align(premises, hypotheses, links_folder)
    aligned = list(zip(premises, hypotheses, links, strict=True))
    counts = Counter(
        phrase_pair
        for aligned_pair in aligned
        for phrase_pair in extract(*aligned_pair, settings.max_phrase_words)
    )
    table = score(counts, *lexicons(aligned), settings.weights, settings.pruning)
    _write(out / f"{label}.phrases.gz", map(_table_line, table.items()))
    arpa = estimate([target for _, target in words if target], settings)
    _write(out / f"{label}.arpa.gz", map(_rounded, arpa))
    return TrainingCounts(
        label,
        len(clean),
        sum(map(len, links)),
        len({(pair.source, pair.target) for pair in counts}),
        len(table),
        sum(map(len, table.values())),
        tuple(int(line.split("=")[1]) for line in arpa if line.startswith("ngram ")),
    )


def _words(text: str) -> list[str]:
    return tokenise(text.lower())


def _table_line(row: tuple[tuple[str, ...], Sequence[tuple[float, tuple[str, ...]]]]) -> str:
    source, options = row
    cells = [cell for total, target in options for cell in (f"{total:.2f}", " ".join(target))]
    return "\t".join([" ".join(source), *cells])


def estimate(
    texts: Sequence[Sequence[str]], settings: TrainingSettings = TrainingSettings()
) -> list[str]:
    """Return the lines of an ARPA file: interpolated modified Kneser-Ney, by KenLM's `lmplz`.

    Raises TrainingError.
    """
    prune = map(str, settings.prune[: settings.order])
    with tempfile.TemporaryDirectory() as folder:
        command = [settings.lmplz, "-o", str(settings.order), "-S", "1G", "-T", f"{folder}/"]
        command += ["--skip_symbols", "--discount_fallback", "--prune", *prune]
        text = "".join(" ".join(words) + "\n" for words in texts)
        try:
            completed = subprocess.run(
                command, input=text.encode(), capture_output=True, check=True
            )
        except FileNotFoundError as absent:
            raise TrainingError(
                f"training needs KenLM's {settings.lmplz}; build KenLM and name it by --lmplz"
            ) from absent
        except subprocess.CalledProcessError as failed:
            last_line = failed.stderr.decode(errors="replace").strip().splitlines()[-1:]
            raise TrainingError(f"lmplz failed: {' '.join(last_line)}") from failed
    return completed.stdout.decode().split("\n")


def _rounded(line: str) -> str:
    """Round an ARPA line's numbers to three decimals: half the size, 0.1 % of a probability."""
    cells = line.split("\t")
    if len(cells) == 1:
        return line
    numbers = [f"{float(cell):.3f}" for cell in (cells[0], *cells[2:])]
    return "\t".join([numbers[0], cells[1], *(number for number in numbers[1:] if float(number))])


def _write(path: Path, lines: Iterable[str]) -> None:
    """Write gzipped text; the same lines make the same bytes."""
    text = "\n".join(lines).rstrip("\n") + "\n"
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode(), mtime=0))
