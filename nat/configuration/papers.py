"""A paper: what `config/papers/*.yaml` may say, as typed models.

A paper names its systems once, as it prints them, and describes tables and figures as products:
each coordinate of a cell (system, task, decoding steps, measure ...) is one value or a list of
values, and lists are expanded to their product. This module does not depend on corpora, scales or
results; `nat.cells.paper` resolves the descriptions.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, Literal, Self, TypeAlias, TypeVar

from pydantic import (
    AfterValidator,
    ConfigDict,
    Discriminator,
    Field,
    PositiveInt,
    Tag,
    model_validator,
)

from nat import fields
from nat.fields import Seeds

Text = Annotated[str, Field(min_length=1)]


def _one_line(text: str) -> str:
    """Refuse a line break, which would break the row of a Markdown table; one at the end goes."""
    if "\n" in text.rstrip("\n"):
        raise ValueError("found a line break; write it in one line, or folded after '>-'")
    return text.rstrip("\n")


Line = Annotated[str, Field(min_length=1), AfterValidator(_one_line)]
Number = int | float
PartName = Annotated[str, Field(pattern=r"^\w+$", examples=["1", "2a"])]
"""Of a table or figure, as the wildcard `number` of the Snakefile takes it."""
DiagramName = Annotated[
    str, Field(pattern=r"^(figure|table) \d+$", examples=["figure 1", "table 2"])
]
Percent = Annotated[str, Field(pattern=r"^-?[0-9]+(\.[0-9]+)?%$", examples=["10%"])]
Scalar = str | int | float
Kind = TypeVar("Kind")
Several: TypeAlias = Kind | Annotated[list[Kind], Field(min_length=1)]
Relation = Literal["above", "below", "not_above", "not_below", "about"]
COORDINATES = (
    *("system", "task", "steps", "measure", "split"),
    *("decoding", "setting", "partner"),
)


class Model(fields.Model):
    """A mapping in a paper's file."""

    model_config = ConfigDict(populate_by_name=True)

    def coordinates(self) -> dict[str, Any]:
        """The coordinates that are given here, with the variables under `with`."""
        found = {key: getattr(self, key, None) for key in COORDINATES}
        found["with"] = dict(getattr(self, "variables", {}))
        return {key: value for key, value in found.items() if value is not None}


def _only(given: Model, kept: Collection[str], what: str) -> None:
    """Refuse keys that would have no effect.

    Args:
        given: the mapping with them.
        kept: the keys that have one here.
        what: it is.
    """
    for key, field in type(given).model_fields.items():
        if key not in kept and getattr(given, key) != field.default:
            raise ValueError(f"{what} has no use for '{field.alias or key}'; remove it")


def _without(given: Model, keys: Collection[str], what: str) -> None:
    """Refuse these keys, which would have no effect."""
    _only(given, type(given).model_fields.keys() - keys, what)


class Coordinates(Model):
    """At most one value for each coordinate; `with` sets variables of templates.

    `setting` is that of a latency, such as `cuda-1`, or of another measure that has one; `partner`
    is the autoregressive system of a total correlation.
    """

    system: Text | None = None
    task: Text | None = None
    steps: PositiveInt | None = None
    measure: Text | None = None
    split: Text | None = None
    decoding: Text | None = None
    setting: Text | None = None
    partner: Text | None = None
    variables: dict[str, Scalar] = Field({}, alias="with")


class Varied(Model):
    """One value or several for each coordinate; lists are expanded to their product.

    `label` is a template: `{system}`, `{task}`, `{steps}`, `{measure}` and the variables are
    replaced by their values. The default label consists of the values of the lists.
    """

    label: Line | None = None
    system: Several[Text] | None = None
    task: Several[Text] | None = None
    steps: Several[PositiveInt] | None = None
    measure: Several[Text] | None = None
    split: Several[Text] | None = None
    decoding: Several[Text] | None = None
    setting: Several[Text] | None = None
    partner: Several[Text] | None = None
    variables: dict[str, Several[Scalar]] = Field({}, alias="with")


