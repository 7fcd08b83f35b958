"""Values from configuration files, checked against the class that they are for.

The one place where pydantic judges what a person has written, and where its findings become one
sentence: what was found at which key, and what is expected.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, TypeVar

from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from nat.errors import UserError
from nat.spelling import hint

Kind = TypeVar("Kind")

_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
_MISSING = ("missing", "missing_argument")
_OF_KEYS = "[key]"  # what pydantic appends to the place of a mapping's key
_OF_FORM = ("string_pattern_mismatch", "string_too_short")


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
    adapter = _adapter(kind)
    try:
        found: Kind = adapter.validate_json(json.dumps(value), strict=True)
        return found
    except ValidationError as error:
        problems = _of_meant_branches(error.errors(include_url=False), adapter.json_schema())
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
    nodes = list(_branches(schema, schema))
    for part in path.split("."):
        if any("type" not in node for node in nodes):
            break
        inside = [inner for node in nodes for inner in _inside(node, part, schema)]
        if not inside:
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


def _rank(problem: ErrorDetails) -> tuple[int, list[str]]:
    # A misspelt key is also a missing one; its spelling is what helps.
    if problem["type"] in _UNKNOWN or problem["loc"][-1:] == (_OF_KEYS,):
        order = 0
    else:
        order = 2 if problem["type"] in _MISSING else 1
    return order, [str(part) for part in problem["loc"]]


def _path(problem: ErrorDetails, schema: dict[str, Any]) -> str:
    """Where a problem is; that of a key that is unknown or missing ends in the key."""
    place = [part for part in problem["loc"] if part != _OF_KEYS]
    if problem["type"] in (*_UNKNOWN, *_MISSING):
        return f"{_walk(schema, place[:-1])[0]}.{place[-1]}".removeprefix(".")
    return _walk(schema, place)[0]


def _of_meant_branches(problems: list[ErrorDetails], schema: dict[str, Any]) -> list[ErrorDetails]:
    """The most telling problem, and those of other branches of a union at the same place.

    Every branch of a union has a problem; the branch that was meant has got further into the value.
    """
    paths = [_path(problem, schema) for problem in problems]
    both = list(zip(problems, paths, strict=True))
    # a rule of a class is looked at last, so its branch is the one that was meant
    ruled = {path for problem, path in both if problem["type"] == "value_error"}
    left = [
        (problem, path)
        for problem, path in both
        if not any(other.startswith(f"{path}.") for other in paths)
        and (path not in ruled or problem["type"] == "value_error")
    ]
    first, place = min(left, key=lambda each: _rank(each[0]))
    kinds = (*_TYPES, "string_pattern_mismatch")
    alike = [problem for problem, path in left if path == place and problem["type"] in kinds]
    return alike if first["type"] in kinds else [first]


def _explain(problems: list[ErrorDetails], schema: dict[str, Any], owner: str) -> str:
    problem = problems[0]
    kind, place = problem["type"], list(problem["loc"])
    of = f" of {owner}" if owner else ""
    if place[-1:] == [_OF_KEYS]:
        place.pop()
        if kind in _OF_FORM:
            return _explain_name(problem, place, schema, of)
        kind = _UNKNOWN[0]
    if kind in _UNKNOWN or kind in _MISSING:
        key = str(place.pop())
        path, nodes = _walk(schema, place)
        at = f" at '{path}'" if path else ""
        if kind in _MISSING:
            return f"missing key '{key}'{at}{of}"
        known = _keys(nodes)
        if key in known:  # of another branch of a union
            return f"key '{key}'{at}{of}: it does not go with the other keys there; remove it"
        return f"unknown key '{key}'{at}{of}; {hint(key, known)}"
    path, nodes = _walk(schema, place)
    if kind == "value_error":  # a rule of the class itself
        rule = problem["msg"].removeprefix("Value error, ")
        if rule.startswith("expected "):
            rule = f"found {_shown(problem['input'])}, {rule}"
        if path:
            return f"key '{path}'{of}: {rule}"
        return f"{owner}: {rule}" if owner else rule
    ways = list(dict.fromkeys(_expected(each, nodes) for each in problems))
    if place and str(place[-1]).startswith("<") and kind in (*_TYPES, "literal_error"):
        ways += [each for each in _other_branches(nodes) if each not in ways]
    if _TYPES["float_type"] in ways and _TYPES["int_type"] in ways:
        ways.remove(_TYPES["int_type"])
    expected = " or ".join(ways)
    if any(node.get("type") == "null" for node in nodes):
        expected += ", null" if ", " in expected else " or null"
    found = f"found {_shown(problem['input'])}, expected {expected}"
    return f"key '{path}'{of}: {found}" if path else f"{owner}: {found}" if owner else found


def _explain_name(
    problem: ErrorDetails, place: list[int | str], schema: dict[str, Any], of: str
) -> str:
    """What is wrong with a key that a person may choose, but not freely."""
    name = str(place.pop())
    path, nodes = _walk(schema, place)
    examples = ", ".join(_keys(nodes))
    expected = f"one such as {examples}" if examples else _expected(problem, nodes)
    at = f"key '{path}'{of}: " if path else f"{of.removeprefix(' of ')}: " if of else ""
    return f"{at}'{name}' is no possible name there, expected {expected}"


def _walk(schema: dict[str, Any], place: list[int | str]) -> tuple[str, list[dict[str, Any]]]:
    """The path that a person has written, and what the JSON Schema says of it.

    A place also names the branch of a union that pydantic took, which is no key.
    """
    nodes, path = list(_branches(schema, schema)), []
    for part in place:
        inside = [inner for node in nodes for inner in _inside(node, part, schema)]
        if inside:
            nodes = inside
            path.append(str(part))
    return ".".join(path), nodes


def _branches(node: Any, schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A node with its reference followed; where it is a union, each of its branches."""
    if not isinstance(node, dict):  # `true`, which allows anything
        yield {}
    elif "$ref" in node:
        yield from _branches(schema["$defs"][node["$ref"].rsplit("/", 1)[1]], schema)
    elif "anyOf" in node or "oneOf" in node:
        for branch in node["anyOf"] if "anyOf" in node else node["oneOf"]:
            yield from _branches(branch, schema)
    else:
        yield node


