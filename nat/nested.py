"""Values of nested mappings, by paths of keys with dots between."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Values by their paths; an empty mapping counts as a value."""
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
    """What stands at a path; None where there is nothing."""
    for key in path.split("."):
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return value
