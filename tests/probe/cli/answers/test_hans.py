"""`python -m probe hans`."""

from tests.support.commands import refusal


def test_a_model_that_is_named_twice_is_refused() -> None:
    said = "the model 'esim' is named twice; choose different models"
    assert refusal("hans", "--model", "esim", "--model", "esim") == said