class TaskSystem(Model):
    """What differs on one task."""

    system: Text | None = None
    decoding: Text | dict[str, Text] | None = None

    @model_validator(mode="after")
    def _by_steps(self) -> Self:
        for steps in self.decoding if isinstance(self.decoding, dict) else ():
            if steps != "n" and not re.fullmatch("[1-9][0-9]*", steps):
                raise ValueError(
                    f"decoding: '{steps}' is no number of steps; write one such as 4, or n for all "
                    "others"
                )
        return self


class System(TaskSystem):
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
    """A row or column that is computed from others of its table, named by their labels.

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
    def _one_of_them(self) -> "Derived":
        if sum(value is not None for value in self.operands.values()) != 1:
            raise ValueError(f"expected one of {', '.join(self.operands)}")
        if (self.reaching or self.short_of) and self.among is None:
            raise ValueError("reaching and short_of need 'among', the rows to choose from")
        if self.absolute and self.correlation is None:
            raise ValueError("'absolute' is for a correlation")
        return self

    @property
    def operands(self) -> dict[str, Any]:
        """The operands of each operation."""
        names = ("difference", "ratio", "mean", "correlation", "reaching", "short_of")
        return {name: getattr(self, name) for name in names}


class Row(Varied):
    """Rows of a table.

    Attributes:
        group: of the rows; by default the system, if the steps vary, or the group that the paper
            prints.
        baseline: label of the row to test against, or a system of the paper.
        quoted: rows of the published file that are only quoted, to be placed here.
        over: the row that relative measures, such as a share of parameters, are relative to.
        derived: from which other rows it is computed; needs a `label`.
        columns: labels of the columns in which these rows are run; the others stay blank.
        ours_only: whether the paper does not print these rows.
    """

    group: Annotated[str, AfterValidator(_one_line)] | None = None
    baseline: Text | None = None
    over: Text | None = None
    derived: Derived | None = None
    quoted: Annotated[list[Text], Field(min_length=1)] | None = None
    columns: Annotated[list[Text], Field(min_length=1)] | None = None
    ours_only: bool = False

    @model_validator(mode="after")
    def _nothing_idle(self) -> "Row":
        if self.quoted is not None:
            _only(self, ("quoted", "group"), "a row that is only quoted")
        if self.derived is not None:
            _only(self, ("derived", "label", "group", "ours_only"), "a derived row")
        return self


class Column(Varied):
    """Columns of a table.

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

    @model_validator(mode="after")
    def _nothing_idle(self) -> "Column":
        if self.derived is not None:
            _only(self, ("derived", "label", "hidden", "ours_only"), "a derived column")
        if self.hidden:
            _without(self, ("interval", "ours_only"), "a hidden column")
        return self


class Footnote(Model):
    """A note at a row's label, at a column's heading or, with both, at a cell."""

    row: Text | None = None
    column: Text | None = None
    text: Text

    @model_validator(mode="after")
    def _at_something(self) -> "Footnote":
        if self.row is None and self.column is None:
            raise ValueError("expected row, column or both; 'notes' are about the whole table")
        return self


class Grid(Model):
    """A table of rows against columns; a column may be just a task or a measure.

    Attributes:
        groups: new names of the row groups that the paper prints.
        baseline: baselines of systems in this table, instead of the usual ones.
    """

    kind: Literal["grid"] = "grid"
    title: Line
    cells: Coordinates = Coordinates()
    columns: Annotated[list[Text | Column], Field(min_length=1)]
    rows: Annotated[list[Row], Field(min_length=1)]
    groups: dict[str, str] = {}
    baseline: dict[str, Text] = {}
    footnotes: list[Footnote] = []
    notes: list[Text] = []


class Samples(Model):
    """Sentences of systems and their baselines."""

    kind: Literal["samples"]
    title: Line
    cells: Coordinates = Coordinates()
    rows: Annotated[list[Varied], Field(min_length=1)]
    notes: list[Text] = []


