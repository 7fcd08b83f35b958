"""Reading one YAML file, strictly.

Scalars follow the core schema of YAML 1.2, so `5e-4` is a number, and `no` is a language rather
than false. Keys are text as written. A repeated key is an error.
"""

import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from nat.errors import UserError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""Names of files and of what they describe."""

_MERGE = "tag:yaml.org,2002:merge"
_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TOO_DEEP = "lists or mappings are nested too deeply; write fewer into each other"
_DEEPEST = 3_000  # levels; the loader in C recurses, and tens of thousands overflow its stack


class _Loader(_Base):
    yaml_implicit_resolvers: dict[str, list[Any]] = {}

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Check the keys of a mapping, and put those of the mapping that `<<` names before them.

        A key that is in both has the place of the one and the value of the other. Done here,
        because versions of PyYAML differ in which of several values wins.
        """
        named: yaml.MappingNode | None = None
        own: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(
                    None, None, "a key must be one word", key.start_mark
                )
            if key.value in own:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key '{key.value}' is given twice", key.start_mark
                )
            own[key.value] = key, value
            if (key.tag, key.value) != (_MERGE, "<<"):
                key.tag = "tag:yaml.org,2002:str"
            elif isinstance(value, yaml.MappingNode):
                named = value
            else:
                raise yaml.constructor.ConstructorError(
                    None,
                    None,
                    "'<<' stands for one mapping (<<: *name); write out the keys of further ones",
                    key.start_mark,
                )
        if named is None:
            return
        del own["<<"]
        node.value = list(own.values())  # for a mapping that names itself
        self.flatten_mapping(named)
        node.value = list(({key.value: (key, value) for key, value in named.value} | own).values())


def _scalar(loader: Any, node: yaml.ScalarNode) -> str:
    """The text of a scalar, of the form that its tag asks for; `!!float abc` is not."""
    text: str = loader.construct_scalar(node)
    if not _PATTERNS[node.tag].match(text):
        raise yaml.constructor.ConstructorError(
            None, None, f"'{text}' does not fit its tag '{_short(node.tag)}'", node.start_mark
        )
    return text


def _refuse_tag(loader: Any, node: yaml.Node) -> None:
    raise yaml.constructor.ConstructorError(
        None,
        None,
        f"the tag '{_short(node.tag)}' has no meaning here; remove it, or put text in quotes",
        node.start_mark,
    )


def _short(tag: str) -> str:
    prefix = "tag:yaml.org,2002:"
    return f"!!{tag.removeprefix(prefix)}" if tag.startswith(prefix) else tag


def _null(loader: Any, node: yaml.ScalarNode) -> None:
    _scalar(loader, node)


def _truth(loader: Any, node: yaml.ScalarNode) -> bool:
    return _scalar(loader, node).lower() == "true"


def _integer(loader: Any, node: yaml.ScalarNode) -> float:
    """An integer; infinity, as a float of that size is, for one that no float comes near."""
    text = _scalar(loader, node)
    try:
        value = int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
        float(value)
    except (ValueError, OverflowError):  # Python reads at most 4,300 decimal digits
        return math.inf
    return value


def _float(loader: Any, node: yaml.ScalarNode) -> float:
    return float(_scalar(loader, node))


_PATTERNS: dict[str, re.Pattern[str]] = {}
"""Forms of scalars by tag."""

# (tag, pattern, first characters), in the order of YAML 1.2.2, section 10.3.2. Infinity and
# "not a number" are left out, because no setting needs them; a number that is too large for a float
# becomes infinity and is refused when all values are known, with its key.
for _tag, _pattern, _first in (
    ("null", r"null|Null|NULL|~|", ["n", "N", "~", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", list("-+.0123456789")),
    ("merge", r"<<", ["<"]),
):
    _PATTERNS[f"tag:yaml.org,2002:{_tag}"] = re.compile(f"^({_pattern})$")
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", _PATTERNS[f"tag:yaml.org,2002:{_tag}"], _first
    )
# other tags, such as !!timestamp, stand for values that no JSON has
_Loader.yaml_constructors = {
    tag: _Base.yaml_constructors[tag]
    for tag in (f"tag:yaml.org,2002:{kind}" for kind in ("str", "seq", "map"))
}
for _tag, _constructor in (
    ("null", _null),
    ("bool", _truth),
    ("int", _integer),
    ("float", _float),
):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_tag}", _constructor)
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
    """The value of a YAML text.

    Raises:
        UserError: if it is not YAML, is nested too deeply, or has a number that is too large; names
            `origin` and, where there is one, the line or the key.
    """
    try:
        _refuse_depth(text)
        found = yaml.load(text, _Loader)  # noqa: S506 (a safe loader)
        _check(found, origin, (), (), set())
        return found
    except RecursionError as error:
        raise UserError(f"{origin}: {_TOO_DEEP}") from error
    except yaml.YAMLError as error:
        raise UserError(f"{origin}: {_explain(error, text)}") from error


def _refuse_depth(text: str) -> None:
    """Refuse what is nested so deeply that the loader would crash."""
    # At least every second level begins with a bracket or further right than the one around it. So
    # most files need no look at their structure, which would take a third of the time of loading.
    longest = max(map(len, text.split("\n")))
    if text.count("[") + text.count("{") + longest <= _DEEPEST:
        return
    depth = 0
    events: Iterator[Any] = yaml.parse(text, _Loader)
    for event in events:
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _DEEPEST:
            raise yaml.constructor.ConstructorError(None, None, _TOO_DEEP, event.start_mark)


def _check(
    value: Any, origin: str, keys: tuple[str, ...], around: tuple[int, ...], seen: set[int]
) -> None:
    """Refuse an infinite number, and an alias (`*name`) inside of what it stands for."""
    if isinstance(value, float) and math.isinf(value):
        key = f"key '{'.'.join(keys)}': " if keys else ""
        raise UserError(f"{origin}: {key}the number is too large; write a smaller one")
    if not isinstance(value, dict | list):
        return
    if id(value) in around:
        raise UserError(f"{origin}: an alias stands for what it is part of; write it out")
    if id(value) in seen:
        return
    seen.add(id(value))
    items: Iterable[tuple[Any, Any]] = (
        value.items() if isinstance(value, dict) else enumerate(value)
    )
    for key, each in items:
        if isinstance(each, (dict, list, float)):  # faster than a union
            _check(each, origin, (*keys, str(key)), (*around, id(value)), seen)


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
