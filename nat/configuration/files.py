"""The files of `config/`: where they are, how messages name them, and how they are read.

Scalars follow the core schema of YAML 1.2, so `5e-4` is a number, and `no` is a language rather
than false. Keys are text as written. A repeated key is an error.
"""

import re
import unicodedata
from pathlib import Path
from typing import Any

import yaml

from nat.errors import UserError

SETTINGS = "config/config.yaml"
PAPER_SCALE = "paper"  # the file in config/scales that has the papers' own settings

FOLDERS = ("scales", "corpora", "recipes", "systems", "decodings", "papers")

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")  # names of files and of what they describe

# characters that look like a space, or like nothing, and that no language needs inside of words
_HIDDEN = re.compile(
    "[\u00a0\u00ad\u1680\u2000-\u200b\u200e\u200f\u2028-\u202f\u205f-\u2064\u3000\ufeff]"
)
_MERGE, _TEXT = "tag:yaml.org,2002:merge", "tag:yaml.org,2002:str"
_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def kind_of(folder: str) -> str:
    """What a folder of configuration files, or a key such as `sizes`, has several of."""
    return "corpus" if folder == "corpora" else folder.removesuffix("s")


def file_of(folder: str, name: str) -> str:
    """Path of a configuration file for messages."""
    return f"config/{folder}/{name}.yaml"


class _Loader(_Base):
    yaml_implicit_resolvers: dict[str, list[Any]] = {}

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Check the keys of a mapping, and put those of the mapping that `<<` names before them.

        A key that is in both has the place of the one and the value of the other.
        """
        own: list[Any] = []
        for key, _ in node.value:
            if key.value in own:
                problem = f"the key '{key.value}' is given twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            own.append(key.value)
            if isinstance(key, yaml.ScalarNode) and (key.tag, key.value) != (_MERGE, "<<"):
                key.tag = _TEXT
        super().flatten_mapping(node)
        # an alias may name the mapping once more
        node.value = list({str(key.value): (key, value) for key, value in node.value}.values())


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
    """Read the file `root / name`, a mapping; messages show the name, its path from `root`."""
    try:
        text = (root / name).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{name}: not valid UTF-8 at byte {error.start}") from error
    except OSError as error:
        elsewhere = "" if (root / "config").is_dir() else "; run this in the repository"
        raise UserError(f"{name}: cannot be read ({error.strerror}){elsewhere}") from error
    content = read_value(text, name)
    if not isinstance(content, dict):
        what = "nothing" if content is None else f"a {type(content).__name__}"
        due = f"expected lines of the form 'key: value'{_hidden(text)}"
        raise UserError(f"{name}: found {what}, {due}")
    return content


def read_value(text: str, origin: str) -> Any:
    """Read the value of a YAML text."""
    try:
        content = yaml.load(text, _Loader)  # noqa: S506 (a safe loader)
    except yaml.YAMLError as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        where = f"line {mark.line + 1}: " if mark else ""
        raise UserError(f"{origin}: {where}{problem or error}{_hidden(text)}") from error
    if hidden := _hidden(text):
        raise UserError(f"{origin}: a key or value cannot be read as it looks{hidden}")
    return content


def _hidden(text: str) -> str:
    """Name the first character of a text that looks like a space or like nothing."""
    if (match := _HIDDEN.search(text)) is None:
        return ""
    name, line = unicodedata.name(match[0]), text.count("\n", 0, match.start()) + 1
    shown = f"{name} (U+{ord(match[0]):04X})"
    return f"; line {line} has the character {shown}, so write a plain space or nothing"


def read_folder(root: Path, folder: str) -> dict[str, dict[str, Any]]:
    """Read all files of a folder of `config/`, by name without `.yaml`."""
    contents = {}
    for path in sorted((root / "config" / folder).glob("[!.]*")):
        is_yaml = path.suffix.lower() in (".yaml", ".yml")
        if is_yaml and not (path.suffix == ".yaml" and NAME.fullmatch(path.stem)):
            expected = "NAME.yaml, with letters, digits, '.', '_' and '-' as its name"
            raise UserError(f"config/{folder}/{path.name}: expected {expected}")
        if is_yaml:
            contents[path.stem] = read_yaml(root, f"config/{folder}/{path.name}")
    return contents
