"""Measures that can be reported, by name, from `known.csv` beside this file.

Everything that is reported refers to a measure, so a new one is a line of `known.csv`. A name such
as `candidate_{n=1|2|3}_share` stands for several, and `{n}` in its other columns for the value.
"""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

SCORE, TRAINING, LATENCY, PAIR = "score", "training", "latency", "total_correlation"
"""Sources of measures; any other source is the name of an analysis."""

SPEED_UP = "speed_up"
"""The measure that compares two latencies."""

COORDINATES = {
    SCORE: ("decoding", "split"),
    TRAINING: (),
    LATENCY: ("decoding", "setting"),
    PAIR: ("partner", "split"),
}
"""Coordinates of a cell besides system, seed, task and measure; of an analysis it is the split.

The setting of a latency is a device and a batch, as in `cpu-1` or `cuda-largest`. The partner of a
total correlation is an autoregressive system.
"""

_VARIABLE = re.compile(r"\{(\w+)=([^}]*)\}")


@dataclass(frozen=True)
class Measure:
    """The name, format and source of a measure.

    Attributes:
        digits: after the decimal point.
        definition: for footnotes.
        source: one of `COORDINATES`, or the name of an analysis, a module of `nat/analyses`.
        setting: the default; empty if the measure has no settings, or if one must be given. That of
            L_target and L_MPLE is beta, the weight of BLEU (Huang et al. 2022, section 4).
        relative, counted, any_corpus, known_law: traits, see docs/measures.md. What reads no
            corpus, or invented languages alone, has no stand-in.
        several_references: whether it needs several references of a sentence.
    """

    label: str
    unit: str
    digits: int
    definition: str = ""
    source: str = SCORE
    setting: str = ""
    relative: bool = False
    counted: bool = False
    any_corpus: bool = False
    known_law: bool = False
    several_references: bool = False

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The coordinates of a cell besides system, seed, task and measure."""
        return COORDINATES.get(self.source, ("split",))


def _read() -> Iterator[tuple[str, Measure]]:
    with Path(__file__).with_name("known.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        choices = _VARIABLE.findall(row["name"])
        traits = row.pop("traits").replace("-", "_").split()
        texts = row | {"name": _VARIABLE.sub(r"{\1}", row["name"])}
        for values in product(*(each.split("|") for _, each in choices)):
            given = {name: value for (name, _), value in zip(choices, values, strict=True)}
            filled: dict[str, Any] = {key: text.format(**given) for key, text in texts.items()}
            filled |= {"digits": int(filled["digits"]), **dict.fromkeys(traits, True)}
            yield filled.pop("name"), Measure(**filled)


MEASURES = dict(_read())

DERIVED = {
    "ratio": Measure("ratio", "", 2),
    "reduction": Measure("reduction", "x", 1),
    "correlation": Measure("r", "", 3),
    "absolute_correlation": Measure("|r|", "", 3),
}
"""Units of derived cells; differences and means have that of what they are made of."""

AGAINST_ALL = {"sacrebleu": "multi_reference_bleu"} | {
    name: name.replace("tokenised_bleu", "multi_reference_bleu")
    for name in MEASURES
    if name.startswith("tokenised_bleu")
}
"""For each BLEU against one reference, the measure against all references of a sentence."""

ANALYSES = sorted({measure.source for measure in MEASURES.values()} - set(COORDINATES))
"""Analyses of a model, each a module of `nat/analyses` with a function `analyse`.

`nat.analyses.requirements` says what each of them reads.
"""

TOYS = {measure.source for measure in MEASURES.values() if measure.any_corpus}
"""Analyses that train a toy with the objective of a system; its model is not read."""


def measure_of(name: str) -> Measure:
    """A measure, or the unit of a derived cell."""
    return DERIVED[name] if name in DERIVED else MEASURES[name]
