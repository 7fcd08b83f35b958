"""Values from configuration files, checked against the class that they are for.

The one place where pydantic judges what a person has written, and where the first of its findings
becomes one sentence: the key, what was found there, and what pydantic expects.
"""

import json
from functools import cache
from typing import Any, TypeVar

from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from nat.errors import UserError
from nat.spelling import hint

Kind = TypeVar("Kind")

_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
_MISSING = ("missing", "missing_argument")
_KEY = "[key]"  # what pydantic appends to the place of a mapping's key


def validated(kind: type[Kind], value: Any, owner: str = "") -> Kind:
    """Build a pydantic model or dataclass from JSON-able values.

    Values are taken strictly: no text and no truth value for a number, no 1e5 for a count.

    Args:
        kind: the class.
        value: what the file holds for it, usually a mapping of its fields.
        owner: what the class stands for, in messages; "" where the file alone says it.

    Raises:
        UserError: for the first unknown or missing key or wrong value, misspelt keys first; names
            the key, what was found and what is expected.
    """
    adapter: TypeAdapter[Kind] = _adapter(kind)
    try:
        return adapter.validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        problems = error.errors(include_url=False)
        raise UserError(_explain(problems, adapter.json_schema(), owner)) from error


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


def unknown_key(kind: Any, path: str) -> str:
    """Which key of a path, with dots between, a class does not have, and a hint; "" if none.

    Keys within a value that may be anything are taken for known.
    """
    schema = _schema(kind)
    nodes = _branches(schema, schema)
    for part in path.split("."):
        if any("type" not in node for node in nodes):
            break
        if not (inside := _inside(nodes, part, schema)):
            return f"unknown key '{part}'; {hint(part, _keys(nodes))}"
        nodes = inside
    return ""


@cache
def _schema(kind: Any) -> dict[str, Any]:
    return _adapter(kind).json_schema()


def _adapter(kind: Any) -> TypeAdapter[Any]:
    """The validator of a class, built once; pydantic builds that of a deferred one each time."""
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}


def _explain(problems: list[ErrorDetails], schema: dict[str, Any], owner: str) -> str:
    """One sentence about the most telling of the problems that pydantic has found."""
    # every branch of a union has a problem; that of the branch that was meant is further inside
    paths = [_walk(schema, problem)[0] for problem in problems]
    inner = [
        problem
        for problem, path in zip(problems, paths, strict=True)
        if not any(other.startswith(f"{path}.") for other in paths)
    ]
    # a misspelt key is also a missing one, and its spelling is what helps
    first = max(inner, key=lambda each: (each["type"] in _UNKNOWN, each["type"] not in _MISSING))
    path, nodes = _walk(schema, first)
    known, of = _keys(nodes), f" of {owner}" if owner else ""
    if first["type"] in (*_UNKNOWN, *_MISSING):
        key, where = str(first["loc"][-1]), (f" at '{path}'" if path else "") + of
        if first["type"] in _MISSING:
            return f"missing key '{key}'{where}"
        if key in known:  # of another branch of a union
            return f"key '{key}'{where}: it does not go with the other keys there; remove it"
        return f"unknown key '{key}'{where}; {hint(key, known)}"
    given = first["input"]
    where = f"key '{path}'{of}: " if path else f"{owner}: " if owner else ""
    shown = f"'{given}'" if isinstance(given, str) else json.dumps(given)
    found = f"{where}found {shown}"
    same = [each for each in inner if _walk(schema, each)[0] == path]
    for rule in (each["msg"] for each in same if each["type"] == "value_error"):
        rule = rule.removeprefix("Value error, ")
        return f"{found}, {rule}" if rule.startswith("expected ") else f"{where}{rule}"
    wanted = [each["msg"].partition(" should ")[2] or each["msg"] for each in same]
    if known and not isinstance(given, dict) and _KEY not in first["loc"]:
        wanted.append(f"be a mapping ({', '.join(known)})")
    return f"{found}, but it should {' or '.join(dict.fromkeys(wanted))}"


def _walk(schema: dict[str, Any], problem: ErrorDetails) -> tuple[str, list[dict[str, Any]]]:
    """The path of the value with a problem, and what the schema says of it.

    Of a key itself, it is the value that has the key. pydantic also names the branch of a union
    that it took, which is no key.
    """
    place = [part for part in problem["loc"] if part != _KEY]
    if problem["type"] in (*_UNKNOWN, *_MISSING) or _KEY in problem["loc"]:
        place.pop()
    nodes, path = _branches(schema, schema), []
    for part in place:
        if inside := _inside(nodes, part, schema):
            nodes = inside
            path.append(str(part))
    return ".".join(path), nodes


def _branches(node: Any, schema: dict[str, Any]) -> list[dict[str, Any]]:
    """A node with its reference followed; where it is a union, each of its branches."""
    if not isinstance(node, dict):  # `true`, which allows anything
        return [{}]
    if "$ref" in node:
        return _branches(schema["$defs"][node["$ref"].rsplit("/", 1)[1]], schema)
    union = node.get("anyOf", node.get("oneOf"))
    return [node] if union is None else [n for part in union for n in _branches(part, schema)]


def _inside(
    nodes: list[dict[str, Any]], part: int | str, schema: dict[str, Any]
) -> list[dict[str, Any]]:
    """What nodes say of the value at one of their keys or numbers."""
    found = []
    for node in nodes:
        inner = node.get("items")
        if isinstance(part, str):
            others = [*node.get("patternProperties", {}).values(), node.get("additionalProperties")]
            inner = node.get("properties", {}).get(part, others[0])
        if inner not in (None, False) and not str(part).startswith("<"):  # a branch of a union
            found += _branches(inner, schema)
    return found


def _keys(nodes: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for node in nodes for key in node.get("properties", {})))
