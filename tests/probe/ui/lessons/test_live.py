"""What a class asks at once is computed once, and what a step came to is kept."""

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from markupsafe import Markup

from probe.analysis.batch import Chunk
from probe.errors import ModelError
from probe.statistics import Share
from probe.tasks.nli import NLI
from probe.ui.lessons.lesson import Finding, Place, measured, published
from probe.ui.lessons.live import (
    counted,
    keep,
    kept,
    once,
    progress,
)
from probe.ui.lessons.word_salad import WORD_SALAD
from probe.ui.visitors.visitor_files import FINDINGS, delete_old_files
from tests.support.pages.lessons import setting

KEYS = count()


def broken() -> Iterator[int]:
    yield 1
    raise ValueError


def test_the_second_who_asks_gets_the_result_alone_and_nothing_of_what_did_not_end() -> None:
    key = next(KEYS)
    assert list(once(key, lambda: iter([1, 2, 3]))) == [1, 2, 3]
    assert list(once(key, lambda: iter([4]))) == [3]
    given_up, failed = next(KEYS), next(KEYS)
    left: Any = once(given_up, lambda: iter([1, 2]))
    next(left)
    left.close()
    with pytest.raises(ValueError):
        list(once(failed, broken))
    for each in (given_up, failed):
        assert list(once(each, lambda: iter([3]))) == [3]


def test_who_asks_meanwhile_sees_how_far_the_other_is_and_computes_nothing() -> None:
    key, reached, go_on = next(KEYS), Event(), Event()

    def slow() -> Iterator[str]:
        yield "half"
        reached.set()
        assert go_on.wait(30)
        yield "whole"

    first = Thread(target=lambda: list(once(key, slow)))
    first.start()
    assert reached.wait(30)
    other = once(key, lambda: iter(["computed again"]))
    assert next(other) == "half"
    go_on.set()
    first.join()
    assert list(other)[-1] == "whole"


def test_how_far_a_count_is_is_shown_with_the_time_left_then_what_it_came_to(home: Path) -> None:
    def rows(setting: object) -> Iterator[Chunk[int]]:
        yield Chunk((1,), 24, 240, 12.0)
        yield Chunk((2,), 240, 240, 120.0)

    live = counted("a test", rows)(lambda setting, rows: Finding(f"{list(rows)}."))
    first, last = live(setting(NLI))
    assert ">24 of 240 pairs, about 2 min left<" in first.progress and not first.says
    assert last == Finding("[1, 2].")
    assert ">238 of 240 pairs, about 10 s left<" in progress(Chunk((), 238, 240, 119.0), "pair")
    assert ">240 of 240 pairs<" in progress(Chunk((), 240, 240, 120.0), "pair")


def test_what_a_step_came_to_is_kept_whole_for_its_model_alone_and_for_a_while(home: Path) -> None:
    here, other = (Place(WORD_SALAD, NLI, number) for number in (4, 5))
    figures = (published("agreement.sort.nli"), measured("here", Share(3, 4).estimate()))
    finding = Finding("It stays.", Markup("<b>&amp;</b>"), {"Share": figures}, 2)
    assert kept("da", here) is None
    keep(finding, "da", here)
    found = kept("da", here)
    assert found == finding and isinstance(found.shown, Markup)
    assert kept("da", other) is None and kept("minilm", here) is None
    with pytest.raises(ModelError):
        kept("nobody's", here)
    (file,) = (home / FINDINGS).iterdir()
    delete_old_files()
    assert file.exists()
    os.utime(file, (0, 0))
    delete_old_files()
    assert not file.exists()
    keep(finding, "da", here)
    file.write_text('{"says": 3}')  # of another version
    assert kept("da", here) is None
