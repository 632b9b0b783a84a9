"""A request for pairs from templates, and its checks."""

import random
import re
from dataclasses import dataclass, fields
from itertools import groupby

from probe.errors import TemplateError
from probe.templates.grammar import Template, grammar, kinds

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


def template_ids(kind: str, complexity: str = "") -> list[str]:
    """Return the ids of a kind's templates, all or of one complexity. Raises TemplateError."""
    check_choice("kind", kind, kinds())
    check_choice("complexity", complexity, ("", *COMPLEXITIES))
    return [
        template.id
        for template in grammar(kind).templates
        if complexity in ("", template.complexity)
    ]


def subcases(heuristic: str = "") -> list[str]:
    """Return the sub-cases of HANS, all or of one heuristic."""
    return [case.name for case in grammar("hans").cases if heuristic in ("", case.heuristic)]


def select(request: Request) -> tuple[Template, ...]:
    """Return the templates that match a request. Raises TemplateError where none does."""
    check_request(request)
    if request.subcase:
        check_choice("subcase", request.subcase, tuple(subcases()))
    for name in request.templates:
        check_choice("template", name, tuple(template_ids(request.kind)))
    templates = tuple(
        template for template in grammar(request.kind).templates if _matches(template, request)
    )
    if not templates:
        raise TemplateError(f"no {request.kind} template fits all that was asked for")
    return templates


def split_by_template(
    kind: str, share: float = 0.77, seed: int = 0
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split the templates into ids to train on, about `share` of them, and ids to test on.

    Both sides get some templates of every complexity, or of every sub-case for HANS (section 4 of
    the paper). Raises TemplateError unless 0 < share < 1.
    """
    check_choice("kind", kind, kinds())
    if not 0 < share < 1:
        raise TemplateError(f"the share {share} is not between 0 and 1")
    train: list[str] = []
    test: list[str] = []
    templates = sorted(grammar(kind).templates, key=_stratum)
    for stratum, group in groupby(templates, key=_stratum):
        ids = [template.id for template in group]
        random.Random(f"{seed}|{kind}|{stratum}").shuffle(ids)
        cut = min(max(1, round(share * len(ids))), len(ids) - 1)
        train += ids[:cut]
        test += ids[cut:]
    return tuple(train), tuple(test)


def _stratum(template: Template) -> str:
    return template.complexity or template.subcase


def _matches(template: Template, request: Request) -> bool:
    return (
        request.complexity in ("", template.complexity)
        and request.subcase in ("", template.subcase)
        and (not request.templates or template.id in request.templates)
        and (not request.heuristic or template.subcase in subcases(request.heuristic))
    )
