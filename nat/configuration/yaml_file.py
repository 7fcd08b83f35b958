"""Reading one YAML file, strictly.

Scalars follow the core schema of YAML 1.2, so `5e-4` is a number, and `no` is a language rather
than false. Keys are text as written. A repeated key is an error.
"""

import re
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from nat.errors import UserError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""Names of files and of what they describe."""

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):
    yaml_implicit_resolvers: dict[str, list[Any]] = {}

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(
                    None, None, "a key must be one word", key.start_mark
                )
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key '{key.value}' is given twice", key.start_mark
                )
            seen.add(key.value)
            if key.tag != "tag:yaml.org,2002:merge":
                key.tag = "tag:yaml.org,2002:str"
        found: dict[Hashable, Any] = super().construct_mapping(node, deep=deep)
        return found


def _integer(loader: Any, node: yaml.ScalarNode) -> int:
    text = loader.construct_scalar(node)
    return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))


def _float(loader: Any, node: yaml.ScalarNode) -> float:
    return float(loader.construct_scalar(node))


# (tag, pattern, first characters), in the order of YAML 1.2.2, section 10.3.2. Infinity and
# "not a number" are left out, because no setting needs them.
for _tag, _pattern, _first in (
    ("null", r"null|Null|NULL|~|", ["n", "N", "~", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", list("-+.0123456789")),
    ("merge", r"<<", ["<"]),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(f"^({_pattern})$"), _first
    )
_Loader.add_constructor("tag:yaml.org,2002:int", _integer)
_Loader.add_constructor("tag:yaml.org,2002:float", _float)


def read_yaml(root: Path, name: str) -> dict[str, Any]:
    """Read the file `root / name`, a mapping.

    Args:
        root: folder that `name` is relative to.
        name: path as messages show it, such as `config/systems/at-base.yaml`.

    Raises:
        UserError: if the file cannot be read, is not UTF-8, is not YAML or not a mapping; names
            the file and, where there is one, the line.
    """
    try:
        text = (root / name).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{name}: not valid UTF-8 at byte {error.start}") from error
    except OSError as error:
        raise UserError(f"{name}: cannot be read ({error.strerror})") from error
    found = read_value(text, name)
    if not isinstance(found, dict):
        what = "nothing" if found is None else f"a {type(found).__name__}"
        raise UserError(f"{name}: found {what}, expected lines of the form 'key: value'")
    return found


def read_value(text: str, origin: str) -> Any:
    """The value of a YAML text.

    Raises:
        UserError: if it is not YAML; names `origin` and, where there is one, the line.
    """
    try:
        found = yaml.load(text, _Loader)  # noqa: S506 (a safe loader)
        _refuse_circles(found, origin, (), set())
        return found
    except RecursionError as error:
        raise UserError(f"{origin}: lists or mappings are nested too deeply") from error
    except yaml.YAMLError as error:
        raise UserError(f"{origin}: {_explain(error, text)}") from error


def _refuse_circles(value: Any, origin: str, around: tuple[int, ...], seen: set[int]) -> None:
    """Refuse an alias (`*name`) inside of what it stands for."""
    if not isinstance(value, dict | list):
        return
    if id(value) in around:
        raise UserError(f"{origin}: an alias stands for what it is part of; write it out")
    if id(value) in seen:
        return
    seen.add(id(value))
    for each in value.values() if isinstance(value, dict) else value:
        _refuse_circles(each, origin, (*around, id(value)), seen)


def _explain(error: yaml.YAMLError, text: str) -> str:
    if isinstance(error, yaml.reader.ReaderError):
        return f"not valid YAML ({error.reason}, position {error.position})"
    if not isinstance(error, yaml.MarkedYAMLError):
        return f"not valid YAML ({' '.join(str(error).split())})"
    mark = error.problem_mark or error.context_mark
    where = ""
    if mark is not None:
        where = f"line {mark.line + 1}: "
        line = next(iter(text.split("\n")[mark.line : mark.line + 1]), "")
        if line[mark.column :].startswith("\t"):
            return f"{where}found a tab; YAML is indented with spaces"
    if isinstance(error, yaml.constructor.ConstructorError):
        return f"{where}{error.problem}"
    return f"{where}not valid YAML ({error.problem or error.context})"