class TextRow(Varied):
    """A text in the file of an analysis.

    Attributes:
        key: of the text within the split, such as `examples.0.source`.
        group: of the rows.
        quoted: a row of the published file that is only quoted, to be placed here.
        ours_only: whether the paper does not print it.
    """

    key: Text | None = None
    group: Annotated[str, AfterValidator(_one_line)] = ""
    quoted: Text | None = None
    ours_only: bool = False

    @model_validator(mode="after")
    def _a_text_or_quoted(self) -> "TextRow":
        if (self.key is None) == (self.quoted is None):
            raise ValueError("expected either key or quoted")
        if self.quoted is not None:
            _only(self, ("quoted", "group"), "a row that is only quoted")
        return self


class Texts(Model):
    """Texts that analyses found, beside those that the paper prints."""

    kind: Literal["texts"]
    title: Line
    cells: Coordinates = Coordinates()
    rows: Annotated[list[TextRow], Field(min_length=1)]
    notes: list[Text] = []


class SettingColumn(Model):
    """A system whose settings are printed."""

    label: Line | None = None
    system: Text


class Setting(Model):
    """A key of the effective configuration, such as `recipe.learning_rate`.

    Attributes:
        names: how the paper names our values.
        times: devices, where the paper's value is per device.
    """

    label: Line
    key: Text
    names: dict[str, Text] = {}
    times: PositiveInt | None = None
    ours_only: bool = False


class Settings(Model):
    """A table of hyper-parameters; a column may be just a system."""

    kind: Literal["settings"]
    title: Line
    cells: Coordinates = Coordinates()
    columns: Annotated[list[Text | SettingColumn], Field(min_length=1)]
    rows: Annotated[list[Setting], Field(min_length=1)]
    notes: list[Text] = []


class Axis(Model):
    """The horizontal axis.

    Attributes:
        of: the coordinate (`steps`, `measure` ...) or variable that runs along it.
        values: its values, for series without their own.
        category: template of the names of categories.
        log: whether it is logarithmic.
        even: whether values are evenly spaced.
    """

    label: Line
    of: Text = "steps"
    values: Annotated[list[Scalar], Field(min_length=1)] | None = None
    category: Text | None = None
    log: bool = False
    even: bool = False

    @model_validator(mode="after")
    def _one_scale(self) -> "Axis":
        if self.log and self.even:
            raise ValueError("an axis is either 'log' or 'even'")
        return self


class Point(Coordinates):
    """A single point of a series."""

    x: Number | None = None
    category: Text | None = None


class Series(Varied):
    """Series of a figure.

    Attributes:
        style: `level` draws a single point as a horizontal line.
        points: instead of the values of the axis.
        over: a system; the difference from it is shown.
    """

    style: Literal["level"] | None = None
    points: Annotated[list[Point], Field(min_length=1)] | None = None
    over: Text | None = None

    @model_validator(mode="after")
    def _one_level(self) -> "Series":
        if self.style == "level" and self.points is not None and len(self.points) > 1:
            raise ValueError(f"a series of style level has one point, not {len(self.points)}")
        return self


class Chain(Varied):
    """A curve through trainings that start from each other, `chain`: systems in this order."""

    chain: Annotated[list[Text], Field(min_length=1)]

    @model_validator(mode="after")
    def _nothing_idle(self) -> "Chain":
        _without(self, ("system", "measure"), "a chain, which names its systems,")
        return self


class _Drawn(Model):
    title: Line
    cells: Coordinates = Coordinates()
    panels: Annotated[list[Text | Varied], Field(min_length=1)]
    notes: list[Text] = []

    @property
    def keys(self) -> dict[str, str]:
        """Keys in the file of the analysis that each panel shows; empty for a figure of cells.

        They are templates of the coordinates and variables of the panel, by the name under which
        they are given.
        """
        return {}


