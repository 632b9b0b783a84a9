"""Where sentences begin and end, by their marks: without training data, in any script."""

import re

ABBREVIATIONS_TEXT = """
Mr Mrs Ms Dr Prof St Rev Gen Col Capt Lt Sgt Sen Rep Gov No vs etc e.g i.e approx Inc Ltd Co Corp
Fig al
"""
ABBREVIATIONS = frozenset(ABBREVIATIONS_TEXT.split())
"""Words whose full stop ends no sentence."""
CLOSERS = "\"'”’»)\\]"
END = re.compile(rf"[.!?…]+[{CLOSERS}]*(?=\s)|[。！？．।۔؟]+[{CLOSERS}」』]*|\n\s*\n")
"""A mark before a blank, one of a script that has none behind it, or an empty line."""
LAST_WORD = re.compile(r"(?:^|[\s(\[\"“‘])([^\s(\[\"“‘]+)\.$")


def sentences(text: str) -> list[tuple[int, int]]:
    """Return where each sentence begins and ends, blanks at both ends left out.

    A full stop behind an initial or an abbreviation ends none.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for end in [*(match.end() for match in END.finditer(text)), len(text)]:
        if end < len(text) and _is_abbreviation(text[start:end]):
            continue
        inside = text[start:end]
        if inside.strip():
            first = start + len(inside) - len(inside.lstrip())
            spans.append((first, start + len(inside.rstrip())))
        start = end
    return spans


def _is_abbreviation(text: str) -> bool:
    last = LAST_WORD.search(text)
    if last is None:
        return False
    word = last[1]
    return word in ABBREVIATIONS or (len(word) == 1 and word.isalpha() and word.isupper())
