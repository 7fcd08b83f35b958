"""The places of tables, row by row, with their published values."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from nat.cells.coordinates import flat, merged, no_repetition, product
from nat.cells.entry import DERIVED, DERIVED_MEASURES, Derivation, Entry
from nat.cells.known_measures import MEASURES, SCORE
from nat.cells.resolver import Line, Resolver, describe, no_conflict, variables
from nat.configuration import Configuration
from nat.configuration import papers as models
from nat.errors import UserError
from nat.published import published
from nat.spelling import hint

TEACHER, STUDENT = "teacher", "student"
TEXT = "text"
"""The only column of a table of texts."""


def entries(configuration: Configuration, paper: str, number: str | int) -> list[Entry]:
    """The places of a table, row by row; a table of settings has none.

    Raises:
        UserError: as `nat.cells.paper.entries`.
    """
    description = describe(configuration, paper, "table", number)
    resolver = Resolver(configuration, paper, f"tables.{number}")
    if isinstance(description, models.Grid):
        return _grid(resolver, description, str(number))
    if isinstance(description, models.Samples):
        return _samples(resolver, description)
    if isinstance(description, models.Texts):
        return _texts(resolver, description, str(number))
    return []


def _grid(resolver: Resolver, description: models.Grid, number: str) -> list[Entry]:
    rows, columns, places = grid(resolver, description, number)
    found: dict[tuple[str, str], Entry] = {}
    for row in rows:
        for column in columns:
            if row.derived is None and column.derived is None:
                found[row.label, column.label] = _cell(resolver, description, rows, row, column)
    for given in description.rows:
        for line in resolver.lines([given], "rows") if given.quoted is None else ():
            shown = [each for (label, _), each in found.items() if label == line.label]
            resolver.check_used(line, shown, "rows", variables(given.label))
    for heading in description.columns:
        seen = [] if isinstance(heading, str) else variables(heading.label)
        for line in resolver.lines([heading], "columns"):
            shown = [each for (_, label), each in found.items() if label == line.label]
            resolver.check_used(line, shown, "columns", seen)
    resolver.check_used(Line("cells", description.cells.coordinates()), [*found.values()], "cells")
    for row in rows:
        measures = [each.measure for (label, _), each in found.items() if label == row.label]
        if row.over is not None and not any(MEASURES[each].relative for each in measures):
            raise UserError(
                f"{resolver.where}.rows: key 'over' of '{row.label}': no measure of the row is "
                "relative to another row; for differences give a column the key 'over'"
            )
    # Derived columns first: a derived row may be made of them too.
    for row, column in itertools.product(rows, columns):
        if row.derived is None and column.derived is not None:
            found[row.label, column.label] = _derived(resolver, rows, columns, row, column, found)
    for row, column in itertools.product(rows, columns):
        if row.derived is not None:
            found[row.label, column.label] = _derived(resolver, rows, columns, row, column, found)
    return [
        replace(found[row.label, column.label], published=places.get((row.label, column.label)))
        for row, column in itertools.product(rows, columns)
    ]


def _cell(
    resolver: Resolver, description: models.Grid, rows: Sequence[Line], row: Line, column: Line
) -> Entry:
    """A place that is measured, or only quoted."""
    label = f"row '{row.label}', column '{column.label}'"
    no_conflict(resolver, row.chosen, column.chosen, label)
    levels = description.cells.coordinates(), column.chosen
    names = {"row": row.label, "column": column.label, "group": row.group or ""}
    blank = row.quoted or (row.columns is not None and column.label not in row.columns)
    here = merged(*levels, row.chosen, {"system": None} if blank else {})
    entry = resolver.entry(here, label, **names, baseline=row.baseline)
    relative = MEASURES[entry.measure].relative
    over, key, owner = column.over, "columns", column
    of_row = row.over is not None and relative
    if of_row:
        over, key, owner = row.over, "rows", row
    if over is None and relative:
        raise UserError(f"{resolver.where}.columns: '{column.label}' leaves the key 'over' open")
    if over is None or blank:
        return entry
    over = resolver.coordinate(over, here)
    other = next((each for each in rows if each.label == over), None)
    if other is None or other.quoted or other.derived is not None:
        known = [each.label for each in rows if not each.quoted and each.derived is None]
        raise UserError(
            f"{resolver.where}.{key}: key 'over' of '{owner.label}': '{over}' is not a "
            f"row that is run; {hint(over, known)}"
        )
    same = {"measure": entry.measure} if of_row else {}
    subtracted = resolver.entry(merged(*levels, other.chosen, same), label, **names)
    return replace(entry, over=subtracted.cells, over_address=subtracted.address, baseline="")


def _derived(
    resolver: Resolver,
    rows: Sequence[Line],
    columns: Sequence[Line],
    row: Line,
    column: Line,
    found: Mapping[tuple[str, str], Entry],
) -> Entry:
    """A place that is computed from others."""
    of_row = row.derived is not None
    derived = row.derived or column.derived
    assert derived is not None
    where = f"{resolver.where}.{'rows' if of_row else 'columns'}: key 'derived'"
    operation, named = next(item for item in derived.operands.items() if item[1] is not None)
    if operation not in ("difference", "ratio", "mean") and not of_row:
        raise UserError(f"{where}: '{operation}' is for rows, not for columns")
    if derived.among is not None:
        among = [label for pair in derived.among.items() for label in pair]
        places = [(label, column.label) for label in (named, *among)]
    elif operation == "correlation":
        known = [each.label for each in rows if not each.quoted and each.derived is None]
        over = derived.over or known
        places = [(label, each) for label in over for each in (column.label, named)]
    elif of_row:
        places = [(label, column.label) for label in named]
    else:
        places = [(row.label, label) for label in named]
    for place in places:
        if place not in found:
            label, labels = place[1], [each.label for each in columns]
            if (place[0], columns[0].label) not in found and of_row:
                label, labels = place[0], [each.label for each in rows]
            if label in labels:
                raise UserError(
                    f"{where}: '{label}' must stand before "
                    f"'{row.label if of_row else column.label}', which is computed from it"
                )
            raise UserError(f"{where}: '{label}' is not in the table; {hint(label, labels)}")
    if derived.absolute:
        operation = f"absolute_{operation}"
    first = found[places[0]]
    shown = first if derived.among is None else found[places[2]]
    return Entry(
        row=row.label,
        column=column.label,
        group=row.group or "",
        task=first.task,
        measure=operation if operation in DERIVED_MEASURES else shown.measure,
        cells=(),
        published=None,
        stand_in="",
        reason=DERIVED,
        baseline="",
        derived=Derivation(operation, tuple(places)),
    )


def grid(
    resolver: Resolver, description: models.Grid, number: str
) -> tuple[list[Line], list[Line], published.Places]:
    """Rows, columns and published values of a table."""
    columns = []
    for each in description.columns:
        column = models.Column() if isinstance(each, str) else each
        columns += [
            replace(
                line,
                printed=None if column.hidden else not column.ours_only,
                over=column.over,
                derived=column.derived,
                hidden=column.hidden,
            )
            for line in resolver.lines([each], "columns")
        ]
    no_repetition([column.label for column in columns], f"{resolver.where}.columns")
    rows: list[Line] = []
    for row in description.rows:
        if row.quoted is not None:
            rows += [
                Line(label, {"with": {}}, group=row.group, quoted=True) for label in row.quoted
            ]
            continue
        for line in resolver.lines([row], "rows"):
            group = row.group
            if group is None and "steps" in line.varied and _is_printed(resolver, line):
                group = line.chosen["system"]
            printed = not row.ours_only
            baseline = row.baseline or ""
            line = replace(line, group=group, printed=printed, baseline=baseline, over=row.over)
            only = None if row.columns is None else tuple(row.columns)
            rows.append(replace(line, derived=row.derived, columns=only))
    no_repetition([row.label for row in rows], f"{resolver.where}.rows")
    lines = _published_lines(resolver, number)
    places = published.join(
        resolver.name,
        lines,
        {row.label: row.printed for row in rows if not row.quoted},
        {column.label: column.printed for column in columns},
        resolver.where,
    )
    rows = _with_quoted(resolver, rows, lines)
    rows = _grouped(resolver, rows, lines, description)
    shown = dict.fromkeys(str(row.chosen["system"]) for row in rows if "system" in row.chosen)
    for name in description.baseline:
        if name not in shown:
            raise UserError(
                f"{resolver.where}.baseline: no row shows the system '{name}'; {hint(name, shown)}"
            )
    rows = [replace(row, baseline=_baseline(resolver, row, rows, description)) for row in rows]
    _check_footnotes(resolver, description, rows, columns)
    known = [column.label for column in columns]
    for line in rows:
        for label in line.columns or ():
            if label not in known:
                raise UserError(
                    f"{resolver.where}.rows: key 'columns' of '{line.label}': '{label}' is not a "
                    f"column; {hint(label, known)}"
                )
    return rows, columns, places


def _published_lines(resolver: Resolver, number: str) -> list[published.Line]:
    """The published values of a table."""
    shown = [
        each
        for each, table in resolver.paper.tables.items()
        if not isinstance(table, models.Samples)
    ]
    return published.of_table(resolver.configuration.root, resolver.name, shown, number)


def _is_printed(resolver: Resolver, line: Line) -> bool:
    return line.chosen.get("system") in resolver.paper.systems


def _with_quoted(
    resolver: Resolver, rows: list[Line], lines: Sequence[published.Line]
) -> list[Line]:
    """Rows, including quoted ones, each after its predecessor in the published file."""
    rows = list(rows)
    quoted = [line.row for line in lines if line.use == published.QUOTED]
    for row in rows:
        if row.quoted and row.label not in quoted:
            raise UserError(
                f"{resolver.where}.rows: {published.file_of(resolver.name)} has no quoted row "
                f"'{row.label}'; {hint(row.label, dict.fromkeys(quoted))}"
            )
    place = 0
    for label in dict.fromkeys(line.row for line in lines):
        known = [row.label for row in rows]
        if label in known:
            place = known.index(label) + 1
        else:
            rows.insert(place, Line(label, {"with": {}}, quoted=True))
            place += 1
    return rows


def _grouped(
    resolver: Resolver,
    rows: list[Line],
    lines: Sequence[published.Line],
    description: models.Grid,
) -> list[Line]:
    """Rows with their groups: their own, or that of their published values."""
    printed = {line.row: line.value.group for line in lines}
    for name in description.groups:
        if name not in printed.values():
            raise UserError(
                f"{resolver.where}.groups: {published.file_of(resolver.name)} has no row group "
                f"'{name}' in this table; {hint(name, dict.fromkeys(printed.values()))}"
            )
    return [
        row
        if row.group is not None or row.label not in printed
        else replace(row, group=description.groups.get(printed[row.label], printed[row.label]))
        for row in rows
    ]


def _baseline(resolver: Resolver, row: Line, rows: Sequence[Line], description: models.Grid) -> str:
    """The label of the row that a row is tested against; empty if there is none."""
    if row.quoted or row.derived is not None:
        return ""
    labels = [each.label for each in rows]
    name = row.chosen.get("system", "")
    given = row.baseline or description.baseline.get(name)
    system = resolver.system(name)
    wanted = given or (system.baseline if system is not None else None)
    if wanted is None:
        return ""
    for each in rows:
        same = {**each.chosen, "system": name} == row.chosen
        if each.label != row.label and each.chosen.get("system") == wanted and same:
            return each.label
    if wanted in labels:
        return wanted
    if given is not None:
        raise UserError(
            f"{resolver.where}.rows: baseline '{wanted}' of row '{row.label}' is not a row; "
            f"{hint(wanted, labels)}"
        )
    return ""


def _check_footnotes(
    resolver: Resolver, description: models.Grid, rows: Sequence[Line], columns: Sequence[Line]
) -> None:
    known = {
        "row": [row.label for row in rows],
        "column": [column.label for column in columns],
    }
    for footnote in description.footnotes:
        for key, labels in known.items():
            label = getattr(footnote, key)
            if label is not None and label not in labels:
                raise UserError(
                    f"{resolver.where}.footnotes: {key} '{label}' is not in the table; "
                    f"{hint(label, labels)}"
                )
        if footnote.column in [column.label for column in columns if column.hidden]:
            raise UserError(
                f"{resolver.where}.footnotes: column '{footnote.column}' is hidden, so there is no "
                "place for a footnote"
            )


def _samples(resolver: Resolver, description: models.Samples) -> list[Entry]:
    """Places of a table of samples: of each system, its baseline's and its own."""
    defaults = description.cells.coordinates()
    found: list[Entry] = []
    for row in description.rows:
        for chosen, varied in product(row):
            name = chosen.get("system", "")
            system = resolver.system(name)
            if system is None or system.baseline is None:
                raise UserError(
                    f"{resolver.where}.rows: '{name}' is not a system of the paper with a key "
                    "'baseline', which its samples are compared with"
                )
            template = row.label or "{baseline}, {task}"
            words = merged(chosen, {"with": {"baseline": system.baseline}})
            label = resolver.label(template, words, ())
            for side, each in ((TEACHER, system.baseline), (STUDENT, name)):
                place = f"row '{label}', column '{side}'"
                here = merged(defaults, chosen, {"system": each})
                found.append(resolver.entry(here, place, row=label, column=side))
                _check_sentence_bleu(resolver, found[-1].measure)
            line = Line(label, chosen, varied)
            resolver.check_used(line, found[-2:], "rows", variables(row.label))
    resolver.check_used(Line("cells", defaults), found, "cells")
    no_repetition([each.row for each in found[::2]], f"{resolver.where}.rows")
    return found


