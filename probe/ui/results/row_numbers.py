"""Which rows stand on a page."""

PAGE_ROWS = 20


def rows_on(number: int, count: int) -> tuple[int, int, slice]:
    """Return the page nearest to a number, the last one, and which of `count` rows the page has."""
    last = max(1, -(-count // PAGE_ROWS))
    number = min(max(1, number), last)
    return number, last, slice((number - 1) * PAGE_ROWS, number * PAGE_ROWS)
