"""The configuration of a run: `config/*.yaml`, validated and resolved.

configuration = load(scale="demo")
configuration.training("toy-ka-lu", "cmlm-kd")     # all that decides about a model
"""

from collections.abc import Mapping
from pathlib import Path

from nat.configuration.checks import check
from nat.configuration.configuration import Configuration, differences, fingerprint, read
from nat.errors import UserError

__all__ = ["Configuration", "differences", "fingerprint", "load", "scale_from"]


def load(scale: str | None = None, root: Path | str = ".") -> Configuration:
    """Read and validate the whole configuration.

    Args:
        scale: name of a file in `config/scales`; None for the one that `config/config.yaml` names.
        root: folder that holds `config/`.

    Raises:
        UserError: for anything wrong in any file; names file, key and remedy.
    """
    configuration = read(scale, Path(root))
    check(configuration)
    return configuration


def scale_from(overrides: Mapping[str, object]) -> str | None:
    """The scale in the values of `snakemake --config`; None if there is none.

    Raises:
        UserError: for another key, which would be without effect.
    """
    for key in overrides:
        if key != "scale":
            raise UserError(
                f"--config: unknown key '{key}'; only 'scale' can be chosen there, the rest "
                "stands in config/config.yaml"
            )
    scale = overrides.get("scale")
    return None if scale is None else str(scale)
