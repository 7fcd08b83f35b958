"""The systems that the analysis `latent_components` refuses."""

from nat.analyses.needs.refusals import refused
from nat.configuration import Configuration


def check(configuration: Configuration, system: str) -> None:
    """Refuse a system without latents.

    Raises:
        UserError: naming the file.
    """
    if configuration.latent(system) is None:
        raise refused(
            configuration, system, "key 'latent' is null, so there are no latents to analyse"
        )
