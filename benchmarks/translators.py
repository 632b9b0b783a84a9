"""Premises per second of the phrase-based translators of the `pbsmt` transforms.

    python -m benchmarks.translators [--n 100] [--root CHECKOUT]

One core, by the processor's clock: the premises of the first bundled test pairs, through the
translator of each label. With another checkout both are run in turn, and it is said how many
translations differ.
"""

import json
import subprocess
import sys
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

WORK = """
import json, sys, time
from probe.pbsmt import translator
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import LABELS, NLI
from probe.text.words import tokenise
from probe.transforms.families.pbsmt import weights
from probe.transforms.options import Options

texts = list(dict.fromkeys(pair.premise for pair in bundled_examples(NLI, "test")))
words = [tokenise(text.lower()) for text in texts[: int(sys.argv[1])]]
translators = [translator(label) for label in LABELS]
start = time.process_time()
answers = [[each.translate(text, weights(Options())) for text in words] for each in translators]
print(json.dumps([time.process_time() - start, answers]))
"""


def translations(root: Path, n: int) -> tuple[float, list[list[list[str]]]]:
    """Return the seconds of a checkout's translators, and what they say."""
    output = subprocess.run(
        [sys.executable, "-c", WORK, str(n)], cwd=root, capture_output=True, text=True, check=True
    ).stdout
    seconds, answers = json.loads(output)
    return seconds, answers


def main(
    n: int = 100, root: Annotated[Path | None, typer.Option(help="Another checkout.")] = None
) -> None:
    """Print the speed, and the other checkout's."""
    here = Path(__file__).parent.parent
    seconds, answers = translations(here, n)
    count = sum(map(len, answers))
    print(f"now     {count / seconds:6.1f} premises/s of {count}")
    if root:
        other_seconds, others = translations(root, n)
        print(f"before  {count / other_seconds:6.1f} premises/s: {other_seconds / seconds:.1f} x")
        pairs = zip(chain(*answers), chain(*others), strict=True)
        print(f"{sum(new != old for new, old in pairs)} of {count} translations differ")


if __name__ == "__main__":
    typer.run(main)
