"""Generated pairs: dative alternation, numerical reasoning (Rozen et al. 2019), HANS-like."""

from probe.errors import TemplateError
from probe.templates.generate import count, generate
from probe.templates.grammar import kinds
from probe.templates.pairs import TemplatePair
from probe.templates.request import (
    RANGES,
    Request,
    read_range,
    split_by_template,
    subcases,
    template_ids,
)

__all__ = [
    "RANGES",
    "Request",
    "TemplateError",
    "TemplatePair",
    "count",
    "generate",
    "kinds",
    "read_range",
    "split_by_template",
    "subcases",
    "template_ids",
]
