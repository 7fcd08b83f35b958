"""JSON-able values: fingerprints, what differs between two of them, and the names in them."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

WITH_TASKS = ("systems", "recipes", "decodings")
"""Folders whose files have a key `tasks`, and name files of these folders."""
REFERENCES = {
    **dict.fromkeys(("system", "init_from", "teacher", "assistant"), "systems"),
    **{"decoding": "decodings", "recipe": "recipes", "as": "recipes", "size": "sizes"},
    "like": "recipes",  # of the recipe of a system; every other `like` is resolved before
}
"""Keys of these files, at any depth, that name a file of another folder, or a size."""


def fingerprint(value: Any) -> str:
    """A hash of a JSON-able value, 16 hexadecimal digits; 0 and 0.0 are the same."""
    text = json.dumps(_canonical(value), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def differences(old: Any, new: Any, path: str = "") -> list[str]:
    """List what differs between two values, as in `recipe.dropout: 0.1 is now 0.3`."""
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        same = _canonical(old) == _canonical(new)
        return [] if same else [f"{path}: {_shown(old)} is now {_shown(new)}"]
    changes = []
    for key, value in {**old, **new}.items():
        inner = f"{path}.{key}" if path else str(key)
        if key in old and key in new:
            changes += differences(old[key], value, inner)
        else:
            changes.append(f"{inner}: {_shown(value)} is {'new' if key in new else 'gone'}")
    return changes


def _canonical(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _canonical(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(part) for part in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def references(content: Any, path: str = "") -> Iterator[tuple[str, str, str]]:
    """Names of other files in a file: the key, the folder, and the name."""
    parts = enumerate(content) if isinstance(content, list) else ()
    for key, value in content.items() if isinstance(content, Mapping) else parts:
        where = f"{path}.{key}" if path else str(key)
        if isinstance(value, str) and key in REFERENCES:
            yield where, REFERENCES[key], value
        yield from references(value, where)


def renamed(value: Any, names: Mapping[str, str], kind: str = "systems") -> Any:
    """A copy of a JSON-able value in which names of systems, or of another kind, are replaced."""
    if isinstance(value, Mapping):
        return {
            key: names.get(part, part)
            if isinstance(part, str) and REFERENCES.get(key) == kind
            else renamed(part, names, kind)
            for key, part in value.items()
        }
    if isinstance(value, list | tuple):
        return [renamed(part, names, kind) for part in value]
    return value
