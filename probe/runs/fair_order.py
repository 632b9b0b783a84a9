"""In which order the cells of several owners are computed: start-time fair queueing.

After Goyal, Vin and Cheng 1996 (Start-time Fair Queuing, section 2), with a cell as the packet and
an owner as the flow; all cells and all owners count alike. A place is a virtual start; the
lowest place comes next. Unlike there, what an owner withdrew does not count against it.
"""

from collections.abc import Iterable


class FairOrder:
    """Gives cells their places. The virtual time is the place of the cell that began last."""

    def __init__(self) -> None:
        self._now = 0

    def places(self, count: int, waiting: Iterable[int]) -> range:
        """Return the places of an owner's new cells, behind those that it has `waiting`."""
        first = max(self._now, *waiting, 0) + 1
        return range(first, first + count)

    def begin(self, place: int) -> None:
        """Note that the cell at a place is being computed."""
        self._now = max(self._now, place)
