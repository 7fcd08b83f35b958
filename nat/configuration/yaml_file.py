"""Reading one YAML file, strictly.

Scalars follow the core schema of YAML 1.2, so `5e-4` is a number, and `no` is a language rather
than false. Keys are text as written. A repeated key is an error.
"""

import json
import math
import re
from pathlib import Path
from typing import Any

import yaml

from nat.errors import UserError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""Names of files and of what they describe."""

_MERGE, _TEXT = "tag:yaml.org,2002:merge", "tag:yaml.org,2002:str"
_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):
    yaml_implicit_resolvers: dict[str, list[Any]] = {}

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Check the keys of a mapping, and put those of the mapping that `<<` names before them.

        A key that is in both has the place of the one and the value of the other.
        """
        own: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise _error("a key must be one word", key)
            if key.value in own:
                raise _error(f"the key '{key.value}' is given twice", key)
            own.add(key.value)
            if (key.tag, key.value) != (_MERGE, "<<"):
                key.tag = _TEXT
        super().flatten_mapping(node)
        # an alias may name the mapping once more
        node.value = list({key.value: (key, value) for key, value in node.value}.values())


def _error(problem: str, node: yaml.Node) -> yaml.YAMLError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


def _refuse_tag(loader: Any, node: yaml.Node) -> None:
    raise _error(f"the tag '{node.tag}' has no meaning here; remove it, or quote the text", node)


def _integer(loader: Any, node: yaml.ScalarNode) -> int:
    text = loader.construct_scalar(node)
    try:
        return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
    except ValueError as error:
        raise _error(f"'{text[:20]}' is no integer", node) from error


def _float(loader: Any, node: yaml.ScalarNode) -> float:
    text = loader.construct_scalar(node)
    try:
        value = float(text)
    except ValueError:
        value = math.inf
    if not math.isfinite(value):
        raise _error(f"'{text[:20]}' is no number, or one that is too large", node)
    return value


# (tag, pattern, first characters, constructor), in the order of YAML 1.2.2, section 10.3.2.
# Infinity and "not a number" are left out, because no setting needs them.
_Loader.yaml_constructors = {
    tag: _Base.yaml_constructors[tag]
    for tag in (f"tag:yaml.org,2002:{kind}" for kind in ("str", "seq", "map"))
}
for _kind, _pattern, _first, _made in (
    ("null", r"null|Null|NULL|~|", "nN~", lambda *_: None),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF", lambda _, node: node.value[0] in "tT"),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789", _integer),
    (
        *("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"),
        *("-+.0123456789", _float),
    ),
    ("merge", r"<<", "<", _refuse_tag),
):
    _first_characters = [*_first, ""] if _kind == "null" else list(_first)
    _tag = f"tag:yaml.org,2002:{_kind}"
    _Loader.add_implicit_resolver(_tag, re.compile(f"^({_pattern})$"), _first_characters)
    _Loader.add_constructor(_tag, _made)
_Loader.add_constructor(None, _refuse_tag)


def read_yaml(root: Path, name: str) -> dict[str, Any]:
    """Read the file `root / name`, a mapping.

    Args:
        root: folder that `name` is relative to.
        name: path as messages show it, such as `config/systems/at-base.yaml`.

    Raises:
        UserError: if the file cannot be read, is not UTF-8 or not a mapping, and as `read_value`;
            names the file and, where there is one, the line.
    """
    try:
        text = (root / name).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{name}: not valid UTF-8 at byte {error.start}") from error
    except OSError as error:
        elsewhere = "" if (root / "config").is_dir() else "; run this in the repository"
        raise UserError(f"{name}: cannot be read ({error.strerror}){elsewhere}") from error
    found = read_value(text, name)
    if not isinstance(found, dict):
        what = "nothing" if found is None else f"a {type(found).__name__}"
        raise UserError(f"{name}: found {what}, expected lines of the form 'key: value'")
    return found


def read_value(text: str, origin: str) -> Any:
    """Read the value of a YAML text.

    Raises:
        UserError: if it is not YAML; names `origin` and, where there is one, the line.
    """
    try:
        found = yaml.load(text, _Loader)  # noqa: S506 (a safe loader)
        json.dumps(found)
    except (RecursionError, ValueError) as error:
        raise UserError(f"{origin}: an alias in what it stands for, or too deep a nest") from error
    except yaml.YAMLError as error:
        raise UserError(f"{origin}: {_explain(error, text)}") from error
    return found


def _explain(error: yaml.YAMLError, text: str) -> str:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is None:
        return f"not valid YAML ({' '.join(str(error).split())})"
    where = f"line {mark.line + 1}: "
    line = next(iter(text.split("\n")[mark.line : mark.line + 1]), "")
    if line[mark.column :].startswith("\t"):
        return f"{where}found a tab; YAML is indented with spaces"
    problem = getattr(error, "problem", None) or getattr(error, "context", None)
    own = isinstance(error, yaml.constructor.ConstructorError)
    return f"{where}{problem}" if own else f"{where}not valid YAML ({problem})"
