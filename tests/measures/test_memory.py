"""Memory of a piece of work, in a process of its own."""

import importlib
import mmap
import sys
from pathlib import Path

import numpy as np
import pytest

from nat.measures.memory import peak_of

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
MEGABYTE = 1 << 20


@linux
def test_what_work_takes_is_measured() -> None:
    held = np.ones(50 * MEGABYTE, dtype=np.uint8)  # is not counted

    def work() -> None:
        with mmap.mmap(-1, 30 * MEGABYTE) as fresh:  # np.ones may get pages that are resident
            for _ in range(30):
                fresh.write(bytes(MEGABYTE))

    found = peak_of(work)
    assert found is not None
    assert 25 * MEGABYTE < found < 40 * MEGABYTE
    assert held.sum() == len(held)


@linux
def test_packages_are_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "large.py").write_text(
        f"import mmap\nheld = mmap.mmap(-1, {30 * MEGABYTE})\nheld.write(bytes(len(held)))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    found, alone = (
        peak_of(lambda: importlib.import_module("large"), packages) for packages in (["large"], [])
    )
    assert found is not None and alone is not None
    assert found < 5 * MEGABYTE < 25 * MEGABYTE < alone


@linux
def test_work_that_fails_has_no_number(capfd: pytest.CaptureFixture[str]) -> None:
    assert peak_of(lambda: 1 / 0) is None
    assert "ZeroDivisionError" in capfd.readouterr().err
