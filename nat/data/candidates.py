"""The texts that a system learns from, as its key `text` names them.

raw                                                     the references
{distilled: {system: S, decoding: D}}                   translations of an autoregressive system
{distilled: {system: S, decoding: D, monolingual: true}}
                                                        and those of monolingual sentences
{mixed: {raw: 0.5, distilled: {...}}}                   one of the two, see `nat.distillation.mixed`
{dynamic: {candidates: [{system: S, decoding: D}, raw], regulariser: {...}}}
                                                        one of several: `nat.distillation.dynamic`
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from nat.registry import Method

RAW, DISTILLED, TUNED = "raw", "distilled", "tuned"
_LIST = "candidates"


@dataclass(frozen=True)
class Candidate:
    """A target side of the training text: translations of a system, or the references (None).

    The seed is None until it is known. With `monolingual`, the translations of the monolingual
    sentences of the corpus follow, with these as their source.
    """

    system: str | None = None
    decoding: str | None = None
    seed: int | None = None
    monolingual: bool | None = None

    @property
    def name(self) -> str:
        """Name in paths and reports: the system and the decoding, as in `at-base.beam5`."""
        return RAW if self.system is None else f"{self.system}.{self.decoding}"

    def as_json(self) -> str | dict[str, Any]:
        """As the configuration names it."""
        return {name: each for name, each in vars(self).items() if each is not None} or RAW


@dataclass(frozen=True)
class Text:
    """A value of the key `text`: one text, or several and the method that chooses among them."""

    kind: str  # `raw`, `distilled`, or the method of the choice
    candidates: tuple[Candidate, ...]
    choice: Method | None = None
    key: str = "text"  # that names the translations, such as `text.distilled`

    @classmethod
    def of(cls, value: str | Mapping[str, Any]) -> "Text":
        """Read a value that the configuration has validated."""
        if isinstance(value, str):
            return cls(RAW, (Candidate(),))
        [(kind, content)] = value.items()
        if kind == DISTILLED:
            return cls(kind, (Candidate(**content),), key=f"text.{kind}")
        key = _LIST if _LIST in content else DISTILLED
        texts: Iterable[Any] = content[_LIST] if key == _LIST else (RAW, content[DISTILLED])
        candidates = tuple(Candidate(**({} if each == RAW else each)) for each in texts)
        options = {name: each for name, each in content.items() if name != key}
        return cls(kind, candidates, Method(method=kind, **options), f"text.{kind}.{key}")

    def as_json(self) -> str | dict[str, Any]:
        """As the configuration has it."""
        texts = [text.as_json() for text in self.candidates]
        if self.choice is None:
            return RAW if self.kind == RAW else {self.kind: texts[0]}
        named = {_LIST: texts} if self.key.endswith(_LIST) else {DISTILLED: texts[-1]}
        return {self.kind: {**named, **self.choice.options}}

    def with_seed(self, seed: int) -> "Text":
        """The same, translated by systems of this seed."""
        seeded = (replace(each, seed=seed if each.system else None) for each in self.candidates)
        return replace(self, candidates=tuple(seeded))

    @property
    def regulariser(self) -> dict[str, Any]:
        """Options of the regulariser of the choice; empty without one."""
        return (self.choice and self.choice.options.get("regulariser")) or {}

    @property
    def compared(self) -> str:
        """Names of the texts whose pairwise sentence BLEU the choice needs: all of them or none."""
        return "+".join(each.name for each in self.candidates) if self.regulariser else ""
