"""Generated pairs: dative alternation, numerical reasoning (Rozen et al. 2019), HANS-like."""

from probe.templates.generate import count, generate
from probe.templates.pairs import Made
from probe.templates.request import KINDS, RANGES, Request, TemplateError, read_range
from probe.templates.selection import split_by_template, subcases, template_ids

__all__ = [
    "KINDS",
    "RANGES",
    "Made",
    "Request",
    "TemplateError",
    "count",
    "generate",
    "read_range",
    "split_by_template",
    "subcases",
    "template_ids",
]
