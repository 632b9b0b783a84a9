"""The tagger that comes with the app: its tags, and its missing weights."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.text import tagger
from probe.text.tagger import missing, tag
from recipes.tagger import TAGS
from tests.support.property_settings import STEADY

NEEDS_WEIGHTS = pytest.mark.skipif(bool(missing()), reason=missing() or "the weights are present")
SENTENCES = """
The/DT old/JJ man/NN walks/VBZ slowly/RB ./.
She/PRP has/VBZ bought/VBN two/CD boats/NNS ./.
He/PRP did/VBD n't/RB see/VB the/DT bigger/JJR dog/NN ./.
Children/NNS are/VBP playing/VBG in/IN the/DT park/NN ./.
Paul/NNP left/VBD ./.
London/NNP is/VBZ big/JJ ./.
Kids/NNS play/VBP soccer/NN ./.
A/DT man/NN sneezed/VBD ./.
The/DT boy/NN cried/VBD ./.
Lawyers/NNS met/VBD him/PRP ./.
I/PRP think/VBP they/PRP will/MD win/VB ./.
The/DT cheapest/JJS apples/NNS were/VBD eaten/VBN ./.
``/`` Where/WRB is/VBZ my/PRP$ dog/NN ?/. ''/'' he/PRP asked/VBD ./.
It/PRP ’s/VBZ raining/VBG ,/, is/VBZ n’t/RB it/PRP ?/.
"""


@NEEDS_WEIGHTS
def test_a_plain_sentence_has_the_tags_of_the_treebank() -> None:
    for sentence in SENTENCES.strip().splitlines():
        words = [item.rsplit("/", 1)[0] for item in sentence.split()]
        tagged = zip(words, tag(words), strict=True)
        assert " ".join("/".join(pair) for pair in tagged) == sentence  # the words stay


@NEEDS_WEIGHTS
@STEADY
@given(st.lists(st.text(max_size=6), max_size=12))
def test_every_word_gets_one_tag_of_the_treebank(words: list[str]) -> None:
    tags = tag(words)
    assert len(tags) == len(words)
    assert set(tags) <= set(TAGS)


@NEEDS_WEIGHTS
def test_missing_weights_are_named_with_the_command_that_makes_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    table = json.loads((tagger.FOLDER / tagger.WEIGHTS_FILE).read_text(encoding="utf-8"))
    assert table["tags"] == TAGS
    monkeypatch.setattr(tagger, "FOLDER", tmp_path)
    assert "weights.json" in missing()
    assert "python -m recipes.tagger train" in missing()
