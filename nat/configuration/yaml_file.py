"""Reading one YAML file, strictly.

Scalars follow the core schema of YAML 1.2, so `5e-4` is a number, and `no` is a language rather
than false. Keys are text as written. A repeated key is an error.
"""

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


# (tag, pattern, first characters), after YAML 1.2.2, section 10.3.2, as far as a setting needs it
for _kind, _pattern, _first in (
    ("null", r"null|Null|NULL|~|", [*"nN~", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", [*"tTfF"]),
    ("int", r"[-+]?[0-9]+", [*"-+0123456789"]),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", [*"-+.0123456789"]),
    ("merge", r"<<", ["<"]),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_kind}", re.compile(f"^({_pattern})$"), _first
    )
_Loader.add_constructor("tag:yaml.org,2002:int", lambda _, node: int(node.value))  # 010 is ten


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
        return yaml.load(text, _Loader)  # noqa: S506 (a safe loader)
    except yaml.YAMLError as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        where = f"line {mark.line + 1}: " if mark else ""
        rest = [*text.split("\n"), ""][mark.line][mark.column :] if mark else ""
        if rest.startswith("\t"):
            problem = "found a tab; YAML is indented with spaces"
        raise UserError(f"{origin}: {where}{problem or error}") from error
