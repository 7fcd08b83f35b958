"""Hints for names that do not exist."""

import difflib
from collections.abc import Iterable


def hint(name: str, known: Iterable[str]) -> str:
    """What to say after "unknown ... 'name'": the nearest known name, or all of them."""
    names = list(known)
    near = difflib.get_close_matches(name, names, 1)
    if near:
        return f"did you mean '{near[0]}'?"
    return f"known: {', '.join(names)}" if names else "none is known"
