"""What is said of a gallery's runs whose model has been trained anew since."""

from probe.runs.models import named_model_hash
from probe.ui.html.earlier_weights import earlier_weights


def test_runs_of_the_weights_that_are_here_say_nothing() -> None:
    assert earlier_weights([("da", named_model_hash("da"))]) == ""


def test_runs_of_other_weights_name_their_model_in_plain_words() -> None:
    here = ("esim", named_model_hash("esim"))
    said = earlier_weights([("da", named_model_hash("da")), ("esim", "0" * 64), here])
    assert "Finished runs of ESIM that stand here were made with earlier weights" in said
    assert "Decomposable" not in said


def test_runs_of_a_model_that_is_not_here_say_nothing() -> None:
    assert earlier_weights([("nobody", "0" * 64)]) == ""
