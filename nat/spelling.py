"""Hints for names that do not exist."""

import difflib
from collections.abc import Iterable

_MOST_LISTED = 12
_FEW = 5


def hint(name: str, known: Iterable[str]) -> str:
    """What to say after "unknown ... 'name'": the nearest known name, or all of them.

    Of many names, only those are listed that share most letters with the unknown one. Names that
    may have commas, such as labels, are quoted.
    """
    names = list(dict.fromkeys(known))
    listed = [f"'{each}'" for each in names] if any("," in each for each in names) else names
    near = difflib.get_close_matches(name, names, 1)
    if near:
        return f"did you mean '{near[0]}'?"
    if len(names) > _MOST_LISTED:
        few = difflib.get_close_matches(name, listed, _FEW, cutoff=0.0)
        return f"the nearest of {len(names)} known names: {', '.join(few)}"
    return f"known: {', '.join(listed)}" if names else "none is known"
