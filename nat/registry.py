"""Methods by name: `nat/FAMILY/NAME.py` holds one class, exported as `METHOD`.

Its options and traits, which the configuration needs, are in `nat/FAMILY/options.py`, which does
not import torch. A method that has none there, as a new one may, is imported for them.
"""

import importlib
import json
import re
import traceback
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_pascal

from nat.errors import UserError
from nat.options import at, hint, options_of, validated
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


class Method(BaseModel):
    """A method by name, with the fields of its class as further keys."""

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)

    method: str

    @property
    def options(self) -> Mapping[str, Any]:
        """The further keys."""
        return self.model_extra or {}

    def as_json(self) -> dict[str, Any]:
        """As a file of the configuration has it."""
        return self.model_dump()

    def with_options(self, chosen: Mapping[str, Any]) -> "Method":
        """The same method with other values of some options; `a.b` is the key b of the option a."""
        changed = self.as_json()
        for option, value in chosen.items():
            *path, last = option.split(".")
            inner = at(changed, ".".join(path)) if path else changed
            if not isinstance(inner, dict):
                raise UserError(f"'{option}' is a key of '{path[-1]}', which is not given")
            inner[last] = value
        return Method(**changed)


def names(family: str) -> tuple[str, ...]:
    """Names of all methods of a family, a key of `FAMILIES`, found without import."""
    files = sorted((_PACKAGE / family).glob("*.py"))
    return tuple(
        file.stem for file in files if re.search(rb"^METHOD\b", file.read_bytes(), re.MULTILINE)
    )


def find(family: str, method: str) -> Any:
    """The class of a method, the only one that is imported; a `UserError` if it cannot be."""
    file = f"nat/{family}/{method}.py"
    if not method.isidentifier() or find_spec(f"nat.{family}.{method}") is None:
        raise UserError(f"nat/{family} has no method '{method}'; {hint(method, names(family))}")
    try:
        kind = getattr(importlib.import_module(f"nat.{family}.{method}"), "METHOD", None)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [each for each in frames if Path(each.filename).is_relative_to(_PACKAGE)]
        last: Any = error if isinstance(error, SyntaxError) and error.filename else ours[-1]
        place = f"{Path(last.filename).relative_to(_PACKAGE.parent)}, line {last.lineno}"
        problem = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise UserError(f"{file} cannot be imported: {place}: {problem}") from error
    if not (isinstance(kind, type) and issubclass(kind, FAMILIES[family])):
        wanted = FAMILIES[family].__name__
        raise UserError(f"{file}: 'METHOD' is not a class that derives from '{wanted}'")
    return kind


def build(family: str, method: Method) -> Any:
    """Build a method from its configuration; a `UserError` for a wrong name or value."""
    return validated(find(family, method.method), dict(method.options), f"'{method.method}'")


def built(family: str, options: Mapping[str, Any]) -> Any:
    """Build a method from its name and options, as a file of the configuration has them."""
    return build(family, Method(**options))


def describe(family: str, method: Method) -> Any:
    """The options of a method, as an object that has its traits."""
    return _described(family, json.dumps(method.as_json(), sort_keys=True))


def completed(family: str, method: Method) -> Method:
    """A method with all of its options, defaults filled in."""
    return Method(method=method.method, **options_of(describe(family, method)))


def options_class(family: str, method: str) -> Any:
    """The class in `nat/FAMILY/options.py` with the options of a method; None without one."""
    # some decodings have the name of the target that their models learned, such as `ctc`
    name = f"{to_pascal(method)}{'Decoding' if family == 'decoding' else ''}Options"
    return getattr(importlib.import_module(f"nat.{family}.options"), name, None)


@cache
def _described(family: str, configured: str) -> Any:
    """The same for a method as JSON; many systems have the same one."""
    method = Method.model_validate_json(configured)
    kind = options_class(family, method.method) or find(family, method.method)
    return validated(kind, dict(method.options), f"'{method.method}'")
