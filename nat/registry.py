"""Methods by name: `nat/<family>/<method>.py` holds one class, exported as `METHOD`.

A method's options are the fields of its class, so a new method is one new file. Class variables
(`TRAITS`) tell the configuration which combinations to refuse.
"""

import copy
import hashlib
import importlib
import importlib.util
import json
import os
import pkgutil
import re
import traceback
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, Literal, TypeVar, get_args, overload

from pydantic import VERSION, BaseModel, ConfigDict

from nat.errors import UserError
from nat.files import read_json, write_json
from nat.options import options_of, validated
from nat.spelling import hint

_PACKAGE = Path(__file__).parent
FAMILIES = {
    "inputs": "proxy input",
    "targets": "proxy target",
    "distillation": "choice among texts",
    "decoding": "decoding method",
}

Order = Literal["parallel", "autoregressive", "semi-autoregressive", "hybrid", "fairseq"]
"""An order in which a system predicts the tokens of a sentence; `fairseq`: decided by fairseq's own
models."""

KINDS: dict[Order, str] = {
    "parallel": "non-autoregressive",
    "autoregressive": "autoregressive",
    "semi-autoregressive": "semi-autoregressive",
    "hybrid": "hybrid",
    "fairseq": "fairseq-native",
}
"""The kind of a system by its order, in messages."""

Engine = Literal["ctranslate2", "onnx"]
"""An engine besides PyTorch; also the name of the folder of a model in its format."""

ENGINES: tuple[Engine, ...] = get_args(Engine)


class Method(BaseModel):
    """A method by name, with the fields of its class as further keys."""

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)

    method: str

    @property
    def options(self) -> Mapping[str, Any]:
        """The further keys."""
        return MappingProxyType(self.model_extra or {})

    def as_json(self) -> dict[str, Any]:
        """As a file of the configuration has it."""
        return self.model_dump()

    def with_options(self, chosen: Mapping[str, Any]) -> "Method":
        """The same method with other values of some options.

        Args:
            chosen: values by option; `a.b` is the key b of the option a.

        Raises:
            UserError: if the option a has no keys.
        """
        found = copy.deepcopy(self.as_json())
        for option, value in chosen.items():
            *path, last = option.split(".")
            inner: Any = found
            for key in path:
                inner = inner.get(key)
                if not isinstance(inner, dict):
                    raise UserError(f"'{option}' is a key of '{key}', which is not given")
            inner[last] = value
        return Method(**found)


# What a class says of itself in class variables, and what holds where it leaves them out.


@dataclass(frozen=True)
class InputTraits:
    """The traits of a proxy input.

    Attributes:
        decoding_order: order in which the system predicts tokens.
        trains_on_partial_targets: whether part of the target is visible in training, so that the
            system can refine a translation in several steps.
        upsampled: True: only for an upsampled canvas; False: not for one; None: for all.
        teacher: order of the system that the key `teacher` must name; None if there is no teacher.
    """

    decoding_order: Order = "parallel"
    trains_on_partial_targets: bool = False
    upsampled: bool | None = None
    teacher: Order | None = None


@dataclass(frozen=True)
class TargetTraits:
    """The traits of a proxy target.

    Attributes:
        decoding_order: order of the systems that can use it; None for all.
        upsampled: whether the system learns on an upsampled canvas, so that no length predictor is
            needed.
        distils: whether an iterative teacher, the system of `init_from`, labels the target.
        trains_correction: whether the system learns to replace visible tokens that are wrong.
        empty_token: whether the system learns to predict BLANK for "no token"; decodings may
            predict it and then drop it.
        teacher: as for inputs.
    """

    decoding_order: Order | None = None
    upsampled: bool = False
    distils: bool = False
    trains_correction: bool = False
    empty_token: bool = False
    teacher: Order | None = None


@dataclass(frozen=True)
class DistillationTraits:
    """The traits of a choice among texts.

    Attributes:
        decoding_order: order of the systems that can use it; None for all.
    """

    decoding_order: Order | None = None


@dataclass(frozen=True)
class DecodingTraits:
    """The traits of a decoding method.

    Attributes:
        decoding_order: order of the systems that can use it.
        upsampled: True: only for systems with an upsampled canvas; False: for the rest; None: for
            all.
        encoder_only: whether it is only for systems without decoder layers.
        latent: whether it is only for systems with latents.
        needs_partial_targets: whether the decoder sees part of a translation, so that it is only
            for systems that saw part of the target in training.
        needs_correction: whether it replaces visible tokens, so that it is only for systems that
            have learned to.
        input_predictor: whether it is only for systems with `decoder: {input_predictor: true}`.
        assistant: order of the system that the key `assistant` must name; None if there is no
            assistant.
        assistant_optional: whether the key `assistant` may be left out all the same.
        starts_from_assistant: whether it completes what the assistant writes, which is the same for
            all such decodings of a job.
        starts_from_masks: whether it begins with a pass over masks, which is the same for all such
            decodings of a job with the same lengths.
        converted: the other engine that runs the model, for which it is converted: `ctranslate2`
            or `onnx`; None for PyTorch.
    """

    decoding_order: Order = "parallel"
    upsampled: bool | None = False
    encoder_only: bool = False
    latent: bool = False
    needs_partial_targets: bool = False
    needs_correction: bool = False
    input_predictor: bool = False
    assistant: Order | None = None
    assistant_optional: bool = False
    starts_from_assistant: bool = False
    starts_from_masks: bool = False
    converted: Engine | None = None


