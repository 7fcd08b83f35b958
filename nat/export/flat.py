"""Modules of this project as files of one folder, which import each other relatively.

So code can travel with a model. `nat.transformer.model` becomes `nat_transformer_model.py`. An
import within a function, of a package that only some models need, is put off until it is called
for, so that programs that check imports beforehand do not ask for it.
"""

import ast
import importlib.util
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import packages_distributions, version
from pathlib import Path

_CODE = "huggingface_code"


def flattened(modules: Sequence[str]) -> dict[str, str]:
    """These modules and all of this project that they import, by the name of their file.

    Each comes after those that it imports.
    """
    found: dict[str, str] = {}

    def add(module: str) -> None:
        name = _file(module)
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
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                modules.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                modules.add(str(node.module))
        modules.update(re.findall(r"(?:__import__|import_module)\('([\w.]+)'\)", text))
    packages = {name.split(".")[0] for name in modules} - sys.stdlib_module_names
    of = packages_distributions()
    # some imports are for type checkers alone, of packages that nobody installs
    found = {name for package in packages for name in of.get(package, ())}
    # the build of a version, as in 2.13.0+cpu, is not for everyone
    return sorted(f"{name}=={version(name).split('+')[0]}" for name in found)


def _file(module: str) -> str:
    parts = module.split(".")
    return f"{parts[-1] if _CODE in parts else '_'.join(parts)}.py"


def _name(module: str) -> str:
    return _file(module).removesuffix(".py")


def _source(module: str) -> str:
    found = importlib.util.find_spec(module)
    assert found is not None and found.origin is not None
    return Path(found.origin).read_text(encoding="utf-8")


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _imported(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "nat":
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if _is_module(inner) else str(node.module)


def _rewritten(text: str) -> str:
    lines = text.split("\n")
    for node in sorted(_imports(text), key=lambda node: -node.lineno):
        made = " " * node.col_offset + "; ".join(_statements(node))
        lines[node.lineno - 1 : node.end_lineno] = [made]
    return "\n".join(lines)


def _imports(text: str) -> list[ast.Import | ast.ImportFrom]:
    return [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        and (node.col_offset or (getattr(node, "module", "") or "").split(".")[0] == "nat")
    ]


def _statements(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "nat":
        whole = [each for each in node.names if _is_module(f"{node.module}.{each.name}")]
        for alias in whole:
            name = _name(f"{node.module}.{alias.name}")
            yield f"from .{name} import __name__ as _{name}"
            yield f"{alias.asname or alias.name} = __import__('sys').modules[_{name}]"
        names = [ast.unparse(each) for each in node.names if each not in whole]
        if names:
            yield f"from .{_name(str(node.module))} import {', '.join(names)}"
        return
    for alias in node.names:
        kept = alias.asname or alias.name.split(".")[0]
        if isinstance(node, ast.ImportFrom):
            yield f"{kept} = getattr({_module_of(node.module)}, '{alias.name}')"
        elif alias.asname:
            yield f"{kept} = {_module_of(alias.name)}"
        else:
            yield f"{kept} = __import__('{alias.name}')"


def _module_of(name: str | None) -> str:
    return f"__import__('importlib').import_module('{name}')"
