"""How often a text is taken for one in another language that is not, and how often one that is.

    python -m benchmarks.languages TASK=FILE ... --catalogues FOLDER

English comes from files of examples; other languages from the message catalogues of a translated
program, LANGUAGE/LC_MESSAGES/*.mo below a folder, such as `contrib/admin/locale` of Django.
"""

import argparse
import gettext
import random
import re
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

from probe.data.reading import stream_examples
from probe.tasks.task import task_named
from probe.text.language import other_language

ROWS = 3000
"""Of each file, the first ones."""
MARKUP = re.compile(r"%\(\w+\)s|%\w|<[^>]+>|\{[^}]*\}")
LEAST_WORDS = 4
"""Of a message that counts."""
CHANGES: dict[str, Callable[[list[str], random.Random], list[str]]] = {
    "as it is": lambda words, rng: words,
    "shuffled": lambda words, rng: rng.sample(words, len(words)),
    "its first four words": lambda words, rng: words[:4],
    "its words with a capital": lambda words, rng: [each for each in words if each[0].isupper()],
}
"""What is made of a text's words before it is judged: short, without grammar, names alone."""


def examples(asked: str) -> Iterable[str]:
    """Yield the texts of each example of a file, as one."""
    name, _, path = asked.partition("=")
    task = task_named(name)
    for example in islice(stream_examples(Path(path), task, read_gold=False), ROWS):
        yield " ".join(task.texts(example).values())


def messages(folder: Path) -> Iterable[tuple[str, str]]:
    """Yield the messages of a folder's catalogues with their language, but for English."""
    for path in sorted(folder.glob("*/LC_MESSAGES/*.mo")):
        language = path.parts[-3]
        with path.open("rb") as file:
            catalogue = gettext.GNUTranslations(file)
        for original, message in vars(catalogue)["_catalog"].items():
            text = " ".join(MARKUP.sub(" ", message).split())
            if language[:2] != "en" and original and len(text.split()) >= LEAST_WORDS:
                yield language, text


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", metavar="TASK=FILE")
    parser.add_argument("--catalogues", type=Path)
    asked = parser.parse_args()
    for file in asked.files:
        rng = random.Random(0)
        texts = [text.split() for text in examples(file)]
        made = {
            name: [" ".join(change(words, rng)) for words in texts]
            for name, change in CHANGES.items()
        }
        wrong = ", ".join(
            f"{name} {sum(map(bool, map(other_language, several)))}"
            for name, several in made.items()
        )
        print(f"{Path(file).name}: of {len(texts):,} English texts not English: {wrong}")
    if asked.catalogues:
        judged = [(name, other_language(text)) for name, text in messages(asked.catalogues)]
        told = sum(bool(language) for _, language in judged)
        names = len({name for name, _ in judged})
        share = 100 * told / len(judged)
        print(f"{len(judged):,} messages in {names} languages: {share:.1f} % not English")


if __name__ == "__main__":
    main()
