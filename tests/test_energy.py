"""The energy of a training: the counters of devices, and what a record makes of them."""

import ctypes
import math
from pathlib import Path
from typing import Any

import pytest

from nat.report.energy import kilowatt_hours
from nat.training import energy
from nat.training.record import Record

UUID = "01234567-89ab-cdef-0123-456789abcdef"
NOT_SUPPORTED = 3


class StandInNvml:
    """NVML of one GPU that has used 1,500 mJ; `counts` says whether it counts them."""

    def __init__(self, counts: bool = True) -> None:
        self.counts = counts

    def nvmlInit_v2(self) -> int:  # noqa: N802
        return 0

    def nvmlDeviceGetHandleByUUID(self, uuid: bytes, handle: Any) -> int:  # noqa: N802
        handle._obj.value = 7
        return 0 if uuid == f"GPU-{UUID}".encode() else 6

    def nvmlDeviceGetTotalEnergyConsumption(self, handle: Any, used: Any) -> int:  # noqa: N802
        assert handle.value == 7
        used._obj.value = 1500
        return 0 if self.counts else NOT_SUPPORTED


def test_a_gpu_tells_millijoules(monkeypatch: pytest.MonkeyPatch) -> None:
    library = StandInNvml()
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
    found = energy.nvml(UUID)
    assert found is not None and found.of == energy.GPU
    assert found.joules() == 1.5
    library.counts = False
    assert math.isnan(found.joules())
    assert energy.nvml("another") is None


def test_a_gpu_that_counts_nothing_or_has_no_driver_tells_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: StandInNvml(counts=False))
    assert energy.nvml(UUID) is None
    monkeypatch.undo()
    monkeypatch.setattr(energy, "NVML", "libnothing-of-the-kind.so.1")
    assert energy.nvml(UUID) is None


def write(folder: Path, name: str, microjoules: int) -> None:
    (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / name / "energy_uj").write_text(f"{microjoules}\n")
    (folder / name / "max_energy_range_uj").write_text("9999999\n")


def test_packages_are_summed_and_start_again_from_zero(tmp_path: Path) -> None:
    for name, used in (("intel-rapl:0", 9_000_000), ("intel-rapl:1", 0), ("intel-rapl:0:0", 5)):
        write(tmp_path, name, used)
    found = energy.packages(tmp_path)
    assert found is not None and found.joules() == 0
    write(tmp_path, "intel-rapl:1", 2_000_000)
    write(tmp_path, "intel-rapl:0:0", 3_000_000)  # a part of a package
    assert found.joules() == pytest.approx(2)
    write(tmp_path, "intel-rapl:0", 500_000)
    assert found.joules() == pytest.approx(3.5)
    (tmp_path / "intel-rapl:0/energy_uj").unlink()
    assert math.isnan(found.joules())


def test_packages_that_may_not_be_read_tell_nothing(tmp_path: Path) -> None:
    assert energy.packages(tmp_path) is None
    (tmp_path / "intel-rapl:0").mkdir()
    assert energy.packages(tmp_path) is None


def test_a_record_without_energy_is_still_read() -> None:
    state = Record(updates=3).state()
    assert state.pop("joules") is None
    assert Record.from_state(state).updates == 3


def test_kilowatt_hours_are_readable() -> None:
    shown = {3.6e5: "0.1 kWh", 4.2e8: "117 kWh", 3.597e9: "999 kWh", 3.6e9: "1,000 kWh"}
    for joules, text in shown.items():
        assert kilowatt_hours(joules) == text