def _check_axis(x: Axis, series: Sequence[Series], kept: Collection[str], numbers: bool) -> None:
    """Refuse keys of an axis and of points that have no effect.

    Args:
        x: the axis.
        series: along it.
        kept: keys of the axis that this kind of figure reads.
        numbers: whether the axis has numbers, not names.
    """
    _only(x, kept, "the axis 'x' of this kind of figure")
    if series and all(each.points is not None for each in series):
        _without(x, ("of", "category"), "the axis 'x', since all series have 'points',")
    for each in series:
        if each.points is None:
            continue
        for point in each.points:
            _without(point, ["category" if numbers else "x"], "a point of this kind of figure")
        if x.of in each.variables or (x.of in COORDINATES and getattr(each, x.of) is not None):
            raise ValueError(
                f"a series with 'points' has no use for '{x.of}', which runs along the axis; "
                "remove it, or give it to the points"
            )


class Lines(_Drawn):
    """A measure over a number.

    `quotes` names tables, the most precise first, whose values of the paper's own runs are drawn
    beside our points for the same cells.

    Attributes:
        log: whether the vertical axis is logarithmic.
    """

    kind: Literal["lines"]
    x: Axis
    log: bool = False
    series: Annotated[list[Series], Field(min_length=1)]
    quotes: list[PositiveInt] = []

    @model_validator(mode="after")
    def _nothing_idle(self) -> "Lines":
        _check_axis(self.x, self.series, ("label", "of", "values", "log", "even"), numbers=True)
        return self


class Bars(_Drawn):
    """A measure in named categories; `quotes` as for lines."""

    kind: Literal["bars"]
    x: Axis
    series: Annotated[list[Series], Field(min_length=1)]
    quotes: list[PositiveInt] = []

    @model_validator(mode="after")
    def _nothing_idle(self) -> "Bars":
        _check_axis(self.x, self.series, ("label", "of", "values", "category"), numbers=False)
        return self


class Curves(_Drawn):
    """Validation BLEU over the updates of trainings."""

    kind: Literal["curves"]
    x: Axis
    series: Annotated[list[Chain], Field(min_length=1)]

    @model_validator(mode="after")
    def _nothing_idle(self) -> "Curves":
        _only(self.x, ("label",), "the axis 'x' of this kind of figure")
        return self


class Place(Coordinates):
    """Something that a claim refers to: a row or series of a table or figure, or a system.

    Attributes:
        of: its label; by default the system's, or the key of this entry.
        source: the table or figure, such as `table 3`; by default that of the claim.
    """

    of: Text | None = None
    source: Text | None = Field(None, alias="in")


Binding = Text | Place


class Case(Varied):
    """Cases of a claim; `where` defines the names that the claim uses."""

    source: Text | None = Field(None, alias="in")
    where: dict[str, Binding | Number] = {}


Compared = tuple[Text | Number, Relation, Text | Number]


class Trend(Model):
    """Places in order, each compared with the one before it."""

    of: list[Text | Varied] = []
    relation: Literal["rising", "falling", "flat"] = Field(alias="is")


class Largest(Model):
    """Of several places, the named one is the largest."""

    of: list[Text | Varied] = []
    relation: Text = Field(alias="is")


class Gains(Model):
    """Of what one system gains over another in several cases, the named gain is the largest."""

    system: Text
    over: Text
    of: Annotated[list[Case], Field(min_length=1)]
    relation: Text = Field(alias="is")


class Correlation(Model):
    """Pearson's r of two measures over systems, compared with zero and a margin."""

    of: Coordinates
    other: Coordinates = Field(alias="with")
    over: Annotated[list[Text], Field(min_length=3)]
    relation: Relation = Field(alias="is")


class Claim(Case):
    """What a paper claims, in our words, and the check that judges it.

    Its coordinates are those of its places. Values of lists, tasks of the table that it is `in`,
    and the items of `each` are cases that are judged separately. `label` names a case.

    Attributes:
        each: cases that do not form a product.
        margin: in the unit of the measure, or a percentage of the right side.
        majority: whether the comparison need only hold in more than half of the cases, which are
            then one judgement.
        over: of speed-ups the row or system that they are over.
    """

    claim: Line
    origin: Line = Field(alias="from")
    each: list[Case] = []
    margin: Number | Percent = 0
    majority: bool = False
    over: Text | None = None
    compare: Compared | None = None
    trend: Trend | None = None
    largest: Largest | None = None
    gains: Gains | None = None
    correlation: Correlation | None = None


