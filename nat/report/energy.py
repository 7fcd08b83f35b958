"""The energy of trainings, as far as their devices told it."""

from collections.abc import Mapping, Sequence
from typing import Any

JOULES_PER_KILOWATT_HOUR = 3_600_000
UNKNOWN = "the device does not tell"
NOT_RECORDED = "not recorded"


def text(record: Mapping[str, Any]) -> str:
    """The energy of a training; records of earlier versions of this program have no such key."""
    if "energy" not in record:
        return NOT_RECORDED
    found = record["energy"]
    return f"{kilowatt_hours(found['joules'])} ({found['of']})" if found else UNKNOWN


def kilowatt_hours(joules: float) -> str:
    """With three digits, from 1,000 on without decimals."""
    hours = joules / JOULES_PER_KILOWATT_HOUR
    return f"{hours:,.0f} kWh" if hours >= 999.5 else f"{hours:.3g} kWh"


def tiles(records: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """The energy of trainings together, by what was counted: a term and its text each.

    Where a training has none, the term says how many have one.
    """
    counted: dict[str, list[float]] = {}
    for record in records:
        if found := record.get("energy"):
            counted.setdefault(found["of"], []).append(float(found["joules"]))
    if not counted:
        told = any("energy" in record for record in records)
        return [("energy", UNKNOWN if told else NOT_RECORDED)]
    return [
        (
            f"energy, {of}: {len(joules)} of {len(records)} trainings",
            kilowatt_hours(sum(joules)),
        )
        for of, joules in counted.items()
    ]
