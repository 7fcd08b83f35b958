"""The systems that the analysis `latent_components` refuses."""

from nat.configuration import Configuration
from nat.errors import UserError


def check(configuration: Configuration, system: str) -> None:
    """Refuse a system without latents.

    Raises:
        UserError: naming the file.
    """
    if configuration.latent(system) is None:
        where = configuration.file_of("systems", system)
        raise UserError(
            f"{where}: key 'latent' is null, so there are no latents to "
            "analyse; remove the system from the table or figure"
        )