def _inside(
    node: Mapping[str, Any], part: int | str, schema: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    found: Any
    if isinstance(part, int):
        fixed = node.get("prefixItems", [])
        found = fixed[part] if part < len(fixed) else node.get("items")
    elif part in node.get("properties", {}):
        found = node["properties"][part]
    elif part.startswith("<"):  # the name of a branch
        found = None
    else:
        patterns = list(node.get("patternProperties", {}).values())
        found = patterns[0] if patterns else node.get("additionalProperties")
    if found is not None and found is not False:
        yield from _branches(found, schema)


def _keys(nodes: list[dict[str, Any]]) -> list[str]:
    found: list[str] = []
    for node in nodes:
        found += node.get("properties", {})
        names = node.get("propertyNames", {})
        found += names.get("enum", names.get("examples", []))
    return list(dict.fromkeys(found))


def _expected(problem: ErrorDetails, nodes: list[dict[str, Any]]) -> str:
    kind, context = problem["type"], problem.get("ctx", {})
    if kind == "literal_error":
        values = [
            value
            for node in nodes
            for value in (node["enum"] if "enum" in node else [node.get("const")])
            if value is not None
        ]
        return str(values[0]) if len(values) == 1 else f"one of {', '.join(map(str, values))}"
    if kind in ("too_short", "too_long"):
        count = context.get("min_length", context.get("max_length"))
        limit = "at least" if kind == "too_short" else "at most"
        if context["field_type"] == "Dictionary":
            return f"{limit} {count} {'entry' if count == 1 else 'entries'}"
        return f"a list of {limit} {count}"
    if kind in _LIMITS:
        key, words = _LIMITS[kind]
        limit = context[key]
        return f"{words} {limit:g}" if isinstance(limit, float) else f"{words} {limit}"
    if kind == "string_pattern_mismatch":
        fitting = [node for node in nodes if node.get("pattern") == context["pattern"]]
        for example in fitting[0].get("examples", []) if fitting else []:
            return f"text such as '{example}'"
        return f"text that matches {context['pattern']}"
    if kind == "string_type" and isinstance(problem["input"], int | float):
        return "text in quotes"
    return _TYPES.get(kind, problem["msg"].removeprefix("Input should be "))


def _other_branches(nodes: list[dict[str, Any]]) -> Iterator[str]:
    """Lists and mappings, of the branches of a union among which the value's own type decides."""
    for node in nodes:
        if node.get("type") == "array":
            yield _TYPES["list_type"]
        if node.get("type") == "object":
            keys = ", ".join(node.get("properties", {}))
            yield _TYPES["dict_type"] + (f" ({keys})" if keys else "")


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return f"the text '{value}'"
    if isinstance(value, dict):
        return "keys and values"
    if isinstance(value, list):
        return f"the list {json.dumps(value)}"
    return json.dumps(value)


_LIMITS = {
    "greater_than_equal": ("ge", "at least"),
    "greater_than": ("gt", "more than"),
    "less_than_equal": ("le", "at most"),
    "less_than": ("lt", "less than"),
}
_TYPES = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "text",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "keys and values",
    "model_type": "keys and values",
    "model_attributes_type": "keys and values",
    "dataclass_type": "keys and values",
    "string_too_short": "a text that is not empty",
}
