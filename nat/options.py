"""Values from configuration files, checked against the class that they are for.

The one place where pydantic judges what a person has written; the most telling of its findings
becomes one line: the key, what pydantic expects there, and what was found.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, TypeVar

from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from nat.errors import UserError
from nat.nested import nested
from nat.spelling import hint

Kind = TypeVar("Kind")

_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
_MISSING = ("missing", "missing_argument")
_KEY = "[key]"  # what pydantic appends to the place of a mapping's key


_adapter: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)
"""The validator of a class, built once; pydantic builds that of a deferred one each time."""


def validated(kind: type[Kind], value: Any, owner: str = "") -> Kind:
    """Build a pydantic model or dataclass from JSON-able values.

    Values are taken strictly: no text and no truth value for a number, no 1e5 for a count.

    Args:
        kind: the class.
        value: what the file holds for it, usually a mapping of its fields.
        owner: what the class stands for, in messages; "" where the file alone says it.

    Raises:
        UserError: for the most telling wrong key or value; names the key, what is expected and what
            was found.
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
    found: dict[str, Any] = _adapter(type(built)).dump_python(built, mode="json")
    return found


def unknown_key(kind: type, path: str) -> str:
    """Which key of a path, with dots between, a class does not have, and a hint; "" if none."""
    value = nested(path.split("."), None)
    try:
        _adapter(kind).validate_python(value)
    except ValidationError as error:
        unknown = [each for each in error.errors() if each["type"] in _UNKNOWN]
        return _explain(kind, value, unknown, "") if unknown else ""
    return ""


def _explain(kind: Any, value: Any, problems: list[ErrorDetails], owner: str) -> str:
    """One line about the most telling of the problems that pydantic has found."""
    # Every branch of a union has a problem; that of the branch that was meant is furthest inside. A
    # misspelt key is also a missing one, and its spelling is what helps.
    found = [(_path(value, each), each["type"], each) for each in problems]
    path, problem, first = max(
        found, key=lambda each: (len(each[0]), each[1] in _UNKNOWN, each[1] not in _MISSING)
    )
    of, given = f" of {owner}" if owner else "", first["input"]
    where = f"key '{'.'.join(path)}'{of}" if path else owner
    is_key = problem in (*_MISSING, *_UNKNOWN) or _KEY in first["loc"]
    if is_key:
        *outside, key = path
        where = f"key '{key}'" + (f" at '{'.'.join(outside)}'" if outside else "") + of
    if problem in _MISSING:
        return f"missing {where}"
    if problem in _UNKNOWN:
        others = [name for name in _known(kind, outside) if name != key]
        return f"unknown {where}; {hint(key, others)}"
    wanted = [each["msg"] for its_path, _, each in found if its_path == path]
    if not (is_key or isinstance(given, dict)) and (keys := _known(kind, path)):
        wanted.append(f"a mapping ({', '.join(keys)})")
    rule = " or ".join(dict.fromkeys(wanted)).replace("Value error, ", "")
    in_one_line = isinstance(given, str) and "\n" not in given
    shown = f"'{given}'" if in_one_line else json.dumps(given)
    return f"{where}: {rule}" + ("" if isinstance(given, dict) else f" (found {shown})")


def _path(value: Any, problem: ErrorDetails) -> list[str]:
    """The keys to the value with a problem; pydantic also names the branches of unions."""
    found = []
    for part in problem["loc"]:
        is_key = isinstance(value, dict) and part in value
        is_number = isinstance(value, list) and isinstance(part, int) and part < len(value)
        if is_key or is_number:
            found.append(str(part))
            value = value[part]
    return [*found, str(problem["loc"][-1])] if problem["type"] in _MISSING else found


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
