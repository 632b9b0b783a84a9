"""One thread at a time imports what takes seconds to import.

Who shows a page, lists models or reads stored results needs neither torch nor NLTK nor SciPy, so
they are imported where they are used:

    with first_import:
        import torch

Modules of such a package import each other in circles: of two threads that begin at two places of a
circle, as many of NLTK's, one sees a half of the other's and fails.

Nothing but an import may stand there: what waits for another lock, such as that of who loads a
model, would wait for ever where that one imports in turn.
"""

from threading import RLock

first_import = RLock()
