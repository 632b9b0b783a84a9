"""The assets: each file has a licence and an origin, each bundled text a card with true counts."""

import json
import re
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path

import pandas as pd
import yaml

from tests.support.checkout import ROOT, text

ASSETS = ROOT / "assets"
FILES = sorted(p.relative_to(ASSETS).as_posix() for p in ASSETS.rglob("*") if p.is_file())
MODEL_FOLDERS = sorted(path.parent for path in ASSETS.glob("models/*/config.json"))
CARDS = sorted((ROOT / "docs" / "data-cards").glob("*.md"))


def licensed() -> list[str]:
    """Return the patterns of files in the first column of the list of licences."""
    rows = [line for line in text("assets/LICENSES.md").splitlines() if line.startswith("| `")]
    named = [name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])]
    return [f"{name}*" if name.endswith("/") else name for name in named]


def test_every_file_has_one_licence_and_every_licence_a_file_that_may_be_there() -> None:
    named = {pattern: [file for file in FILES if fnmatch(file, pattern)] for pattern in licensed()}
    counts = Counter(file for files in named.values() for file in files)
    assert counts == dict.fromkeys(FILES, 1)
    idle = {pattern for pattern, files in named.items() if not files}
    assert idle <= {"checkups/*"}  # made where somebody asks for references


LICENCES = {
    "cc-by-sa-4.0": "CC BY-SA 4.0",
    "microsoft-shared-source-and-quora-terms-non-commercial": "Microsoft shared source licence, "
    "and Quora's terms, non-commercial",
    "quora-terms-non-commercial": "Quora's terms, non-commercial",
    "not-stated-by-the-data": "not stated by the data",
}
"""What the list calls the licence of a model's card."""


def test_the_card_of_each_model_names_the_same_licence() -> None:
    lines = text("assets/LICENSES.md").splitlines()
    for folder in MODEL_FOLDERS:
        card = (folder / "README.md").read_text(encoding="utf-8")
        header = yaml.safe_load(card.split("---\n")[1])
        named = header.get("license_name", header["license"])
        rows = [line.split("|") for line in lines if f"`models/{folder.name}/`" in line]
        assert [row[2].strip() for row in rows] == [LICENCES[named]], folder.name


def test_each_bundled_text_has_a_card_that_says_all_that_one_has_to() -> None:
    cards = [card for card in CARDS if card.stem != "README"]
    assert {card.stem for card in cards} == {path.stem for path in (ASSETS / "bundled").iterdir()}
    for card in cards:
        headings = re.findall(r"^## (.*)$", card.read_text(encoding="utf-8"), re.MULTILINE)
        assert headings == [
            "What it holds", "How it was written", "How it was checked", "Splits", "Limits",
            "Licence",
        ], card.stem  # fmt: skip


def counted(card: Path) -> dict[tuple[str, str], int]:
    """Return the numbers in a card's table of splits."""
    table = card.read_text(encoding="utf-8").split("## Splits")[1].split("## Limits")[0]
    lines = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    head, *rows = lines
    cells = [(row[0], name, cell) for row in rows for name, cell in zip(head, row, strict=True)]
    return {(split, name): int(cell) for split, name, cell in cells if name != "split"}


def test_a_card_counts_what_is_there() -> None:
    for name in ("nli", "paraphrase", "sentiment"):
        frame = pd.read_csv(ASSETS / "bundled" / f"{name}.csv")
        there = Counter(zip(frame["split"], frame["label"], strict=True))
        assert counted(ROOT / "docs" / "data-cards" / f"{name}.md") == there, name
    articles = json.loads((ASSETS / "bundled" / "reading.json").read_text(encoding="utf-8"))["data"]
    there = Counter()
    for passage in (each for article in articles for each in article["paragraphs"]):
        there[passage["split"], "passages"] += 1
        there[passage["split"], "questions"] += len(passage["qas"])
    assert counted(ROOT / "docs" / "data-cards" / "reading.md") == there


def test_the_citation_and_the_changes_are_of_this_version() -> None:
    citation = yaml.safe_load(text("CITATION.cff"))
    needed = {"cff-version", "message", "title", "authors", "type", "version", "license"}
    assert needed <= set(citation)
    assert (citation["cff-version"], citation["type"]) == ("1.2.0", "software")
    assert all(set(one) <= {"name", "family-names", "given-names"} for one in citation["authors"])
    for paper in citation["references"]:
        assert {"type", "title", "authors", "year"} <= set(paper)
    versions = re.findall(r"^## \[?([\w.]+)\]?", text("CHANGELOG.md"), re.MULTILINE)
    assert versions[:2] == ["Unreleased", citation["version"]]
    assert f'version = "{citation["version"]}"' in text("pyproject.toml")
