"""The texts that a system learns from, as its key `text` names them.

raw                                                     the references
{distilled: {system: S, decoding: D}}                   translations of an autoregressive system
{mixed: {raw: 0.5, distilled: {...}}}                   one of the two, see `nat.distillation.mixed`
{dynamic: {candidates: [{system: S, decoding: D}, raw], regulariser: {...}}}
                                                        one of several: `nat.distillation.dynamic`
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from nat.registry import Method

RAW, DISTILLED, TUNED = "raw", "distilled", "tuned"
_LIST = "candidates"


@dataclass(frozen=True)
class Candidate:
    """A target side of the training text: translations of a system, or the references (None).

    `key` names it in the configuration; the seed is None until it is known.
    """

    key: str
    system: str | None = None
    decoding: str | None = None
    seed: int | None = None

    @property
    def name(self) -> str:
        """Name in paths and reports: the system and the decoding, as in `at-base.beam5`."""
        return RAW if self.system is None else f"{self.system}.{self.decoding}"

    def as_json(self) -> str | dict[str, Any]:
        """As the configuration names it."""
        if self.system is None:
            return RAW
        seed = {} if self.seed is None else {"seed": self.seed}
        return {"system": self.system, "decoding": self.decoding, **seed}


@dataclass(frozen=True)
class Text:
    """A value of the key `text`: one text, or several and the method that chooses among them."""

    kind: str  # `raw`, `distilled`, or the method of the choice
    candidates: tuple[Candidate, ...]
    choice: Method | None = None

    @classmethod
    def of(cls, value: str | Mapping[str, Any]) -> "Text":
        """Read a value that the configuration has validated."""
        if isinstance(value, str):
            return cls(RAW, (Candidate("text"),))
        [(kind, content)] = value.items()
        key = f"text.{kind}"
        if kind == DISTILLED:
            return cls(kind, (Candidate(key, **content),))
        options = {name: content[name] for name in content if name not in (DISTILLED, _LIST)}
        choice = Method(method=kind, **options)
        if _LIST not in content:
            both = Candidate(key), Candidate(f"{key}.{DISTILLED}", **content[DISTILLED])
            return cls(kind, both, choice)
        named = ({} if each == RAW else each for each in content[_LIST])
        return cls(kind, tuple(Candidate(f"{key}.{_LIST}", **each) for each in named), choice)

    def as_json(self) -> str | dict[str, Any]:
        """As the configuration has it."""
        texts = [text.as_json() for text in self.candidates]
        if self.choice is None:
            return RAW if self.kind == RAW else {self.kind: texts[0]}
        is_listed = self.candidates[-1].key.endswith(_LIST)
        named = {_LIST: texts} if is_listed else {DISTILLED: texts[-1]}
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
    def compared(self) -> tuple[Candidate, ...]:
        """The texts whose pairwise sentence BLEU the choice needs: all of them or none."""
        return self.candidates if self.regulariser else ()

    @property
    def is_tuned(self) -> bool:
        """True if the weights of the regulariser are tuned on several references."""
        return self.regulariser.get("gamma") == TUNED


def joined_names(texts: tuple[Candidate, ...]) -> str:
    """Name of the folder of their pairwise sentence BLEU."""
    return "+".join(each.name for each in texts)
