"""Generated pairs: dative alternation, numerical reasoning (Rozen et al. 2019), HANS-like."""

from probe.errors import TemplateError
from probe.templates.generate import (
    RANGES,
    Request,
    TemplatePair,
    count,
    generate,
    read_range,
    split_by_template,
    subcases,
    template_ids,
)
from probe.templates.grammar import kinds

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
