"""What a file of `config/papers` may say, as typed models.

A paper names its systems once, as it prints them, and describes tables, figures and claims as
products: each coordinate of a cell (system, task, decoding steps, measure ...) is one value or a
list of values. `nat.papers.relation` expands the products. This module depends on no corpus, scale
or result.
"""

import re
from collections.abc import Collection
from typing import Annotated, Any, Literal, NamedTuple, Self, TypeAlias, TypeVar

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    PositiveInt,
    model_validator,
)

from nat.options import Seeds, StrictModel, Text


def _one_line(text: str) -> str:
    """Refuse a line break, which would break the row of a Markdown table; one at the end goes."""
    if "\n" in text.rstrip("\n"):
        raise ValueError("found a line break; write it in one line, or folded after '>-'")
    return text.rstrip("\n")


Label = Annotated[Text, AfterValidator(_one_line)]
Group = Annotated[str, AfterValidator(_one_line)]
Number = int | float
PartName = Annotated[str, Field(pattern=r"^\w+$", examples=["1", "2a"])]
"""Of a table or figure, as the wildcard `number` of the Snakefile takes it."""
DiagramName = Annotated[
    str, Field(pattern=r"^(figure|table) \d+$", examples=["figure 1", "table 2"])
]
Scalar = str | int | float
Steps = Annotated[str, Field(pattern="^([1-9][0-9]*|n)$", examples=["4", "n"])]
"""A number of decoding steps, or all others."""
Kind = TypeVar("Kind")
Several: TypeAlias = Kind | Annotated[list[Kind], Field(min_length=1)]
COORDINATES = (
    *("system", "task", "steps", "measure", "split"),
    *("decoding", "setting", "partner"),
)


class Model(StrictModel):
    """A mapping in a paper's file."""

    model_config = ConfigDict(populate_by_name=True)


class Coordinates(Model):
    """One value or several for each coordinate; lists stand for their product.

    Attributes:
        setting: of a latency, such as `cuda-1`, or of another measure that has one.
        partner: the autoregressive system of a total correlation.
        variables: what `{name}` stands for in templates, under the key `with`.
    """

    system: Several[Text] | None = None
    task: Several[Text] | None = None
    steps: Several[PositiveInt] | None = None
    measure: Several[Text] | None = None
    split: Several[Text] | None = None
    decoding: Several[Text] | None = None
    setting: Several[Text] | None = None
    partner: Several[Text] | None = None
    variables: dict[str, Several[Scalar]] = Field({}, alias="with")

    def given(self) -> dict[str, Any]:
        """The coordinates and variables that are given, by name."""
        found = {key: getattr(self, key) for key in COORDINATES}
        return {key: each for key, each in found.items() if each is not None} | self.variables


def _single(given: Coordinates) -> Coordinates:
    for key, value in given.given().items():
        if isinstance(value, list):
            raise ValueError(f"'{key}' takes one value here, not a list")
    return given


Defaults = Annotated[Coordinates, AfterValidator(_single)]
"""Coordinates with one value each."""


class Labelled(Coordinates):
    """Coordinates with a label, a template; by default the system and the values of the lists."""

    label: Label | None = None


class TaskSystem(Model):
    """What differs on one task."""

    system: Text | None = None
    decoding: Text | dict[Steps, Text] | None = None


class PrintedSystem(TaskSystem):
    """A system as the paper prints it.

    Attributes:
        like: another system of the paper, from which missing keys are inherited.
        system: of config/systems, a name or a template such as `cmlm-{text}`.
        decoding: how it is decoded: a name, a template such as `mask-predict-{steps}-lb5`, or one
            for each number of steps, with `n` for all others.
        baseline: the system of the paper that it is tested against, in tables that show both.
        draws: seeds of a random decoding, which replace `{draw}` in its name; the result is the
            mean over them.
        tasks: what differs on a task.
    """

    like: Text | None = None
    baseline: Text | None = None
    draws: Annotated[list[int], Field(min_length=2)] | None = None
    tasks: dict[str, TaskSystem] = {}


