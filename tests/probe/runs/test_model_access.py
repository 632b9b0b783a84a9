"""The model of a visitor's run is theirs and the holders' of a link; all others are everyone's."""

from pathlib import Path

import pytest

from finetune.trials.datasets import Sets
from finetune.trials.inoculation_plan import Plan, run_request
from probe.errors import ModelError
from probe.models.library import ModelCache, entries
from probe.runs.access import COMMAND_LINE, ModelAccess, redeem, revoke, share
from probe.runs.store import Store
from probe.tasks.nli import LABELS, NLI
from probe.tasks.paraphrase import PARAPHRASE_IDENTIFICATION
from probe.tasks.reading import READING
from probe.tasks.sentiment import SENTIMENT
from probe.tasks.task import Task
from tests.support.models.tiny_bert import tiny_bert
from tests.support.pages.visitors import ME, YOU

PLAN = Plan("minilm", "negation", (5,), (2e-5,), (0,))


@pytest.fixture
def models(home: Path) -> ModelAccess:
    return ModelAccess(ModelCache(), Store())


def kept(
    models: ModelAccess, sets: Sets, home: Path, owner: str, name: str, task: Task = NLI
) -> str:
    """Store a run of an owner with a model of this name; return the run's id."""
    run = models.store.create(owner, run_request(PLAN, sets)).id
    models.store.set_kept(run, name)
    tiny_bert(home / "models" / name, task)
    return run


def refusal(models: ModelAccess, visitor: str, name: str) -> str:
    """Return what a visitor is told who names a model, in the two ways to name one."""
    told = []
    for ask in (models.get, models.open):
        with pytest.raises(ModelError) as refused:
            ask(visitor, name)
        told.append(str(refused.value))
    assert told[0] == told[1]
    return told[0]


@pytest.mark.parametrize("owner", [ME, "api"])
def test_a_visitors_model_is_not_there_for_others(
    models: ModelAccess, sets: Sets, home: Path, owner: str
) -> None:
    kept(models, sets, home, owner, "mine")
    for stranger in (YOU, "", "api", COMMAND_LINE):
        assert "mine" not in models.names(stranger)
        told = refusal(models, stranger, "mine")
        assert told == refusal(models, stranger, "gone").replace("gone", "mine")


def test_a_visitor_chooses_and_uses_a_model_of_their_own(
    models: ModelAccess, sets: Sets, home: Path
) -> None:
    kept(models, sets, home, ME, "mine")
    assert "mine" in models.names(ME)
    assert models.get(ME, "mine").name == "mine"


@pytest.mark.parametrize("run_of", [COMMAND_LINE, None])
def test_a_model_of_the_machines_owner_is_everyones(
    models: ModelAccess, sets: Sets, home: Path, run_of: str | None
) -> None:
    if run_of:
        kept(models, sets, home, run_of, "theirs")
    else:
        tiny_bert(home / "models" / "theirs")
    for visitor in (ME, YOU, ""):
        assert "theirs" in models.names(visitor)
        models.require(visitor, "theirs")


def test_bundled_models_are_everyones(models: ModelAccess) -> None:
    bundled = {one.name for one in entries() if one.source == "bundled" and one.task is NLI}
    for visitor in (ME, ""):
        assert bundled <= set(models.names(visitor))
        models.require(visitor, "da")


def test_a_link_to_a_run_lends_its_model_until_it_is_taken_back(
    models: ModelAccess, sets: Sets, home: Path
) -> None:
    run = kept(models, sets, home, ME, "mine")
    grant = share(models.store, ME, run)
    redeem(models.store, YOU, grant)
    assert models.get(YOU, "mine").name == "mine"
    revoke(models.store, ME, grant)
    assert "there is no model called 'mine' here" in refusal(models, YOU, "mine")


def test_a_model_with_an_order_of_its_own_is_no_more_everyones_than_the_model(
    models: ModelAccess, sets: Sets, home: Path
) -> None:
    kept(models, sets, home, ME, "mine")
    name = models.open(ME, "mine", LABELS).model.name
    assert models.get(ME, name).order == LABELS
    with pytest.raises(ModelError, match="there is no model called 'mine' here"):
        models.get(YOU, name)


def test_the_folder_of_a_model_is_no_way_around(
    models: ModelAccess, sets: Sets, home: Path
) -> None:
    kept(models, sets, home, ME, "mine")
    for path in (home / "models" / "mine", home / "models" / "x" / ".." / "mine"):
        with pytest.raises(ModelError, match="there is no model called 'mine' here"):
            models.open(YOU, str(path))
    assert models.open(ME, str(home / "models" / "mine")).model.name == "mine"


def test_where_nothing_of_ones_own_may_be_opened_a_hidden_model_is_as_one_that_is_not_there(
    models: ModelAccess, sets: Sets, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLI_CLINIC_OWN_MODELS", "")
    kept(models, sets, home, ME, "mine")
    told = []
    for name in ("mine", "gone"):
        with pytest.raises(ModelError) as refused:
            models.open(YOU, name)
        told.append(str(refused.value))
    assert told[0] == told[1]
    assert models.open(ME, "mine").model.name == "mine"


def test_a_model_is_offered_for_its_own_task_alone(models: ModelAccess, home: Path) -> None:
    tiny_bert(home / "models" / "moods", SENTIMENT)
    assert "moods" in models.names(ME, SENTIMENT)
    assert "minilm" not in models.names(ME, SENTIMENT)
    assert models.get(ME, "moods", SENTIMENT).task is SENTIMENT


def test_the_task_of_a_model_is_known_to_whom_it_is_offered(
    models: ModelAccess, sets: Sets, home: Path
) -> None:
    kept(models, sets, home, ME, "moods", SENTIMENT)
    assert [models.task(ME, name) for name in ("moods", "minilm_qqp", "minilm_reader")] == [
        SENTIMENT,
        PARAPHRASE_IDENTIFICATION,
        READING,
    ]
    assert [models.task(YOU, name) for name in ("moods", "gone", "")] == [NLI] * 3


def test_a_model_of_another_task_is_neither_offered_nor_asked(
    models: ModelAccess, home: Path
) -> None:
    folder = tiny_bert(home / "models" / "moods", SENTIMENT)
    assert "moods" not in models.names(ME)
    told = refusal(models, ME, "moods")
    assert told == (
        "moods answers another task, sentiment classification, and this is natural language "
        "inference; choose its task, or a model of this one"
    )
    with pytest.raises(ModelError) as refused:
        models.open(ME, str(folder))
    assert str(refused.value) == told
