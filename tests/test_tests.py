"""Every test checks something, by itself or by a helper that it calls."""

import ast
from pathlib import Path

from tests.support.checkout import ROOT

Functions = dict[str, tuple[bool, set[str]]]
"""By name whether a function checks something by itself, and the functions that it calls."""
METHODS = ("raises", "to_", "not_to_", "assert_")
"""The beginnings of the names of what expects an exception, or something of a page."""


def functions(path: Path) -> Functions:
    """Read the functions of a module."""
    found: Functions = {}
    for function in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(function, ast.FunctionDef):
            nodes = list(ast.walk(function))
            called = [node.func for node in nodes if isinstance(node, ast.Call)]
            expects = [each for each in called if getattr(each, "attr", "").startswith(METHODS)]
            asserts = any(isinstance(node, ast.Assert) for node in nodes)
            names = {each.id for each in called if isinstance(each, ast.Name)}
            found[function.name] = (asserts or bool(expects), names)
    return found


def checks(name: str, known: Functions, seen: frozenset[str] = frozenset()) -> bool:
    """Whether a function or one of the functions that it calls checks something."""
    by_itself, calls = known[name]
    others = (calls & set(known)) - seen
    return by_itself or any(checks(other, known, seen | {other}) for other in others)


def unchecked(folder: Path) -> list[str]:
    """Return the tests of a folder that check nothing."""
    shared: Functions = {}
    for path in sorted((folder / "support").rglob("*.py")):
        shared |= functions(path)
    return [
        f"{path.name}: {name}"
        for path in sorted(folder.rglob("test_*.py"))
        for own in [functions(path)]
        for name in own
        if name.startswith("test_") and not checks(name, shared | own)
    ]


def test_every_test_checks_something_and_one_that_does_not_is_found(tmp_path: Path) -> None:
    assert unchecked(ROOT / "tests") == []
    (tmp_path / "support").mkdir()
    (tmp_path / "support" / "checks.py").write_text("def holds(x):\n    assert x\n")
    (tmp_path / "test_a.py").write_text(
        "def test_by_a_helper():\n    holds(1)\n"
        "def test_nothing():\n    print(1)\n"
        "def test_raises():\n    with pytest.raises(E):\n        f()\n"
    )
    assert unchecked(tmp_path) == ["test_a.py: test_nothing"]
