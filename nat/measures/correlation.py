"""Correlation of two measures over systems, as MPLE's of a loss and BLEU (Huang et al. 2022)."""

from collections.abc import Sequence

import numpy as np


def pearson(first: Sequence[float], second: Sequence[float]) -> float:
    """Correlation of two measures over systems, such as L_MPLE and BLEU; -1 to 1.

    The paper prints absolute values: a good system has a low loss and a high BLEU.

    Raises:
        ValueError: if there are fewer than two systems, or all have the same value.
    """
    x, y = (np.asarray(values, dtype=np.float64) for values in (first, second))
    if x.shape != y.shape or x.size < 2:
        raise ValueError(f"a correlation of {x.size} and {y.size} values")
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        raise ValueError("a correlation with a measure that is the same for all systems")
    return float(np.corrcoef(x, y)[0, 1])
