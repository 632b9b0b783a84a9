"""One transform's result as a row: its title, the answer, the bars, a badge, the marked text."""

from markupsafe import Markup

from probe.analysis.transformed import Transformed
from probe.models.classifier import Prediction
from probe.transforms.registry import chain_title
from probe.ui.html.edits import edited_line
from probe.ui.html.elements import NOTHING
from probe.ui.html.prediction import bar, label_name
from probe.ui.html.probe.meaning import badge

ROW = Markup(
    '<details class="result" data-transform="{transform}" data-number="{number}" '
    'data-confidence="{confidence:.4f}" data-change="{change:.4f}" data-title="{title}">'
    '<summary><span class="what"><b>{title}</b> <code>{name}</code></span>'
    '<span class="predicted">{label} <span class="num">{confidence:.2f}</span></span>'
    '<span class="bars">{bar}{was}</span>'
    '<span class="sense">{badge}</span>'
    '<span class="more" aria-hidden="true">›</span>'
    "{edits}</summary>"
    '<div class="full" aria-live="polite"><p class="fine">Opening …</p></div></details>'
)


def row(transformed: Transformed, before: Prediction) -> Markup:
    """Show one result; what opens on a press is asked for then."""
    result, now = transformed.result, transformed.prediction
    return ROW.format(
        transform=result.transform,
        number=result.number,
        confidence=now.confidence,
        change=_moved(now, before),
        title=chain_title(result.transform),
        name=result.name,
        label=label_name(now.label),
        bar=bar(now, stays=result.task.agrees(before.label, now.label)),
        was=bar(before, "was"),
        badge=badge(transformed, before).markup(),
        edits=_edits(transformed),
    )


def _moved(now: Prediction, before: Prediction) -> float:
    """Return by how much the probability of the label before has changed."""
    return abs(now.by_label.get(before.label, 0.0) - before.by_label.get(before.label, 0.0))


def _edits(transformed: Transformed) -> Markup:
    """Show what changed, and behind it what else there is to know of the new text."""
    result = transformed.result
    if not result.changed:
        return Markup('<span class="edit soft">{}</span>').format(result.note or "no change")
    gold = result.gold if result.gold != result.original.gold else None
    words = [
        *([f"right answer now: {gold}"] if gold else []),
        *(["not exact"] if not result.exact else []),
        *filter(None, [transformed.note]),
        *([f"ranked by {result.ranked_by}"] if result.ranked_by else []),
    ]
    more = Markup('<span class="edit soft tiny">{}</span>').format("; ".join(words))
    return edited_line(result) + (more if words else NOTHING)
