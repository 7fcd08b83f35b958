"""A name belongs to one set of overrides, so that its results are not replaced by others.

The first run with a name saves its overrides at `results/SCALE@NAME/override.json`.
"""

from pathlib import Path

from nat.checksums import OVERRIDE, RESULTS, saved_override
from nat.configuration.configuration import Configuration
from nat.configuration.json_values import differences
from nat.configuration.overrides import Choice
from nat.errors import UserError
from nat.files import read_json, write_json


def choice_of(root: Path, run: str) -> Choice:
    """What the command line of a run chose.

    Args:
        root: the folder of its results and configuration.
        run: its name, `SCALE` or `SCALE@NAME`.

    Raises:
        UserError: if the record of the overrides of a named run is missing or damaged.
    """
    scale, _, name = run.partition("@")
    if not name:
        return Choice(scale)
    record = root / RESULTS / run / OVERRIDE
    try:
        return Choice(scale, name, saved_override(record))
    except (OSError, ValueError) as error:
        raise UserError(
            f"{record} cannot be read ({error}); it has the changes of the configuration with "
            f"which the run '{name}' was made, so put it back from a copy"
        ) from error


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
    record = configuration.root / RESULTS / configuration.run / OVERRIDE
    if record.exists():
        changes = differences(read_json(record), overrides.changes)
        if changes:
            raise UserError(
                f"key 'name': {RESULTS}/{configuration.run} was made with another 'override' "
                f"({'; '.join(changes)}); give the same one, or another name, or remove "
                f"{RESULTS}/{configuration.run}/{OVERRIDE} to replace these results"
            )
    elif keep:
        record.parent.mkdir(parents=True, exist_ok=True)
        write_json(record, overrides.changes)