TRAITS: dict[str, type] = {
    "inputs": InputTraits,
    "targets": TargetTraits,
    "distillation": DistillationTraits,
    "decoding": DecodingTraits,
}

Traits = TypeVar("Traits", InputTraits, TargetTraits, DistillationTraits, DecodingTraits)


@dataclass(frozen=True)
class Description(Generic[Traits]):
    """A method with all of its options, defaults filled in, and its traits."""

    method: Method
    traits: Traits


def names(family: str) -> tuple[str, ...]:
    """Names of all methods of a family, a key of `FAMILIES`, found without import."""
    package = importlib.import_module(f"nat.{family}")
    found = []
    for module in pkgutil.iter_modules(package.__path__):
        source = _source(family, module.name)
        if source is not None and re.search(rb"^METHOD\b", source, re.MULTILINE):
            found.append(module.name)
    return tuple(sorted(found))


def find(family: str, method: str) -> type:
    """The class of a method; imports only this method.

    Raises:
        UserError: if there is no such method, naming the nearest one; or if it cannot be imported,
            naming the file and the line.
    """
    if _source(family, method) is None:
        raise UserError(f"unknown {FAMILIES[family]} '{method}'; {hint(method, names(family))}")
    try:
        found = getattr(importlib.import_module(f"nat.{family}.{method}"), "METHOD", None)
    except Exception as error:
        raise UserError(
            f"{FAMILIES[family]} '{method}' cannot be imported: {_told(error)}"
        ) from error
    if not isinstance(found, type):
        raise UserError(
            f"{FAMILIES[family]} '{method}': nat/{family}/{method}.py does not export the class of "
            "a method as METHOD"
        )
    return found


def build(family: str, method: Method) -> Any:
    """Build a method from its configuration.

    Values are taken strictly: no text for a number, no truth value for a number.

    Raises:
        UserError: for an unknown method or option, or a value of the wrong type.
    """
    owner = f"{FAMILIES[family]} '{method.method}'"
    return validated(find(family, method.method), dict(method.options), owner)


@overload
def describe(family: Literal["inputs"], method: Method) -> Description[InputTraits]: ...
@overload
def describe(family: Literal["targets"], method: Method) -> Description[TargetTraits]: ...
@overload
def describe(
    family: Literal["distillation"], method: Method
) -> Description[DistillationTraits]: ...
@overload
def describe(family: Literal["decoding"], method: Method) -> Description[DecodingTraits]: ...
def describe(family: str, method: Method) -> Any:
    """Validate the configuration of a method and say what follows from its class.

    This imports the method, and with it torch, unless `remember` has written what was found.

    Raises:
        UserError: as `build`.
    """
    return _described(family, json.dumps(method.as_json(), sort_keys=True))


@cache
def _described(family: str, configured: str) -> Description[Any]:
    """`describe` for a method as JSON; many systems have the same one."""
    name, kind = f"{family} {configured}", TRAITS[family]
    if name in _remembered():
        found = _remembered()[name]
        return Description(Method(**found["method"]), kind(**found["traits"]))
    method = Method.model_validate_json(configured)
    built = build(family, method)
    traits = {
        each.name: getattr(type(built), each.name)
        for each in fields(kind)
        if hasattr(type(built), each.name)
    }
    described = Method(method=method.method, **options_of(built))
    _remembered()[name] = {"method": described.as_json(), "traits": traits}
    return Description(described, kind(**traits))


REMEMBERED = Path(".snakemake/methods.json")
"""What `describe` has found in this folder. Importing every method takes a third of the time of a
start of Snakemake, which needs no more of them than this."""


def remember() -> None:
    """Write what `describe` has found, for later starts with the same code; without it they import
    the methods again."""
    found = {"code": _code(), "described": _remembered()}
    if REMEMBERED.parent.is_dir():
        with suppress(UserError, OSError):
            if not REMEMBERED.exists() or read_json(REMEMBERED) != found:
                write_json(REMEMBERED, found)


@cache
def _remembered() -> dict[str, Any]:
    with suppress(UserError):
        found = read_json(REMEMBERED)
        if isinstance(found, dict) and found.get("code") == _code():
            return dict(found["described"])
    return {}


@cache
def _code() -> str:
    """A fingerprint of what decides about descriptions: this project and pydantic."""
    found = hashlib.sha256(VERSION.encode())
    for path in sorted(_PACKAGE.rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()


def _told(error: Exception) -> str:
    """An error of an import, and the last place in this project that it comes from."""
    if isinstance(error, SyntaxError) and error.filename is not None:
        file, line, problem = error.filename, error.lineno, error.msg
    else:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if Path(frame.filename).is_relative_to(_PACKAGE)]
        file, line, problem = ours[-1].filename, ours[-1].lineno, str(error)
    place = os.path.relpath(file, _PACKAGE.parent)
    return f"{place}, line {line}: {type(error).__name__}: {problem}"


def _source(family: str, method: str) -> bytes | None:
    """Source of a module of a family; None if the module does not exist."""
    if not method.isidentifier():
        return None
    found = importlib.util.find_spec(f"nat.{family}.{method}")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).read_bytes()
