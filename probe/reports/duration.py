"""Durations in words."""


def duration_words(wait: float) -> str:
    """Write seconds as a person would."""
    if wait < 90:
        return f"about {max(10, round(wait, -1)):.0f} s"
    return f"about {wait / 60:.0f} min" if wait < 5400 else f"about {wait / 3600:.1f} h"
