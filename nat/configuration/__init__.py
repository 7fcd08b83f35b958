"""The configuration of a run: `config/*.yaml`, validated and resolved.

configuration = load("demo")
configuration.training("toy-ka-lu", "cmlm-kd")     # everything that determines a model
"""

from pathlib import Path

from nat.configuration.checks import check, check_names, check_options
from nat.configuration.configuration import Configuration
from nat.configuration.json_values import differences, fingerprint
from nat.configuration.overrides import Choice, choice
from nat.configuration.reading import read

__all__ = ["Choice", "Configuration", "choice", "differences", "fingerprint", "load"]


def load(
    choice: Choice | str | None = None, root: Path | str = ".", checked: bool = True
) -> Configuration:
    """Read the configuration and validate it.

    Args:
        choice: of a command line, or only a scale, the name of a file in `config/scales`; None
            for the scale that `config/config.yaml` names.
        root: folder that holds `config/`.
        checked: whether to validate every file, also those that nothing asks for, and whether
            corpora are complete and systems and decodings fit their methods. Snakemake does so
            before it starts anything, so the programs that it starts leave it out.

    Raises:
        UserError: for anything wrong in the choice or in a file; names file, key and remedy.
    """
    configuration = read(choice, Path(root), checked)
    if checked:
        check_options(configuration)
    check_names(configuration)
    if checked:
        check(configuration)
    return configuration
