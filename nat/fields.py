"""Keys that configuration files share: their base class, and types of values."""

from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
)
from pydantic_core import CoreSchema

Kind = TypeVar("Kind")


class Model(BaseModel):
    """A mapping with known keys."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, serialize_by_alias=True, defer_build=True
    )

    def as_written(self) -> dict[str, Any]:
        """The keys that are given, without defaults, JSON-able."""
        return self.model_dump(mode="json", exclude_unset=True)


class _NotNull:
    """Refuses null in a file, but keeps it as the default of a missing key."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        nullable = handler(source)
        assert nullable["type"] == "nullable"
        inner: CoreSchema = nullable["schema"]
        return inner


OrAbsent = Annotated[Kind | None, _NotNull()]
"""A key that may be missing (None), but not null."""


def kind_of(**kinds: type) -> Discriminator:
    """Chooses the branch of a union by the value in the file; the last branch is the default.

    A model stands for the mapping that it was read from, when it is written again.
    """
    *first, last = kinds

    def branch(value: Any) -> str:
        kind = dict if isinstance(value, BaseModel) else type(value)
        return next((f"<{name}>" for name in first if issubclass(kind, kinds[name])), f"<{last}>")

    return Discriminator(branch)


def _unique(values: list[Any]) -> list[Any]:
    if any(value in values[:number] for number, value in enumerate(values)):
        raise ValueError("expected a list without repetitions")
    return values


def _without_braces(path: str) -> str:
    if "{" in path or "}" in path:
        raise ValueError("expected a path without braces, which Snakemake fills in; rename it")
    return path


Unique = AfterValidator(_unique)
Text = Annotated[str, Field(min_length=1)]
LocalPath = Annotated[Text, AfterValidator(_without_braces)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", examples=["best", "10k"])]
Count = Annotated[int, Field(ge=1)]
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
Number = Annotated[int, Field(ge=0)]
Seed = Annotated[int, Field(ge=0, lt=2**32)]
"""Of the random numbers of a training, within what numpy takes."""
Seeds = Annotated[list[Seed], Field(min_length=1), Unique]
Share = Annotated[float, Field(ge=0, le=1)]
BelowOne = Annotated[float, Field(ge=0, lt=1)]