def _check_sentence_bleu(resolver: Resolver, measure: str) -> None:
    """Refuse other measures: samples are chosen by sentence BLEU whatever their measure is."""
    known = [name for name, each in MEASURES.items() if (each.source, each.unit) == (SCORE, "BLEU")]
    if measure not in known:
        raise UserError(
            f"{resolver.where}: measure: found '{measure}', but samples are chosen by sentence "
            f"BLEU; write one of {', '.join(known[:2])}"
        )


def _texts(resolver: Resolver, description: models.Texts, number: str) -> list[Entry]:
    """Places of a table of texts, each of the analysis that its text is in."""
    defaults = description.cells.coordinates()
    lines = _published_lines(resolver, number)
    rows = [(each, line) for each in description.rows for line in _lines_of_texts(resolver, each)]
    no_repetition([line.label for _, line in rows], f"{resolver.where}.rows")
    printed = {line.label: not each.ours_only for each, line in rows if each.quoted is None}
    places = published.join(resolver.name, lines, printed, {TEXT: bool(lines)}, resolver.where)
    quoted = [line.row for line in lines if line.use == published.QUOTED]
    found = []
    for each, line in rows:
        if each.quoted is not None and line.label not in quoted:
            raise UserError(
                f"{resolver.where}.rows: {published.file_of(resolver.name)} has no quoted row "
                f"'{line.label}'; {hint(line.label, quoted)}"
            )
        system = {"system": None} if each.quoted is not None else {}
        words = merged(defaults, line.chosen)
        entry = resolver.entry(
            merged(words, system),
            f"row '{line.label}'",
            row=line.label,
            column=TEXT,
            group=each.group,
        )
        if each.key is not None:
            resolver.coordinate(each.key, words)
        resolver.check_used(line, [entry], "rows", variables(each.label))
        found.append(replace(entry, published=places.get((line.label, TEXT))))
    resolver.check_used(Line("cells", defaults), found, "cells")
    return found


