"""Shares in percent as a heat map, which scrolls sideways where it is wider than the page."""

import pandas as pd
from markupsafe import Markup

from probe.pictures.heat_map import MOST, Cell, HeatMap, heat_map, heat_svg
from probe.pictures.svg import (
    svg_file,
)
from probe.ui.html.elements import NOTHING
from probe.ui.html.picture import picture


def percent_cell(share: float | None) -> Cell:
    """Return a share in whole percent; a dash where nothing was measured."""
    return Cell("–") if share is None else Cell(f"{100 * share:.0f}", MOST * share)


def share_map(
    title: str,
    heat: HeatMap,
    frame: pd.DataFrame,
    *,
    stem: str,
    sentence: str,
    beside: Markup = NOTHING,
) -> Markup:
    """Show a heat map as a picture; what is given is as for a picture."""
    region = Markup('<div class="scroll" tabindex="0" role="region" aria-label="{}">{}</div>')
    return picture(
        title,
        region.format(title, heat_map(heat, f"{title}, in percent")),
        frame,
        svg_file(heat_svg(heat, title)),
        stem=stem,
        sentence=sentence,
        beside=beside,
    )
