"""The check of a network: what agrees is silent, what does not is said, and it is kept."""

from pathlib import Path

import pytest
from torch import nn

from probe.analysis import importance as checking
from probe.analysis.importance import check, checked, known_check
from probe.analysis.transformed import examine
from probe.models import architectures
from probe.models.classifier import Classifier
from tests.probe.analysis.importance.test_places import FURTHER, PAIR, READERS, tiny
from tests.support.models.tiny_models import FAMILY, tiny_classifier


@pytest.mark.parametrize("kind", [*FAMILY, "mpnet", *FURTHER, *READERS])
def test_nothing_is_said_of_a_network_that_is_read_rightly(kind: str) -> None:
    assert check(tiny(kind)).sentences == ()


def test_a_network_that_reads_tokens_in_a_further_way_is_said() -> None:
    classifier = tiny_classifier()
    further = nn.Embedding(classifier.model.config.vocab_size, 32)
    embeddings = classifier.model.base_model.embeddings
    plain = embeddings.forward
    embeddings.forward = lambda input_ids=None, **others: (  # type: ignore[method-assign]
        plain(input_ids=input_ids, **others) + further(input_ids)
    )
    (said,) = check(classifier).sentences
    assert "reads tokens in a further way that importance does not see" in said


def test_a_gradient_that_is_not_the_slope_is_said() -> None:
    classifier = tiny_classifier()
    embeddings = classifier.model.base_model.embeddings
    embeddings.LayerNorm.register_forward_hook(lambda _, __, out: 0.5 * out + 0.5 * out.detach())
    (said,) = check(classifier).sentences
    assert "so do not rest on its gradients" in said


def test_gradients_that_vanish_are_said_and_rank_no_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(architectures.ARCHITECTURES, "modernbert")  # its norm is not known then
    model = tiny("modernbert")
    assert "nothing but rounding" in check(model).sentences[0]
    found = examine(model, PAIR, ["drop", "replace", "copyone", "sort"], method="gradient_x_input")
    assert found.importance and "nothing but rounding" in found.importance.remarks[0]
    for each in found.transformed:
        refused = "cannot rank the tokens" in each.result.note
        assert refused == (each.result.transform != "sort") == (not each.result.changed)


def test_a_check_is_made_once_for_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLI_CLINIC_HOME", str(tmp_path))
    first, again, other = tiny_classifier(), tiny_classifier(), tiny_classifier(seed=1)
    found, calls = checked(first), list[Classifier]()
    assert known_check(first) == found and known_check(again) is None

    def counted(model: Classifier) -> checking.Check:
        calls.append(model)
        return found

    monkeypatch.setattr(checking, "check", counted)
    assert [checked(model) for model in (again, other, other)] == [found] * 3
    assert calls == [other]
    assert len(list(tmp_path.rglob("*.json"))) == 2


def test_where_importance_is_not_to_be_had_the_answer_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    classifier = tiny_classifier()

    def hidden() -> nn.Module:
        raise NotImplementedError("this network hides its embeddings")

    monkeypatch.setattr(classifier.model, "get_input_embeddings", hidden)
    found = examine(classifier, PAIR, ["drop", "sort"])
    assert found.importance is None and "hides its embeddings" in found.no_importance
    assert found.prediction.label
    drop, sort = found.transformed
    assert "hides its embeddings" in drop.result.note and sort.result.changed
