"""The configuration of a run: `config/*.yaml`, validated and resolved.

configuration = load("demo")
configuration.training("toy-ka-lu", "cmlm-kd")     # everything that determines a model
"""

from pathlib import Path

from nat.configuration.checks import check
from nat.configuration.configuration import Configuration, differences, fingerprint, read
from nat.configuration.overrides import Choice, choice

__all__ = ["Choice", "Configuration", "choice", "differences", "fingerprint", "load"]


def load(choice: Choice | str | None = None, root: Path | str = ".") -> Configuration:
    """Read and validate the whole configuration.

    Args:
        choice: of a command line, or only a scale, the name of a file in `config/scales`; None
            for the scale that `config/config.yaml` names.
        root: folder that holds `config/`.

    Raises:
        UserError: for anything wrong in any file or in the choice; names file, key and remedy.
    """
    configuration = read(choice, Path(root))
    check(configuration)
    return configuration
