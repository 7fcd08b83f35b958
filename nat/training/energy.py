"""The energy that a training takes, where its device counts it.

GPUs of NVIDIA count what they have used since their driver was loaded; NVML, the library that comes
with the driver, reads it. Processors of Intel and AMD count by package (RAPL), which Linux shows
below `/sys/class/powercap`, on most systems to root alone. A package counts for all that runs on
it. Where neither can be read, the energy is unknown: it is never estimated.
"""

import ctypes
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import torch

GPU, PACKAGES = "GPU", "processor packages"
NVML = "libnvidia-ml.so.1"
POWERCAP = Path("/sys/class/powercap")


class Counter(Protocol):
    """Counts energy.

    Attributes:
        of: what it counts for, `GPU` or `PACKAGES`.
    """

    of: str

    def joules(self) -> float:
        """Since some start; never falls. Not a number if it cannot be read any more."""


def counter(device: torch.device) -> Counter | None:
    """The counter of a device; `None` if the device tells none that may be read."""
    if device.type == "cuda":
        return nvml(str(torch.cuda.get_device_properties(device).uuid))
    return packages(POWERCAP)


class _Nvml:
    of = GPU

    def __init__(self, library: Any, handle: ctypes.c_void_p) -> None:
        self._library, self._handle = library, handle

    def joules(self) -> float:
        used = ctypes.c_ulonglong()
        failed = self._library.nvmlDeviceGetTotalEnergyConsumption(self._handle, ctypes.byref(used))
        return math.nan if failed else used.value / 1000  # NVML counts millijoules


def nvml(uuid: str) -> Counter | None:
    """The counter of a GPU.

    Args:
        uuid: of the GPU, as PyTorch names it, without `GPU-`.
    """
    handle = ctypes.c_void_p()
    try:
        library = ctypes.CDLL(NVML)
        if library.nvmlInit_v2() or library.nvmlDeviceGetHandleByUUID(
            f"GPU-{uuid}".encode(), ctypes.byref(handle)
        ):
            return None
    except (OSError, AttributeError):  # no driver, or an old one
        return None
    found = _Nvml(library, handle)
    # GPUs before Volta, and parts of a GPU, count none
    return None if math.isnan(found.joules()) else found


class _Packages:
    of = PACKAGES

    def __init__(self, folders: Sequence[Path]) -> None:
        self._files = [folder / "energy_uj" for folder in folders]
        self._ranges = [_read(folder / "max_energy_range_uj") for folder in folders]
        self._last = [_read(file) for file in self._files]
        self._used = 0

    def joules(self) -> float:
        # A counter starts again from zero at its range, within the hour on a busy processor.
        for at, (file, full) in enumerate(zip(self._files, self._ranges, strict=True)):
            try:
                now = _read(file)
            except (OSError, ValueError):
                return math.nan
            self._used += (now - self._last[at]) % (full + 1)
            self._last[at] = now
        return self._used / 1e6


def packages(folder: Path) -> Counter | None:
    """The counter of all packages of the processor.

    Args:
        folder: where Linux shows it, `POWERCAP`.
    """
    # `intel-rapl:0` is a package, also of AMD; `intel-rapl:0:0` is a part of one.
    found = [each for each in sorted(folder.glob("intel-rapl:*")) if each.name.count(":") == 1]
    try:
        return _Packages(found) if found else None
    except (OSError, ValueError):
        return None


def _read(path: Path) -> int:
    return int(path.read_text(encoding="ascii"))
