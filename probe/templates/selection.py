"""The templates that match a request, and the split of Rozen et al. 2019 by template."""

import random
from itertools import groupby

from probe.errors import TemplateError
from probe.templates.grammar import Template, grammar, kinds
from probe.templates.request import COMPLEXITIES, Request, check_choice, check_request


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
