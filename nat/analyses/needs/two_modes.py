"""The systems that the analysis `two_modes` refuses; it reads no model."""

from nat.analyses.needs.refusals import refused
from nat.configuration import Configuration

READS_MODEL = False


def check(configuration: Configuration, system: str) -> None:
    """Refuse a system that does not predict both variables at once, independently of each other.

    Raises:
        UserError: naming the file and the key.
    """
    found = configuration.system(system)
    key = None
    if configuration.decoding_order(system) != "parallel":
        key = f"'input.method', {found.input.method}"
    elif found.decoder.upsample is not None:
        key = f"'decoder.upsample', {found.decoder.upsample:g}"
    elif configuration.target_traits(system).empty_token:
        key = f"'target', {found.target.method}"
    elif configuration.latent(system) is not None:
        # the variables depend on each other through what is drawn
        key = "'latent'"
    if key is not None:
        raise refused(
            configuration,
            system,
            f"key {key}: a law with two modes is learned by parallel systems with one position for "
            "each token, without an empty token and without latents",
        )
