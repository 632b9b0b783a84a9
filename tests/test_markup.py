"""Markup escapes by itself: read from the source of everything that returns HTML."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = [
    ROOT / "app.py",
    *sorted((ROOT / "probe" / "ui").rglob("*.py")),
    *sorted((ROOT / "finetune" / "report").rglob("*.py")),
    *sorted((ROOT / "finetune" / "ui").rglob("*.py")),
]
TAG = re.compile(r"</?[a-zA-Z!]")


def name(path: Path) -> str:
    """Return a path as it is written in the repository."""
    return path.relative_to(ROOT).as_posix()


def is_markup(node: ast.AST) -> bool:
    """Whether a node is a call of Markup."""
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "Markup"


def docstrings(tree: ast.AST) -> set[int]:
    """Return the texts that stand alone as statements."""
    return {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def tags_outside_markup(code: str) -> list[str]:
    """Return the texts with a tag in them that are not the argument of Markup."""
    tree = ast.parse(code)
    inside = {
        id(argument)
        for node in ast.walk(tree)
        if is_markup(node) and isinstance(node, ast.Call)
        for argument in node.args
        if isinstance(argument, ast.Constant)
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and TAG.search(node.value)
        and id(node) not in inside | docstrings(tree)
    ]


def computed_markup(code: str) -> Iterator[str]:
    """Yield the arguments of Markup that are no literals: these are not escaped."""
    for node in ast.walk(ast.parse(code)):
        if is_markup(node) and isinstance(node, ast.Call):
            for argument in node.args:
                if not isinstance(argument, ast.Constant):
                    yield ast.unparse(argument.func if isinstance(argument, ast.Call) else argument)


def test_all_markup_is_escaped_by_itself() -> None:
    found = {}
    for path in PAGE:
        code = path.read_text(encoding="utf-8")
        by_hand = re.findall(r"\b(?:import|from) html\b|\|\s*safe\b|\bunescape\b", code)
        found[name(path)] = [*tags_outside_markup(code), *computed_markup(code), *by_hand]
    assert {path: texts for path, texts in found.items() if texts} == {}


def test_a_text_that_would_not_be_escaped_is_found() -> None:
    for code in (
        'f"<p>{text}</p>"',
        '"<p>%s</p>" % text',
        '"<p>{}</p>".format(text)',
        '"<p>" + text',
        'Markup(f"<p>{text}</p>")',
        'Markup("<p>" + text)',
        'Markup("{}").format("</p>")',
    ):
        assert tags_outside_markup(code) or list(computed_markup(code)), code


def test_markup_built_as_it_should_be_is_let_through() -> None:
    code = '"""Turns <p> into markup."""\nMarkup("<p>{}</p>").format(a < b)'
    assert tags_outside_markup(code) == list(computed_markup(code)) == []
