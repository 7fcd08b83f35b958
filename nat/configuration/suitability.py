"""Whether a decoding suits a system."""

from typing import TYPE_CHECKING

from nat.errors import UserError
from nat.traits import KINDS, Order

if TYPE_CHECKING:
    from nat.configuration.configuration import Configuration


_REVEALED = "a system trained with part of the target revealed, by an input such as random_mask"


def check_suits(configuration: "Configuration", system: str, decoding: str) -> None:
    """Refuse a decoding that does not suit a system.

    Raises:
        UserError: says why; also for an unknown system or decoding.
    """
    method, traits = configuration.decoding(decoding), configuration.decoding_traits(decoding)
    name = f"the decoding '{decoding}' ({method.method})"
    check_order(configuration, system, traits.decoding_order, name)
    _check_assistant(configuration, system, decoding, name)
    if traits.decoding_order != "parallel":
        return
    found, tried = configuration.system(system), configuration.tried(decoding)

    def most(option: str) -> int:
        """The largest value of an option, of those that are tried if it is tuned."""
        return max(tried.get(option, [method.options.get(option, 1)]))

    canvas = found.decoder.upsample is not None
    penalised = method.options.get("blank_penalty") or "blank_penalty" in tried
    partial = configuration.trained_on_partial_targets(system)
    corrects = configuration.trained_to_correct(system)
    encoder_only, predicts = configuration.is_encoder_only(system), found.decoder.input_predictor
    lengths, steps = most("length_beam"), most("steps")
    for suits, needed in (
        (canvas or not traits.upsampled, "an upsampled canvas (key 'decoder.upsample')"),
        (not canvas or traits.upsampled is not False, "'decoder.upsample: null'"),
        (not canvas or lengths == 1, f"'decoder.upsample: null' to try {lengths} lengths"),
        (canvas or not penalised, "an upsampled canvas for its 'blank_penalty'"),
        (encoder_only or not traits.encoder_only, "a size without decoder layers"),
        (predicts or not traits.input_predictor, "'decoder.input_predictor: true'"),
        (found.latent is not None or not traits.latent, "latents (key 'latent')"),
        (partial or not traits.needs_partial_targets, _REVEALED),
        (corrects or not traits.needs_correction, "a target such as cmlmc, to replace tokens"),
        (partial or steps == 1, f"for {steps} steps {_REVEALED}"),
    ):
        if not suits:
            file = configuration.file_of("systems", system)
            raise UserError(f"{name} needs {needed}, unlike '{system}' ({file})")


def check_order(
    configuration: "Configuration", system: str, wanted: Order | None, user: str
) -> None:
    """Refuse a system that predicts tokens in another order than its user wants, if it wants one.

    Raises:
        UserError: begins with the user.
    """
    own = configuration.decoding_order(system)
    if wanted not in (None, own):
        raise UserError(
            f"{user} is for {KINDS[wanted]} systems, but '{system}' is {KINDS[own]} "
            f"(input {configuration.system(system).input.method})"
        )


def _check_assistant(configuration: "Configuration", system: str, decoding: str, name: str) -> None:
    """A second model must be able to read what the system reads and writes."""
    assistant = configuration.assistant(decoding)
    if assistant is None:
        return
    check_positions(configuration, system, assistant, name)
    own, its = (configuration.system(each).decoder.chunk for each in (system, assistant))
    if configuration.decoding_traits(decoding).decoding_order == "hybrid" and own != its:
        raise UserError(
            f"{name} lets '{assistant}' complete the translations of '{system}', but their chunks "
            f"differ (key 'decoder.chunk': {configuration.file_of('systems', system)} has {own}, "
            f"{configuration.file_of('systems', assistant)} has {its})"
        )


def check_positions(configuration: "Configuration", system: str, other: str, user: str) -> None:
    """Refuse a second system for which the sentences of the first may be too long.

    Raises:
        UserError: begins with what uses both.
    """
    sizes = [configuration.system(each).size for each in (system, other)]
    own, its = (configuration.architecture(size).max_positions for size in sizes)
    if its < own:
        raise UserError(
            f"{user} shows '{other}' all sentences of '{system}', but the size '{sizes[1]}' has "
            f"fewer positions than '{sizes[0]}' (key 'max_positions': {its}, not {own})"
        )
