"""One thread at a time imports what takes seconds to import.

Who shows a page, lists models or reads stored results needs neither torch nor NLTK nor SciPy, so
they are imported where they are used:

    with first_import:
        import torch

Modules of such a package import each other in circles: of two threads that begin at two places of a
circle, as many of NLTK's, one sees a half of the other's and fails.

Nothing but an import may stand there: what waits for another lock, such as that of who loads a
model, would wait for ever where that one imports in turn.

Python looks for garbage again and again while an import makes a million objects that stay, and once
more through all of them when it ends: together a quarter of the time of a command that scores ten
rows. So nobody looks meanwhile, and what is there when `HEAVY` packages are is never looked at: no
model can be among it yet.
"""

import gc
import sys
from threading import RLock
from types import TracebackType

HEAVY = ("torch", "transformers.modeling_utils")


class FirstImport:
    """The lock of who imports, and the garbage that nobody looks for meanwhile."""

    def __init__(self) -> None:
        self._lock, self._depth, self._collects = RLock(), 0, False
        self._lacked: list[str] = []

    def __enter__(self) -> None:
        self._lock.acquire()
        if not self._depth:
            self._collects = gc.isenabled()
            gc.disable()
            self._lacked = [name for name in HEAVY if name not in sys.modules]
        self._depth += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._depth -= 1
        if not self._depth:
            if any(name in sys.modules for name in self._lacked):
                gc.freeze()
            if self._collects:
                gc.enable()
        self._lock.release()


first_import = FirstImport()
