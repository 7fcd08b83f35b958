"""Keys of configuration files: their types, and what is wrong with a value, in one line."""

import difflib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, partial
from typing import Annotated, Any, ClassVar, Concatenate, ParamSpec, Self, TypeVar, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetPydanticSchema,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic_core import CoreSchema, ErrorDetails

from nat.errors import UserError

Kind = TypeVar("Kind")
Own = TypeVar("Own")
Given = ParamSpec("Given")

_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
_MISSING = ("missing", "missing_argument")
_MOST_LISTED = 8


class StrictModel(BaseModel):
    """A mapping with known keys."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, serialize_by_alias=True, defer_build=True
    )

    def as_written(self) -> dict[str, Any]:
        """The keys that are given, without defaults, JSON-able."""
        return self.model_dump(mode="json", exclude_unset=True)


class OneOf(StrictModel):
    """A mapping that has one of several keys."""

    choices: ClassVar[tuple[str, ...]]

    @model_validator(mode="after")
    def _has_one(self) -> Self:
        if sum(getattr(self, name) is not None for name in self.choices) != 1:
            raise ValueError(f"expected one of {', '.join(self.choices)}")
        return self

    @property
    def choice(self) -> str:
        """The key that it has."""
        return next(name for name in self.choices if getattr(self, name) is not None)


def _not_null(source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
    nullable: Any = handler(source)
    schema: CoreSchema = nullable["schema"]
    return schema


OrAbsent = Annotated[Kind | None, GetPydanticSchema(_not_null)]
"""A key that may be missing (None), but not null."""


def _unique(values: list[Any]) -> list[Any]:
    if any(value in values[:number] for number, value in enumerate(values)):
        raise ValueError("expected a list without repetitions")
    return values


Unique = AfterValidator(_unique)
Text = Annotated[str, Field(min_length=1)]
LocalPath = Annotated[str, Field(pattern=r"^[^{}]+$")]  # Snakemake fills in braces
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", examples=["best", "10k"])]
EntryName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._@=-]*$")]
"""The same, also of what a sweep makes: `nat-kd@learning_rate=1e-3`."""
Count = Annotated[int, Field(ge=1)]
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
Number = Annotated[int, Field(ge=0)]
Seed = Annotated[int, Field(ge=0, lt=2**32)]
"""Of the random numbers of a training, within what numpy takes."""
Seeds = Annotated[list[Seed], Field(min_length=1), Unique]
Share = Annotated[float, Field(ge=0, le=1)]
BelowOne = Annotated[float, Field(ge=0, lt=1)]


_adapter: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)
"""The validator of a class, built once; pydantic builds that of a deferred one each time."""


def validated(kind: type[Kind], value: Any, owner: str = "") -> Kind:
    """Build a pydantic model or dataclass from JSON-able values, usually those of its fields.

    Values are taken strictly: no text and no truth value for a number, no 1e5 for a count. Messages
    call the class `owner`; "" where the file alone says it. Raises a `UserError` for the most
    telling wrong key or value, with the key, what is expected and what was found.
    """
    try:
        adapter: TypeAdapter[Kind] = _adapter(kind)
        return adapter.validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        raise UserError(_explain(kind, value, error.errors(include_url=False), owner)) from error


def added(default: Any) -> Any:
    """The default of an option that a method got when models of it existed already.

    The default does what the method did before. `options_of` leaves the option out while it has
    that value, so that stored configurations still fit, and nothing is made again.
    """
    return Field(default=default, exclude_if=lambda value: bool(value == default))


def options_of(built: object) -> dict[str, Any]:
    """All options of a built object, JSON-able, with defaults except those of `added` options."""
    options: dict[str, Any] = _adapter(type(built)).dump_python(built, mode="json")
    return options


def _explain(kind: Any, value: Any, problems: list[ErrorDetails], owner: str) -> str:
    """One line about the most telling of the problems that pydantic has found."""
    # Every branch of a union has a problem; that of the branch that was meant is furthest inside. A
    # misspelt key is also a missing one, and its spelling is what helps.
    told = [(_path(value, each), each["type"], each) for each in problems]
    path, problem, first = max(
        told, key=lambda each: (len(each[0]), each[1] in _UNKNOWN, each[1] not in _MISSING)
    )
    of, given = f" of {owner}" if owner else "", first["input"]
    where = f"key '{'.'.join(path)}'{of}" if path else owner
    if problem in _MISSING:
        return f"missing {where}"
    if problem in _UNKNOWN:
        *outside, key = path
        others = [name for name in _known(kind, outside) if name != key]
        return f"unknown {where}; {hint(key, others)}"
    wanted = [each["msg"] for its_path, _, each in told if its_path == path]
    if not isinstance(given, dict) and (keys := _known(kind, path)):
        wanted.append(f"a mapping ({', '.join(keys)})")
    rule = " or ".join(dict.fromkeys(wanted)).replace("Value error, ", "")
    rule = f"{where}: {rule}" if where else rule
    shown = repr(given) if isinstance(given, str) else json.dumps(given)
    return rule if isinstance(given, dict) else f"{rule} (found {shown})"


def _path(value: Any, problem: ErrorDetails) -> list[str]:
    """The keys to the value with a problem; pydantic also names the branches of unions."""
    path = []
    for part in problem["loc"]:
        is_key = isinstance(value, dict) and part in value
        is_number = isinstance(value, list) and isinstance(part, int) and part < len(value)
        if is_key or is_number:
            path.append(str(part))
            value = value[part]
    return [*path, str(problem["loc"][-1])] if problem["type"] in _MISSING else path


def _known(kind: Any, path: Sequence[str]) -> list[str]:
    """The keys that a class has at a path, in any branch of a union."""
    schema = _adapter(kind).json_schema()

    def inside(node: Any, path: Sequence[str]) -> Iterator[str]:
        if not isinstance(node, dict):  # `true`, which allows anything
            return
        if "$ref" in node:
            yield from inside(schema["$defs"][node["$ref"].rsplit("/", 1)[1]], path)
        for branch in (*node.get("anyOf", ()), *node.get("oneOf", ())):
            yield from inside(branch, path)
        keys = node.get("properties", {})
        if not path:
            yield from keys
        elif path[0] in keys:
            yield from inside(keys[path[0]], path[1:])
        else:
            others = node.get("additionalProperties"), node.get("items")
            for each in (*node.get("patternProperties", {}).values(), *others):
                yield from inside(each, path[1:])

    return list(dict.fromkeys(inside(schema, path)))


def hint(name: str, known: Iterable[str]) -> str:
    """Text after "unknown ... 'name'": the nearest known name, or all if they are few."""
    names = list(dict.fromkeys(known))
    if near := difflib.get_close_matches(name, names, 1):
        return f"did you mean '{near[0]}'?"
    left = max(0, len(names) - _MOST_LISTED)
    listed = difflib.get_close_matches(name, names, _MOST_LISTED, cutoff=0.0) if left else names
    shown = ", ".join(f"'{each}'" if "," in each else each for each in listed)
    return f"known: {shown or 'none'}{f' and {left} more' if left else ''}"


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Values by their paths, keys with dots between; an empty mapping counts as a value."""
    if isinstance(value, Mapping) and value:
        for key, part in value.items():
            yield from leaves(part, f"{path}.{key}" if path else str(key))
    else:
        yield path, value


def nested(path: Sequence[str], value: Any) -> Any:
    """A mapping that has nothing but a value at a path."""
    for key in reversed(path):
        value = {key: value}
    return value


def at(value: Any, path: str) -> Any:
    """Value at a path; None where there is none."""
    for key in path.split("."):
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return value


def require_at(value: Any, path: str) -> Any:
    """Value at a path, in lists by number; a `UserError` that hints at what there is for none."""
    for key in path.split("."):
        parts = dict(enumerate(value)) if isinstance(value, list) else value
        known = {str(name): part for name, part in parts.items()} if isinstance(parts, dict) else {}
        if key not in known:
            raise UserError(f"no '{path}'; {hint(key, known)}")
        value = known[key]
    return value


def cached_method(
    method: Callable[Concatenate[Own, Given], Kind],
) -> Callable[Concatenate[Own, Given], Kind]:
    """Keep what a method returns, but unlike `functools.cache` no longer than its object."""
    kept: Any = cached_property(lambda own: cache(partial(method, own)))
    return cast(Callable[Concatenate[Own, Given], Kind], kept)