class Derived(Model):
    """How a row or column is computed from others of its table, named by their labels.

    Attributes:
        difference: the first minus the second.
        ratio: the first over the second.
        mean: of these.
        correlation: Pearson's r of each column with this one, over rows (for rows only).
        over: the rows of a correlation; without it, all that are run.
        absolute: whether |r| is shown instead of r.
        reaching: of the rows `among`, what belongs to the first that is not below this one (for
            rows only).
        short_of: what belongs to the row before that one.
        among: rows in order, and the row with what belongs to each.
    """

    difference: tuple[Text, Text] | None = None
    ratio: tuple[Text, Text] | None = None
    mean: Annotated[list[Text], Field(min_length=2)] | None = None
    correlation: Text | None = None
    over: Annotated[list[Text], Field(min_length=3)] | None = None
    absolute: bool = False
    reaching: Text | None = None
    short_of: Text | None = None
    among: Annotated[dict[Text, Text], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _one_operation(self) -> Self:
        names = ("difference", "ratio", "mean", "correlation", "reaching", "short_of")
        given = [name for name in names if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"expected one of {', '.join(names)}")
        if given[0] in ("reaching", "short_of") and self.among is None:
            raise ValueError(f"'{given[0]}' needs 'among', the rows to choose from")
        return self


class Row(Labelled):
    """Rows of a table; which keys a kind of table has says `ROWS`.

    Attributes:
        group: of the rows; by default the system, if the steps vary, or the group that the paper
            prints.
        baseline: label of the row to test against, or a system of the paper.
        quoted: rows of the published file that are only quoted, to be placed here.
        over: the row that relative measures, such as a share of parameters, are relative to.
        derived: from which other rows it is computed; needs a `label`.
        columns: labels of the columns in which these rows are run; the others stay blank.
        ours_only: whether the paper does not print these rows.
        key: of a text in the file of an analysis, such as `examples.0.source`, or of a setting in
            the effective configuration, such as `recipe.learning_rate`.
        names: how the paper names our values of a setting.
        times: devices, where the paper's value of a setting is per device.
    """

    group: Group | None = None
    baseline: Text | None = None
    over: Text | None = None
    derived: Derived | None = None
    quoted: Annotated[list[Text], Field(min_length=1)] | None = None
    columns: Annotated[list[Text], Field(min_length=1)] | None = None
    ours_only: bool = False
    key: Text | None = None
    names: dict[str, Text] = {}
    times: PositiveInt | None = None


class Column(Labelled):
    """Columns of a table; just a name stands for a task, a measure or, of settings, a system.

    Attributes:
        interval: whether the bootstrap interval is shown.
        over: a row; the difference of each row from it is shown, or the ratio for a speed-up. In a
            template such as `AT, {device}`, the variables are those of each row.
        derived: from which other columns it is computed; needs a `label`.
        hidden: whether these columns are only there to derive others.
        ours_only: whether the paper does not print these columns.
    """

    interval: bool = False
    over: Text | None = None
    derived: Derived | None = None
    hidden: bool = False
    ours_only: bool = False


class Footnote(Model):
    """A note at a row's label, at a column's heading or, with both, at a cell."""

    row: Text | None = None
    column: Text | None = None
    text: Text

    @model_validator(mode="after")
    def _at_something(self) -> Self:
        if self.row is None and self.column is None:
            raise ValueError("expected row, column or both; 'notes' are about the whole table")
        return self


class Axis(Coordinates):
    """An axis of a figure; in a scatter plot with the coordinates of its cells.

    Attributes:
        label: of the axis; in a scatter plot by default the measure's.
        of: the coordinate (`steps`, `measure` ...) or variable that runs along it.
        values: its values, for series without their own.
        category: template of the names of categories.
        log: whether it is logarithmic.
        even: whether values are evenly spaced.
        ticks: the numbers that are written along it.
        over: a system; the speed-up over it, or the difference from it, is shown.
        column: of the quoted table, where quoted rows have their values.
    """

    label: Label | None = None
    of: Text = "steps"
    values: Annotated[list[Scalar], Field(min_length=1)] | None = None
    category: Text | None = None
    log: bool = False
    even: bool = False
    ticks: Annotated[list[Number], Field(min_length=2)] | None = None
    over: Text | None = None
    column: Text | None = None


class Point(Coordinates):
    """A single point of a series, at a number or a category of the axis."""

    x: Number | None = None
    category: Text | None = None


class Series(Labelled):
    """Series of a figure.

    Attributes:
        style: `level` draws a single point as a horizontal line.
        points: instead of the values of the axis.
        over: a system; the difference from it is shown.
        chain: of a curve: systems whose trainings start from each other, in this order.
        point: of a scatter plot: template of the names of the points, empty for none; without it,
            the values of the lists.
        joined: of a scatter plot: whether a line connects the points.
        quoted: of a scatter plot: rows of a quoted table that are only quoted.
    """

    style: Literal["level"] | None = None
    points: Annotated[list[Point], Field(min_length=1)] | None = None
    over: Text | None = None
    chain: Annotated[list[Text], Field(min_length=1)] | None = None
    point: str | None = None
    joined: bool = False
    quoted: Annotated[list[Text], Field(min_length=1)] | None = None


class Matrix(Model):
    """A matrix in the file of an analysis, by keys such as `map.cosines`, and its labels.

    Attributes:
        label: of the values; without it, the name of the measure.
        caption: key of a few words on what the panel shows, which stand beside its axis.
    """

    values: Text
    rows: Text
    columns: Text
    label: Label | None = None
    caption: Text | None = None


class Mark(Model):
    """A point with a name on a plane."""

    label: Label
    x: Number
    y: Number


class Report(Model):
    """What tables and figures have in common."""

    title: Label
    cells: Defaults = Coordinates()
    notes: list[Text] = []


def _only(report: Report, kinds: dict[str, Collection[str]]) -> None:
    """Refuse keys that this kind of table or figure does not have."""
    kind = str(getattr(report, "kind", ""))
    for key in report.model_fields_set - {"kind", *Report.model_fields, *kinds[kind]}:
        raise ValueError(f"kind '{kind}' has no key '{key}'; it has {', '.join(kinds[kind])}")


TABLES: dict[str, Collection[str]] = {
    "grid": ("columns", "rows", "groups", "baseline", "footnotes"),
    "samples": ("rows",),
    "texts": ("rows",),
    "settings": ("columns", "rows"),
}
"""The keys of each kind of table."""


class Table(Report):
    """A table of rows against columns, of sample sentences, of texts of analyses, or of settings.

    Attributes:
        groups: new names of the row groups that the paper prints.
        baseline: baselines of systems in this table, instead of the usual ones.
    """

    kind: Literal["grid", "samples", "texts", "settings"] = "grid"
    columns: list[Text | Column] = []
    rows: Annotated[list[Row], Field(min_length=1)]
    groups: dict[str, str] = {}
    baseline: dict[str, Text] = {}
    footnotes: list[Footnote] = []

    @model_validator(mode="after")
    def _of_its_kind(self) -> Self:
        _only(self, TABLES)
        if "columns" in TABLES[self.kind] and not self.columns:
            raise ValueError("missing key 'columns'")
        return self


FIGURES: dict[str, Collection[str]] = {
    "lines": ("panels", "x", "log", "series", "quotes"),
    "bars": ("panels", "x", "series", "quotes"),
    "curves": ("panels", "x", "series"),
    "scatter": ("panels", "x", "y", "series", "quotes", "front"),
    "heat_map": ("panels", "x", "series", "matrix"),
    "contour": ("panels", "x", "y", "series", "matrix", "points"),
    "alignment": ("panels", "first", "second", "links", "captions"),
    "steps": ("panels", "passes", "source", "reference"),
}
"""The keys of each kind of figure."""
NUMBERED = ("lines", "contour")
"""Kinds whose horizontal axis has numbers; that of the others has names."""


class Figure(Report):
    """A figure.

    Attributes:
        x: the horizontal axis.
        y: the vertical axis of a scatter plot or a contour map.
        log: whether the vertical axis of lines is logarithmic.
        quotes: tables, the most precise first, whose values of the paper's own runs are drawn
            beside our points for the same cells.
        front: whether a line joins the points of a scatter plot for which no other is lower on the
            horizontal axis and higher on the vertical one (Pareto front).
        matrix: of the analysis of each panel, instead of series.
        points: named points of a contour map, or the key in the analysis where they are.
        first: of an alignment, key of the words of the text above.
        second: key of those below.
        links: key of the position in the second text of each position in the first, `null` for
            none; the position after the last word is the end of the text.
        captions: key of two lines that stand above the first text and below the second.
        passes: of decoding steps, key of a list with a mapping for each pass: `tokens`, those after
            the pass, `null` where none is chosen yet, and `predicted`, the positions that the pass
            chose.
        source: key of the words of the source.
        reference: key of those of the reference.
    """

    kind: Literal["lines", "bars", "curves", "scatter", "heat_map", "contour", "alignment", "steps"]
    panels: Annotated[list[Text | Labelled], Field(min_length=1)]
    x: Axis = Axis()
    y: Axis = Axis()
    log: bool = False
    series: list[Series] = []
    quotes: list[PositiveInt] = []
    front: bool = False
    matrix: Matrix | None = None
    points: Text | list[Mark] = []
    first: Text | None = None
    second: Text | None = None
    links: Text | None = None
    captions: Text | None = None
    passes: Text | None = None
    source: Text | None = None
    reference: Text | None = None

    @model_validator(mode="after")
    def _of_its_kind(self) -> Self:
        _only(self, FIGURES)
        shows_analyses = self.matrix is not None or self.kind in ("alignment", "steps")
        if bool(self.series) == shows_analyses:
            raise ValueError(
                "expected series" + (" or matrix" if "matrix" in FIGURES[self.kind] else "")
            )
        for key in ("first", "second", "links") if self.kind == "alignment" else ():
            if getattr(self, key) is None:
                raise ValueError(f"missing key '{key}'")
        if self.kind == "steps" and self.passes is None:
            raise ValueError("missing key 'passes'")
        if isinstance(self.points, str) and self.matrix is None:
            raise ValueError("points: a key in an analysis needs a matrix of that analysis")
        return self

    @property
    def keys(self) -> dict[str, str]:
        """Keys in the file of the analysis that each panel shows; empty for a figure of cells.

        They are templates of the coordinates and variables of the panel, by the name under which
        they are given.
        """
        names = ("first", "second", "links", "captions", "passes", "source", "reference")
        found = {name: getattr(self, name) for name in names}
        if self.matrix is not None:
            found |= {name: getattr(self.matrix, name) for name in ("rows", "columns", "values")}
            found |= {"caption": self.matrix.caption}
        found |= {"points": self.points if isinstance(self.points, str) else None}
        return {name: key for name, key in found.items() if key is not None}


class Side(Coordinates):
    """What a name in a claim stands for: a row or series of a table or figure, or a system.

    Attributes:
        of: its label; by default the system's, or the name itself.
        source: the table or figure, such as `table 3`; by default that of the claim.
    """

    of: Text | None = None
    source: Text | None = Field(None, alias="in")


class Case(Labelled):
    """Cases of a claim; `where` says what the names in the claim stand for.

    Attributes:
        source: the table or figure that the names are of, under the key `in`; by default the first
            that `from` names, and nothing for `null`.
    """

    source: Text | None = Field(None, alias="in")
    where: dict[str, Text | Number | Side] = {}


class Trend(Model):
    """Cells in order, each compared with the one before it."""

    of: list[Text | Case] = []
    relation: Literal["rising", "falling", "flat"] = Field(alias="is")


class Largest(Model):
    """Of several cells, the named one is the largest."""

    of: list[Text | Case] = []
    relation: Text = Field(alias="is")


class Gains(Model):
    """Of what one system gains over another in several cases, the named gain is the largest."""

    system: Text
    over: Text
    of: Annotated[list[Case], Field(min_length=1)]
    relation: Text = Field(alias="is")


class Correlation(Model):
    """Pearson's r of two measures over systems, compared with zero and a margin."""

    of: Defaults
    other: Defaults = Field(alias="with")
    over: Annotated[list[Text], Field(min_length=3)]
    relation: Literal["above", "below", "not_above", "not_below", "about"] = Field(alias="is")


class Comparison(NamedTuple):
    """Two names, or a name and a number, and where their difference lies.

    Attributes:
        relation: `above`: left - right > margin; `below`: < -margin; `not_above`: <= margin;
            `not_below`: >= -margin; `about`: at most the margin apart.
        margin: in the unit of the measure or, with a percent sign, a share of the right side.
    """

    left: str
    relation: str
    right: str
    margin: str


_COMPARISON = re.compile(r"(.+?) (>=|<=|>|<|~) (.+?)(?: ([+-]|±) ([0-9.]+%?))?")
_RELATIONS = {
    ">": ("above", "+"),
    "<": ("below", "-"),
    "<=": ("not_above", "+"),
    ">=": ("not_below", "-"),
    "~": ("about", "±"),
}
"""Relations by their sign, and the sign of a positive margin."""


def _comparison(text: str) -> str:
    if not _COMPARISON.fullmatch(text):
        raise ValueError("expected two names and a sign, such as 'A >= B - 0.5' or 'A ~ B ± 10%'")
    return text


CHECKS = ("compare", "trend", "largest", "gains", "correlation")
"""The kinds of checks of a claim."""


class Claim(Case):
    """What a paper claims, in our words, and the check that judges it.

    Its coordinates are those of its cells. Values of lists, tasks of the table that it is `in`, and
    the items of `each` are cases that are judged separately. `label` names a case.

    Attributes:
        origin: where the paper claims it.
        each: cases that do not form a product.
        compare: two names, or a name and a number, and a sign between them; a tolerance or a number
            of points, or a percentage of the right side, is added to the right side.
        margin: of a correlation, its least size.
        majority: whether the comparison need only hold in more than half of the cases, which are
            then one judgement.
        over: of speed-ups the row or system that they are over.
    """

    claim: Label
    origin: Label = Field(alias="from")
    each: list[Case] = []
    compare: Annotated[Text, AfterValidator(_comparison)] | None = None
    margin: Number = 0
    majority: bool = False
    over: Text | None = None
    trend: Trend | None = None
    largest: Largest | None = None
    gains: Gains | None = None
    correlation: Correlation | None = None

    @model_validator(mode="after")
    def _one_check(self) -> Self:
        if sum(getattr(self, check) is not None for check in CHECKS) != 1:
            raise ValueError(f"expected one of {', '.join(CHECKS)}")
        return self

    @property
    def check(self) -> str:
        """The kind of its check."""
        return next(check for check in CHECKS if getattr(self, check) is not None)

    @property
    def comparison(self) -> Comparison:
        """What `compare` says."""
        found = _COMPARISON.fullmatch(self.compare or "")
        assert found is not None
        left, sign, right, direction, margin = found.groups()
        relation, positive = _RELATIONS[sign]
        opposite = "" if direction in (None, positive) else "-"
        return Comparison(left, relation, right, f"{opposite}{margin or 0}")


class Paper(Model):
    """One file of `config/papers`.

    Attributes:
        seeds: instead of those of the scale.
        cells: default coordinates.
        systems: under the names that the paper prints.
        where: names that claims use, such as `teacher`, and what they stand for; `{system}` is the
            system of a case.
        diagrams: figures, and tables in words, that show no results, and what they show; they are
            not reproduced.
    """

    title: Label
    description: Text = ""
    seeds: Seeds | None = None
    cells: Defaults = Coordinates()
    systems: dict[Text, PrintedSystem] = {}
    where: dict[str, Text | Number | Side] = {}
    tables: dict[PartName, Table] = {}
    figures: dict[PartName, Figure] = {}
    diagrams: dict[DiagramName, Text] = {}
    claims: dict[str, Claim] = {}

    def part(self, report: str) -> Table | Figure | None:
        """The table or figure of a name such as `table 3`."""
        kind, _, number = report.partition(" ")
        found: Table | Figure | None = {
            "table": self.tables.get(number),
            "figure": self.figures.get(number),
        }.get(kind)
        return found
