"""Who may import whom, where the contracts of import-linter in pyproject.toml cannot say it."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROBE = sorted((ROOT / "probe").rglob("*.py"))
OURS = [*PROBE, *sorted((ROOT / "finetune").rglob("*.py"))]
BENCHMARKS = sorted((ROOT / "benchmarks").glob("*.py"))
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
    modules = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            modules |= {node.module or ""}
    return modules


def uses(path: Path, package: str) -> list[str]:
    """Return the imports from a package."""
    return [name for name in imports(path) if name == package or name.startswith(f"{package}.")]


def test_no_package_knows_the_app_or_the_console_command() -> None:
    assert [name(path) for path in OURS if uses(path, "app") + uses(path, "nli_clinic")] == []


def test_no_benchmark_uses_pages_or_tests() -> None:
    unwanted = ("gradio", "probe.ui", "finetune.ui", "tests")
    used = {name(path): [uses(path, package) for package in unwanted] for path in BENCHMARKS}
    assert {path: found for path, found in used.items() if any(found)} == {}


def test_global_chance_is_seeded_nowhere_but_inside_a_fork() -> None:
    assert [name(path) for path in OURS if _loose_seeds(path)] == []


def _loose_seeds(path: Path) -> list[str]:
    """Return the calls that seed global chance, those inside a fork apart."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    forks = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.With) and any("fork_rng" in ast.unparse(i) for i in node.items)
    ]
    sheltered = {id(inner) for fork in forks for inner in ast.walk(fork)}
    return [
        ast.unparse(node.func)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in SEEDERS
        and id(node) not in sheltered
    ]


def test_networks_and_tokenizers_are_loaded_by_one_thread_at_a_time() -> None:
    assert [name(path) for path in OURS if _unlocked_loads(path)] == []


def _unlocked_loads(path: Path) -> list[int]:
    """Return the lines that load by transformers and do not stand under the lock."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    locked = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.With) and "loading" in map(ast.unparse, node.items)
        for inner in ast.walk(node)
    }
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr in {"from_pretrained", "from_config"}
        and node not in locked
    ]