def _lines_of_texts(resolver: Resolver, row: models.TextRow) -> list[Line]:
    if row.quoted is not None:
        return [Line(row.quoted, {"with": {}}, quoted=True)]
    return resolver.lines([row], "rows")


def keys_of_texts(configuration: Configuration, paper: str, number: str | int) -> dict[str, str]:
    """The key of each text of a table in the file of its analysis, by the row's label."""
    description = describe(configuration, paper, "table", number)
    resolver = Resolver(configuration, paper, f"tables.{number}")
    return {
        line.label: resolver.filled(
            row.key, flat(merged(description.cells.coordinates(), line.chosen))
        )
        for row in description.rows
        if row.key is not None
        for line in _lines_of_texts(resolver, row)
    }


def columns_with(
    configuration: Configuration, paper: str, number: str | int, key: Literal["interval", "hidden"]
) -> set[str]:
    """Labels of the columns of a table that show an interval, or are hidden."""
    description = describe(configuration, paper, "table", number)
    resolver = Resolver(configuration, paper, f"tables.{number}")
    return {
        line.label
        for column in description.columns
        if isinstance(column, models.Column) and getattr(column, key)
        for line in resolver.lines([column], "columns")
    }


@dataclass(frozen=True)
class SettingsTable:
    """A table of settings: its systems by label, its rows, and the published texts by place."""

    systems: dict[str, str]
    rows: tuple[models.Setting, ...]
    published: dict[tuple[str, str], str]


