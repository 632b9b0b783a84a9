"""The settings: environment variables, read anew once one has changed, and where files lie.

The table of docs/reference/settings.md is made from here.
"""

import os
import re
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from platformdirs import user_data_path
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    SecretStr,
    ValidationError,
    field_validator,
)
from pydantic_settings import BaseSettings, SettingsConfigDict
from pydantic_settings import SettingsError as UnreadSetting

from probe.errors import SettingsError

PACKAGE = Path(__file__).resolve().parent
CHECKOUT = PACKAGE.parent
INSTALLED = (PACKAGE / "assets").is_dir()
"""Whether this is an installed wheel, whose assets lie inside the package."""
ASSETS = PACKAGE / "assets" if INSTALLED else CHECKOUT / "assets"
OTHERS = 0o077
"""The rights of other accounts of the machine; the app begins with this mask."""


def default_public() -> bool:
    """Whether other people's machines reach the page: on a Space, or by the server's address."""
    address = os.environ.get("GRADIO_SERVER_NAME", "")
    return "SPACE_ID" in os.environ or address not in ("", "127.0.0.1", "localhost", "::1")


def default_user_models(values: dict[str, Any]) -> str:  # Any: the fields before it
    """Return what people may open: where the disk is not theirs, only the hub's models.

    Nothing where the variable is there and empty, which is read as if it were not there.
    """
    if "NLI_CLINIC_OWN_MODELS" in os.environ:
        return ""
    return "hub" if values.get("public") else "hub,folder"


def limit(public: int, local: int | None, description: str) -> Any:  # Any: as of pydantic
    """Declare a limit of what one visitor of the page may ask for; None is none.

    `probe.limits` has the sentence for who passes it. The command line has no limits.
    """
    shown = f"`{public}`" if public == local else f"`{public}`; not public {local or 'none'}"
    return Field(
        default_factory=lambda values: public if values.get("public") else local,
        description=description,
        examples=[shown],
    )


class Server(BaseModel):
    """A language model behind an address with the interface of OpenAI.

    `model` is what the server calls it, `key` the name of the environment variable that holds the
    key, `top` how many probabilities of a token it is asked for, `prices` those of a million tokens
    read and written, `extra` what else each request says (null takes a field of ours out).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    # without a password, a query or an anchor, which would stand in messages of the HTTP client
    address: str = Field(pattern=r"^https?://[^/?#@\s]+(/[^?#@\s]*)?$")
    model: str
    key: str = Field(default="", pattern=r"^([A-Z_][A-Z0-9_]*)?$")
    top: PositiveInt = 20
    at_once: PositiveInt = 8
    seconds: PositiveFloat = 60
    prices: tuple[NonNegativeFloat, NonNegativeFloat] | None = None
    extra: dict[str, Any] = Field(default_factory=dict)  # Any: JSON


SERVED_NAME = re.compile(r"\w[\w.-]*")


class Settings(BaseSettings):
    """What the environment says. An empty variable counts as none, save NLI_CLINIC_OWN_MODELS."""

    model_config = SettingsConfigDict(
        env_prefix="NLI_CLINIC_", env_ignore_empty=True, extra="ignore", protected_namespaces=()
    )

    home: Path = Field(
        default_factory=lambda: (
            user_data_path("nli-clinic", appauthor=False) if INSTALLED else CHECKOUT / "var"
        ),
        description="folder of runs and inoculated models",
        examples=["`var/` beside app.py; of a wheel the user's data folder"],
    )
    database: str = Field(
        default="",
        description="SQLAlchemy URL of the run database",
        examples=["SQLite in that folder"],
    )
    backup: Path | None = Field(
        default=None,
        description="folder, such as a mounted bucket, to which home and database are backed up",
        examples=["none"],
    )
    backup_minutes: PositiveInt = Field(
        default=5, description="minutes between two such back-ups, made where something changed"
    )
    model_mb: PositiveInt = Field(
        default=4096, description="megabytes of loaded models; above, the least used are let go"
    )
    public: bool = Field(
        default_factory=default_public,
        description="whether strangers reach the page, so that its limits hold",
        examples=["yes on a Space or with a `GRADIO_SERVER_NAME` that others reach"],
    )
    own_models: str = Field(
        default_factory=default_user_models,
        description="what *Your own model* may name; `hub` also opens the hub's data sets, and "
        "empty closes all",
        examples=["`hub,folder`; public `hub`"],
    )
    login: SecretStr = Field(
        default=SecretStr(""),
        description="who may come in: `name:password` with commas between, or a file of such lines",
        examples=["everybody"],
    )
    admin_password: SecretStr = Field(
        default=SecretStr(""),
        description="opens the page `/admin`: everybody's runs and the app's load",
        examples=["no such page"],
    )
    hub_mb: PositiveInt = Field(
        default=20_000,
        description="megabytes of the hub's models and data sets on the disk of a public app; "
        "above, the least used are removed",
    )
    gguf_mb: PositiveInt = Field(
        default=40_000,
        description="megabytes of converted GGUF files in the home; above, the least used are "
        "removed",
    )
    answers_mb: PositiveInt = Field(
        default=1000,
        description="megabytes of kept answers of models at an address; above, the oldest are "
        "removed",
    )
    served: dict[str, Server] = Field(
        default_factory=dict,
        description="language models that are asked at an address, JSON: "
        '`{"name": {"address": "http://host/v1", "model": "…", "key": "VARIABLE"}}`; further: '
        + ", ".join(f"`{name}`" for name in [*Server.model_fields][3:]),
        examples=["none"],
    )
    max_upload: str = Field(default="50mb", description="largest upload")
    max_unpacked_mb: PositiveInt | None = limit(
        200, 2000, "largest size of a file once it is unpacked, in megabytes"
    )
    max_rows: PositiveInt | None = limit(20_000, None, "rows of a file")
    background_rows: PositiveInt = Field(
        default=20_000, description="rows of a file above which it is scored in the background"
    )
    max_columns: PositiveInt | None = limit(200, 2000, "columns of a file")
    max_cell: PositiveInt | None = limit(100_000, None, "characters in one cell of a file")
    max_text: PositiveInt | None = limit(5_000, 50_000, "characters in one text of an example")
    max_transforms: PositiveInt | None = limit(60, None, "transforms and chains of one request")
    max_chain: PositiveInt | None = limit(6, 20, "transforms joined in one chain")
    answer_seconds: PositiveInt | None = limit(
        60, 600, "seconds that any answer of the page or over HTTP may take"
    )
    file_minutes: PositiveInt | None = limit(30, None, "minutes that one file may take")
    max_waiting: PositiveInt | None = limit(
        40,
        None,
        "requests of one page that wait for their answer; 25 times as many of an address",
    )
    max_sessions: PositiveInt = Field(
        default=500, description="open pages that the app remembers; the oldest recover"
    )
    max_cells: PositiveInt | None = limit(300, 5000, "cells (fine-tunes) of one run")
    max_open_runs: PositiveInt | None = limit(20, 100, "runs of one visitor at a time")
    max_runs_a_day: PositiveInt | None = limit(
        60, None, "runs that one visitor starts in 24 hours; a file that is scored at once is none"
    )
    max_all_open_runs: PositiveInt | None = limit(300, None, "runs of all visitors at a time")
    max_kept_models: PositiveInt | None = limit(10, None, "inoculated models of one visitor")
    max_stored_mb: PositiveInt | None = limit(
        1000, None, "megabytes of files and models that one visitor stores"
    )
    keep_days: PositiveInt | None = limit(
        7, None, "days after which ended runs and their models are removed"
    )
    keep_hours: PositiveInt = Field(
        default=24, description="hours after which uploads and result files are removed"
    )
    workers: PositiveInt | None = Field(
        default=None,
        description="processes that compute runs, one thread each",
        examples=["one for every two cores"],
    )
    states_mb: PositiveInt = Field(
        default=1024,
        description="megabytes that each of them keeps of prepared examples and frozen layers",
    )
    zero_gpu: bool = Field(
        default=False,
        validation_alias="SPACES_ZERO_GPU",
        description="whether this is a ZeroGPU Space, where models run on the CPU",
        examples=["no; the hub sets it"],
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

    @field_validator("served")
    @classmethod
    def _named(cls, served: dict[str, Server]) -> dict[str, Server]:
        for name in served:
            if not SERVED_NAME.fullmatch(name) or (ASSETS / "models" / name).exists():
                raise ValueError(f"{name!r} is no name for a model, or that of a bundled one")
        return served

    @property
    def user_models(self) -> frozenset[Literal["hub", "folder"]]:
        """The kinds of places that people's own models may come from."""
        kinds: tuple[Literal["hub", "folder"], ...] = ("hub", "folder")
        named = {part.strip() for part in self.own_models.split(",")}
        return frozenset(kind for kind in kinds if kind in named)


