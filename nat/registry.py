"""Methods by name: `nat/FAMILY/NAME.py` holds one class, exported as `METHOD`.

A name with a dot is a module of another package, `my_package.module`, which holds such a class.

Its options and traits, which the configuration needs, are in `nat/FAMILY/options.py`, which does
not import torch. A method that has none there, as a new one may, is imported for them.
"""

import hashlib
import importlib
import json
import re
import traceback
from collections.abc import Mapping
from functools import cache
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_pascal

from nat.errors import UserError
from nat.extras import extras_named
from nat.options import at, hint, options_of, validated
from nat.traits import DecodingMethod, NetworkPart, ProxyInput, ProxyTarget, TextChoice

_PACKAGE = Path(__file__).parent
PACKAGE = "package"
"""Key of a method from another package that says of which version it is; nobody writes it."""
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
    elsewhere = "." in method
    module, file = f"nat.{family}.{method}", f"nat/{family}/{method}.py"
    if elsewhere and method.replace(".", "_").isidentifier():
        module = file = method
    elif not method.isidentifier() or find_spec(module) is None:
        raise UserError(f"nat/{family} has no method '{method}'; {hint(method, names(family))}")
    try:
        with extras_named():
            kind = getattr(importlib.import_module(module), "METHOD", None)
    except UserError:
        raise
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and f"{method}.".startswith(f"{error.name}."):
            why = f"there is no '{error.name}'; install its package where jobs run"
        else:
            why = f"{_place(error, elsewhere)}: {type(error).__name__}: {error}".partition("\n")[0]
        raise UserError(f"{file} cannot be imported: {why}") from error
    if not (isinstance(kind, type) and issubclass(kind, FAMILIES[family])):
        wanted = FAMILIES[family].__name__
        raise UserError(f"{file}: 'METHOD' is not a class that derives from '{wanted}'")
    return kind


def _place(error: Exception, elsewhere: bool) -> str:
    """File and line of an error, the last of this project or, `elsewhere`, the last of all."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [each for each in frames if elsewhere or Path(each.filename).is_relative_to(_PACKAGE)]
    last: Any = error if isinstance(error, SyntaxError) and error.filename else ours[-1]
    file = Path(last.filename)
    return f"{file if elsewhere else file.relative_to(_PACKAGE.parent)}, line {last.lineno}"


def build(family: str, method: Method) -> Any:
    """Build a method from its configuration; a `UserError` for a wrong name or value."""
    return validated(find(family, method.method), _given(method), f"'{method.method}'")


def describe(family: str, method: Method) -> Any:
    """The options of a method, as an object that has its traits."""
    return _described(family, json.dumps(method.as_json(), sort_keys=True))


def completed(family: str, method: Method) -> Method:
    """A method with all of its options, defaults filled in, and the version of its package."""
    options = options_of(describe(family, method))
    return Method(method=method.method, **options, **version_of(method.method))


@cache
def version_of(method: str) -> dict[str, str]:
    """Return the version of the package that a method comes from; nothing for this project.

    A package that is not installed, or in editable mode, has the checksum of the method's file.
    """
    if "." not in method:
        return {}
    for name in packages_distributions().get(method.partition(".")[0], ()):
        return {PACKAGE: f"{name} {version(name)}"}
    spec = find_spec(method)
    assert spec is not None and spec.origin is not None
    return {PACKAGE: hashlib.sha256(Path(spec.origin).read_bytes()).hexdigest()}


def _given(method: Method) -> dict[str, Any]:
    """The options of a method, without the version of its package."""
    version_key = {PACKAGE} if "." in method.method else set()
    return {key: value for key, value in method.options.items() if key not in version_key}


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
    return validated(kind, _given(method), f"'{method.method}'")
