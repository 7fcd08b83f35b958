"""The refusal of systems that an analysis cannot decode."""

from nat.configuration import Configuration
from nat.errors import UserError


def check_decoding(configuration: Configuration, system: str, decoding: str) -> None:
    """Refuse a system that an analysis cannot decode as it decodes all.

    Raises:
        UserError: naming the file, and why the decoding does not suit the system.
    """
    try:
        configuration.check_decoding(system, decoding)
    except UserError as error:
        where = configuration.file_of("systems", system)
        raise UserError(
            f"{where}: {error}; this analysis has no other decoding for it, so remove the system "
            "from the table or figure"
        ) from error
