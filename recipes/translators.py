"""`python -m recipes.translators train|copies FILE`: the phrase-based translator of each label.

Gupta et al. 2021, section 3.1: Moses with a KenLM language model. Here: eflomal, our own
extraction and scoring, and KenLM's `lmplz`; none of the three is needed to translate.
"""

import gzip
import math
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from probe.cli.file_options import labelled_and_told, takes_file
from probe.cli.group import group
from probe.data.file_options import AS_THE_FILE_TELLS, FileOptions
from probe.errors import FileError, TrainingError, writing
from probe.pbsmt import FOLDER, DecoderWeights, load, missing
from probe.tasks.nli import NLI
from probe.tasks.task import Example, Label, Task, task_named
from probe.text.words import join, tokenise
from probe.transforms.options import Options

app = group()

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


NO_LINKS = (1 << 30, -1)
"""The first and the last linked word where there is no link."""


@dataclass(frozen=True)
class PhrasePair:
    """A phrase of the premise, one of the hypothesis, and the links within, from their starts."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: tuple[Link, ...]


def phrase_spans(
    source_length: int, target_length: int, links: Collection[Link], max_words: int
) -> Iterator[tuple[int, int, int, int]]:
    """Yield source start, source end, target start, target end of every consistent phrase pair.

    Consistent: there is a link within, and no link leads from within to without. The lengths count
    the words of the source and the target; no phrase has more than `max_words`. NLTK's function is
    not used: it cuts a target that is too long, which breaks links.
    """
    target_extents = _extents(links, source_length, 0)
    source_extents = _extents(links, target_length, 1)
    for start in range(source_length):
        low, high = target_length, -1
        for last in range(start, min(start + max_words, source_length)):
            first_linked, last_linked = target_extents[last]
            low, high = min(low, first_linked), max(high, last_linked)
            if high < low or high - low >= max_words:
                continue
            extents = source_extents[low : high + 1]
            if all(left >= start and right <= last for left, right in extents if right >= 0):
                widened = _widened(low, high + 1, source_extents, max_words)
                for target_start, target_end in widened:
                    yield start, last + 1, target_start, target_end


def _extents(links: Collection[Link], words: int, side: int) -> list[tuple[int, int]]:
    """Return the first and the last word that each word is linked to, NO_LINKS for none.

    `side` is 0 for the words of the source, 1 for those of the target.
    """
    extents = [NO_LINKS] * words
    for link in links:
        first, last = extents[link[side]]
        extents[link[side]] = min(first, link[1 - side]), max(last, link[1 - side])
    return extents


def _widened(
    start: int, end: int, source_extents: Sequence[tuple[int, int]], max_words: int
) -> Iterator[tuple[int, int]]:
    """Yield a target span, and its extensions by adjacent words that have no link."""
    left = start
    while True:
        right = end
        while right - left <= max_words:
            yield left, right
            if right == len(source_extents) or source_extents[right][1] >= 0:
                break
            right += 1
        left -= 1
        if left < 0 or source_extents[left][1] >= 0:
            return


def extract(
    source: Sequence[str], target: Sequence[str], links: Collection[Link], max_words: int
) -> Iterator[PhrasePair]:
    """Yield the phrase pairs of a sentence pair, one for each occurrence."""
    linked_targets: list[list[int]] = [[] for _ in source]
    for i, j in sorted(links):
        linked_targets[i].append(j)
    for start, end, target_start, target_end in phrase_spans(
        len(source), len(target), links, max_words
    ):
        inner = tuple(
            (i - start, j - target_start) for i in range(start, end) for j in linked_targets[i]
        )
        yield PhrasePair(tuple(source[start:end]), tuple(target[target_start:target_end]), inner)


NULL = ""  # what a word without a link is linked to
Words = tuple[str, ...]
Lexicon = Mapping[tuple[str, str], float]
"""p(second word | first word)."""


@dataclass(frozen=True)
class FeatureWeights:
    """Weights of the four scores, e being the premise's phrase and f the hypothesis's."""

    forward: float = 0.2  # phi(f|e)
    backward: float = 0.2  # phi(e|f)
    lexical_forward: float = 0.2
    lexical_backward: float = 0.2


@dataclass(frozen=True)
class Pruning:
    """What is kept: pairs seen `min_count` times, the `max_options` best targets of each source.

    A word that is translated by itself needs to be seen once only: the chance translations of rare
    words are nothing to learn from.
    """

    min_count: int = 2
    max_options: int = 12


def lexicons(
    pairs: Iterable[tuple[Sequence[str], Sequence[str], Iterable[Link]]],
) -> tuple[Lexicon, Lexicon]:
    """Return p(hypothesis word | premise word) and the reverse, from the links."""
    counts = Counter(linked for pair in pairs for linked in _linked_words(*pair))
    sources, targets = Counter[str](), Counter[str]()
    for (source, target), count in counts.items():
        sources[source] += count
        targets[target] += count
    forward = {(s, t): count / sources[s] for (s, t), count in counts.items()}
    backward = {(t, s): count / targets[t] for (s, t), count in counts.items()}
    return forward, backward


def _linked_words(
    source: Sequence[str], target: Sequence[str], links: Iterable[Link]
) -> Iterator[tuple[str, str]]:
    links = list(links)
    yield from ((source[i], target[j]) for i, j in links)
    linked_sources, linked_targets = {i for i, _ in links}, {j for _, j in links}
    yield from ((word, NULL) for i, word in enumerate(source) if i not in linked_sources)
    yield from ((NULL, word) for j, word in enumerate(target) if j not in linked_targets)


def lexical_weight(source: Words, target: Words, links: Sequence[Link], lexicon: Lexicon) -> float:
    """Return the product over the target's words of their mean over the words linked to them."""
    product = 1.0
    for j, word in enumerate(target):
        linked = [source[i] for i, target_index in links if target_index == j] or [NULL]
        product *= sum(lexicon.get((other, word), 0.0) for other in linked) / len(linked)
    return product


