from pathlib import Path

import pytest

from tests.configuration.test_configuration import Folder


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)
