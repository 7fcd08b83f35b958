"""The texts that a system learns from, as its key `text` names them.

raw                                                     the references
{distilled: {system: S, decoding: D}}                   translations of an autoregressive system
{mixed: {raw: 0.5, distilled: {...}}}                   one of the two, see `nat.distillation.mixed`
{dynamic: {candidates: [{system: S, decoding: D}, raw], regulariser: {...}}}
                                                        one of several: `nat.distillation.dynamic`
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

RAW = "raw"


@dataclass(frozen=True)
class Candidate:
    """A target side of the training text.

    Attributes:
        key: key of the configuration that names it.
        system: system whose translations it consists of, None for the references.
        decoding: decoding that made them.
        seed: seed of that system, None if it is not known yet.
    """

    key: str
    system: str | None = None
    decoding: str | None = None
    seed: int | None = None

    @property
    def name(self) -> str:
        """Name in paths and training curves."""
        return RAW if self.system is None else self.system


def candidates(text: Any) -> list[Candidate]:
    """The texts that a value of the key `text` names, in order."""
    if text == RAW:
        return [Candidate("text")]
    kind, value = _method(text)
    if kind == "distilled":
        return [Candidate("text.distilled", **value)]
    if kind == "mixed":
        return [Candidate("text.mixed"), Candidate("text.mixed.distilled", **value["distilled"])]
    key = f"text.{kind}.candidates"
    return [Candidate(key) if each == RAW else Candidate(key, **each) for each in value[_LIST]]


def choice(text: Any) -> dict[str, Any] | None:
    """Options of the method that chooses among the texts, for `registry.build`.

    None if there is nothing to choose.
    """
    if text == RAW or "distilled" in text:
        return None
    kind, value = _method(text)
    return {"method": kind, **{key: value[key] for key in value if key not in _NAMES}}


def effective(text: Any, options: Mapping[str, Any] | None, seed: int) -> Any:
    """The value of the key with all options filled in, and with the seed of its systems."""
    if text == RAW:
        return text
    kind, value = _method(text)
    if kind == "distilled":
        return {kind: {**value, "seed": seed}}
    named: dict[str, Any] = {}
    if "distilled" in value:
        named["distilled"] = {**value["distilled"], "seed": seed}
    if _LIST in value:
        named[_LIST] = [RAW if each == RAW else {**each, "seed": seed} for each in value[_LIST]]
    others = {key: copy.deepcopy(option) for key, option in (options or {}).items()}
    others.pop("method", None)
    return {kind: {**named, **others}}


def compared(text: Any) -> list[Candidate]:
    """The texts whose pairwise sentence BLEU the choice needs: all of them or none."""
    return candidates(text) if ((choice(text) or {}).get("regulariser")) else []


def joined_names(texts: list[Candidate]) -> str:
    """Name of the folder of their pairwise sentence BLEU."""
    return "+".join(each.name for each in texts)


_LIST = "candidates"
_NAMES = ("distilled", _LIST)


def _method(text: Mapping[str, Any]) -> tuple[str, Any]:
    [(kind, value)] = text.items()
    return kind, value
