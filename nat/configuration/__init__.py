"""The configuration of a run: `config/*.yaml`, validated and resolved.

configuration = load("demo")
configuration.training("toy-ka-lu", "cmlm-kd")     # everything that determines a model

Every mistake in a file or on the command line raises `UserError` with file, key and remedy.
"""

from nat.configuration.configuration import Configuration
from nat.configuration.json_values import differences, fingerprint
from nat.configuration.overrides import RunChoice, choice
from nat.configuration.reading import load, read

__all__ = ["RunChoice", "Configuration", "choice", "differences", "fingerprint", "load", "read"]
