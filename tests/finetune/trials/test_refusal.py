"""What cannot run is refused by one sentence."""

import pytest

from finetune.trials.base import refuse
from probe.errors import ExperimentError


def test_the_first_sentence_that_is_true_is_said_and_none_where_none_is() -> None:
    refuse({"too many": False, "too late": None})
    with pytest.raises(ExperimentError, match=r"^too few$"):
        refuse({"too many": False, "too few": True, "too late": True})
