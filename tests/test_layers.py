"""What no module does: who imports whom beyond import-linter's contracts, loose chance and markup.

All is read from the source.
"""

import ast
import re
from collections.abc import Iterator

from tests.support.checkout import imports, modules, text, tree

OURS = modules("probe", "finetune")
PAGE = ["app.py", *modules("probe/ui", "finetune/report", "finetune/ui")]
SEEDERS = {
    *("random.seed", "np.random.seed", "numpy.random.seed", "torch.manual_seed", "torch.seed"),
    *("torch.cuda.manual_seed_all", "transformers.set_seed", "set_seed"),
}
TAG = re.compile(r"</?[a-zA-Z!]")


def uses(name: str, *packages: str) -> list[str]:
    """Return what a module imports of packages."""
    return [
        each for each in imports(name) if f"{each}.".startswith(tuple(f"{p}." for p in packages))
    ]


def within(module: ast.AST, words: str) -> set[ast.AST]:
    """Return the nodes below a `with` one of whose items matches."""
    return {
        inner
        for node in ast.walk(module)
        if isinstance(node, ast.With)
        and any(re.fullmatch(words, ast.unparse(item)) for item in node.items)
        for inner in ast.walk(node)
    }


def test_no_package_knows_the_app_and_no_benchmark_pages_or_tests() -> None:
    assert [name for name in OURS if uses(name, "app", "nli_clinic")] == []
    benchmarks = [name for name in modules("benchmarks") if name.count("/") == 1]
    unwanted = ("gradio", "probe.ui", "finetune.ui", "tests")
    assert {name: found for name in benchmarks if (found := uses(name, *unwanted))} == {}


def test_global_chance_is_seeded_inside_a_fork_and_networks_are_loaded_under_the_lock() -> None:
    loaders, loose = ("from_pretrained", "from_config"), []
    for name in OURS:
        nodes = list(ast.walk(tree(name)))
        called = {node.func for node in nodes if isinstance(node, ast.Call)}
        seeding = called - within(tree(name), ".*fork_rng.*")
        loading = {node for node in nodes if getattr(node, "attr", "") in loaders}
        loose += [(name, ast.unparse(node)) for node in loading - within(tree(name), "loading")]
        loose += [(name, words) for words in map(dotted, seeding) if words in SEEDERS]
    assert loose == []


def dotted(node: ast.AST) -> str:
    """Return a name with dots; what is none has a part that no name has."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "()"


def unescaped(code: str) -> Iterator[str]:
    """Yield texts with a tag that Markup is not given, and what it is given that is computed."""
    nodes = list(ast.walk(ast.parse(code)))
    given = [
        argument
        for node in nodes
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Markup"
        for argument in node.args
    ]
    alone = [node.value for node in nodes if isinstance(node, ast.Expr)]  # such as docstrings
    texts = (node for node in nodes if isinstance(node, ast.Constant) and type(node.value) is str)
    tags = (node for node in texts if TAG.search(str(node.value)))
    yield from (str(node.value) for node in tags if node not in (*given, *alone))
    yield from (ast.unparse(each) for each in given if not isinstance(each, ast.Constant))
    yield from re.findall(r"\b(?:import|from) html\b|\|\s*safe\b|\bunescape\b", code)


def test_all_markup_is_escaped_by_itself() -> None:
    assert {name: found for name in PAGE if (found := list(unescaped(text(name))))} == {}


def test_a_text_that_would_not_be_escaped_is_found_and_markup_as_it_should_be_is_not() -> None:
    for code in (
        'f"<p>{text}</p>"',
        '"<p>%s</p>" % text',
        '"<p>{}</p>".format(text)',
        '"<p>" + text',
        'Markup(f"<p>{text}</p>")',
        'Markup("<p>" + text)',
        'Markup("{}").format("</p>")',
    ):
        assert list(unescaped(code)), code
    code = '"""Turns <p> into markup."""\nMarkup("<p>{}</p>").format(a < b)'
    assert list(unescaped(code)) == []


def test_who_holds_up_other_imports_does_nothing_but_import() -> None:
    held = {
        f"{name}: {ast.unparse(statement)}"
        for name in OURS
        for node in ast.walk(tree(name))
        if isinstance(node, ast.With) and ast.unparse(node.items[0]) == "first_import"
        for statement in node.body
        if not isinstance(statement, ast.Import | ast.ImportFrom)
        and not ast.unparse(statement).startswith("module = import_module(")
    }
    assert not held
