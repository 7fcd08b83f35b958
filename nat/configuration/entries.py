"""What the files of `config/` say, by name."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nat.configuration import families
from nat.configuration.file_names import FOLDERS, file_of
from nat.configuration.json_values import copied
from nat.configuration.models import Kind, Settings, System, read_model
from nat.configuration.overrides import Overrides
from nat.data.corpus import Corpus
from nat.language_model.options import LanguageModelOptions
from nat.options import cached_method, validated

if TYPE_CHECKING:
    from nat.papers.description import Paper


@dataclass(frozen=True, eq=False)
class Entries:
    """Corpora, systems, decodings and papers, typed when they are asked for.

    Attributes:
        root: folder that holds `config/`.
        scale: name of the scale.
        settings: `config/config.yaml`.
        files: content of all other files, by folder and name, as `families` expands them.
        places: the file of each entry of `files`, for messages; by default, a file with its
            name.
        overrides: what the command line changes.
        bases: the system that each system is `like`.
        bases_first: the names of each folder, each after the one that it is `like`. Checks go in
            this order, so that a mistake is told of the file that it stands in.
    """

    root: Path
    scale: str
    settings: Settings
    files: dict[str, dict[str, dict[str, Any]]] = field(repr=False)
    places: dict[str, dict[str, str]] = field(default_factory=dict, repr=False)
    overrides: Overrides = Overrides()
    bases: dict[str, str] = field(default_factory=dict, repr=False)
    bases_first: dict[str, list[str]] = field(default_factory=dict, repr=False)

    def file_of(self, folder: str, name: str) -> str:
        """Path of the file that describes something, as messages show it; also the variant."""
        family = self._family(name) if folder == "decodings" else None
        place = self.places.get(folder, {}).get(family or name) or file_of(folder, family or name)
        return place if family is None else f"{place.partition(':')[0]}: '{name}'"

    @property
    def corpora(self) -> list[str]:
        """Names of all corpora."""
        return list(self.files["corpora"])

    @property
    def systems(self) -> list[str]:
        """Names of all systems."""
        return list(self.files["systems"])

    @property
    def decodings(self) -> list[str]:
        """Names of all decodings; a family by its name with placeholders."""
        return list(self.files["decodings"])

    def has_decoding(self, name: str) -> bool:
        """Whether there is a decoding of this name, or a family whose names it is one of."""
        return name in self.files["decodings"] or self._family(name) is not None

    def example_of(self, decoding: str) -> str:
        """A decoding itself; of a family, the one with which it is checked."""
        return families.example(decoding, self.files["decodings"].get(decoding, {}))

    @property
    def decoding_pattern(self) -> str:
        """A regular expression of the names of all decodings."""
        return "|".join(families.expression(name) for name in self.decodings)

    @property
    def papers(self) -> list[str]:
        """Names of all papers."""
        return list(self.files["papers"])

    def corpus(self, name: str) -> Corpus:
        """A corpus, with the keys that it has from another one.

        Raises:
            UserError: if there is no corpus of this name.
        """
        return self._read(Corpus, "corpora", name)

    def system(self, name: str) -> System:
        """A system as its file gives it."""
        return self._read(System, "systems", name)

    def assistant(self, decoding: str) -> str | None:
        """The second system that a decoding uses (key `assistant`)."""
        assistant = self._find("decodings", decoding).get("assistant")
        return None if assistant is None else str(assistant)

    def language_model(self, decoding: str) -> LanguageModelOptions | None:
        """The language model of a decoding, None if it uses none."""
        found = self._find("decodings", decoding).get("language_model")
        return None if found is None else validated(LanguageModelOptions, found)

    def is_tuned(self, decoding: str) -> bool:
        """Whether options of a decoding are tuned on the validation set (key `tuning`)."""
        return bool(self.tried(decoding))

    def tried(self, decoding: str) -> dict[str, list[Any]]:
        """The values of options among which the validation set decides; empty without `tuning`."""
        found: dict[str, list[Any]] = copied(self._find("decodings", decoding).get("tuning", {}))
        return found

    def paper(self, name: str) -> "Paper":
        """What a paper shows and claims."""
        from nat.papers.description import Paper  # see `MODELS`

        return self._read(Paper, "papers", name)

    def _options(self, decoding: str) -> dict[str, Any]:
        """Options of the method of a decoding as its file gives them, without defaults."""
        found = self._find("decodings", decoding)
        others = ("assistant", "tasks", "tuning")
        return {key: copied(found[key]) for key in found if key not in others}

    @cached_method
    def _family(self, name: str) -> str | None:
        """The family that the name of a decoding belongs to, None if there is none."""
        return (
            None if name in (known := self.files["decodings"]) else families.family_of(name, known)
        )

    @cached_method
    def _read(self, model: type[Kind], folder: str, name: str) -> Kind:
        """What a file describes, typed."""
        written = copied(self._find(folder, name))
        return read_model(model, written, self.file_of(folder, name))

    def _find(self, folder: str, name: str) -> dict[str, Any]:
        """What a file says; it is not to be changed."""
        known = self.files[folder]
        if name in known and not families.is_family(name):
            return known[name]
        family = self._family(name) if folder == "decodings" else None
        if family is None:
            family = families.require(name, {*known} - {name}, FOLDERS[folder], f"config/{folder}")
        return families.merged(known[family], families.options_in(family, name))
