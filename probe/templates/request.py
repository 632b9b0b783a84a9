"""A request for pairs from templates, and its checks."""

import re
from dataclasses import dataclass, fields

from probe.errors import TemplateError
from probe.templates.grammar import grammar, kinds

COMPLEXITIES = ("simple", "medium", "complex")
LEXICAL = ("A", "B", "B2")
HEURISTICS = ("lexical_overlap", "subsequence", "constituent")
RANGES = ("2-999", "30-49", "60-79", "100-199", "200-299", "400-499", "1000-9999")
"""The number ranges of Rozen et al. 2019, both ends included; any other may be given."""


@dataclass(frozen=True)
class Request:
    """Which pairs to generate; an empty field stands for all of them.

    `lexical` chooses the group of words (Rozen et al. 2019, section 5): A or B, which share no
    word of any argument, or B2, which is B with the sister verb of the template (dative only).
    Empty mixes the words of both groups freely. `templates` are ids of `template_ids`.

    `low` and `high` are the smallest and the largest number drawn. `integer_strict` keeps
    "more than 6" from being followed by "less than 7", which the paper labels neutral although
    no whole number is both.

    `balance` keeps, for each premise, one of the two entailments and the contradiction (dative)
    or four hypotheses of each label (numerical), and gives every template, and so every sub-case
    and both labels of HANS, equally many pairs. Without it every premise has all its hypotheses.
    """

    kind: str
    complexity: str = ""
    lexical: str = ""
    templates: tuple[str, ...] = ()
    low: int = 2
    high: int = 999
    integer_strict: bool = False
    heuristic: str = ""
    subcase: str = ""
    balance: bool = True


def read_range(text: str) -> tuple[int, int]:
    """Read LO-HI. Raises TemplateError."""
    match = re.fullmatch(r"\s*(\d{1,9})\s*-\s*(\d{1,9})\s*", text)
    if match is None:
        raise TemplateError(f"the range {text!r} is not of the form LO-HI, such as 30-49")
    return int(match[1]), int(match[2])


def check_request(request: Request) -> None:
    """Raise TemplateError for a value that no kind has or a field that the kind does not read."""
    check_choice("kind", request.kind, kinds())
    for field in fields(request):
        read = grammar(request.kind).reads | {"kind", "templates", "balance"}
        if field.name not in read and getattr(request, field.name) != field.default:
            name = "range" if field.name in ("low", "high") else field.name
            raise TemplateError(f"{name} means nothing for {request.kind} templates")
    for name, choices in CHOICES.items():
        check_choice(name, getattr(request, name), ("", *choices))
    if request.lexical == "B2" and request.kind != "dative":
        raise TemplateError("lexical 'B2' is for dative templates: others have no sister verbs")
    _check_range(request)


CHOICES = {"complexity": COMPLEXITIES, "lexical": LEXICAL, "heuristic": HEURISTICS}


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Raise TemplateError for a value that is not one of the choices."""
    if value not in choices:
        known = ", ".join(filter(None, choices))
        raise TemplateError(f"{name} {value!r} is not one of {known}")


def _check_range(request: Request) -> None:
    min_numbers = 4 if request.integer_strict else 3  # l < n < h, and a number between two of them
    if request.low < 2:
        raise TemplateError(f"numbers start at 2, not {request.low}: the sentences are plural")
    text = f"{request.low}-{request.high}"
    if request.high < request.low:
        raise TemplateError(f"the range {text} must begin with the smaller number")
    if request.high - request.low + 1 < min_numbers:
        raise TemplateError(f"the range {text} needs at least {min_numbers} whole numbers")
