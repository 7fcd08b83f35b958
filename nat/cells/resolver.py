"""From coordinates of a paper's file to the cells that they stand for.

Coordinates are templates, in which variables such as `{steps}` stand for their values; what a place
leaves open comes from the paper's systems.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from nat.artifacts import held_out, is_generated
from nat.cached_method import cached_method
from nat.cells.cell import Cell, check_setting
from nat.cells.coordinates import Chosen, flat, merged, no_repetition, product
from nat.cells.entry import QUOTED, Address, Entry
from nat.cells.known_measures import MEASURES
from nat.configuration import Configuration
from nat.configuration import papers as models
from nat.configuration.file_names import PAPER_SCALE
from nat.data.splits import TRAIN
from nat.errors import UserError
from nat.spelling import hint

Kind = Literal["table", "figure"]
Place = tuple[Any, ...]
"""What tells a place from others of its table or figure, see `_key`."""

_OF_SOURCES = ("decoding", "split", "partner")
_ALWAYS = ("system", "task", "measure")
"""Coordinates that every place uses."""
IDLE = {
    "steps": "write {steps} in its decoding, or leave it out",
    "decoding": "no measure here is of a decoding; leave it out",
    "split": "no measure here is of a split; leave it out",
    "setting": "no measure here has a setting; leave it out",
    "partner": "no measure here has a partner; leave it out",
}
"""What to do about a coordinate that no place uses."""
_VARIABLE = re.compile(r"\{(\w+)\}")
_ACRONYM = re.compile(r"(wmt|iwslt|nist)\d*")


@dataclass(frozen=True)
class Line:
    """A row or a column: its label, its coordinates, and which of them were varied."""

    label: str
    chosen: Chosen
    varied: tuple[str, ...] = ()
    group: str | None = None
    baseline: str = ""
    quoted: bool = False
    printed: bool | None = True
    over: str | None = None
    derived: models.Derived | None = None
    columns: tuple[str, ...] | None = None
    hidden: bool = False


def describe(configuration: Configuration, paper: str, kind: Kind, number: str | int) -> Any:
    """The description of one table or figure.

    Raises:
        UserError: if the paper has no such table or figure.
    """
    found = configuration.paper(paper)
    content: Mapping[str, Any] = found.tables if kind == "table" else found.figures
    if str(number) not in content:
        raise UserError(
            f"config/papers/{paper}.yaml: no {kind} {number}; {hint(str(number), content)}"
        )
    return content[str(number)]


def variables(template: str | None) -> list[str]:
    """The names in braces of a template."""
    return _VARIABLE.findall(template or "")


def heading(task: str) -> str:
    """A task as tables print it: `wmt14-en-de` is WMT14 En-De."""
    name, *rest = task.split("-")
    first = name.upper() if _ACRONYM.fullmatch(name) else name.capitalize()
    return " ".join([first, "-".join(part.capitalize() for part in rest)]).strip()


class Resolver:
    """Resolves coordinates of one table, figure or claim of a paper.

    Attributes:
        paper: the paper.
        name: of its file.
        where: file and key, for messages.
    """

    def __init__(self, configuration: Configuration, name: str, key: str) -> None:
        self.configuration = configuration
        self.name = name
        self.paper = configuration.paper(name)
        self.where = f"config/papers/{name}.yaml: {key}"
        self.seeds = configuration.seeds_of(name)
        self._used: dict[Place, set[str]] = {}
        self._here = self._used.setdefault((), set())

    def lines(self, specifications: Sequence[str | models.Varied], key: str) -> list[Line]:
        """Rows or columns of a description, with products expanded."""
        found = []
        for specification in specifications:
            if isinstance(specification, str):
                found.append(self._short(specification, key))
                continue
            for chosen, varied in product(specification):
                found.append(Line(self.label(specification.label, chosen, varied), chosen, varied))
        no_repetition([line.label for line in found], f"{self.where}.{key}")
        return found

    def _short(self, name: str, key: str) -> Line:
        """A column or panel that is just a measure or a task."""
        tasks = self.configuration.all_tasks
        if name not in MEASURES and name not in tasks:
            raise UserError(
                f"{self.where}.{key}: unknown measure or task '{name}'; "
                f"{hint(name, [*MEASURES, *tasks])}"
            )
        chosen: Chosen = {"measure" if name in MEASURES else "task": name, "with": {}}
        return Line(self.label(None, chosen, ()), chosen)

    def label(self, template: str | None, chosen: Chosen, varied: Sequence[str]) -> str:
        """The label of a row, column or case: its system, and all that was varied."""
        given = {key: value for key, value in flat(chosen).items() if value is not None}
        words = {key: self.word(key, value) for key, value in given.items()}
        if template is not None:
            return self.filled(template, words)
        shown = [key for key in dict.fromkeys(["system", *varied]) if key in words]
        if not shown:
            shown += [key for key in ("measure", "task") if key in words][:1]
        if not shown:
            raise UserError(f"{self.where}: missing key 'label'")
        return ", ".join(words[key] for key in shown)

    def word(self, key: str, value: Any) -> str:
        """A coordinate as labels print it."""
        if key == "task":
            return self.configuration.heading(value) or heading(value)
        if key == "measure":
            return MEASURES[value].label if value in MEASURES else str(value)
        if key == "steps":
            return f"{value} step" if value == 1 else f"{value} steps"
        return f"{value:g}" if isinstance(value, float) else str(value)

    def filled(self, template: str, values: Mapping[str, Any]) -> str:
        """A template with its variables replaced."""

        def value(match: re.Match[str]) -> str:
            if match[1] not in values:
                raise UserError(
                    f"{self.where}: '{template}' needs the variable '{match[1]}', which is not "
                    f"given; {hint(match[1], values)}"
                )
            found = values[match[1]]
            return f"{found:g}" if isinstance(found, float) else str(found)

        return _VARIABLE.sub(value, template)

    def coordinate(self, template: str, chosen: Chosen) -> str:
        """A coordinate, or the label of a row, with its variables replaced; they count as used."""
        self._here.update(variables(template))
        return self.filled(template, flat(chosen))

    def used(self, places: Iterable[Entry] | None = None) -> set[str]:
        """Coordinates and variables that some of these places, or of all so far, use."""
        keys = self._used if places is None else map(_key, places)
        return {name for key in keys for name in self._used[key]}

    def check_used(
        self, line: Line, places: Sequence[Entry], key: str, seen: Iterable[str] = ()
    ) -> None:
        """Refuse what a row, a column or the like gives without effect on any of its places.

        Args:
            line: with its own coordinates.
            places: of the line.
            key: of what describes it, for the message.
            seen: what its label or its place on an axis shows, which may have no other use; but
                with several values, places would differ in it that show the same number.

        Raises:
            UserError: for the first one.
        """
        shown = [each for each in places if each.address is not None]
        used = {*_ALWAYS, *self.used(shown), *({*seen} - {*line.varied})}
        for name in flat(line.chosen) if shown else ():
            if name not in used:
                raise self._unused(name, key, shown)

    def _unused(self, name: str, key: str, places: Sequence[Entry]) -> UserError:
        where = f"{self.where}.{key}"
        if name in models.COORDINATES:
            address = places[0].address
            assert address is not None
            how = f" ({address.decoding})" if address.decoding else ""
            return UserError(
                f"{where}: '{name}' changes nothing of '{address.system}'{how}; {IDLE[name]}"
            )
        known = [*sorted(self.used(places) - {*models.COORDINATES}), *models.COORDINATES]
        return UserError(
            f"{where}: no system, decoding, measure or other coordinate uses the variable "
            f"'{name}'; {hint(name, known)}"
        )

    @cached_method
    def system(self, name: str, task: str | None = None) -> models.System | None:
        """A system of the paper with what it has from others and what differs on a task."""
        if name not in self.paper.systems:
            return None
        chain = [name]
        while (like := self.paper.systems[chain[-1]].like) is not None:
            if like not in self.paper.systems or like in chain:
                problem = "is like itself" if like in chain else f"is like an unknown '{like}'"
                others = [each for each in self.paper.systems if each not in chain]
                raise UserError(
                    f"config/papers/{self.name}.yaml: systems.{name}: '{chain[-1]}' {problem}; "
                    f"{hint(like, others)}"
                )
            chain.append(like)
        found: dict[str, Any] = {}
        for each in reversed(chain):
            own = self.paper.systems[each]
            found |= {key: getattr(own, key) for key in own.model_fields_set}
            if task in own.tasks:
                change = own.tasks[task]
                found |= {key: getattr(change, key) for key in change.model_fields_set}
        return models.System(**found)

    def ours(self, name: str, chosen: Chosen) -> str:
        """Our name of a system."""
        system = self.system(name, chosen.get("task"))
        if system is not None and system.system is None:
            raise UserError(
                f"config/papers/{self.name}.yaml: missing key 'system' at 'systems.{name}'"
            )
        found = self.coordinate(name if system is None else str(system.system), chosen)
        if found not in self.configuration.systems and system is None:
            known = [*self.paper.systems, *self.configuration.systems]
            raise UserError(f"{self.where}: unknown system '{found}'; {hint(found, known)}")
        return found

    def known(self, name: str, chosen: Chosen) -> str:
        """Our name of a system, checked to exist."""
        found = self.ours(name, chosen)
        try:
            self.configuration.system(found)
        except UserError as error:
            raise UserError(f"{self.where}: {error}") from error
        return found

    def _has_decoding(self, chosen: Chosen) -> bool:
        """Whether the paper says how the system of a place is decoded."""
        system = self.system(chosen.get("system") or "", chosen.get("task"))
        return system is not None and system.decoding is not None

    def _draws(self, chosen: Chosen) -> list[Chosen]:
        """The coordinates of a place, once for each draw of a random decoding."""
        system = self.system(chosen.get("system") or "", chosen.get("task"))
        if system is None or system.draws is None:
            return [chosen]
        return [merged(chosen, {"with": {"draw": draw}}) for draw in system.draws]

    def decoding(self, chosen: Chosen, label: str) -> str | None:
        """How a place is decoded: as it says itself, or as its system is."""
        if chosen.get("decoding") is not None:
            return self.coordinate(chosen["decoding"], chosen)
        system = self.system(chosen["system"], chosen.get("task"))
        if system is None or system.decoding is None:
            return None
        template: str | None
        if isinstance(system.decoding, str):
            template = system.decoding
        else:
            by_steps = system.decoding
            self._here.add("steps")
            template = by_steps.get(str(chosen.get("steps")), by_steps.get("n"))
            if "steps" in chosen and template is None:
                raise UserError(
                    f"config/papers/{self.name}.yaml: systems.{chosen['system']}: the key "
                    f"'decoding' has nothing for {chosen['steps']} steps, asked for by "
                    f"{self.where}; known: {', '.join(by_steps)}"
                )
        if template is not None and "{steps}" in template and "steps" not in chosen:
            raise self._open(label, "steps")
        return None if template is None else self.coordinate(template, chosen)

    def _open(self, label: str, key: str) -> UserError:
        return UserError(f"{self.where}: {label}: no '{key}' is given; write the key '{key}' there")

    def entry(self, chosen: Chosen, label: str, over: str | None = None, **names: Any) -> Entry:
        """The place at given coordinates.

        Args:
            chosen: the coordinates; the system is `None` where nothing is run.
            label: of the place, for messages.
            over: the system whose cells are subtracted.
            names: labels and other fields of the entry.

        Raises:
            UserError: for unknown names, and for missing coordinates.
        """
        defaults = self.paper.cells.coordinates()
        if self._has_decoding(chosen):
            defaults.pop("decoding", None)
        chosen = merged(defaults, chosen)
        here = self._here = set()
        for key in ("measure", "task", "system"):
            if key not in chosen:
                raise self._open(label, key)
        measure = self.coordinate(chosen["measure"], chosen)
        if measure not in MEASURES:
            raise UserError(f"{self.where}: unknown measure '{measure}'; {hint(measure, MEASURES)}")
        chosen = {**chosen, "measure": measure}
        base = Entry(
            task=chosen["task"],
            measure=measure,
            cells=(),
            published=None,
            stand_in="",
            reason=QUOTED,
            **{"group": "", "baseline": "", **names},
        )
        if chosen.get("system") is None:
            return base
        address, cells, stand_in, reason = self._cells(chosen, label)
        if over is not None:
            other, subtracted, _, _ = self._cells({**chosen, "system": over}, label)
            base = replace(base, over=subtracted, over_address=other)
        # a place has several entries if it is shown over another
        self._here = self._used.setdefault(_key(base), set())
        self._here |= here
        return replace(base, address=address, cells=cells, stand_in=stand_in, reason=reason)

    def _cells(self, chosen: Chosen, label: str) -> tuple[Address, tuple[Cell, ...], str, str]:
        """The address and cells of a place, how it differs from the paper's, why there are none."""
        address, decodings = self._address(chosen, label)
        try:
            self._check(address, decodings)
            missing = self._missing(address, decodings)
        except UserError as error:
            raise UserError(f"{self.where}: {label}: {error}") from error
        if missing:
            return address, (), "", missing
        return address, self._of_seeds(address, decodings), self._stand_in(address), ""

    def _address(self, chosen: Chosen, label: str) -> tuple[Address, list[str]]:
        """The address of a place, and its decoding for each draw; [""] if the measure needs none.

        Raises:
            UserError: for an unknown system or variable, for a coordinate that the measure needs
                and nothing gives, and for draws that have one decoding.
        """
        system, measure = self.known(chosen["system"], chosen), MEASURES[chosen["measure"]]
        needed = measure.coordinates
        self._here.update(needed)
        found = {
            key: self.coordinate(chosen.get(key) or "", chosen) for key in ("split", "setting")
        }
        if measure.setting:
            self._here.add("setting")
        elif "setting" not in needed:
            found["setting"] = ""
        found["setting"] = found["setting"] or measure.setting
        draws = self._draws(chosen)
        decodings = [""]
        if "decoding" in needed:
            decodings = [self.decoding(each, label) or "" for each in draws]
            if len(set(decodings)) < len(draws):
                raise UserError(
                    f"{self.where}: {label}: '{chosen['system']}' has several 'draws', but its "
                    f"decoding '{decodings[0]}' is the same for all; write '{{draw}}' in its name"
                )
            found["decoding"] = decodings[0]
        if "partner" in needed and chosen.get("partner"):
            found["partner"] = self.known(chosen["partner"], chosen)
        for key in needed:
            if not found.get(key):
                raise self._open(label, key)
        address = Address(
            system=system,
            task=chosen["task"],
            measure=chosen["measure"],
            setting=found["setting"],
            **{key: found[key] if key in needed else "" for key in _OF_SOURCES},
        )
        return address, decodings

    def _check(self, address: Address, decodings: list[str]) -> None:
        """Refuse a setting or a decoding that does not suit.

        Raises:
            UserError: for the first one.
        """
        check_setting(address.measure, address.setting)
        # the check imports methods, and with them torch
        if address.decoding and self.configuration.checked:
            for decoding in decodings:
                self.configuration.check_decoding(address.system, decoding)

    def _missing(self, address: Address, decodings: list[str]) -> str:
        """Why this scale cannot measure at an address; '' if it can.

        Raises:
            UserError: for an unknown task or split.
        """
        configuration, measure = self.configuration, MEASURES[address.measure]
        if address.task in configuration.all_tasks and address.task not in configuration.tasks:
            return f"scale {configuration.scale} has no corpus for {address.task}"
        corpus = configuration.task(address.task)
        if address.split and measure.of_corpus:
            _check_split(configuration, corpus, address.split)
        system = configuration.canonical(corpus, address.system)
        view = configuration.on(corpus)
        cannot = view.cannot_train(system) or view.cannot_prepare(corpus)
        if address.decoding:
            reasons = (view.cannot_translate(each) for each in decodings)
            cannot = cannot or next(filter(None, reasons), "")
        if not cannot and measure.known_law and not is_generated(configuration, corpus):
            return f"the law of {corpus} is not known"
        return cannot

    def _stand_in(self, address: Address) -> str:
        """What stands in for the paper's corpus or training; '' where nothing does."""
        configuration, task, measure = self.configuration, address.task, MEASURES[address.measure]
        corpus, scale = configuration.task(task), configuration.scale
        comparable = not measure.of_corpus or measure.known_law
        if comparable or (corpus == task and scale == PAPER_SCALE):
            return ""
        stand_in = f"corpus {corpus} at scale {scale}"
        if task in configuration.files["scales"].get(PAPER_SCALE, {}).get("tasks", [task]):
            paper = task if corpus != task else f"the training of scale {PAPER_SCALE}"
            stand_in += f" stands in for {paper}"
        return stand_in

    def _of_seeds(self, address: Address, decodings: list[str]) -> tuple[Cell, ...]:
        """The cells of an address, for each seed and draw."""
        configuration = self.configuration
        corpus = configuration.task(address.task)
        return tuple(
            Cell(
                run=configuration.run,
                corpus=corpus,
                system=configuration.canonical(corpus, address.system),
                seed=seed,
                decoding=decoding,
                split=address.split,
                measure=address.measure,
                setting=address.setting,
                partner=address.partner and configuration.canonical(corpus, address.partner),
            )
            for seed in self.seeds
            for decoding in (decodings if address.decoding else [""])
        )


def _key(place: Entry) -> Place:
    return place.row, place.column, place.x, place.category, place.measure


def _check_split(configuration: Configuration, corpus: str, split: str) -> None:
    known = held_out(configuration, corpus)
    if split == TRAIN:
        raise UserError(
            f"split: found {TRAIN}, but the training text is learned from and not scored; "
            f"expected one of {', '.join(known)}"
        )
    if split not in known:
        where = configuration.file_of("corpora", corpus)
        raise UserError(f"unknown split '{split}' of {where}; {hint(split, known)}")


def no_conflict(resolver: Resolver, row: Chosen, column: Chosen, label: str) -> None:
    """Refuse a row and a column that give a coordinate or a variable differently.

    Raises:
        UserError: for the first one.
    """
    ours, theirs = flat(row), flat(column)
    for key, value in ours.items():
        if value != theirs.get(key, value):
            raise UserError(f"{resolver.where}: {label} give the key '{key}' differently")
