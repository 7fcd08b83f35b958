"""What an artefact is: a result whose path and inputs follow from its names.

The kinds that there are: `nat.artifacts`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

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

    def as_json(self) -> dict[str, Any]:
        """What is read, JSON-able."""
        return {
            name: value.as_json()
            if isinstance(value, Artifact)
            else value and [each.as_json() for each in value]
            for name, value in self.items()
        }

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> "Inputs":
        """Read what `as_json` gives."""
        return cls(
            {
                name: tuple(map(artifact_of, value))
                if isinstance(value, list)
                else value and artifact_of(value)
                for name, value in written.items()
            }
        )


@dataclass(frozen=True)
class Artifact:
    """A result. The fields of a subclass are the names that tell it from others of its kind."""

    template: ClassVar[str] = ""
    kinds: ClassVar[dict[str, type["Artifact"]]] = {}
    """All kinds by the names of their classes."""

    def __init_subclass__(cls) -> None:
        cls.kinds[cls.__name__] = cls

    @classmethod
    def of(cls, names: Mapping[str, Any], **changes: Any) -> Self:
        """The artefact of these names, with some changed or added.

        The names can be the wildcards of a job, or the `vars` of an artefact that is made with it;
        those that are not its own are ignored.
        """
        found = {**names, **changes}
        return cls(
            **{
                field.name: int(found[field.name]) if field.type is int else found[field.name]
                for field in fields(cls)
                if field.name in found
            }
        )

    @property
    def path(self) -> str:
        """The file or folder that stands for it."""
        return self.template.format_map(vars(self))

    def as_json(self) -> dict[str, Any]:
        """The kind, the path and the names, JSON-able."""
        return {"kind": type(self).__name__, "path": self.path, **vars(self)}

    def inputs(self, configuration: Configuration) -> Inputs:
        """What is read to make it; a subclass says so in `_read`.

        Raises:
            UserError: if the configuration does not allow it.
        """
        return self._read(configuration)

    def _read(self, configuration: Configuration) -> Inputs:
        raise NotImplementedError


def artifact_of(written: Mapping[str, Any]) -> Artifact:
    """The artefact that `Artifact.as_json` describes."""
    names = {
        key: tuple(value) if isinstance(value, list) else value for key, value in written.items()
    }
    return Artifact.kinds[written["kind"]].of(names)


@dataclass(frozen=True)
class File(Artifact):
    """A file that a user keeps: text of a corpus, published values.

    Attributes:
        name: its path.
        named_by: file of the configuration that names it.
    """

    template = "{name}"
    name: str
    named_by: str

    def _read(self, configuration: Configuration) -> Inputs:
        return Inputs()