class MeasuredAxis(Coordinates):
    """An axis along which a measure runs: the coordinates of its cells.

    Attributes:
        label: instead of the measure's name.
        log: whether it is logarithmic.
        ticks: the numbers that are written along it.
        over: a system; the speed-up over it, or the difference from it, is shown.
        column: of the quoted table, where quoted rows have their values.
    """

    label: Line | None = None
    log: bool = False
    ticks: Annotated[list[Number], Field(min_length=2)] | None = None
    over: Text | None = None
    column: Text | None = None


class Cloud(Varied):
    """Points of a scatter plot in one colour: one for each combination of the lists.

    Attributes:
        point: template of the names of the points, empty for none; without it, the values of the
            lists.
        joined: whether a line connects the points.
        quoted: rows of a quoted table that are only quoted.
    """

    point: str | None = None
    joined: bool = False
    quoted: Annotated[list[Text], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _nothing_idle(self) -> "Cloud":
        if self.quoted is not None:
            _only(self, ("quoted", "label", *COORDINATES), "a series of quoted rows")
        values = [*self.coordinates().values(), *self.variables.values()]
        if not any(isinstance(each, list) for each in values):
            _without(self, ("joined",), "a series of one point")
        return self


class Scatter(_Drawn):
    """One measure against another; `quotes` as for lines.

    Attributes:
        front: whether a line joins the points for which no other is lower on the horizontal axis
            and higher on the vertical one (Pareto front), such as of latency and quality.
    """

    kind: Literal["scatter"]
    x: MeasuredAxis
    y: MeasuredAxis
    series: Annotated[list[Cloud], Field(min_length=1)]
    quotes: list[PositiveInt] = []
    front: bool = False

    @model_validator(mode="after")
    def _nothing_idle(self) -> "Scatter":
        if all(each.quoted is None for each in self.series):
            for name in ("x", "y"):
                axis = getattr(self, name)
                _without(axis, ("column",), f"the axis '{name}', since no series is 'quoted',")
        return self


class Matrix(Model):
    """A matrix in the file of an analysis, by keys such as `map.cosines`, and its labels.

    Attributes:
        label: of the values; without it, the name of the measure.
        caption: key of a few words on what the panel shows, which stand beside its axis.
    """

    values: Text
    rows: Text
    columns: Text
    label: Line | None = None
    caption: Text | None = None

    @property
    def keys(self) -> dict[str, str]:
        """The keys by name."""
        found = {"rows": self.rows, "columns": self.columns, "values": self.values}
        return found | ({"caption": self.caption} if self.caption is not None else {})


class _Map(_Drawn):
    x: Axis
    series: list[Series] = []
    matrix: Matrix | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> "_Map":
        if bool(self.series) == (self.matrix is not None):
            raise ValueError("expected either series or matrix")
        for each in self.series:
            _without(each, ("style",), "a series of this kind of figure")
        return self

    @property
    def keys(self) -> dict[str, str]:
        """Keys in the file of the analysis, see `Lines.keys`."""
        return {} if self.matrix is None else self.matrix.keys


class HeatMap(_Map):
    """Values as colours: series against the axis, or a matrix of the analysis of each panel."""

    kind: Literal["heat_map"]

    @model_validator(mode="after")
    def _nothing_idle(self) -> "HeatMap":
        kept = ("label", "of", "values", "category") if self.series else ("label",)
        _check_axis(self.x, self.series, kept, numbers=False)
        return self


class Mark(Model):
    """A point with a name on a plane."""

    label: Line
    x: Number
    y: Number


class Contour(_Map):
    """A measure on a plane of two numbers, as lines of equal height.

    Attributes:
        y: the coordinate or variable that runs upwards, which the series give; the rows of a matrix
            are its values.
        points: named points of the plane, or the key in the analysis where they are.
    """

    kind: Literal["contour"]
    y: Axis
    points: Text | list[Mark] = []

    @model_validator(mode="after")
    def _points_of_an_analysis(self) -> "Contour":
        if isinstance(self.points, str) and self.matrix is None:
            raise ValueError("points: a key in an analysis needs a matrix of that analysis")
        return self

    @model_validator(mode="after")
    def _nothing_idle(self) -> "Contour":
        along = ("of",) if self.series else ()
        _only(self.y, ("label", "log", *along), "the axis 'y' of this kind of figure")
        values = ("values",) if self.series else ()
        _check_axis(self.x, self.series, ("label", "log", *along, *values), numbers=True)
        return self

    @property
    def keys(self) -> dict[str, str]:
        """Keys in the file of the analysis, see `Lines.keys`."""
        return super().keys | ({"points": self.points} if isinstance(self.points, str) else {})


class Alignment(_Drawn):
    """Two texts with lines between their positions, from the analysis of each panel.

    Attributes:
        first: key of the words of the text above.
        second: key of those below.
        links: key of the position in the second text of each position in the first, `null` for
            none; the position after the last word is the end of the text.
        captions: key of two lines that stand above the first text and below the second.
    """

    kind: Literal["alignment"]
    first: Text
    second: Text
    links: Text
    captions: Text | None = None

    @property
    def keys(self) -> dict[str, str]:
        """Keys in the file of the analysis, see `Lines.keys`."""
        found = {"first": self.first, "second": self.second, "links": self.links}
        return found | ({"captions": self.captions} if self.captions is not None else {})


class Steps(_Drawn):
    """A decoding pass by pass, from the analysis of each panel.

    Attributes:
        passes: key of a list with a mapping for each pass: `tokens`, those after the pass, `null`
            where none is chosen yet, and `predicted`, the positions that the pass chose.
        source: key of the words of the source.
        reference: key of those of the reference.
    """

    kind: Literal["steps"]
    passes: Text
    source: Text | None = None
    reference: Text | None = None

    @property
    def keys(self) -> dict[str, str]:
        """Keys in the file of the analysis, see `Lines.keys`."""
        texts = {"source": self.source, "reference": self.reference}
        return {"passes": self.passes} | {
            name: key for name, key in texts.items() if key is not None
        }


def _kind(*kinds: str) -> Discriminator:
    """Distinguishes descriptions by their key `kind`; the first kind is the default."""

    def branch(value: Any) -> str:
        found = value.get("kind") if isinstance(value, Mapping) else getattr(value, "kind", None)
        return f"<{found if found in kinds else kinds[0]}>"

    return Discriminator(branch)


Table = Annotated[
    Annotated[Grid, Tag("<grid>")]
    | Annotated[Samples, Tag("<samples>")]
    | Annotated[Texts, Tag("<texts>")]
    | Annotated[Settings, Tag("<settings>")],
    _kind("grid", "samples", "texts", "settings"),
]
Figure = Annotated[
    Annotated[Lines, Tag("<lines>")]
    | Annotated[Bars, Tag("<bars>")]
    | Annotated[Curves, Tag("<curves>")]
    | Annotated[Scatter, Tag("<scatter>")]
    | Annotated[HeatMap, Tag("<heat_map>")]
    | Annotated[Contour, Tag("<contour>")]
    | Annotated[Alignment, Tag("<alignment>")]
    | Annotated[Steps, Tag("<steps>")],
    _kind("lines", "bars", "curves", "scatter", "heat_map", "contour", "alignment", "steps"),
]


class Paper(Model):
    """One file of `config/papers`.

    Attributes:
        seeds: instead of those of the scale.
        cells: default coordinates.
        systems: under the names that the paper prints.
        where: names that claims use, such as `teacher`, and their meaning; `{system}` is the
            system of a case.
        diagrams: figures, and tables in words, that show no results, and what they show; they are
            not reproduced.
    """

    title: Line
    description: Text = ""
    seeds: Seeds | None = None
    cells: Coordinates = Coordinates()
    systems: dict[Text, System] = {}
    where: dict[str, Binding] = {}
    tables: dict[PartName, Table] = {}
    figures: dict[PartName, Figure] = {}
    diagrams: dict[DiagramName, Text] = {}
    claims: dict[str, Claim] = {}
