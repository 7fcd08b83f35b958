"""Typed models of the files of `config/papers`; docs/papers.md explains every key.

Tables, figures and claims are products: each coordinate of a cell is one value or a list of values.
This module depends on no corpus, scale or result.
"""

import re
from collections.abc import Collection, Sequence
from typing import Annotated, Any, Literal, Self, TypeAlias, TypeVar

from pydantic import AfterValidator, Field, PositiveInt, StringConstraints, model_validator

from nat.options import OneOf, Seeds, StrictModel, Text, hint

Kind = TypeVar("Kind")
Several: TypeAlias = Kind | Annotated[list[Kind], Field(min_length=1)]
Texts = Annotated[list[Text], Field(min_length=1)]
# without a line break, which would break the row of a Markdown table
OneLine = StringConstraints(strip_whitespace=True, pattern="^.*$")
Label = Annotated[Text, OneLine]
Number = int | float
# of a table or figure, as the wildcard `number` of the Snakefile takes it
PartName = Annotated[str, Field(pattern=r"^\w+$")]
# a number of decoding steps, or all others
Steps = Annotated[str, Field(pattern="^([1-9][0-9]*|n)$")]


class Coordinates(StrictModel):
    """One value or several for each coordinate; lists stand for their product.

    `variables`, under the key `with`, are what `{name}` stands for in templates.
    """

    system: Several[Text] | None = None
    task: Several[Text] | None = None
    steps: Several[PositiveInt] | None = None
    measure: Several[Text] | None = None
    split: Several[Text] | None = None
    decoding: Several[Text] | None = None
    setting: Several[Text] | None = None
    partner: Several[Text] | None = None
    variables: dict[str, Several[str | int | float]] = Field({}, alias="with")

    def given(self) -> dict[str, Any]:
        """The coordinates and variables that are given, by name."""
        values = {key: getattr(self, key) for key in COORDINATES}
        return {key: each for key, each in values.items() if each is not None} | self.variables


COORDINATES = [key for key in Coordinates.model_fields if key != "variables"]


def _single(given: Coordinates) -> Coordinates:
    for key, value in given.given().items():
        if isinstance(value, list):
            raise ValueError(f"'{key}' takes one value here, not a list")
    return given


Defaults = Annotated[Coordinates, AfterValidator(_single)]
"""Coordinates with one value each."""


class PrintedSystem(StrictModel):
    """A system as the paper prints it; names of systems and decodings are templates."""

    system: Text | None = None
    decoding: Text | dict[Steps, Text] | None = None
    like: Text | None = None
    baseline: Text | None = None
    draws: Annotated[list[int], Field(min_length=2)] | None = None
    tasks: dict[str, "PrintedSystem"] = {}


class Operation(OneOf):
    """Computation of a row or column from others of its table, named by their labels."""

    choices = ("difference", "ratio", "reduction", "mean", "correlation", "reaching", "short_of")

    difference: tuple[Text, Text] | None = None
    ratio: tuple[Text, Text] | None = None
    reduction: tuple[Text, Text] | None = None
    mean: Annotated[list[Text], Field(min_length=2)] | None = None
    correlation: Text | None = None
    over: Annotated[list[Text], Field(min_length=3)] | None = None
    absolute: bool = False
    reaching: Text | None = None
    short_of: Text | None = None
    among: Annotated[dict[Text, Text], Field(min_length=1)] | None = None


class Line(Coordinates):
    """Rows, columns, series, panels or points; `LINES` says which keys each of them has.

    Attributes:
        over: a row, of series a system, that numbers are relative to, or a template of the row's
            variables; of a measure that is not relative the difference from it is shown.
        key: of a text in the file of an analysis, or of a setting.
        point: template of the names of the points, empty for none; by default the varied values.
    """

    label: Label | None = None
    group: Annotated[str, OneLine] | None = None
    baseline: Text | None = None
    over: Text | None = None
    derived: Operation | None = None
    quoted: Texts | None = None
    columns: Texts | None = None
    ours_only: bool = False
    interval: bool = False
    hidden: bool = False
    key: Text | None = None
    names: dict[str, Text] = {}
    times: PositiveInt | None = None
    style: Literal["level"] | None = None
    points: Annotated[list["Line"], Field(min_length=1)] | None = None
    chain: Texts | None = None
    point: str | None = None
    joined: bool = False
    x: Number | None = None
    category: Text | None = None


LINES = {
    "rows": "group baseline over derived quoted columns ours_only key names times",
    "columns": "over derived ours_only interval hidden",
    "series": "over quoted style points chain point joined",
    "panels": "",
}
"""The keys of lines besides coordinates and label; points have `x` or `category`."""


class Axis(Coordinates):
    """An axis of a figure; in a scatter plot with the coordinates of its cells."""

    label: Label | None = None
    of: Text = "steps"
    values: Annotated[list[str | int | float], Field(min_length=1)] | None = None
    category: Text | None = None
    log: bool = False
    even: bool = False
    ticks: Annotated[list[Number], Field(min_length=2)] | None = None
    over: Text | None = None
    column: Text | None = None


class Footnote(StrictModel):
    """A note at a row's label, at a column's heading or, with both, at a cell."""

    row: Text | None = None
    column: Text | None = None
    text: Text


KINDS = {
    "grid": ("columns rows", "groups baseline footnotes"),
    "samples": ("rows", ""),
    "texts": ("rows", ""),
    "settings": ("columns rows", ""),
    "lines": ("panels series", "x log quotes"),
    "bars": ("panels series", "x quotes"),
    "curves": ("panels series", "x"),
    "scatter": ("panels series", "x y quotes front"),
    "heat_map": ("panels analysis values rows columns", "x colours caption"),
    "contour": ("panels analysis values rows columns", "x y colours caption points"),
    "alignment": ("panels analysis first second links", "captions"),
    "steps": ("panels analysis passes", "source reference"),
}
"""The keys that each kind of table or figure, or its `analysis`, must have, and may have."""


