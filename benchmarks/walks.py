"""What a pair, a row of a file and an inoculated example pass on their way: files and functions.

    python -m benchmarks.walks

Files are those of the project in which a function ran, imports apart; opened are the weights'
files by name, and the person's own file, as the interpreter is asked to open them.
"""

import contextlib
import io
import os
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

from benchmarks.page.app_process import ROOT

OURS = (str(ROOT / "probe"), str(ROOT / "finetune"))
PAIR = ("--premise", "A man in a red shirt plays the guitar.", "--hypothesis", "A man makes music.")
WALKS = {
    "a pair": ("probe", "pair", *PAIR, "--model", "minilm", "--transform", "drop"),
    "a row": ("probe", "batch", "own.csv", "--model", "minilm", "--out", "scored.csv"),
    "an example": (
        *("finetune", "inoculate", "--model", "da", "--challenge", "negation", "--sizes", "5"),
        *("--lrs", "1e-3", "--seeds", "0", "--max-epochs", "1", "--in-process", "--out", "run"),
    ),
}


@contextlib.contextmanager
def passed(functions: set[tuple[str, str]]) -> Iterator[None]:
    """Add the functions of ours, with their files, that run meanwhile."""

    def seen(frame: FrameType, event: str, _: Any) -> None:  # Any: what a profiler is given
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(OURS) and code.co_name[0] != "<":
            functions.add((code.co_filename, f"{code.co_name}:{code.co_firstlineno}"))

    threading.setprofile(seen)
    sys.setprofile(seen)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]  # what takes it away


def main() -> None:
    """Print a line for each walk."""
    opened = Counter[str]()

    def audit(event: str, arguments: tuple[Any, ...]) -> None:  # Any: what events tell
        if event == "open" and isinstance(arguments[0], str | os.PathLike):
            path = Path(arguments[0])
            if path.name == "own.csv" or path.suffix == ".safetensors":
                opened[f"{path.parent.name}/{path.name}"] += 1

    sys.addaudithook(audit)
    from finetune.cli import main as finetune  # what is loaded is not walked
    from probe.cli import main as probe

    apps = {"probe": probe.app, "finetune": finetune.app}
    for place in (*finetune.COMMANDS.values(), *probe.COMMANDS.values()):
        import_module(place.split(":")[0])

    with tempfile.TemporaryDirectory() as home:
        os.chdir(home)
        os.environ["NLI_CLINIC_HOME"] = home
        Path("own.csv").write_text("premise,hypothesis,label\nA man walks.,He moves.,entailment\n")
        for name, (command, *arguments) in WALKS.items():
            functions = set[tuple[str, str]]()
            opened.clear()
            with passed(functions), contextlib.redirect_stdout(io.StringIO()):
                apps[command](arguments, standalone_mode=False)
            files = {file for file, _ in functions}
            print(f"{name:12} {len(files):4} files {len(functions):5} functions")
            for path, times in sorted(opened.items()):
                print(f"    opens {path} {times} times")
        os.chdir(ROOT)


if __name__ == "__main__":
    main()
