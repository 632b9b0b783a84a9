"""Back-off probabilities, by hand and by KenLM."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe import pbsmt as translate
from tests.support.each import each
from tests.support.models.toy_ngrams import ARPA, TOY, log10_of
from tests.support.property_settings import STEADY


@each(
    ("state", "word", "probability", "after"),
    [
        ("", "a", -0.7, "a"),  # a word alone
        ("<s>", "a", -0.4, "<s> a"),  # a pair that is there
        ("<s> a", "b", -0.05, "a b"),  # three words that are there
        ("a b", "a", -0.15 - 0.8, "b a"),  # back off once
        ("a b", "b", -0.15 - 0.2 - 0.9, "b"),  # back off twice
        ("b a", "</s>", -0.3 - 1.0, "</s>"),  # a context without a weight
        ("<s> a", "c", -0.1 - 0.3 - 1.5, ""),  # an unknown word leaves no context
    ],
)
def test_a_probability_is_backed_off_as_by_hand(
    state: str, word: str, probability: float, after: str
) -> None:
    assert TOY.step(state, word) == (pytest.approx(probability), after)


@each(
    ("state", "context"),
    [("<s> a", "<s> a"), ("a b", "a b"), ("b a", "a"), ("</s>", ""), ("", "")],
)
def test_a_context_is_what_of_a_state_still_counts(state: str, context: str) -> None:
    assert TOY.context(state) == context
    for word in ("a", "b", "c", "</s>"):
        assert TOY.step(context, word) == TOY.step(state, word)


@each(
    ("context", "behind"),
    [("", {"<unk>", "<s>", "</s>", "a", "b"}), ("<s>", {"a"}), ("b", {"</s>", "a"}), ("a b", {})],
)
def test_a_context_has_the_words_that_the_model_has_behind_it(
    context: str, behind: set[str]
) -> None:
    assert set(TOY.contexts[context]) == set(behind)


@each("context", ["<s> a", "a b", "a", "b"])
def test_a_word_that_is_not_behind_a_context_has_what_it_has_behind_the_rest(context: str) -> None:
    cost, rest = TOY.back_off(context)
    for word in {"a", "b", "c", "</s>"}.difference(TOY.contexts[context]):
        log10, state = TOY.step(rest, word)
        assert TOY.step(context, word) == (pytest.approx(cost + log10), state)


def test_many_words_behind_a_context_are_a_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translate, "FEW", 1)
    model = translate.parse_arpa(ARPA.splitlines(keepends=True))
    assert {context: set(words) for context, words in model.contexts.items()} == {
        context: set(words) for context, words in TOY.contexts.items()
    }
    assert isinstance(model.contexts["b"], frozenset)


def test_the_order_is_that_of_the_longest_grams() -> None:
    assert TOY.order == 3


WORDS = st.lists(st.sampled_from(["a", "b", "c"]), max_size=6)


@pytest.fixture(scope="module")
def by_kenlm(tmp_path_factory: pytest.TempPathFactory) -> object:
    """Return KenLM's own reading of the toy model."""
    kenlm = pytest.importorskip("kenlm", reason="kenlm is for training only")
    path = tmp_path_factory.mktemp("lm") / "toy.arpa"
    path.write_text(ARPA)
    return kenlm.Model(str(path))


@STEADY
@given(words=WORDS)
def test_kenlm_gives_sentences_the_same_probability(by_kenlm: object, words: list[str]) -> None:
    whole = by_kenlm.score(" ".join(words))  # type: ignore[attr-defined]  # kenlm has no types
    assert log10_of(words, TOY) == pytest.approx(whole, abs=1e-4)