class PaperPart(StrictModel):
    """A table or figure; of `quotes`, tables with the same cells, the most precise is first."""

    title: Label
    kind: str
    cells: Defaults = Coordinates()
    notes: list[Text] = []
    columns: list[Text | Line] = []
    rows: list[Line] = []
    groups: dict[str, str] = {}
    baseline: dict[str, Text] = {}
    footnotes: list[Footnote] = []
    panels: list[Text | Line] = []
    series: list[Line] = []
    x: Axis = Axis()
    y: Axis = Axis()
    log: bool = False
    quotes: list[PositiveInt] = []
    front: bool = False
    analysis: dict[str, Text] = {}
    colours: Label | None = None

    @model_validator(mode="after")
    def _of_its_kind(self) -> Self:
        required, optional = (keys.split() for keys in KINDS[self.kind])
        given = [key for key in self.model_fields_set if getattr(self, key)]
        shared = ["title", "kind", "cells", "notes"]
        _only(f"kind '{self.kind}'", [*given, *self.analysis], [*shared, *required, *optional])
        for key in required:
            if key not in given and key not in self.analysis:
                raise ValueError(f"missing key '{key}'")
        for place, keys in LINES.items():
            its = [*Coordinates.model_fields, "label", *keys.split()]
            for number, line in enumerate(getattr(self, place)):
                if isinstance(line, Line):
                    _only(f"'{place}.{number}'", line.model_fields_set, its)
        return self


def _only(what: str, given: Collection[str], known: Sequence[str]) -> None:
    for key in given:
        if key not in known:
            raise ValueError(f"{what} has no key '{key}'; {hint(key, known)}")


class TablePart(PaperPart):
    """A table of numbers, of sample sentences, of texts of analyses, or of settings."""

    kind: Literal["grid", "samples", "texts", "settings"] = "grid"


class FigurePart(PaperPart):
    """A figure of cells, or of parts of an analysis."""

    kind: Literal["lines", "bars", "curves", "scatter", "heat_map", "contour", "alignment", "steps"]


class Side(Coordinates):
    """Referent of a name in a claim: the label of a row, series or point, or a system."""

    of: Text | None = None
    source: Text | None = Field(None, alias="in")


class Case(Coordinates):
    """Cases of a claim; `where` says what names stand for, `source` in which table or figure."""

    label: Label | None = None
    source: Text | None = Field(None, alias="in")
    where: dict[str, Text | Number | Side] = {}


class Largest(StrictModel):
    """Of several cells, the named one is the largest."""

    of: list[Text | Case] = []
    relation: Text = Field(alias="is")


class Trend(Largest):
    """Cells in order, each compared with the one before it."""

    relation: Literal["rising", "falling", "flat"] = Field(alias="is")


class Gains(StrictModel):
    """Of what one system gains over another in several cases, the named gain is the largest."""

    system: Text
    over: Text
    of: Annotated[list[Case], Field(min_length=1)]
    relation: Text = Field(alias="is")


class Correlation(StrictModel):
    """Pearson's r of two measures over systems, compared with zero and a margin."""

    of: Defaults
    other: Defaults = Field(alias="with")
    over: Annotated[list[Text], Field(min_length=3)]
    relation: Literal["above", "below", "not_above", "not_below", "about"] = Field(alias="is")


_COMPARISON = r"(.+?) (>=|<=|>|<|~) (.+?)(?: ([+-]|±) ([0-9.]+%?))?"
_RELATIONS = {">": "above", "<": "below", "<=": "not_above", ">=": "not_below", "~": "about"}


class Claim(Case, OneOf):
    """Claim of a paper, in our words, and the check that judges it.

    Values of lists, tasks of the table that it is in, and the items of `each` are cases that are
    judged separately; with `majority`, the comparison need hold in more than half of them only.

    `compare` is such as `A >= B - 0.5` or `A ~ B ± 10%`.
    """

    choices = ("compare", "trend", "largest", "gains", "correlation")

    claim: Label
    origin: Label = Field(alias="from")
    each: list[Case] = []
    compare: Annotated[str, Field(pattern=f"^{_COMPARISON}$")] | None = None
    margin: Number = 0
    majority: bool = False
    over: Text | None = None
    trend: Trend | None = None
    largest: Largest | None = None
    gains: Gains | None = None
    correlation: Correlation | None = None

    @property
    def comparison(self) -> tuple[str, str, str, str]:
        """The parts of `compare`.

        Left, relation, right and margin, which with a percent sign is a share of the right side:
        left - right is `above` (> margin), `below` (< -margin), `not_above` (<= margin),
        `not_below` (>= -margin) or `about` (at most the margin apart).
        """
        parts = re.fullmatch(_COMPARISON, self.compare or "")
        assert parts is not None
        left, sign, right, direction, margin = parts.groups("")
        added = "+" if sign in (">", "<=") else "-"
        opposite = direction not in ("", "±", added)
        return left, _RELATIONS[sign], right, f"{'-' * opposite}{margin or 0}"


class Paper(StrictModel):
    """One file of `config/papers`; `where` says what names in all of its claims stand for."""

    title: Label
    description: Text = ""
    seeds: Seeds | None = None
    cells: Defaults = Coordinates()
    systems: dict[Text, PrintedSystem] = {}
    where: dict[str, Text | Number | Side] = {}
    tables: dict[PartName, TablePart] = {}
    figures: dict[PartName, FigurePart] = {}
    diagrams: dict[Text, Text] = {}
    claims: dict[str, Claim] = {}
