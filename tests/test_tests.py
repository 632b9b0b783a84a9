"""Every test checks something, by itself or by a helper that it calls."""

import ast
from dataclasses import dataclass
from pathlib import Path

from tests.support.checkout import ROOT


@dataclass(frozen=True)
class Function:
    """Whether a function checks something by itself, and the functions that it calls."""

    checks: bool
    calls: frozenset[str]


Functions = dict[str, Function]


def functions(path: Path) -> Functions:
    """Return the functions of a module by name."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return {node.name: read(node) for node in body if isinstance(node, ast.FunctionDef)}


def read(function: ast.FunctionDef) -> Function:
    """Read a function: it checks if it asserts, expects an exception, or expects of a page."""
    nodes = list(ast.walk(function))
    called = [node.func for node in nodes if isinstance(node, ast.Call)]
    methods = {name.attr for name in called if isinstance(name, ast.Attribute)}
    expects = any(name.startswith(("to_", "not_to_", "assert_")) for name in methods)
    asserts = any(isinstance(node, ast.Assert) for node in nodes)
    calls = frozenset(name.id for name in called if isinstance(name, ast.Name))
    return Function(asserts or expects or "raises" in methods, calls)


def checks(function: Function, others: Functions, seen: frozenset[str] = frozenset()) -> bool:
    """Whether a function or one of the functions that it calls checks something."""
    return function.checks or any(
        checks(others[name], others, seen | {name})
        for name in (function.calls & set(others)) - seen
    )


def unchecked(folder: Path) -> list[str]:
    """Return the tests of a folder that check nothing."""
    shared: Functions = {}
    for path in sorted((folder / "support").rglob("*.py")):
        shared |= functions(path)
    return [
        f"{path.name}: {name}"
        for path in sorted(folder.rglob("test_*.py"))
        for own in [functions(path)]
        for name, function in own.items()
        if name.startswith("test_") and not checks(function, shared | own)
    ]


def test_every_test_checks_something() -> None:
    assert unchecked(ROOT / "tests") == []


def test_a_test_that_checks_nothing_is_found(tmp_path: Path) -> None:
    (tmp_path / "support").mkdir()
    (tmp_path / "support" / "checks.py").write_text("def holds(x):\n    assert x\n")
    (tmp_path / "test_a.py").write_text(
        "def test_by_a_helper():\n    holds(1)\n"
        "def test_nothing():\n    print(1)\n"
        "def test_raises():\n    with pytest.raises(E):\n        f()\n"
    )
    assert unchecked(tmp_path) == ["test_a.py: test_nothing"]
