"""Systems that differ from another in a number only, such as those of a figure of a paper."""

import re

SWEEPS = re.compile(
    r"dims-cmlm-kd-.+|oaxe-\d+k-kd|at-mple-[123]|plane-.+|(nat|glat)-(tiny|small|big)-kd|likelihood-.+"
)
"""Their names."""