def score(
    counts: Mapping[PhrasePair, int],
    forward: Lexicon,
    backward: Lexicon,
    weights: FeatureWeights = FeatureWeights(),
    pruning: Pruning = Pruning(),
) -> dict[Words, list[tuple[float, Words]]]:
    """Return the best targets of each source, best first, with their natural-log scores.

    A pair that was linked in several ways has the lexical weight of the best of them.
    """
    alignments: defaultdict[tuple[Words, Words], list[PhrasePair]] = defaultdict(list)
    joint, sources, targets = Counter[tuple[Words, Words]](), Counter[Words](), Counter[Words]()
    for pair, count in counts.items():
        alignments[pair.source, pair.target].append(pair)
        joint[pair.source, pair.target] += count
        sources[pair.source] += count
        targets[pair.target] += count
    table: defaultdict[Words, list[tuple[float, Words]]] = defaultdict(list)
    for (source, target), pairs in alignments.items():
        count = joint[source, target]
        if count < pruning.min_count and (len(source) > 1 or source != target):
            continue
        reversed_links = [tuple((j, i) for i, j in pair.links) for pair in pairs]
        lexical_forward = max(lexical_weight(source, target, pair.links, forward) for pair in pairs)
        lexical_backward = max(
            lexical_weight(target, source, links, backward) for links in reversed_links
        )
        total = (
            weights.forward * math.log(count / sources[source])
            + weights.backward * math.log(count / targets[target])
            + weights.lexical_forward * math.log(lexical_forward)
            + weights.lexical_backward * math.log(lexical_backward)
        )
        table[source].append((total, target))
    return {
        source: sorted(options, key=lambda option: (-option[0], option[1]))[: pruning.max_options]
        for source, options in sorted(table.items())
    }


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


TaskOption = Annotated[str, typer.Option("--task", help="The task of the file.")]
Pairs = dict[Label, list[tuple[str, str]]]
DEFAULT, CHOSEN = TrainingSettings(), Options()


