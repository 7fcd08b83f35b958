"""What `functools.cache` is for functions, for methods."""

from collections.abc import Callable
from functools import cache, cached_property, partial
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

Own = TypeVar("Own")
Given = ParamSpec("Given")
Found = TypeVar("Found")


def cached_method(
    method: Callable[Concatenate[Own, Given], Found],
) -> Callable[Concatenate[Own, Given], Found]:
    """Keep what a method returns for each of its arguments, which are hashable, with its object.

    `functools.cache` alone would never let go of the object. A subclass that calls the method of
    its base needs another name for its own.
    """
    found: Any = cached_property(lambda own: cache(partial(method, own)))
    return cast(Callable[Concatenate[Own, Given], Found], found)
