"""Who may import whom, read from the source."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CORE = [
    path
    for package in ("probe", "finetune")
    for path in sorted((ROOT / package).rglob("*.py"))
    if "ui" not in path.relative_to(ROOT).parts
]
BESIDE = sorted((ROOT / "benchmarks").glob("*.py"))
UI = [*sorted((ROOT / "probe" / "ui").glob("*.py")), *sorted((ROOT / "finetune/ui").glob("*.py"))]
SEEDERS = {
    "random.seed",
    "np.random.seed",
    "numpy.random.seed",
    "torch.manual_seed",
    "torch.seed",
    "torch.cuda.manual_seed_all",
    "transformers.set_seed",
    "set_seed",
}


def name(path: Path) -> str:
    """Return a path as it is written in the repository."""
    return path.relative_to(ROOT).as_posix()


def imports(path: Path) -> set[str]:
    """Return the modules a file imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name(path)} imports relatively"
            found |= {node.module or ""}
    return found


def uses(path: Path, package: str) -> list[str]:
    """Return the imports from a package."""
    return [it for it in imports(path) if it == package or it.startswith(f"{package}.")]


def in_package(package: str) -> list[Path]:
    """Return the core modules of a package."""
    return [path for path in CORE if path.relative_to(ROOT).parts[0] == package]


PROBE = pytest.mark.parametrize("path", in_package("probe"), ids=name)


@PROBE
def test_probe_knows_neither_finetune_nor_the_app(path: Path) -> None:
    assert uses(path, "finetune") + uses(path, "app") == []


@pytest.mark.parametrize("path", CORE + BESIDE, ids=name)
def test_the_core_imports_no_page(path: Path) -> None:
    assert uses(path, "gradio") + uses(path, "probe.ui") + uses(path, "finetune.ui") == []


@pytest.mark.parametrize("path", in_package("finetune"), ids=name)
def test_finetune_does_not_know_the_app(path: Path) -> None:
    assert uses(path, "app") == []


@pytest.mark.parametrize("path", UI, ids=name)
def test_a_tab_does_not_know_the_app(path: Path) -> None:
    assert uses(path, "app") == []
    if path.relative_to(ROOT).parts[0] == "probe":
        assert uses(path, "finetune") == []


@PROBE
def test_global_chance_is_seeded_nowhere_but_inside_a_fork(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    forks = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.With) and "fork_rng" in ast.unparse(node.items[0].context_expr)
    ]
    sheltered = {id(inner) for fork in forks for inner in ast.walk(fork)}
    loose = [
        ast.unparse(node.func)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in SEEDERS
        and id(node) not in sheltered
    ]
    assert loose == []
    assert not forks or name(path) == "probe/models/library.py"


def test_the_core_starts_without_gradio() -> None:
    code = (
        "import sys, probe.__main__, finetune.__main__, nli_clinic\n"
        "sys.exit('gradio' in sys.modules)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