def pairs_of(path: Path, task: Task, reading: FileOptions = AS_THE_FILE_TELLS) -> Pairs:
    """Read the texts to translate and their translations by label, premises and hypotheses in NLI.

    Where a task has one text its two halves are such a pair. Rows without a label are left out.
    Raises FileError.
    """
    pairs: Pairs = {label: [] for label in task.translated}
    for example in labelled_and_told(path, task, reading).examples:
        if example.gold in pairs:
            pairs[example.gold].append(_source_and_target(task, example))
    return pairs


def _source_and_target(task: Task, example: Example) -> tuple[str, str]:
    target = str(getattr(example, task.target))
    if task.source:
        return str(getattr(example, task.source)), target
    words = tokenise(target)
    return join(words[: len(words) // 2]), join(words[len(words) // 2 :])


@app.callback()
def main() -> None:
    """Phrase-based translators: train them, count what they copy."""


@app.command("train")
@takes_file(texts=False)
def train_command(
    file: Annotated[Path, typer.Argument(help="Examples with labels.")],
    task: TaskOption = NLI.name,
    out: Annotated[Path, typer.Option(help="Where the tables go.")] = FOLDER,
    links: Annotated[Path, typer.Option(help="Where eflomal's links are or go.")] = Path(
        "build/links"
    ),
    max_phrase: Annotated[
        int, typer.Option(min=1, help="Words of a phrase.")
    ] = DEFAULT.max_phrase_words,
    order: Annotated[int, typer.Option(min=2, max=6, help="Words of an n-gram.")] = DEFAULT.order,
    least: Annotated[int, typer.Option(min=1, help="Times a pair is seen.")] = Pruning.min_count,
    options: Annotated[int, typer.Option(min=1, help="Targets of a source.")] = Pruning.max_options,
    lmplz: Annotated[str, typer.Option(help="KenLM's estimator.")] = DEFAULT.lmplz,
    reading: FileOptions = AS_THE_FILE_TELLS,
) -> None:
    """Train a translator for each label.

    Needs eflomal and KenLM's lmplz. eflomal cannot be seeded; from the same links come the same
    tables.
    """
    settings = TrainingSettings(max_phrase, order, pruning=Pruning(least, options), lmplz=lmplz)
    for label, pairs in pairs_of(file, task_named(task), reading).items():
        counts = train(label, pairs, out, links / label, settings)
        typer.echo(
            f"{label}: {counts.pairs} pairs, {counts.links} links, {counts.phrase_pairs} phrase "
            f"pairs; kept {counts.translations} translations of {counts.sources} phrases, n-grams "
            f"{counts.ngrams}"
        )


@app.command("copies")
@takes_file(texts=False)
def copies_command(
    file: Annotated[Path, typer.Argument(help="Examples with labels.")],
    task: TaskOption = NLI.name,
    most: Annotated[int, typer.Option(min=1, help="Pairs of a label.")] = 500,
    lm_weight: Annotated[float, typer.Option(min=0)] = CHOSEN.lm_weight,
    distortion_weight: Annotated[float, typer.Option(min=0)] = CHOSEN.distortion_weight,
    distortion_limit: Annotated[int, typer.Option(min=0)] = CHOSEN.distortion_limit,
    tables: Annotated[Path, typer.Option(help="Where the tables are.")] = FOLDER,
    reading: FileOptions = AS_THE_FILE_TELLS,
) -> None:
    """Print the share of texts that their label's system translates into themselves."""
    weights = DecoderWeights(lm_weight, distortion_weight, distortion_limit)
    copies: list[bool] = []
    asked = task_named(task)
    if lacking := missing(tuple(asked.translated), tables):
        raise FileError(lacking.rstrip("."))
    for label, pairs in pairs_of(file, asked, reading).items():
        system = load(label, tables)
        texts = [words for premise, _ in pairs[:most] if (words := tokenise(premise.lower()))]
        copied = [system.translate(words, weights) == words for words in texts]
        copies += copied
        typer.echo(f"{label}: {_share(copied)}")
    typer.echo(f"all: {_share(copies)}")


def _share(copies: Sequence[bool]) -> str:
    return f"{sum(copies)} of {len(copies)} copied, {sum(copies) / max(len(copies), 1):.1%}"


if __name__ == "__main__":
    app()
