"""How large the project is: python -m benchmarks.size [--since COMMIT].

Tokens are those of Python without comments and layout, so that nothing is won by longer lines,
and what stands beside the source is counted too, so that nothing is won by moving it.
"""

import argparse
import io
import json
import re
import subprocess
import tarfile
import tempfile
import tokenize
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any
from urllib.request import urlopen

from benchmarks.page.app_process import ROOT
from benchmarks.page.idle import start

LAYOUT = {"COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENDMARKER"}
BESIDE = (".css", ".js", ".toml", ".sh", ".yaml", ".yml")


def _is_page(path: str) -> bool:
    return bool(re.match(r"(probe|finetune)/ui/|tests/(app|probe/ui|finetune/ui)/", path))


GROUPS: dict[str, Callable[[str], bool]] = {
    "scripts, styles, tables": lambda path: path.endswith(BESIDE),
    "source": lambda path: path.startswith(("probe/", "finetune/")) and not _is_page(path),
    "page": lambda path: path.startswith(("probe/", "finetune/", "app.py")),
    "recipes": lambda path: path.startswith("recipes/"),
    "tests": lambda path: path.startswith("tests/") and not _is_page(path),
    "page's tests": lambda path: path.startswith("tests/"),
    "benchmarks, documentation": lambda path: path.endswith(".py"),
}
PROSE = {
    "BENCHMARKS": r"BENCHMARKS\.md",
    "docs by hand": r"(README|CONTRIBUTING|SECURITY)\.md|docs/(?!reference/).*\.md",
    "CHANGELOG": r"CHANGELOG\.md",
}


@dataclass(frozen=True)
class Size:
    """What the files of a group hold; tokens of Python's files alone."""

    lines: int
    tokens: int
    modules: int  # without __init__


def checkout(commit: str = "") -> dict[str, str]:
    """Return the texts that the checkout, or a commit, holds, by path; assets' data apart."""
    if commit:
        packed = subprocess.run(
            ["git", "archive", commit], cwd=ROOT, capture_output=True, check=True
        )
        with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as files:
            read = {file.name: files.extractfile(file) for file in files if _counts(file.name)}
            return {name: file.read().decode() for name, file in read.items() if file}
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = (ROOT / name for name in names.split("\0") if _counts(name))
    return {str(path.relative_to(ROOT)): path.read_text() for path in paths if path.is_file()}


def _counts(path: str) -> bool:
    return path.endswith((".py", ".md", *BESIDE)) and not path.startswith("assets/models/")


def sizes(files: dict[str, str]) -> dict[str, Size]:
    """Return the sizes of the groups, each file in the first that it fits."""
    grouped = defaultdict[str, list[str]](list)
    for path in files:
        fitting = (group for group, holds in GROUPS.items() if holds(path))
        grouped[next(fitting, "prose")].append(path)
    return {group: _size(grouped[group], files) for group in GROUPS}


def _size(paths: list[str], files: dict[str, str]) -> Size:
    code = [path for path in paths if path.endswith(".py")]
    return Size(
        sum(files[path].count("\n") for path in paths),
        sum(_tokens(files[path]) for path in code),
        sum(not path.endswith("__init__.py") for path in code),
    )


def _tokens(text: str) -> int:
    found = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(tokenize.tok_name[token.type] not in LAYOUT for token in found)


def words(files: dict[str, str]) -> dict[str, int]:
    """Return how many words of prose there are, tables apart."""
    return {
        name: sum(
            len([word for line in text.splitlines() if line[:1] != "|" for word in line.split()])
            for path, text in files.items()
            if re.fullmatch(pattern, path)
        )
        for name, pattern in PROSE.items()
    }


def largest(config: Mapping[str, Any]) -> dict[str, int]:  # Any: JSON
    """Return how many components and events the largest of an app's pages has."""
    pages = config["page"].values()
    return {
        "components": max(len(page["components"]) for page in pages),
        "events": max(len(page["dependencies"]) for page in pages),
    }


def page_size(port: int) -> dict[str, int]:
    """Return how many components and events the largest page has, as a browser is told of them."""
    with tempfile.TemporaryDirectory() as home:
        app = start(ROOT, home, port)
        try:
            with urlopen(f"http://127.0.0.1:{port}/config") as answer:
                config = json.load(answer)
        finally:
            app.terminate()
            app.wait()
    return largest(config)


def figures(files: dict[str, str]) -> dict[str, int]:
    """Return all figures of a checkout by name, those of its laid out page apart."""
    counted = {
        f"{group}: {what}": count
        for group, size in sizes(files).items()
        for what, count in asdict(size).items()
    }
    return counted | {f"{name}: words": count for name, count in words(files).items()}


def main() -> None:
    """Print a table: the commit's figures, today's, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--since", default="HEAD", help="the commit to compare with")
    parser.add_argument("--port", type=int, default=7897)
    arguments = parser.parse_args()
    before, now = figures(checkout(arguments.since)), figures(checkout())
    for name, count in now.items():
        ratio = f"{count / before[name]:8.1%}" if before[name] else ""
        print(f"{name:42} {before[name]:9,} {count:9,} {ratio}")
    for name, count in page_size(arguments.port).items():
        print(f"{f'page: {name}':42} {'':9} {count:9,}")


if __name__ == "__main__":
    main()
