"""The words that choose a run: its scale, and a name that belongs to one set of overrides.

The first run with a name saves its overrides at `results/SCALE@NAME/override.json`, so that its
results are not replaced by those of others.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from nat.checksums import OVERRIDE, RESULTS, saved_override
from nat.configuration import Configuration, choice, load
from nat.configuration.json_values import differences
from nat.configuration.overrides import EXAMPLE, KEYS, RunChoice
from nat.errors import UserError
from nat.files import read_json, write_json


def add_configuration_arguments(parser: ArgumentParser) -> None:
    """Add `--scale`, `--name` and `--override`, as `RunChoice.arguments` gives them."""
    texts = (
        "a file of config/scales; without it the scale that config/config.yaml names",
        "of a run at results/SCALE@NAME",
        f"KEY=VALUE ... of files of config/: {EXAMPLE}",
        "KEY=VALUE,VALUE ..., of which each is run",
    )
    for key, text in zip(KEYS, texts, strict=True):
        parser.add_argument(f"--{key}", help=text)


def configuration_from(arguments: Namespace) -> Configuration:
    """Load the configuration of the current folder that the arguments ask for."""
    given = {key: getattr(arguments, key) for key in KEYS}
    return load(choice({key: value for key, value in given.items() if value is not None}))


def choice_of(root: Path, run: str) -> RunChoice:
    """Return the choice of a run, whose name is `SCALE` or `SCALE@NAME`."""
    scale, _, name = run.partition("@")
    if not name:
        return RunChoice(scale)
    record = root / RESULTS / run / OVERRIDE
    try:
        return RunChoice(scale, name, **saved_override(record))
    except (OSError, ValueError) as error:
        raise UserError(
            f"{record} cannot be read ({error}), which has the overrides of '{name}'; put it back"
        ) from error


def hold_to_overrides(configuration: Configuration, keep: bool) -> None:
    """Refuse a name that was first used with other overrides; `keep` those of a new name.

    Other values may be added to a sweep, since its results say their values.
    """
    choice, folder = configuration.choice, f"{RESULTS}/{configuration.run}"
    if choice.name is None:
        return
    record, own = configuration.root / folder / OVERRIDE, choice.changes
    before = read_json(record) if record.exists() else own
    swept = before.pop("sweep", {}) if record.exists() else choice.swept
    both = before | {"sweep": [*swept]}, own | {"sweep": [*choice.swept]}
    if changes := differences(*both):
        raise UserError(
            f"key 'name': {folder} was made with another 'override' ({'; '.join(changes)}); give "
            f"the same one, or another name, or remove {folder}/{OVERRIDE} to replace these results"
        )
    values = {key: [*dict.fromkeys(swept[key] + each)] for key, each in choice.swept.items()}
    if keep and (not record.exists() or values != swept):
        write_json(record, own | ({"sweep": values} if values else {}))
