"""Modules of this project as files of one folder, which import each other relatively.

So code can travel with a model. `nat.transformer.model` becomes `nat_transformer_model.py`, and
what only this project needs has a stand-in (`nat.export.stand_ins`). An
import within a function, of a package that only some models need, is put into a `try`, where
transformers does not look for packages that have to be installed.
"""

import ast
import importlib.util
import sys
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any

from nat.errors import UserError

STAND_INS = "nat.export.stand_ins"
REPLACED = ("nat.checksums", "nat.files", "nat.registry", "nat.language_model.ngram")
"""Modules whose names `STAND_INS` has instead."""

Import = ast.Import | ast.ImportFrom


def write_code(
    folder: Path, entry: str, decodings: Mapping[str, Mapping[str, Any]], parts: Iterable[str]
) -> str:
    """Write the code of a module that opens a model with these methods; returns its name there.

    The module imports all others: transformers fetches what the file of a class itself imports, and
    no more.
    """
    methods = [("decoding", str(each["method"])) for each in decodings.values()]
    methods += [("parts", name) for name in parts]
    for _, name in (each for each in methods if "." in each[1]):
        raise UserError(
            f"'{name}' is a method of another package, and does not travel with a model"
        )
    code = flattened([*(f"nat.{family}.{name}" for family, name in methods), STAND_INS, entry])
    *others, last = code
    for name in others:
        code[last] += f"from .{name} import __name__ as _{name}\n"
    for name, text in code.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return last


def flattened(modules: Sequence[str]) -> dict[str, str]:
    """The text of these modules and of all that they import of this project, by name in the folder.

    Each comes after those that it imports.
    """
    files: dict[str, str] = {}

    def add(module: str) -> None:
        module = STAND_INS if module in REPLACED else module
        if file_name(module) in files:
            return
        spec = importlib.util.find_spec(module)
        assert spec is not None and spec.origin is not None
        text = Path(spec.origin).read_text(encoding="utf-8")
        for node in filter(_own, _imports(text)):
            for alias in node.names:
                inner = f"{_own(node)}.{alias.name}"
                add(inner if _is_module(inner) else _own(node))
        files[file_name(module)] = _rewritten(text)

    for module in modules:
        add(module)
    return files


def file_name(module: str) -> str:
    """The name of a module, or of its stand-in, in the folder."""
    return (STAND_INS if module in REPLACED else module).replace(".", "_")


def requirements(code: Iterable[str], without: Container[str] = ()) -> list[str]:
    """The packages that files import, from the versions here to the next major ones.

    Modules `without` are left out.
    """
    modules: set[str] = set()
    for node in (node for text in code for node in _imports(text)):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif not node.level:
            modules.add(str(node.module))
    packages = {name.split(".")[0] for name in modules} - sys.stdlib_module_names
    of, needed = packages_distributions(), (each for each in packages if each not in without)
    # some imports are for type checkers alone, of packages that nobody installs
    names = {name for package in needed for name in of.get(package, ())}
    return sorted(map(_range, names))


def _range(name: str) -> str:
    """A package, from the version that is installed here; before version 1 without an end."""
    major, minor, *_ = version(name).split(".")
    return f"{name}>={major}.{minor}" + ("" if major == "0" else f",<{int(major) + 1}")


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _imports(text: str) -> Iterator[Import]:
    return (node for node in ast.walk(ast.parse(text)) if isinstance(node, Import))


def _own(node: Import) -> str:
    """The module of this project that an import names; "" for another one."""
    module = (node.module or "") if isinstance(node, ast.ImportFrom) else ""
    return module if module.split(".")[0] == "nat" else ""


def _rewritten(text: str) -> str:
    """A module with its imports as they are in the folder."""
    lines = text.split("\n")
    for node in sorted(_imports(text), key=lambda node: -node.lineno):
        if module := _own(node):
            made = [_relative(module, alias) for alias in node.names]
        elif node.col_offset:
            made = ["try:", f"    {ast.unparse(node)}", "except ImportError:", "    raise"]
        else:
            continue
        indented = [" " * node.col_offset + line for line in made]
        lines[node.lineno - 1 : node.end_lineno] = indented
    return "\n".join(lines)


def _relative(module: str, alias: ast.alias) -> str:
    inner = f"{module}.{alias.name}"
    if _is_module(inner):
        return f"from . import {file_name(inner)} as {alias.asname or alias.name}"
    return f"from .{file_name(module)} import {ast.unparse(alias)}"
