"""An artefact, a result whose path and inputs follow from its names; kinds: `nat.artifacts`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self, dataclass_transform

from nat.configuration import Configuration


class Inputs(dict[str, "Artifact | tuple[Artifact, ...] | None"]):
    """What a job reads, by the names of its inputs, which are also attributes.

    An input is an artefact, several of them in order, or None where there is nothing to read.
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no input is named '{name}', only {', '.join(self)}") from None

    def artifacts(self) -> Iterator["Artifact"]:
        """The artefacts that are read, in order."""
        for value in self.values():
            yield from (value,) if isinstance(value, Artifact) else value or ()

    def paths(self) -> dict[str, str | list[str]]:
        """Their paths by the name of the input, as a rule wants them."""
        return {
            name: value.path if isinstance(value, Artifact) else [each.path for each in value]
            for name, value in self.items()
            if value is not None
        }


@dataclass_transform(frozen_default=True)
@dataclass(frozen=True)
class Artifact:
    """A result. The fields of a subclass are the names that tell it from others of its kind.

    Attributes:
        template: of its path.
        kinds: all subclasses, which are frozen dataclasses, by name.
    """

    template: ClassVar[str] = ""
    kinds: ClassVar[dict[str, type["Artifact"]]] = {}

    def __init_subclass__(cls) -> None:
        cls.kinds[cls.__name__] = dataclass(frozen=True)(cls)

    @classmethod
    def of(cls, names: Mapping[str, Any], **changes: Any) -> Self:
        """The artefact of these names, with some changed or added.

        The names can be the wildcards of a job, or the `vars` of an artefact that is made with it;
        those that are not its own are ignored.
        """
        given = {**names, **changes}
        own = {field.name: field.type for field in fields(cls) if field.name in given}
        return cls(**{name: int(given[name]) if own[name] is int else given[name] for name in own})

    @property
    def path(self) -> str:
        """The file or folder that stands for it."""
        return self.template.format_map(vars(self))

    def as_json(self) -> dict[str, Any]:
        """The kind, the path and the names, JSON-able."""
        return {"kind": type(self).__name__, "path": self.path, **vars(self)}

    def inputs(self, configuration: Configuration) -> Inputs:
        """What is read to make it.

        Raises:
            UserError: if the configuration does not allow it.
        """
        return self._read(configuration)

    def _read(self, configuration: Configuration) -> Inputs:
        return Inputs()


def artifact_of(written: Mapping[str, Any]) -> Artifact:
    """The artefact that `Artifact.as_json` describes."""
    names = {key: tuple(each) if isinstance(each, list) else each for key, each in written.items()}
    return Artifact.kinds[written["kind"]].of(names)


class File(Artifact):
    """A file that a user keeps, and the key of the configuration that names it."""

    template = "{name}"
    name: str
    named_by: str
