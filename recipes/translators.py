"""`python -m recipes.translators train|copies FILE`: the phrase-based translator of each label.

Gupta et al. 2021: Moses with a KenLM language model. Here: eflomal, our own
extraction and scoring, and KenLM's `lmplz`; none of the three is needed to translate.
"""

import gzip
import math
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
        try:
            eflomal = import_module("eflomal")
        except ImportError as absent:
            raise TrainingError("training aligns words by eflomal: pip install eflomal") from absent
        folder.mkdir(parents=True, exist_ok=True)
        sides = [[" ".join(words) + "\n" for words in side] for side in (premises, hypotheses)]
        names = ("links_filename_fwd", "links_filename_rev")
        eflomal.Aligner().align(*sides, **dict(zip(names, map(str, paths), strict=True)))
    directions = [path.read_text(encoding="ascii").splitlines() for path in paths]
    if {len(lines) for lines in directions} != {len(premises)}:
        raise TrainingError(f"the links in {folder} are not of these pairs; remove them")
    links = (
        [{(int(i), int(j)) for i, j in (it.split("-") for it in line.split())} for line in lines]
        for lines in zip(*directions, strict=True)
    )
    return [symmetrise(*both) for both in links]


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


FEATURE_WEIGHT = 0.2
"""Of each of four scores: phi(f|e), phi(e|f) and both lexical weights, e being the premise's phrase
and f the hypothesis's."""


def lexicons(
    pairs: Iterable[tuple[Sequence[str], Sequence[str], Iterable[Link]]],
) -> tuple[Lexicon, Lexicon]:
    """Return p(hypothesis word | premise word) and the reverse, from the links."""
    counts = Counter[tuple[str, str]]()
    for words, translated, links in pairs:
        linked = list(links)
        counts.update((words[i], translated[j]) for i, j in linked)
        alone, made = set(range(len(words))), set(range(len(translated)))
        counts.update((words[i], NULL) for i in alone.difference(i for i, _ in linked))
        counts.update((NULL, translated[j]) for j in made.difference(j for _, j in linked))
    sources, targets = Counter[str](), Counter[str]()
    for (source, target), count in counts.items():
        sources[source] += count
        targets[target] += count
    forward = {(s, t): count / sources[s] for (s, t), count in counts.items()}
    backward = {(t, s): count / targets[t] for (s, t), count in counts.items()}
    return forward, backward


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
    min_count: int = 2,
    max_options: int = 12,
) -> dict[Words, list[tuple[float, Words]]]:
    """Return the best targets of each source, best first, with their natural-log scores.

    Pairs seen `min_count` times are kept, and the `max_options` best of each source. A word that is
    translated by itself needs to be seen once only: the chance translations of rare words are
    nothing to learn from. A pair that was linked in several ways has the lexical weight of the best
    of them.
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
        if count < min_count and (len(source) > 1 or source != target):
            continue
        shares = [
            count / sources[source],
            count / targets[target],
            max(lexical_weight(source, target, pair.links, forward) for pair in pairs),
            max(
                lexical_weight(target, source, [(j, i) for i, j in pair.links], backward)
                for pair in pairs
            ),
        ]
        table[source].append((sum(FEATURE_WEIGHT * math.log(share) for share in shares), target))
    return {
        source: sorted(options, key=lambda option: (-option[0], option[1]))[:max_options]
        for source, options in sorted(table.items())
    }


MAX_TEXT_WORDS = 80  # of a premise or hypothesis to extract from, as in Moses's recipe


@dataclass(frozen=True)
class TrainingSettings:
    """How to train: the words of a phrase, what `score` keeps, the order of the language model.

    `prune` is lmplz's: of order 1, 2, ... the n-grams seen at most so often are dropped.
    """

    max_phrase_words: int = 4
    order: int = 5
    min_count: int = 2
    max_options: int = 12
    lmplz: str = "lmplz"
    prune: tuple[int, ...] = (0, 0, 1, 2)


def train(
    label: str,
    pairs: Iterable[tuple[str, str]],
    out: Path,
    links_folder: Path,
    settings: TrainingSettings = TrainingSettings(),
) -> str:
    """Write `<label>.phrases.gz` and `<label>.arpa.gz`, from premises and hypotheses.

    `links_folder` is where eflomal's links are written, or read if they exist. Returns what was
    read and kept, in words. Raises TrainingError.
    """
    words = [(tokenise(one.lower()), tokenise(other.lower())) for one, other in pairs]
    clean = [pair for pair in words if all(0 < len(side) <= MAX_TEXT_WORDS for side in pair)]
    premises, hypotheses = [pair[0] for pair in clean], [pair[1] for pair in clean]
    links = align(premises, hypotheses, links_folder)
    aligned = list(zip(premises, hypotheses, links, strict=True))
    counts = Counter(
        phrase_pair
        for aligned_pair in aligned
        for phrase_pair in extract(*aligned_pair, settings.max_phrase_words)
    )
    table = score(counts, *lexicons(aligned), settings.min_count, settings.max_options)
    _write(out / f"{label}.phrases.gz", map(_table_line, table.items()))
    arpa = estimate([target for _, target in words if target], settings)
    _write(out / f"{label}.arpa.gz", map(_rounded, arpa))
    ngrams = tuple(int(line.split("=")[1]) for line in arpa if line.startswith("ngram "))
    phrase_pairs = len({(pair.source, pair.target) for pair in counts})
    return (
        f"{len(clean)} pairs, {sum(map(len, links))} links, {phrase_pairs} phrase pairs; kept "
        f"{sum(map(len, table.values()))} translations of {len(table)} phrases, n-grams {ngrams}"
    )


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
    least: Annotated[int, typer.Option(min=1, help="Times a pair is seen.")] = DEFAULT.min_count,
    options: Annotated[int, typer.Option(min=1, help="Targets of a source.")] = DEFAULT.max_options,
    lmplz: Annotated[str, typer.Option(help="KenLM's estimator.")] = DEFAULT.lmplz,
    reading: FileOptions = AS_THE_FILE_TELLS,
) -> None:
    """Train a translator for each label.

    Needs eflomal and KenLM's lmplz. eflomal cannot be seeded; from the same links come the same
    tables.
    """
    settings = TrainingSettings(max_phrase, order, least, options, lmplz)
    for label, pairs in pairs_of(file, task_named(task), reading).items():
        typer.echo(f"{label}: {train(label, pairs, out, links / label, settings)}")


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
