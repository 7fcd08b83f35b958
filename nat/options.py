"""Options from configuration files, checked against the fields of the class that they are for."""

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from nat.errors import UserError
from nat.spelling import hint

Kind = TypeVar("Kind")


def validated(kind: type[Kind], options: Mapping[str, Any], name: str) -> Kind:
    """Build a pydantic dataclass from its fields.

    Values are taken strictly: no text for a number, no truth value for a number.

    Args:
        kind: the class.
        options: JSON-able values of its fields.
        name: what the class stands for, in messages.

    Raises:
        UserError: for an unknown or missing field or a wrong value; names key, what was found and
            what is expected.
    """
    try:
        return TypeAdapter(kind).validate_json(json.dumps(options), strict=True)
    except ValidationError as error:
        raise UserError(_first(error, kind, name)) from error


def options_of(built: object) -> dict[str, Any]:
    """All options of a built object, defaults included, JSON-able."""
    found: dict[str, Any] = TypeAdapter(type(built)).dump_python(built, mode="json")
    return found


def _first(error: ValidationError, kind: type, name: str) -> str:
    problem = error.errors()[0]
    key = ".".join(str(part) for part in problem["loc"])
    if problem["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return f"unknown key '{key}' of {name}; {hint(key, kind.__dataclass_fields__)}"  # type: ignore[attr-defined]
    if problem["type"] in ("missing", "missing_argument"):
        return f"missing key '{key}' of {name}"
    if problem["type"] == "value_error":  # of the class itself: tells what it found
        rule = problem["msg"].removeprefix("Value error, ")
        return f"key '{key}' of {name}: {rule}" if key else f"{name}: {rule}"
    expected = problem["msg"].removeprefix("Input should be ")
    return f"key '{key}' of {name}: found {json.dumps(problem['input'])}, expected {expected}"
