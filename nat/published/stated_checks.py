"""What the files of stated settings must agree on, with each other and with the configuration.

All of it is told from names, so that no method is imported, and before a graph is built.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nat.configuration import Configuration, families
from nat.configuration.file_names import PAPER_SCALE
from nat.configuration.models import Recipe, Training
from nat.configuration.overrides import Overrides
from nat.data.corpus import Corpus
from nat.errors import UserError, told_of
from nat.options import unknown_key
from nat.published import stated_files
from nat.published.stated import METHOD, Stated, is_of_decoding
from nat.published.stated_files import DEVIATIONS, FIELDS, MAP, ROWS, Entries, Row, fits
from nat.spelling import hint
from nat.transformer.architecture import Architecture

_OF_TRAINING = {*Training.model_fields, "size", "validation"}
_OF_KEYS = {"recipe": Recipe, "architecture": Architecture, "corpus": Corpus}
"""What has the keys below these; those below others depend on the method."""


def check(configuration: Configuration) -> None:
    """Check the stated settings of all papers; without their files there is nothing to check.

    Raises:
        UserError: for the first problem; names file, key or line, and remedy.
    """
    if not stated_files.exist(configuration.root):
        return
    stated = Stated(replace(configuration, scale=PAPER_SCALE, overrides=Overrides()))
    _check_papers(stated)
    _check_names(stated)
    _check_keys(stated)
    lists: dict[str, Entries[Any]] = {
        f"{MAP}: key 'outside": stated.outside,
        f"{MAP}: key 'systems": stated.systems,
        f"{MAP}: key 'decodings": stated.decodings,
        f"{MAP}: key 'values": stated.values,
        f"{DEVIATIONS}: key 'deviations": stated.deviations,
    }
    values = _values(stated.rows)
    for where, entries in lists.items():
        _check_patterns(entries, values, where)
    for row in stated.rows:
        _check_row(stated, row)
    for where, entries in lists.items():
        _check_order(entries, stated.rows, where)
    _check_deviations(stated)


def _check_papers(stated: Stated) -> None:
    """Refuse an unknown paper; one whose file was removed still has its tasks, and its rows."""
    papers, tasks = stated.configuration.papers, stated.map.tasks
    for row in stated.rows:
        if row.paper not in papers and row.paper not in tasks:
            raise UserError(
                f"{ROWS} line {row.line}: column 'paper': there is no config/papers/"
                f"{row.paper}.yaml; {hint(row.paper, papers)} (add the file, or remove the rows)"
            )
    rows = {row.paper for row in stated.rows}
    for paper in tasks:
        if paper not in rows:
            _known(paper, papers, "paper", f"{MAP}: key 'tasks'")


def _check_names(stated: Stated) -> None:
    """Check the tasks, systems and decodings of ours that the map names."""
    configuration, found = stated.configuration, stated.map
    for paper, tasks in found.tasks.items():
        for theirs, ours in tasks.items():
            _check_task(configuration, ours, f"{MAP}: key 'tasks.{paper}.{theirs}'")
    for number, of_systems in enumerate(found.systems):
        where = f"{MAP}: key 'systems.{number}"
        for name in of_systems.ours:
            _known(name, configuration.systems, "system", f"{where}.ours'")
        for task in of_systems.tasks or ():
            _check_task(configuration, task, f"{where}.tasks'")
    for number, of_decodings in enumerate(found.decodings):
        for name in of_decodings.ours:
            _check_decoding(configuration, name, f"{MAP}: key 'decodings.{number}.ours'")
    for number, value in enumerate(found.values):
        other = value.same_as
        if other is not None and not configuration.has_decoding(other):
            where = f"{MAP}: key 'values.{number}.same_as'"
            _known(other, configuration.systems, "system or decoding", where)


def _check_task(configuration: Configuration, task: str, where: str) -> None:
    with told_of(f"{where}: "):
        configuration.task(task)


def _check_decoding(configuration: Configuration, name: str, where: str) -> None:
    if not configuration.has_decoding(name):
        near = families.near(name, configuration.decodings)
        raise UserError(f"{where}: unknown decoding '{name}'; {near}")


def _known(name: str, known: Iterable[str], what: str, where: str) -> None:
    names = list(known)
    if name not in names:
        raise UserError(f"{where}: unknown {what} '{name}'; {hint(name, names)}")


def _check_keys(stated: Stated) -> None:
    """Check the names of keys: theirs, and as far as they are the same for every method, ours."""
    theirs = {name for row in stated.rows for name in (row.key, f"{row.key}={row.value}")}
    for name, path in stated.map.keys.items():
        where = f"{MAP}: key 'keys.{name}'"
        if name not in theirs:
            keys = {row.key for row in stated.rows}
            raise UserError(
                f"{where}: no row of {ROWS} has the key '{name}'; {hint(name, sorted(keys))}"
            )
        first, _, rest = path.partition(".")
        _known(first, sorted({*_OF_TRAINING, "decoding"}), "key", where)
        problem = unknown_key(_OF_KEYS[first], rest) if rest and first in _OF_KEYS else ""
        if problem:
            raise UserError(f"{where}: {problem}")


def _values(rows: Sequence[Row]) -> dict[str, dict[str, set[str]]]:
    """The values of each field in the rows of each paper."""
    found: dict[str, dict[str, set[str]]] = {}
    for row in rows:
        its = found.setdefault(row.paper, {name: set() for name in FIELDS})
        for name in FIELDS:
            its[name].add(getattr(row, name))
    return found


def _check_patterns(
    entries: Entries[Any], values: Mapping[str, Mapping[str, set[str]]], where: str
) -> None:
    """Refuse a pattern that no row fits, of those of the papers that the entry is about."""
    for number, entry in enumerate(entries):
        its = entry.patterns.get("paper", ["*"])
        papers = [paper for paper in values if any(fits(paper, pattern) for pattern in its)]
        for name, patterns in entry.patterns.items():  # the paper is the first
            among = values if name == "paper" else papers
            known = set().union(*(values[paper][name] for paper in among))
            for pattern in patterns:
                if pattern in known or any(fits(value, pattern) for value in known):
                    continue
                of = f" of {' or '.join(its)}" if name != "paper" and its != ["*"] else ""
                raise UserError(
                    f"{where}.{number}.{name}': no row{of} in {ROWS} has the {name} '{pattern}'; "
                    f"{hint(pattern, sorted(known))}"
                )


def _check_row(stated: Stated, row: Row) -> None:
    """Refuse a row that would be compared with nothing."""
    if stated.outside.first(row) is not None:
        return
    stated.tasks(row)
    if not stated.named(row):
        section = "decodings" if is_of_decoding(row) else "systems"
        raise UserError(
            f"{ROWS} line {row.line}: {MAP} does not say which {section} of ours the row is about; "
            f"add '{{paper: {row.paper}, system: {row.system}, ours: [NAME]}}' to its key "
            f"'{section}', or an entry to 'outside' if the row is not about the configuration"
        )


def _check_order(entries: Entries[Any], rows: Sequence[Row], where: str) -> None:
    """Refuse an entry without effect: for no row is it the first that is about it."""
    count = set(map(entries.number, rows))
    for number, entry in enumerate(entries):
        if number in count:
            continue
        alone = Entries([entry])
        if not any(map(alone.first, rows)):
            raise UserError(
                f"{where}.{number}': no row of {ROWS} fits {' and '.join(entry.patterns)}; "
                "correct them, or remove the entry"
            )
        raise UserError(
            f"{where}.{number}': entries before it are about every row that it is about, so it has "
            "no effect; move it before them, or remove it"
        )


def _check_deviations(stated: Stated) -> None:
    """Refuse a deviation that the map keeps from any effect."""
    count = set()
    for row in stated.rows:
        deviation, outside = stated.deviations.first(row), stated.outside.first(row)
        if deviation is None:
            continue
        of_method = outside is not None and outside.reason == METHOD
        if of_method if deviation.ours is not None else outside is None:
            count.add(stated.deviations.number(row))
    for number, deviation in enumerate(stated.deviations):
        if number in count:
            continue
        where = f"{DEVIATIONS}: key 'deviations.{number}"
        if deviation.ours is not None:
            raise UserError(
                f"{where}.ours': {MAP} gives none of the rows the reason '{METHOD}' (key "
                "'outside'), so what is ours follows from the configuration; remove the key"
            )
        raise UserError(
            f"{where}': {MAP} says that the rows are not about the configuration (key 'outside'); "
            f"remove the entry, or say with 'ours' what we do if the reason there is '{METHOD}'"
        )
