"""`python -m probe models`."""

from tests.support.commands import answer, run


def test_models_are_listed() -> None:
    rows = answer("models")
    assert rows[0]["name"] == "minilm"
    assert rows[0]["source"] == "bundled"
    assert run("models").stdout.startswith("minilm ")
