"""The refusal of systems that an analysis cannot measure."""

from nat.configuration import Configuration
from nat.errors import UserError


def refused(configuration: Configuration, system: str, reason: str) -> UserError:
    """The error for a system that an analysis cannot measure, with its file and the remedy."""
    where = configuration.file_of("systems", system)
    return UserError(f"{where}: {reason}; remove the system from the table or figure")


def check_decoding(configuration: Configuration, system: str, decoding: str) -> None:
    """Refuse a system that an analysis cannot decode as it decodes all.

    Raises:
        UserError: naming the file, and why the decoding does not suit the system.
    """
    try:
        configuration.check_decoding(system, decoding)
    except UserError as error:
        reason = f"{error}; this analysis has no other decoding for it"
        raise refused(configuration, system, reason) from error
