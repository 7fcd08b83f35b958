"""Modules of this project as files of one folder, which import each other relatively.

So code can travel with a model. `nat.transformer.model` becomes `nat_transformer_model.py`. An
import within a function, of a package that only some models need, is put into a `try`, where
transformers does not look for packages that have to be installed.
"""

import ast
import importlib.util
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import packages_distributions, version
from pathlib import Path

_CODE = "huggingface_code"
_IMPORTS = (ast.Import, ast.ImportFrom)


def flattened(modules: Sequence[str]) -> dict[str, str]:
    """These modules and all of this project that they import, by the name of their file.

    Each comes after those that it imports.
    """
    found: dict[str, str] = {}

    def add(module: str) -> None:
        name = f"{_name(module)}.py"
        if name in found:
            return
        text = _source(module)
        for other in _imported(text):
            add(other)
        found[name] = _rewritten(text)

    for module in modules:
        add(module)
    return found


def requirements(code: Iterable[str]) -> list[str]:
    """The packages that files of `flattened` import, with the versions that are installed here."""
    modules: set[str] = set()
    for text in code:
        for node in _imports(text):
            if isinstance(node, ast.Import):
                modules.update(alias.name for alias in node.names)
            elif not node.level:
                modules.add(str(node.module))
    packages = {name.split(".")[0] for name in modules} - sys.stdlib_module_names
    of = packages_distributions()
    # some imports are for type checkers alone, of packages that nobody installs
    found = {name for package in packages for name in of.get(package, ())}
    # the build of a version, as in 2.13.0+cpu, is not for everyone
    return sorted(f"{name}=={version(name).split('+')[0]}" for name in found)


def _name(module: str) -> str:
    """The name that a module has in the folder."""
    parts = module.split(".")
    return parts[-1] if _CODE in parts else "_".join(parts)


def _source(module: str) -> str:
    found = importlib.util.find_spec(module)
    assert found is not None and found.origin is not None
    return Path(found.origin).read_text(encoding="utf-8")


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _imports(text: str) -> Iterator[ast.Import | ast.ImportFrom]:
    return (node for node in ast.walk(ast.parse(text)) if isinstance(node, _IMPORTS))


def _own(node: ast.Import | ast.ImportFrom) -> str:
    """The module of this project that an import names; "" for another one."""
    module = (node.module or "") if isinstance(node, ast.ImportFrom) else ""
    return module if module.split(".")[0] == "nat" else ""


def _imported(text: str) -> Iterator[str]:
    """The modules of this project that a module imports."""
    for node in filter(_own, _imports(text)):
        for alias in node.names:
            inner = f"{_own(node)}.{alias.name}"
            yield inner if _is_module(inner) else _own(node)


def _rewritten(text: str) -> str:
    """A module with its imports as they are in the folder."""
    lines = text.split("\n")
    for node in sorted(_imports(text), key=lambda node: -node.lineno):
        made = lines[node.lineno - 1 : node.end_lineno]
        if module := _own(node):
            made = [" " * node.col_offset + "; ".join(_relative(module, node.names))]
        elif node.col_offset:
            block = ("try:", f"    {ast.unparse(node)}", "except ImportError:", "    raise")
            made = [" " * node.col_offset + each for each in block]
        lines[node.lineno - 1 : node.end_lineno] = made
    return "\n".join(lines)


def _relative(module: str, names: Sequence[ast.alias]) -> Iterator[str]:
    whole = [each for each in names if _is_module(f"{module}.{each.name}")]
    for alias in whole:
        name = _name(f"{module}.{alias.name}")
        yield f"from .{name} import __name__ as _{name}"
        yield f"{alias.asname or alias.name} = __import__('sys').modules[_{name}]"
    others = [ast.unparse(each) for each in names if each not in whole]
    if others:
        yield f"from .{_name(module)} import {', '.join(others)}"
