"""The models that runs begin with."""

from probe.models.bundled import BUNDLED
from probe.models.library import locate
from probe.models.weights import model_hash
from probe.runs.models import hash_if_there


def test_a_model_that_is_not_there_has_no_hash() -> None:
    assert hash_if_there("da") == model_hash(locate("da")[0])
    assert "nobody" not in BUNDLED
    assert hash_if_there("nobody") is None
