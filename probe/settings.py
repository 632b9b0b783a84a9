"""The settings: environment variables, read anew at each call, and where files lie.

README's table of settings is made from here; a test compares the two.
"""

import os
from pathlib import Path
from typing import Literal

from platformdirs import user_data_path
from pydantic import Field, PositiveInt, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from probe.errors import SettingsError

PACKAGE = Path(__file__).resolve().parent
CHECKOUT = PACKAGE.parent
INSTALLED = (PACKAGE / "assets").is_dir()
"""Whether this is an installed wheel, whose assets lie inside the package."""
ASSETS = PACKAGE / "assets" if INSTALLED else CHECKOUT / "assets"


def default_home() -> Path:
    """Return `var` in a checkout, the user's data folder for an installed wheel."""
    return user_data_path("nli-clinic", appauthor=False) if INSTALLED else CHECKOUT / "var"


def default_user_models() -> str:
    """Return what people may open: on a Space, whose disk is not theirs, only the hub's models.

    Nothing where the variable is there and empty, which is read as if it were not there.
    """
    if "NLI_CLINIC_OWN_MODELS" in os.environ:
        return ""
    return "hub" if "SPACE_ID" in os.environ else "hub,folder"


class Settings(BaseSettings):
    """What the environment says. An empty variable counts as none, save NLI_CLINIC_OWN_MODELS."""

    model_config = SettingsConfigDict(
        env_prefix="NLI_CLINIC_", env_ignore_empty=True, extra="ignore", protected_namespaces=()
    )

    home: Path = Field(
        default_factory=default_home,
        description="folder of runs and inoculated models",
        examples=["`var/` beside app.py; of a wheel the user's data folder"],
    )
    database: str = Field(
        default="",
        description="SQLAlchemy URL of the run database",
        examples=["SQLite in that folder"],
    )
    model_mb: PositiveInt = Field(
        default=4096, description="megabytes of loaded models; above, the least used are let go"
    )
    own_models: str = Field(
        default_factory=default_user_models,
        description="what *Your own model* may name; empty closes it",
        examples=["`hub,folder`; on a Space `hub`"],
    )
    max_upload: str = Field(default="50mb", description="largest upload")
    workers: PositiveInt | None = Field(
        default=None,
        description="processes that compute runs, one thread each",
        examples=["one for every two cores"],
    )
    states_mb: PositiveInt = Field(
        default=1024,
        description="megabytes that each of them keeps of prepared examples and frozen layers",
    )
    engine: str = Field(
        default="",
        validation_alias="ENGINE",
        description="address of a dask scheduler, such as `tcp://scheduler:8786`",
        examples=["processes of its own"],
    )

    @field_validator("home")
    @classmethod
    def _absolute(cls, home: Path) -> Path:
        return home.expanduser().resolve()

    @property
    def user_models(self) -> frozenset[Literal["hub", "folder"]]:
        """The kinds of places that people's own models may come from."""
        kinds: tuple[Literal["hub", "folder"], ...] = ("hub", "folder")
        named = {part.strip() for part in self.own_models.split(",")}
        return frozenset(kind for kind in kinds if kind in named)


def settings() -> Settings:
    """Read the settings. Raises SettingsError with the variable and what is wrong with it."""
    try:
        return Settings()
    except ValidationError as problem:
        first = problem.errors()[0]
        name = str(first["loc"][0])
        raise SettingsError(
            f"{name if name.isupper() else variable(name)} is {first['input']!r}: {first['msg']}"
        ) from problem


def variable(name: str) -> str:
    """Return the environment variable of a field."""
    alias = Settings.model_fields[name].validation_alias
    return str(alias) if alias else f"NLI_CLINIC_{name.upper()}"


def table() -> str:
    """Return README's table: variable, default, meaning."""
    rows = [
        f"| `{variable(name)}` | {_default(name)} | {field.description} |"
        for name, field in Settings.model_fields.items()
    ]
    return "\n".join(["| variable | default | meaning |", "|---|---|---|", *rows])


def _default(name: str) -> str:
    field = Settings.model_fields[name]
    return str(field.examples[0]) if field.examples else f"`{field.default}`"
