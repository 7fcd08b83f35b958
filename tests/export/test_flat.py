"""Modules as files of one folder that import each other."""

import ast
from pathlib import Path

from transformers.dynamic_module_utils import get_imports

from nat.export.flat import flattened
from tests.repository import python


def test_no_module_asks_for_this_project(tmp_path: Path) -> None:
    code = flattened(["nat.decoding.ctc_beam", "nat.data.corpus"])
    names = list(code)
    assert not {"nat_files", "nat_locks", "nat_checksums", "nat_registry"} & set(names)
    assert {"nat_transformer_model", "nat_decoding_prefixes", "nat_export_stand_ins"} < set(names)
    folder = tmp_path / "travelled"
    folder.mkdir()
    (folder / "__init__.py").touch()
    for number, (name, text) in enumerate(code.items()):
        path = folder / f"{name}.py"
        path.write_text(text)
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.level:
                modules = [node.module] if node.module else [each.name for each in node.names]
                assert {*modules} <= {*names[:number]}, (name, node.module)
            elif isinstance(node, ast.ImportFrom):
                assert not str(node.module).startswith("nat"), name
        assert "sacremoses" not in get_imports(path)
    program = (
        "import sys, travelled.nat_data_corpus, travelled.nat_decoding_ctc_beam as code\n"
        "assert code.METHOD.__name__ == 'CtcBeam'\n"
        "assert not {'nat', 'sacremoses'} & set(sys.modules)"
    )
    status, _, errors = python("-c", program, folder=tmp_path, path=None)
    assert status == 0, errors
