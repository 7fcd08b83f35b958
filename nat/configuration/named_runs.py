"""A name belongs to one set of overrides, so that its results are not replaced by others.

The first run with a name saves its overrides at `results/SCALE@NAME/override.json`.
"""

from nat.configuration.configuration import Configuration, differences
from nat.errors import UserError
from nat.files import read_json, write_json


def hold_to_overrides(configuration: Configuration, keep: bool) -> None:
    """Refuse a name that was first used with other overrides.

    Args:
        configuration: of the run; without a name, nothing is done.
        keep: whether to save the overrides of this run if the name is new.

    Raises:
        UserError: names what differs.
    """
    overrides = configuration.overrides
    if overrides.name is None:
        return
    record = configuration.root / "results" / configuration.run / "override.json"
    if record.exists():
        changes = differences(read_json(record), overrides.changes)
        if changes:
            raise UserError(
                f"key 'name': results/{configuration.run} was made with another 'override' "
                f"({'; '.join(changes)}); give the same one, or another name, or remove "
                f"results/{configuration.run}/override.json to replace these results"
            )
    elif keep:
        record.parent.mkdir(parents=True, exist_ok=True)
        write_json(record, overrides.changes)
