"""Values as Python and NumPy write them, which is how pandas puts a list or bytes into a file."""

import ast
from typing import Any

LONGEST = 1_000_000
"""Characters that are read as a value at most."""


def read_literal(text: str) -> Any:  # Any: whatever a literal may be
    """Return the value that a text writes, `array([...], dtype=...)` as the list that it holds.

    Nothing is evaluated. Raises ValueError for what is no value.
    """
    if len(text) > LONGEST:
        raise ValueError("it is too long")
    try:
        return _value(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, MemoryError, RecursionError) as problem:
        raise ValueError(str(problem) or type(problem).__name__) from problem


def _value(node: ast.expr) -> Any:  # Any: as above
    if isinstance(node, ast.Call) and node.args and ast.unparse(node.func).endswith("array"):
        return _value(node.args[0])
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_value(each) for each in node.elts]
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return {_value(key): _value(value) for key, value in pairs if key is not None}
    return ast.literal_eval(node)
