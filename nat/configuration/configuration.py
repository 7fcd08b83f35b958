"""The configuration of a run at its scale, in which systems that are the same are one."""

from dataclasses import dataclass, replace
from functools import lru_cache
from graphlib import TopologicalSorter

from nat.configuration import families
from nat.configuration.entries import Entries
from nat.configuration.families import Origin
from nat.configuration.models import Training
from nat.configuration.systems import SystemMethods, dependencies, identity, methods_of, training


@dataclass(frozen=True, eq=False)
class Configuration(Entries):
    """A validated configuration at one scale; `load` makes it."""

    def methods(self, system: str) -> SystemMethods:
        """A system with its methods."""
        return methods_of(self, system)

    def on(self, corpus: str) -> "Configuration":
        """The configuration with the changes of the tasks that a corpus is used for.

        Systems that are the same there have one name, which others refer to.
        """
        return self if self.names is not None else _named(self, self.tasks_of(corpus))

    def canonical(self, corpus: str, system: str) -> str:
        """The name under which a system is trained on a corpus."""
        names = self.on(corpus).names or {}
        return names[families.require(system, names, "system", "config/systems")]

    def training(self, corpus: str, system: str) -> Training:
        """Everything that determines the model of a system, with all defaults and canonical names.

        Nothing else affects it, so that its `fingerprint` says whether a trained model is up to
        date. Training data and initialisation are included by name only, since they are results
        themselves.
        """
        self.corpus(corpus)
        return training(self.on(corpus), corpus, self.canonical(corpus, system))


@lru_cache(64)
def _named(configuration: Configuration, tasks: tuple[str, ...]) -> Configuration:
    """The same for tasks, in which systems that are equal have one name, which others refer to.

    A copy with `like` gives way to the system that it is like, so that adding it does not make
    the results of that system anew; among others the shortest name counts.
    """
    view = configuration.for_tasks(tasks)
    needed = {name: dependencies(view, name) for name in view.systems}
    identities: dict[str, str] = {}
    groups: dict[str, list[str]] = {}
    for name in TopologicalSorter(needed).static_order():
        identities[name] = identity(view, name, identities)
        groups.setdefault(identities[name], []).append(name)

    def is_copy(name: str, same: list[str]) -> bool:
        base = configuration.origins["systems"].get(name, Origin("")).base
        return base is not None and (base in same or is_copy(base, same))

    names: dict[str, str] = {}
    for same in groups.values():
        originals = [name for name in same if not is_copy(name, same)]
        first = min(originals, key=lambda name: (len(name), name))
        names |= dict.fromkeys(same, first)
    return replace(view, names=names)
