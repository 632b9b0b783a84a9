"""Which templates a request means, and the split of Rozen et al. 2019 by template."""

import random
from itertools import groupby

from probe.errors import TemplateError
from probe.templates.grammar import Template, grammar
from probe.templates.request import COMPLEXITIES, KINDS, Request, check, one_of


def template_ids(kind: str, complexity: str = "") -> list[str]:
    """Return the ids of a kind's templates, all or of one complexity. Raises TemplateError."""
    one_of("kind", kind, KINDS)
    one_of("complexity", complexity, ("", *COMPLEXITIES))
    return [it.id for it in grammar(kind).templates if complexity in ("", it.complexity)]


def subcases(heuristic: str = "") -> list[str]:
    """Return the sub-cases of HANS, all or of one heuristic."""
    return [it.name for it in grammar("hans").cases if heuristic in ("", it.heuristic)]


def chosen(request: Request) -> tuple[Template, ...]:
    """Return the templates that a request means. Raises TemplateError where there are none."""
    check(request)
    if request.subcase:
        one_of("subcase", request.subcase, tuple(subcases()))
    for name in request.templates:
        one_of("template", name, tuple(template_ids(request.kind)))
    found = tuple(it for it in grammar(request.kind).templates if _meant(it, request))
    if not found:
        raise TemplateError(f"no {request.kind} template fits all that was asked for")
    return found


def split_by_template(
    kind: str, share: float = 0.77, seed: int = 0
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split the templates into ids to train on, about `share` of them, and ids to test on.

    Both sides get some of every complexity, or of every sub-case for HANS (section 4 of the
    paper). Raises TemplateError unless 0 < share < 1.
    """
    one_of("kind", kind, KINDS)
    if not 0 < share < 1:
        raise TemplateError(f"the share {share} is not between 0 and 1")
    train: list[str] = []
    test: list[str] = []
    for sort, rows in groupby(sorted(grammar(kind).templates, key=_sort), key=_sort):
        ids = [row.id for row in rows]
        random.Random(f"{seed}|{kind}|{sort}").shuffle(ids)
        cut = min(max(1, round(share * len(ids))), len(ids) - 1)
        train += ids[:cut]
        test += ids[cut:]
    return tuple(train), tuple(test)


def _sort(template: Template) -> str:
    return template.complexity or template.subcase


def _meant(template: Template, request: Request) -> bool:
    return (
        request.complexity in ("", template.complexity)
        and request.subcase in ("", template.subcase)
        and (not request.templates or template.id in request.templates)
        and (not request.heuristic or template.subcase in subcases(request.heuristic))
    )
