"""Names of other files in the files of `config/`."""

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
