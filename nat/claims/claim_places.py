"""The names in a claim: rows of tables, series and points of figures, systems.

A claim is `in` a table or figure, from which its places take their coordinates and published
values; its own coordinates take precedence. `where` defines further names for rows.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from nat.cells import timing
from nat.cells.coordinates import Chosen, flat, merged, product
from nat.cells.entry import QUOTED, Address, Entry
from nat.cells.known_measures import LATENCY, MEASURES, SPEED_UP
from nat.cells.paper import entries, lines_of
from nat.cells.resolver import IDLE, Resolver, variables
from nat.configuration import Configuration
from nat.configuration import papers as models
from nat.errors import UserError
from nat.published.published import Published
from nat.spelling import hint


@dataclass(frozen=True)
class Source:
    """A table or figure that claims refer to.

    Attributes:
        cells: its own coordinates.
        named: coordinates of its rows, series and points, by label.
        tasks: of its columns or panels, in order.
        values: published values by address.
        quoted: those of quoted rows, by row, task and measure.
        shown: the systems, tasks and decodings that it shows.
        points: labels of its points or rows, see `nat.cells.paper.lines_of`.
        derived: labels of its derived rows.
        places: what it shows.
    """

    cells: Chosen
    named: dict[str, Chosen]
    tasks: tuple[str, ...]
    values: dict[Address, Published]
    quoted: dict[tuple[str, str, str], Published]
    shown: frozenset[tuple[str, str, str]]
    points: tuple[str, ...]
    derived: frozenset[str]
    places: tuple[Entry, ...]


def source(configuration: Configuration, paper: str, name: str, where: str) -> Source:
    """The table or figure of a name such as `table 3`.

    Raises:
        UserError: for an invalid name, and as `entries`.
    """
    kind, _, number = name.partition(" ")
    if kind not in ("table", "figure") or not number:
        raise UserError(
            f"{where}: key 'in': found '{name}', expected a table or figure such as 'table 3'"
        )
    found = configuration.paper(paper)
    known: Mapping[str, Any] = found.tables if kind == "table" else found.figures
    if number not in known:
        raise UserError(f"{where}: key 'in': there is no {kind} {number}; {hint(number, known)}")
    description = known[number]
    if isinstance(description, models.Settings):
        raise UserError(
            f"{where}: key 'in': {name} shows no numbers that a claim can compare; name a table or "
            "figure of measures"
        )
    places = entries(configuration, paper, kind, number)  # type: ignore[arg-type]
    named, points = lines_of(configuration, paper, kind, number)  # type: ignore[arg-type]
    shown = set()
    for place in places:
        for address in (place.address, place.over_address):
            if address is not None:
                shown.add((address.system, address.task, address.decoding))
    quotes = [
        each
        for quoted in getattr(description, "quotes", [])
        for each in entries(configuration, paper, "table", quoted)
        if each.published is not None and each.published.own
    ]
    values: dict[Address, Published] = {}
    for place in [*places, *quotes]:
        own = not place.over or MEASURES[place.measure].relative
        if place.address is not None and place.published is not None and own:
            values.setdefault(place.address, place.published)
    cells = description.cells.coordinates()
    measures = {place.measure for place in places if place.derived is None}
    if found.cells.measure is None and len(measures) == 1:  # no other could be meant
        cells.setdefault("measure", *measures)
    return Source(
        cells=cells,
        named=named,
        tasks=tuple(dict.fromkeys(place.task for place in places)),
        values=values,
        quoted={
            (place.row, place.task, place.measure): place.published
            for place in places
            if place.address is None and place.published is not None
        },
        shown=frozenset(shown),
        points=points,
        derived=frozenset(each.row for each in places)
        - {each.row for each in places if each.derived is None},
        places=tuple(places),
    )


class Finder:
    """Cases and places of one claim.

    Attributes:
        name: of the claim.
        claim: as it is written.
        where: file and key, for messages.
        named: the names that it has used so far.
    """

    def __init__(
        self,
        configuration: Configuration,
        paper: str,
        name: str,
        claim: models.Claim,
        sources: dict[str, Source],
    ) -> None:
        self.name, self.claim = name, claim
        self._resolver = Resolver(configuration, paper, f"claims.{name}")
        self.where = self._resolver.where
        self._sources = sources
        self.named: set[str] = set()
        self._has_speed_ups = False

    def kind(self) -> tuple[str, Any]:
        """The kind of check and what the claim says for it.

        Raises:
            UserError: if there is not exactly one.
        """
        kinds = ("compare", "trend", "largest", "gains", "correlation")
        given = [kind for kind in kinds if getattr(self.claim, kind) is not None]
        if len(given) != 1:
            raise UserError(
                f"{self.where}: give one of {', '.join(kinds)}, not {len(given)} of them"
            )
        return given[0], getattr(self.claim, given[0])

    def cases(self, case: models.Case) -> Iterator[tuple[str, Chosen]]:
        """The cases of an item of `each`: label and coordinates."""
        both = self._together(self.claim, case)
        in_ = self._source(case)
        if both.task is None and in_ is not None:
            tasks = in_.tasks[0] if len(in_.tasks) == 1 else list(in_.tasks)
            both = both.model_copy(update={"task": tasks})
        for chosen, varied in product(both):
            parts = [case.label] if case.label else []
            if self.claim.label or varied:
                parts.append(self._resolver.label(self.claim.label, chosen, varied))
            yield ", ".join(parts), chosen

    def _together(self, first: models.Varied, second: models.Varied) -> models.Varied:
        """The coordinates of both, those of the second first."""
        found = merged(first.coordinates(), second.coordinates())
        return models.Varied(**found)

    def _source(self, *given: models.Case | models.Place) -> Source | None:
        name = next((each.source for each in given if each.source), self.claim.source)
        if name is None:
            return None
        if name not in self._sources:
            resolver = self._resolver
            self._sources[name] = source(
                resolver.configuration, resolver.name, name, resolver.where
            )
        return self._sources[name]

    def place(
        self, name: str | float, case: models.Case, chosen: Chosen, label: str | None = None
    ) -> Entry | float:
        """The place that a name refers to in a case.

        Raises:
            UserError: if it is neither given in `where` nor a row, series, point or system.
        """
        if not isinstance(name, str):
            return float(name)
        bound = self._bound(name, case)
        if isinstance(bound, int | float):
            return float(bound)
        found = models.Place(of=bound) if isinstance(bound, str) else bound
        words = flat(merged(self._resolver.paper.cells.coordinates(), chosen))
        shown = self._resolver.coordinate(name, words)
        if found.of is not None:
            found = found.model_copy(update={"of": self._resolver.coordinate(found.of, words)})
        if "system" in variables(found.system) and "system" in chosen:
            own = self._resolver.coordinate("{system}", chosen)
            system = str(found.system).replace("{system}", own)
            found = found.model_copy(update={"system": system})
        return self._entry(found, shown if label is None else label, name, case, chosen)

    def _entry(
        self, place: models.Place, label: str, name: str, case: models.Case, chosen: Chosen
    ) -> Entry:
        in_ = self._source(place, case)
        own = place.coordinates()
        # The system of a case is only for templates; the name of a place determines its system.
        chosen = {key: value for key, value in chosen.items() if key != "system"}
        called = place.of or (None if place.system else name)
        task = own.get("task", chosen.get("task"))
        named: Chosen = {"with": {}}
        if called is not None:
            self._check_derived(called, in_)
            if in_ is not None and called in in_.named:
                named = in_.named[called]
                source_ = str(place.source or case.source or self.claim.source)
                self._check_agrees(called, source_, in_.named, flat(merged(chosen, own)))
            elif called in self._resolver.paper.systems:
                named = {"system": called, "with": {}}
            else:
                known = [*(in_.named if in_ else []), *self._resolver.paper.systems]
                raise UserError(
                    f"{self.where}: '{called}' is not a row or series here, nor a system of the "
                    f"paper; {hint(called, known)}"
                )
        cells = in_.cells if in_ is not None else {}
        entry = self._resolver.entry(
            merged(self._system, cells, named, chosen, own), f"'{label}'", row=label, column=""
        )
        if MEASURES[entry.measure].relative and entry.measure != SPEED_UP:
            raise UserError(
                f"{self.where}: '{entry.measure}' is relative to another system and only shown in "
                "tables; compare 'parameters', with a percentage as 'margin'"
            )
        if entry.measure == SPEED_UP:
            entry = self._over(entry, in_, merged(cells, chosen), own)
        if entry.cells and MEASURES[entry.measure].source == LATENCY:
            entry = self._timed(entry, in_, label)
        if in_ is None:
            return entry
        address = entry.address
        if address is None:
            value = in_.quoted.get((str(called), str(task), entry.measure))
            return replace(entry, published=value)
        if not _is_shown(address, in_):
            raise UserError(
                f"{self.where}: {place.source or case.source or self.claim.source} does not show "
                f"'{label}' ({', '.join(part for part in address[:3] if part)})"
            )
        return replace(entry, published=in_.values.get(address))

    def _check_agrees(
        self, called: str, source_: str, named: Mapping[str, Chosen], asked: Mapping[str, Any]
    ) -> None:
        """Refuse coordinates with which a place would not be the row that its name says."""
        row = flat(named[called])
        for key, value in asked.items():
            if row.get(key, value) != value:
                others = [label for label, own in named.items() if flat(own).get(key) == value]
                raise UserError(
                    f"{self.where}: '{called}' of {source_} has the {key} {row[key]}, not {value} "
                    f"as the claim says; {hint(called, others or named)}"
                )

    def check_used(self) -> None:
        """Refuse what a claim gives and nothing in it uses.

        Raises:
            UserError: for the first one.
        """
        claim = self.claim
        cases = [claim, *claim.each, *(claim.gains.of if claim.gains is not None else [])]
        for case in cases:
            for name in case.where:
                if name not in self.named:
                    raise UserError(
                        f"{self.where}: key 'where': nothing in the claim is called '{name}'; "
                        f"{hint(name, self.named)}"
                    )
        if claim.over is not None and not self._has_speed_ups:
            raise UserError(
                f"{self.where}: key 'over': the claim compares no speed-ups; remove the key"
            )
        for case in cases:
            self._check_given(case, {"task", "measure"}, claim.label)
        bound = [each for case in cases for each in case.where.values()]
        items = [item for each in (claim.trend, claim.largest) if each for item in each.of]
        both = [claim.correlation.of, claim.correlation.other] if claim.correlation else []
        for place in (*bound, *items, *both):
            if isinstance(place, models.Model):
                self._check_given(place, {"task", "measure", "system"})

    def _check_given(self, given: models.Model, always: set[str], label: str | None = None) -> None:
        used = self._resolver.used() | always
        in_label = {*variables(label), *variables(getattr(given, "label", None))}
        for name, value in flat(given.coordinates()).items():
            # with several values, cases with different labels would be the same
            if name in used or (name in in_label and not isinstance(value, list)):
                continue
            if name in models.COORDINATES:
                remedy = IDLE.get(name, f"write {{{name}}} in a name, or leave it out")
                raise UserError(f"{self.where}: '{name}' changes nothing of the claim; {remedy}")
            known = [*sorted(used - {*models.COORDINATES}), *models.COORDINATES]
            raise UserError(
                f"{self.where}: nothing in the claim uses the variable '{name}'; "
                f"{hint(name, known)}"
            )

    @property
    def _system(self) -> Chosen:
        """The system of places that name none, such as those of rows that are only quoted."""
        return {"system": self._resolver.paper.cells.system}

    def _check_derived(self, name: str, in_: Source | None) -> None:
        if in_ is not None and name in in_.derived:
            raise UserError(
                f"{self.where}: '{name}' is a derived row, which a claim cannot name; name the "
                "rows that it is computed from"
            )

    def _over(self, entry: Entry, in_: Source | None, chosen: Chosen, own: Chosen) -> Entry:
        """A speed-up with the cells that it is over, in the same setting."""
        self._has_speed_ups = True
        name = self.claim.over
        if name is None:
            raise UserError(f"{self.where}: missing key 'over', which '{entry.measure}' needs")
        self._check_derived(name, in_)
        named = in_.named.get(name) if in_ is not None else None
        same: Chosen = {key: own[key] for key in ("measure", "task", "setting") if key in own}
        other = self._resolver.entry(
            merged(self._system, chosen, named or {"system": name, "with": {}}, same),
            f"'{name}'",
            row=name,
            column="",
        )
        if other.reason == QUOTED:
            raise UserError(
                f"{self.where}: key 'over': '{name}' is not run here, so there is no speed-up over "
                "it; name a row or system that is run"
            )
        return replace(entry, over=other.cells, over_address=other.address)

    def _timed(self, entry: Entry, in_: Source | None, label: str) -> Entry:
        """A latency as it was measured among those of the table or figure of the claim."""
        if in_ is None:
            raise UserError(
                f"{self.where}: missing key 'in': a latency is one of those that a table or figure "
                "shows, which are measured together"
            )
        found = timing.like(entry, in_.places)
        if found is None:
            raise UserError(
                f"{self.where}: '{label}': the table or figure of the key 'in' shows no latency of "
                f"{entry.cells[0].timed_name} with the setting '{entry.cells[0].setting}'"
            )
        return found

    def several(self, kind: str, options: Any, case: models.Case, chosen: Chosen) -> list[Entry]:
        """The places of a check of several places, in order."""
        if kind == "gains":
            return list(self._gains(options, case, chosen))
        if kind == "correlation":
            return [
                self._entry(self._measured(name, case, side), name, name, case, chosen)
                for name in options.over
                for side in (options.of, options.other)
            ]
        items = options.of
        if not items:
            in_ = self._source(case)
            items = list(in_.points) if in_ is not None else []
        found: list[Entry] = []
        for item in items:
            if isinstance(item, str):
                found.append(self._only(self.place(item, case, chosen), item))
                continue
            for own, varied in product(item):
                label = self._resolver.label(item.label, own, varied)
                place = models.Place(**own)
                found.append(self._entry(place, label, label, case, chosen))
        return found

    def _bound(self, name: str, case: models.Case) -> str | float | models.Place:
        """The definition of a name: in the case, the claim or the paper, in this order."""
        self.named.add(name)
        everywhere = self._resolver.paper.where
        return case.where.get(name, self.claim.where.get(name, everywhere.get(name, name)))

    def _measured(self, name: str, case: models.Case, side: models.Coordinates) -> models.Place:
        bound = self._bound(name, case)
        place = bound if isinstance(bound, models.Place) else models.Place(of=str(bound))
        together = merged(place.coordinates(), side.coordinates())
        return models.Place(of=place.of, source=place.source, **together)

    def _gains(self, options: models.Gains, case: models.Case, chosen: Chosen) -> Iterator[Entry]:
        for item in options.of:
            inner = models.Case(
                source=item.source or case.source, where={**case.where, **item.where}
            )
            for own, varied in product(item):
                label = (
                    self._resolver.label(item.label, own, varied) if item.label or varied else ""
                )
                for side in (options.system, options.over):
                    found = self.place(side, inner, merged(chosen, own), label)
                    yield self._only(found, side)

    def _only(self, found: Entry | float, name: str) -> Entry:
        if not isinstance(found, Entry):
            raise UserError(f"{self.where}: '{name}' is a number, expected a place")
        return found


def _is_shown(address: Address, in_: Source) -> bool:
    """Whether a source shows a system on a task, decoded like this where both say how."""
    return any(
        (address.system, address.task) == (system, task)
        and (not address.decoding or not decoding or address.decoding == decoding)
        for system, task, decoding in in_.shown
    )
