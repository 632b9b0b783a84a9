"""One thread at a time imports what takes seconds to import.

Who shows a page, lists models or reads stored results needs neither torch nor transformers, so
they are imported where a model is loaded or runs:

    with first_import:
        import torch

Modules of such a package import each other in circles: two threads that begin at two places of a
circle would each see the other's half of it.
"""

from threading import RLock

first_import = RLock()
