"""A forest plot as a picture, with its table and its file."""

from markupsafe import Markup

from probe.pictures.forest import Forest, forest_frame, forest_plot, forest_svg
from probe.pictures.svg import (
    svg_file,
)
from probe.ui.html.picture import picture


def forest_picture(title: str, forest: Forest, *, stem: str, sentence: str) -> Markup:
    """Show a forest plot as a picture; what is given is as for a picture."""
    return picture(
        title,
        forest_plot(forest, title),
        forest_frame(forest),
        svg_file(forest_svg(forest, title)),
        stem=stem,
        sentence=sentence,
    )
