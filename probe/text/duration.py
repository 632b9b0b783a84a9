"""Durations in words."""


def duration(seconds: float) -> str:
    """Write a measured time as a person says it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def duration_words(wait: float) -> str:
    """Write an estimated time, of which single seconds are not known."""
    return f"about {max(10, round(wait, -1)):.0f} s" if wait < 90 else f"about {duration(wait)}"
