"""Fingerprints of code, for the jobs that are made again when their program changes.

Those are the reports: they take seconds. A change of the code that trains, translates or scores
makes nothing again by itself, since it would throw away what took days.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from nat.configuration import fingerprint

NAT = Path(__file__).parents[1]
REPORT_PACKAGES = ("measures", "figures", "papers", "report")
"""The packages of nat/ that compute, draw and write reports."""


@cache
def code_of(module: str) -> str:
    """A fingerprint of a module and of all modules of `REPORT_PACKAGES` that it imports.

    Comments, docstrings and layout do not count.

    Args:
        module: such as `nat.figures.figures`.
    """
    found: set[Path] = set()
    left = [_file(module)]
    while left:
        path = left.pop()
        if path is not None and path not in found:
            found.add(path)
            left += [_file(name) for name in _imported(path)]
    code = {str(path.relative_to(NAT)): _code(path) for path in found}
    templates = sorted((NAT / "report/templates").iterdir()) if "report" in _packages(found) else []
    return fingerprint([code, [path.read_text(encoding="utf-8") for path in templates]])


def _packages(paths: set[Path]) -> set[str]:
    return {path.relative_to(NAT).parts[0] for path in paths}


@cache
def _parsed(path: Path) -> ast.Module:
    """The code of a file without its docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in _statements(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            # also strings below an assignment, which document it
            node.body = [each for each in node.body if not _is_text(each)]
    return tree


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """A module and its statements, those within others too, but not their expressions."""
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        yield node
        left += [
            each
            for each in ast.iter_child_nodes(node)
            if isinstance(each, ast.stmt | ast.ExceptHandler | ast.match_case)
        ]


@cache
def _code(path: Path) -> str:
    """The code of a file, so that comments and layout do not count."""
    return fingerprint(ast.dump(_parsed(path)))


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


@cache
def _imported(path: Path) -> tuple[str, ...]:
    """The names that a file imports: those of modules, and those of what is in them."""
    found: list[str] = []
    for node in _statements(_parsed(path)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
    return tuple(found)


def _file(module: str) -> Path | None:
    """The file of a module of `REPORT_PACKAGES`; None for any other name."""
    first, *parts = module.split(".")
    if first != "nat" or not parts or parts[0] not in REPORT_PACKAGES:
        return None
    path = NAT.joinpath(*parts).with_suffix(".py")
    return path if path.exists() else None
