"""Answers that are computed once for everybody who asks the same."""

import sys
from collections.abc import Callable, Hashable
from threading import Condition
from weakref import ref

from markupsafe import Markup

from probe.cache import ByteBoundedCache
from probe.models.library import AnyModel
from probe.stopping import check_stop

ANSWER_BYTES = 32_000_000
"""Bytes of recent answers that are kept, the least recently asked dropped first."""
LOOK_SECONDS = 0.2
"""How often somebody who waits for another's computation looks whether to go on waiting."""
Answer = tuple[Markup, ...]


class SharedAnswers:
    """Keeps recent answers as markup; of those who ask the same at the same time one computes.

    A refusal is not kept, and where the one who computes is stopped the next one begins anew.
    """

    def __init__(self) -> None:
        self._answers = ByteBoundedCache(lambda: ANSWER_BYTES, _bytes)
        self._computing = set[Hashable]()
        self._ended = Condition()

    def get(self, key: Hashable, compute: Callable[[], Answer]) -> Answer:
        """Return the answer of a key, computed where there is none. Raises Stopped."""
        with self._ended:
            while key in self._computing:
                check_stop()
                self._ended.wait(LOOK_SECONDS)
            self._computing.add(key)
        try:
            return self._answers.get(key, compute)
        finally:
            with self._ended:
                self._computing.remove(key)
                self._ended.notify_all()


def model_key(model: AnyModel) -> Hashable:
    """Return what tells a loaded model from every other, without holding it.

    A model that is loaded anew, under the same name too, is another one.
    """
    return ref(model.model), model.name, model.order


def _bytes(answer: Answer) -> int:
    return sum(map(sys.getsizeof, answer))