def settings() -> Settings:
    """Read the settings. Raises SettingsError with the variable and what is wrong with it."""
    return _read(Path.cwd(), frozenset(os.environ.items()))


@lru_cache(maxsize=4)  # by all that they are read from
def _read(place: Path, environment: frozenset[tuple[str, str]]) -> Settings:
    try:
        return Settings()
    except UnreadSetting as problem:  # of JSON
        raise SettingsError(f"{variable('served')} is no JSON") from problem
    except ValidationError as problem:
        first = problem.errors()[0]
        name, *places = map(str, first["loc"])
        if name == "served":  # somebody may have put a key where its variable's name belongs
            where = ", ".join([variable(name), *places])
            raise SettingsError(f"{where}: {first['msg']}") from None
        raise SettingsError(
            f"{name if name.isupper() else variable(name)} is {first['input']!r}: {first['msg']}"
        ) from problem


def make_home() -> Path:
    """Return the home, made where it is not there, for this account alone. Raises SettingsError."""
    home = settings().home
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as problem:
        raise SettingsError(
            f"{variable('home')} is {home}, where no folder can be made: {problem.strerror}"
        ) from problem
    return kept_private(home)


def kept_private(path: Path) -> Path:
    """Return a file or folder, which from now on the app's account alone can read.

    What belongs to another account stays as that has it.
    """
    mode = path.stat().st_mode
    if mode & OTHERS:
        with suppress(PermissionError):
            path.chmod(mode & ~OTHERS & 0o777)
    return path


def variable(name: str) -> str:
    """Return the environment variable of a field."""
    alias = Settings.model_fields[name].validation_alias
    return str(alias) if alias else f"NLI_CLINIC_{name.upper()}"


def table() -> str:
    """Return the table of the reference: variable, default, meaning."""
    rows = ["| variable | default | meaning |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = field.examples[0] if field.examples else f"`{field.default}`"
        rows.append(f"| `{variable(name)}` | {default} | {field.description} |")
    return "\n".join(rows)
