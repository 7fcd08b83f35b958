"""Whether a decoding suits a system."""

from typing import TYPE_CHECKING

from nat.errors import UserError
from nat.registry import KINDS

if TYPE_CHECKING:
    from nat.configuration.configuration import Configuration


def check_suits(configuration: "Configuration", system: str, decoding: str) -> None:
    """Refuse a decoding that does not suit a system.

    Raises:
        UserError: says why; also for an unknown system or decoding.
    """
    name = f"the decoding '{decoding}' ({configuration.decoding(decoding).method})"
    _check_order(configuration, system, decoding, name)
    _check_assistant(configuration, system, decoding, name)
    if configuration.decoding_traits(decoding).decoding_order == "parallel":
        _check_canvas(configuration, system, decoding, name)
        _check_parts(configuration, system, decoding, name)
        _check_training(configuration, system, decoding, name)


def _check_order(configuration: "Configuration", system: str, decoding: str, name: str) -> None:
    """Both must predict tokens in the same order."""
    order, own = configuration.decoding_traits(decoding), configuration.decoding_order(system)
    if order.decoding_order != own:
        raise UserError(
            f"{name} is for {KINDS[order.decoding_order]} systems, but '{system}' is {KINDS[own]} "
            f"(input {configuration.system(system).input.method})"
        )


def _check_assistant(configuration: "Configuration", system: str, decoding: str, name: str) -> None:
    """A second model must be able to read what the system reads and writes."""
    assistant = configuration.assistant(decoding)
    if assistant is None:
        return
    sees = f"{name} lets '{assistant}' see what '{system}' translates"
    configuration.check_positions(system, assistant, sees)
    own, its = (configuration.system(each).decoder.chunk for each in (system, assistant))
    if configuration.decoding_traits(decoding).decoding_order == "hybrid" and own != its:
        raise UserError(
            f"{name} lets '{assistant}' complete the translations of '{system}', but their chunks "
            f"differ (key 'decoder.chunk': {configuration.file_of('systems', system)} has {own}, "
            f"{configuration.file_of('systems', assistant)} has {its})"
        )


def _check_canvas(configuration: "Configuration", system: str, decoding: str, name: str) -> None:
    """The decoding must be for the canvas of the system: upsampled, or as long as the target."""
    upsample = configuration.system(system).decoder.upsample
    traits = configuration.decoding_traits(decoding)
    file = configuration.file_of("systems", system)
    if traits.upsampled and upsample is None:
        raise UserError(
            f"{name} is for an upsampled canvas, but that of '{system}' is as long as the target "
            f"({file}: key 'decoder.upsample' is null)"
        )
    if upsample is not None and traits.upsampled is False:
        raise UserError(
            f"{name} needs the length of the target, but '{system}' has an upsampled canvas "
            f"({file}: key 'decoder.upsample' is {upsample:g})"
        )
    lengths = _most(configuration, decoding, "length_beam")
    if upsample is not None and lengths > 1:
        raise UserError(
            f"{name} tries {lengths} lengths, but '{system}' has an upsampled canvas, which has "
            f"only one ({file}: key 'decoder.upsample' is {upsample:g}); use a decoding whose "
            "length_beam is 1"
        )
    options = configuration.decoding(decoding).options
    penalised = options.get("blank_penalty") or "blank_penalty" in configuration.tried(decoding)
    if upsample is None and penalised:
        raise UserError(
            f"{name} has a penalty of BLANK, which is for an upsampled canvas, but that of "
            f"'{system}' is as long as the target ({file}: key 'decoder.upsample' is null); use a "
            "decoding without blank_penalty"
        )


def _check_parts(configuration: "Configuration", system: str, decoding: str, name: str) -> None:
    """The model must have the parts that the decoding uses."""
    found, traits = configuration.system(system), configuration.decoding_traits(decoding)
    file = configuration.file_of("systems", system)
    if traits.encoder_only and not configuration.is_encoder_only(system):
        raise UserError(
            f"{name} is for systems without decoder layers, but the size {found.size} of "
            f"'{system}' ({file}) has some, or the scale does not have this size"
        )
    if traits.input_predictor and not found.decoder.input_predictor:
        raise UserError(
            f"{name} samples the decoder's input, but '{system}' has not learned to predict it "
            f"({file}: key 'decoder.input_predictor' is false)"
        )
    if traits.latent and found.latent is None:
        raise UserError(
            f"{name} draws latents, but '{system}' has none ({file}: key 'latent' is null)"
        )


def _check_training(configuration: "Configuration", system: str, decoding: str, name: str) -> None:
    """The system must have learned from inputs like those that the decoding shows it."""
    found, traits = configuration.system(system), configuration.decoding_traits(decoding)
    partial = configuration.trained_on_partial_targets(system)
    if traits.needs_partial_targets and not partial:
        raise UserError(
            f"{name} shows a part of a translation, but '{system}' was never trained with part of "
            f"the target revealed (input {found.input.method}); use an input such as random_mask"
        )
    if traits.needs_correction and not configuration.trained_to_correct(system):
        raise UserError(
            f"{name} replaces tokens that it has shown the decoder, but '{system}' has not learned "
            f"to (target {found.target.method}); use a decoding such as mask_predict, or the "
            "target cmlmc"
        )
    steps = _most(configuration, decoding, "steps")
    if steps > 1 and not partial:
        raise UserError(
            f"{name} takes {steps} steps, but '{system}' was never trained with part of the target "
            f"revealed (input {found.input.method}); use one step, or an input such as random_mask"
        )


def _most(configuration: "Configuration", decoding: str, option: str) -> int:
    """The largest value of an option, of those that are tried if it is tuned; 1 without it."""
    given = configuration.decoding(decoding).options.get(option, 1)
    tried: list[int] = configuration.tried(decoding).get(option, [given])
    return max(tried)
