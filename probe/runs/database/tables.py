"""The run database's tables."""

from sqlalchemy import JSON, ForeignKey, String
from sqlalchemy.orm import DeclarativeBase, Mapped, deferred, mapped_column

from probe.runs.run import Json


class Base(DeclarativeBase):
    """The tables of the run database."""

    type_annotation_map = {Json: JSON}  # noqa: RUF012  # SQLAlchemy reads a plain attribute


class SchemaRow(Base):
    """Which version of the tables this is: one row."""

    __tablename__ = "run_schema"
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)


class RunRow(Base):
    """A run; `holder` is the engine that computes it, `seen` when that last renewed its lease."""

    __tablename__ = "run"
    id: Mapped[str] = mapped_column(String(16), primary_key=True)
    kind: Mapped[str] = mapped_column(String(64))
    owner: Mapped[str] = mapped_column(String(200), index=True)
    plan: Mapped[Json]
    inputs: Mapped[Json] = deferred(mapped_column(JSON))  # large, and read only to compute
    state: Mapped[str] = mapped_column(String(16), index=True)
    cancelling: Mapped[bool] = mapped_column(default=False)
    error: Mapped[str] = mapped_column(default="")
    created: Mapped[float]
    started: Mapped[float] = mapped_column(default=0.0)
    finished: Mapped[float] = mapped_column(default=0.0)
    verdict: Mapped[Json] = mapped_column(default=dict)
    environment: Mapped[Json]
    kept: Mapped[str] = mapped_column(default="")
    artefacts: Mapped[Json] = mapped_column(default=dict)
    holder: Mapped[str] = mapped_column(default="")
    seen: Mapped[float] = mapped_column(default=0.0)


class CellRow(Base):
    """A cell of a run, made with it; `progress` and `result` are empty until there is one."""

    __tablename__ = "cell"
    run: Mapped[str] = mapped_column(ForeignKey("run.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[Json]
    state: Mapped[str] = mapped_column(String(16), default="queued")
    progress: Mapped[Json] = mapped_column(default=dict)
    result: Mapped[Json] = mapped_column(default=dict)
    error: Mapped[str] = mapped_column(default="")


class GrantRow(Base):
    """A link by which others may read a run, given by its owner."""

    __tablename__ = "grant"
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    run: Mapped[str] = mapped_column(ForeignKey("run.id"), index=True)
    owner: Mapped[str] = mapped_column(String(200), index=True)
    created: Mapped[float]


class GrantHolderRow(Base):
    """A visitor who has opened such a link."""

    __tablename__ = "grant_holder"
    grant: Mapped[str] = mapped_column(ForeignKey("grant.id"), primary_key=True)
    visitor: Mapped[str] = mapped_column(String(200), primary_key=True, index=True)


class SurveyRow(Base):
    """What a class is asked; `id` is the secret of its link. `ends` is 0 where it has no end."""

    __tablename__ = "survey"
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    kind: Mapped[str] = mapped_column(String(16))
    owner: Mapped[str] = mapped_column(String(200), index=True)
    title: Mapped[str]
    content: Mapped[Json] = deferred(mapped_column(JSON))
    created: Mapped[float]
    ends: Mapped[float] = mapped_column(default=0.0)
    shown: Mapped[bool] = mapped_column(default=False)


class RespondentRow(Base):
    """A visitor who has opened a survey's link, under a name of their own choice or none."""

    __tablename__ = "respondent"
    survey: Mapped[str] = mapped_column(ForeignKey("survey.id"), primary_key=True)
    visitor: Mapped[str] = mapped_column(String(200), primary_key=True, index=True)
    nickname: Mapped[str] = mapped_column(default="")
    joined: Mapped[float]


class AssignmentRow(Base):
    """A batch of items that a respondent was given; `finished` is 0 until all are answered."""

    __tablename__ = "assignment"
    survey: Mapped[str] = mapped_column(ForeignKey("survey.id"), primary_key=True)
    visitor: Mapped[str] = mapped_column(String(200), primary_key=True)
    batch: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    given: Mapped[float]
    finished: Mapped[float] = mapped_column(default=0.0)


class ResponseRow(Base):
    """What a respondent answered to an item."""

    __tablename__ = "response"
    survey: Mapped[str] = mapped_column(ForeignKey("survey.id"), primary_key=True)
    visitor: Mapped[str] = mapped_column(String(200), primary_key=True)
    item: Mapped[str] = mapped_column(String(100), primary_key=True)
    answer: Mapped[str] = mapped_column(String(100))
    created: Mapped[float]
