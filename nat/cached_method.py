"""What `functools.cache` is for functions, for methods."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

Own = TypeVar("Own")
Given = ParamSpec("Given")
Found = TypeVar("Found")


def cached_method(
    method: Callable[Concatenate[Own, Given], Found],
) -> Callable[Concatenate[Own, Given], Found]:
    """Keep what a method returns for each of its arguments, which are hashable, with its object.

    `functools.cache` would never let go of the object.
    """
    name = f"_cached_{method.__name__}"

    @wraps(method)
    def cached(self: Own, /, *given: Given.args, **named: Given.kwargs) -> Found:
        known: dict[object, Found] = vars(self).setdefault(name, {})
        key = (*given, *named.items())
        if key not in known:
            known[key] = method(self, *given, **named)
        return known[key]

    return cached
