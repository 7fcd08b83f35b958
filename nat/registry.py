"""Methods by name: `nat/FAMILY/NAME.py` holds one class, exported as `METHOD`.

The options and traits of a method are those of its class. What the configuration needs of a method
stands in `nat/FAMILY/options.py`, which does not import torch, so a method is only imported where
it is built; one that has no options there, as a new one may, is imported for them too.
"""

import copy
import importlib
import importlib.util
import json
import os
import pkgutil
import re
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, Literal, TypeVar, overload

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_pascal

from nat.errors import UserError
from nat.options import hint, options_of, validated
from nat.traits import DecodingMethod, NetworkPart, ProxyInput, ProxyTarget, TextChoice

_PACKAGE = Path(__file__).parent
AnyMethod = ProxyInput | ProxyTarget | TextChoice | NetworkPart | DecodingMethod
FAMILIES: dict[str, type[AnyMethod]] = {
    "inputs": ProxyInput,
    "targets": ProxyTarget,
    "distillation": TextChoice,
    "parts": NetworkPart,
    "decoding": DecodingMethod,
}

Traits = TypeVar("Traits", bound=AnyMethod)


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


def find(family: str, method: str) -> Any:
    """The class of a method; imports only this method.

    Raises:
        UserError: if there is no such method, naming the nearest one; or if it cannot be imported,
            naming the file and the line.
    """
    if _source(family, method) is None:
        raise UserError(f"nat/{family} has no method '{method}'; {hint(method, names(family))}")
    file = f"nat/{family}/{method}.py"
    try:
        found = getattr(importlib.import_module(f"nat.{family}.{method}"), "METHOD", None)
    except Exception as error:
        raise UserError(f"{file} cannot be imported: {_told(error)}") from error
    kind = FAMILIES[family]
    if not (isinstance(found, type) and issubclass(found, kind)):
        raise UserError(f"{file}: 'METHOD' is not a class that derives from '{kind.__name__}'")
    return found


def build(family: str, method: Method) -> Any:
    """Build a method from its configuration.

    Values are taken strictly: no text for a number, no truth value for a number.

    Raises:
        UserError: for an unknown method or option, or a value of the wrong type.
    """
    return validated(find(family, method.method), dict(method.options), f"'{method.method}'")


@overload
def describe(family: Literal["inputs"], method: Method) -> Description[ProxyInput]: ...
@overload
def describe(family: Literal["targets"], method: Method) -> Description[ProxyTarget]: ...
@overload
def describe(family: Literal["distillation"], method: Method) -> Description[TextChoice]: ...
@overload
def describe(family: Literal["parts"], method: Method) -> Description[NetworkPart]: ...
@overload
def describe(family: Literal["decoding"], method: Method) -> Description[DecodingMethod]: ...
def describe(family: str, method: Method) -> Any:
    """Validate the configuration of a method and say what follows from its class.

    Raises:
        UserError: as `build`.
    """
    return _described(family, json.dumps(method.as_json(), sort_keys=True))


@cache
def _described(family: str, configured: str) -> Description[Any]:
    """`describe` for a method as JSON; many systems have the same one."""
    method = Method.model_validate_json(configured)
    options = importlib.import_module(f"nat.{family}.options")
    kind = getattr(options, f"{to_pascal(method.method)}Options", None)
    if kind is None or not issubclass(kind, FAMILIES[family]):
        kind = find(family, method.method)
    built = validated(kind, dict(method.options), f"'{method.method}'")
    return Description(Method(method=method.method, **options_of(built)), built)


def _told(error: Exception) -> str:
    """An error of an import, and the last place in this project that it comes from."""
    if isinstance(error, SyntaxError) and error.filename is not None:
        file, line, problem = error.filename, error.lineno, error.msg
    else:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if Path(frame.filename).is_relative_to(_PACKAGE)]
        file, line, problem = ours[-1].filename, ours[-1].lineno, str(error).partition("\n")[0]
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