def settings_table(configuration: Configuration, paper: str, number: str | int) -> SettingsTable:
    """A table of settings with its published values.

    Raises:
        UserError: as `entries`.
    """
    description = describe(configuration, paper, "table", number)
    resolver = Resolver(configuration, paper, f"tables.{number}")
    systems: dict[str, str] = {}
    for column in description.columns:
        name = column if isinstance(column, str) else column.system
        label = name if isinstance(column, str) else column.label or name
        no_repetition([*systems, label], f"{resolver.where}.columns")
        chosen = merged(
            resolver.paper.cells.coordinates(), description.cells.coordinates(), {"system": name}
        )
        systems[label] = resolver.ours(name, chosen)
    for name in flat(description.cells.coordinates()):
        # what is different on a task may be the system
        if name not in {"task", *resolver.used()}:
            raise UserError(
                f"{resolver.where}.cells: no system's name uses '{name}'; leave it out of a table "
                "of settings"
            )
    no_repetition([row.label for row in description.rows], f"{resolver.where}.rows")
    lines = _published_lines(resolver, str(number))
    places = published.join(
        paper,
        lines,
        {row.label: not row.ours_only for row in description.rows},
        dict.fromkeys(systems, True),
        resolver.where,
    )
    for row in description.rows:
        printed = [value.value for place, value in places.items() if place[0] == row.label]
        if row.times is not None and all(value is None for value in printed):
            raise UserError(
                f"{resolver.where}.rows: '{row.label}' has 'times', but the paper prints no number "
                "there that could be multiplied; remove the key"
            )
    return SettingsTable(
        systems=systems,
        rows=tuple(description.rows),
        published={place: value.text for place, value in places.items()},
    )
