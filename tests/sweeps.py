"""Systems that differ from another in a number only, such as those of a figure of a paper."""

import re
from typing import Any

SWEEPS = re.compile(
    r"dims-cmlm-kd-.+|oaxe-\d+k-kd|at-mple-[123]|plane-.+|(nat|glat)-(tiny|small|big)-kd|likelihood-.+"
)
"""Their names."""


def without_numbers(value: Any) -> Any:
    """A value in which a number only says whether it is 0, 1, another whole one or a fraction.

    What is equal then runs the same code. But a weight of 0 leaves a term out, and a length that
    is multiplied by a fraction is rounded.
    """
    if isinstance(value, dict):
        return {key: without_numbers(each) for key, each in value.items()}
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return ("number", min(value, 2) if value == int(value) else 0.5)
