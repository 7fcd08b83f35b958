"""JSON-able values: fingerprints, and what differs between two of them."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any


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
