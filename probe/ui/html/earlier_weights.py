"""What is said of a gallery's runs whose model has been trained anew since."""

from collections.abc import Iterable
from functools import cache

from markupsafe import Markup

from probe.models.bundled import title_of
from probe.runs.models import hash_if_there
from probe.ui.html.elements import NOTHING, note

WORDS = (
    "Finished runs of {} that stand here were made with earlier weights of it. Those that the app "
    "has now answer a little differently; a run of your own shows by how much."
)
hash_here = cache(hash_if_there)
"""The hash of a model, read once."""


def earlier_weights(begun_with: Iterable[tuple[str, str]]) -> Markup:
    """Say which models have other weights by now, of the names and hashes that runs began with.

    A model that is not here says nothing.
    """
    changed = {
        title_of(name): None for name, digest in begun_with if hash_here(name) not in (digest, None)
    }
    return note(WORDS.format(" and ".join(changed))) if changed else NOTHING
