"""Methods by name: `nat/<family>/<method>.py` holds one class, exported as `METHOD`.

A method's options are the fields of its class, so a new method is one new file. Class variables
(`TRAITS`) tell the configuration which combinations to refuse.
"""

import copy
import importlib
import importlib.util
import json
import pkgutil
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from nat.errors import UserError
from nat.options import options_of, validated
from nat.spelling import hint

FAMILIES = {
    "inputs": "proxy input",
    "targets": "proxy target",
    "distillation": "choice among texts",
    "decoding": "decoding method",
}

# Class variables of a method and what holds where a class leaves them out.
TRAITS: dict[str, dict[str, bool | str | None]] = {
    "inputs": {
        "decoding_order": "parallel",  # of predicting tokens, one of DECODING_ORDERS
        "trains_on_partial_targets": False,  # so the system can refine
        "upsampled": None,  # True: only for an upsampled canvas; False: not for one; None: for all
        "teacher": None,  # order of the system that the key `teacher` must name, if it must
    },
    "targets": {
        "decoding_order": None,  # of the systems that it is for, if not for all
        "upsampled": False,  # learns on an upsampled canvas, so needs no length predictor
        "distils": False,  # labelled by an iterative teacher, which is the `init_from` system
        "trains_correction": False,  # teaches to replace visible tokens that are wrong
        "empty_token": False,  # teaches BLANK for no token; decodings may choose it and drop it
        "teacher": None,  # as for inputs
    },
    "distillation": {
        "decoding_order": None,  # of the systems that it is for, if not for all
    },
    "decoding": {
        "decoding_order": "parallel",  # of the systems that it is for
        # True: only for systems with an upsampled canvas; False: for the rest; None: for all
        "upsampled": False,
        "latent": False,  # only for systems with latents
        "needs_partial_targets": False,  # shows part of a translation
        "needs_correction": False,  # replaces visible tokens
        "input_predictor": False,  # only for systems with `decoder: {input_predictor: true}`
        "assistant": None,  # order of the system that the key `assistant` must name, if it must
        "assistant_optional": False,  # whether the key `assistant` may be left out all the same
    },
}

DECODING_ORDERS = ("parallel", "autoregressive", "semi-autoregressive", "hybrid")
"""Orders in which a system predicts the tokens of a sentence."""


@dataclass(frozen=True)
class Description:
    """A method with valid options: all options, defaults filled in, and its traits."""

    options: dict[str, Any]
    traits: dict[str, Any]


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
        UserError: if there is no such method; names the nearest one.
    """
    if _source(family, method) is None:
        raise UserError(f"unknown {FAMILIES[family]} '{method}'; {hint(method, names(family))}")
    found = getattr(importlib.import_module(f"nat.{family}.{method}"), "METHOD", None)
    if not isinstance(found, type):
        raise UserError(
            f"{FAMILIES[family]} '{method}': nat/{family}/{method}.py does not export the class of "
            "a method as METHOD"
        )
    return found


def build(family: str, options: Mapping[str, Any]) -> Any:
    """Build a method from its configuration, `{"method": name, option: value, ...}`.

    Values are taken strictly: no text for a number, no truth value for a number.

    Raises:
        UserError: for an unknown method or option, or a value of the wrong type.
    """
    chosen = dict(options)
    method = chosen.pop("method", None)
    if not isinstance(method, str):
        raise UserError(f"a {FAMILIES[family]} needs the key 'method'")
    return validated(find(family, method), chosen, f"{FAMILIES[family]} '{method}'")


def describe(family: str, options: Mapping[str, Any]) -> Description:
    """Validate the configuration of a method and build it.

    This imports the method, and with it torch.

    Raises:
        UserError: as `build`.
    """
    known = _described(family, json.dumps(options, sort_keys=True))
    return Description(copy.deepcopy(known.options), dict(known.traits))


@cache
def _described(family: str, options: str) -> Description:
    """`describe` for options as JSON; many systems have the same ones."""
    chosen = json.loads(options)
    method = build(family, chosen)
    traits = {
        name: getattr(type(method), name, default) for name, default in TRAITS[family].items()
    }
    return Description({"method": chosen["method"], **options_of(method)}, traits)


def _source(family: str, method: str) -> bytes | None:
    """Source of a module of a family; None if the module does not exist."""
    if not method.isidentifier():
        return None
    found = importlib.util.find_spec(f"nat.{family}.{method}")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).read_bytes()
