"""Imports run one way: from jobs, workflow and reports down to data."""

import ast
from collections.abc import Iterator
from pathlib import Path

NAT = Path(__file__).resolve().parents[2] / "nat"

PACKAGES_IN_ORDER = (
    *("errors", "extras", "options", "checksums", "locks", "files", "traits", "machine"),
    *("randomness", "program"),
    *("registry", "data", "language_model", "transformer", "configuration", "alignment"),
    *("objective", "parts", "decoding", "inputs", "targets", "distillation"),
    *("artifact", "artifacts", "job"),
    *("measures", "training", "fairseq_plugin", "analyses"),
    *("papers", "figures", "report", "workflow", "jobs", "export"),
)
"""Folders and modules of nat/; each may import from those before it."""
ELSEWHERE = {
    # the format of files of `config/`, which `nat.configuration` reads
    "papers/description.py": "options",
    # networks, though of fairseq
    "fairseq_plugin/own_models.py": "transformer",
}
"""Modules that import, and are imported, as those of another package."""


def imported(path: Path) -> Iterator[str]:
    """Packages and modules of nat/ that a module imports from."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module == "nat":
            names = [f"nat.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name.startswith("nat."):
                yield place(Path(*name.split(".")[1:]).with_suffix(".py"))


def place(path: Path) -> str:
    """The package of `PACKAGES_IN_ORDER` that a module, relative to nat/, counts as."""
    return ELSEWHERE.get(path.as_posix(), path.parts[0].removesuffix(".py"))


def test_every_package_is_listed() -> None:
    found = {path.stem for path in NAT.iterdir() if path.suffix == ".py" or list(path.glob("*.py"))}
    assert found - {"__init__"} == set(PACKAGES_IN_ORDER)


def test_imports_run_one_way() -> None:
    upward = []
    for path in sorted(NAT.rglob("*.py")):
        package = place(path.relative_to(NAT))
        if package == "__init__":
            continue
        for other in imported(path):
            if PACKAGES_IN_ORDER.index(other) > PACKAGES_IN_ORDER.index(package):
                upward.append(f"{path.relative_to(NAT)} imports from nat.{other}")
    assert upward == []
