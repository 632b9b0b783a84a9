"""The models that come with the app."""

from documentation.markdown import code, page, table
from probe.models.architectures import ARCHITECTURES, Architecture
from probe.models.library import entries

ABOUT = (
    "Each has a card in `assets/models` that says how it was trained, how well it does and what it "
    "cannot. Any other sequence or span classifier of these architectures opens by its folder or "
    "its hub id; [Models](../models.md) says how."
)
KNOWN = (
    "What is known of a `model_type`: whether its embeddings and lower layers can be frozen in "
    "fast mode, and how it is trained where nothing else is asked. An architecture without a row "
    "opens too and is trained by the recipe of BERT."
)


def models_page() -> str:
    """Return the page of the models."""
    rows = [
        (
            code(entry.name),
            f"**{entry.title}**: {entry.summary}",
            entry.task.title if entry.task else "",
            f"{entry.parameters / 1e6:.1f} M",
            f"[card](../../assets/models/{entry.name}/README.md)",
        )
        for entry in entries()
        if entry.source == "bundled"
    ]
    models = table(("name", "what it is", "task", "weights", "card"), rows)
    return page("Models", ABOUT, models, f"## Architectures\n\n{KNOWN}", _architectures())


def _architectures() -> str:
    rows = [
        (
            code(name),
            "embeddings and lower layers frozen" if architecture.frozen else "not known",
            *_recipe(architecture),
        )
        for name, architecture in ARCHITECTURES.items()
    ]
    head = ("model_type", "fast mode", "optimiser", "rate", "rate in fast mode", "batch")
    return table(head, rows)


def _recipe(architecture: Architecture) -> tuple[str, str, str, str]:
    recipe = architecture.recipe
    return recipe.optimiser, f"{recipe.lr:g}", f"{recipe.fast_lr:g}", str(recipe.batch)
