"""Which goes with which: what the methods of a system, its decodings and others expect of it.

`RULES` has a sentence for each thing that may be expected; `docs/methods.md` shows them, and
`tests/configuration/test_compatibility.py` breaks each rule.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from nat.configuration.models import Start
from nat.errors import UserError, told_of
from nat.options import at
from nat.traits import KINDS
from nat.transformer.decoder_options import DecoderOptions

if TYPE_CHECKING:
    from nat.configuration.configuration import Configuration

_OF_START = "a system has that of the one that it starts from"
# the key that decides, and after a space what of it
RULES = {
    "input": "it decides the order in which a system predicts tokens",
    "input canvas": "inputs such as block_mask go with targets such as imputer",
    "input tokens": "several steps go with inputs that reveal tokens, such as random_mask",
    "input.aligned_by": "'teacher' goes with targets that distil one, such as dims",
    "target tokens": "to replace tokens goes with targets that teach it, such as cmlmc",
    "decoder": "a canvas goes with non-autoregressive systems",
    "decoder copy": "a size without decoder layers goes with 'copy: repeated' and 'upsample' alone",
    "decoder.upsample": "an upsampled canvas goes with targets and decodings such as ctc",
    "decoder.chunk": "a chunk goes with hybrid and semi-autoregressive systems",
    "parts.input_predictor": "it goes with an input that reveals tokens and a target without a "
    "teacher, and without 'upsample' and 'latent'",
    "parts.latent": "latents go with non-autoregressive systems that have decoder layers",
    "parts.latent.added_to": "'decoder_input' goes with a soft 'decoder.copy'",
    "length": "a length predictor goes with a canvas as long as the target",
    "text": "a choice such as dynamic goes with non-autoregressive systems",
    "text gamma": "'gamma' has a weight for each text",
    "teacher": "a teacher goes with inputs and targets that use one, and with an input predictor",
    "init_from": "targets such as dims distil the system that they start from",
    "size": "decodings such as ctranslate2_ctc go with sizes without decoder layers",
    "size positions": "a second system has at least as many 'max_positions'",
    "decoder.chunk size": "a hybrid assistant has the same chunk",
    "size shape": _OF_START,
    "decoder shape": _OF_START,
    "parts shape": _OF_START,
    "length shape": _OF_START,
}


class _Side:
    """A system as the rules look at it."""

    def __init__(self, configuration: "Configuration", name: str) -> None:
        self.its = configuration.system(name)
        self.input, self.target, self.choice, self.parts = configuration.methods(name)
        self.order, self.decoder = self.input.decoding_order, self.its.decoder
        self.upsampled = self.decoder.upsample is not None
        self.size = configuration.scale_settings.sizes.get(self.its.size)
        self.encoder_only = self.size is not None and not self.size.decoder_layers
        self.canvas = replace(self.decoder, chunk=None)  # the chunk concerns no weights
        self.forms = {name: part.form for name, part in self.parts.items()}

    def has_room_for(self, other: "_Side") -> bool:
        """Compare the longest sentences, where the scale has both sizes."""
        if self.size is None or other.size is None:
            return True
        return self.size.max_positions >= other.size.max_positions


def refines(configuration: "Configuration", name: str) -> bool:
    """True if a system, or the one it starts from, was trained on partly revealed targets."""
    start = configuration.system(name).init_from
    own = configuration.methods(name).input.trains_on_partial_targets
    return own or start is not None and refines(configuration, start.system)


def _corrects(configuration: "Configuration", name: str) -> bool:
    start = configuration.system(name).init_from
    own = configuration.methods(name).target.trains_correction
    return own or start is not None and _corrects(configuration, start.system)


def _refuse(configuration: "Configuration", name: str, rules: Mapping[str, bool]) -> None:
    """Refuse a system for the first rule that does not hold."""
    for rule in (rule for rule, holds in rules.items() if not holds):
        written, key = configuration.files["systems"][name], rule.partition(" ")[0]
        value, *methods = (at(written, each) for each in (key, "input", "target", "size"))
        raise UserError(
            f"{configuration.file_of('systems', name)}: key '{key}': found {_shown(value)}: "
            f"{RULES[rule]} ('{name}' is {KINDS[configuration.methods(name).order]}: "
            f"input {_shown(methods[0])}, target {_shown(methods[1])}, size {methods[2]})"
        )


def _shown(value: object) -> str:
    """A value of a file, of a method its name."""
    value = value.get("method", value) if isinstance(value, dict) else value
    return value if isinstance(value, str) else json.dumps(value)


def check_system(configuration: "Configuration", name: str) -> None:
    """Check that what a system says fits its methods, and the systems that it names.

    Raises:
        UserError: for the first problem.
    """
    own = _Side(configuration, name)
    its, input_, target, decoder = own.its, own.input, own.target, own.decoder
    parallel, distils, latent = own.order == "parallel", target.distils, own.parts.get("latent")
    predicts = "input_predictor" in own.parts
    alone = not distils and target.teacher is None and not own.upsampled and latent is None
    taught_by = "parallel" if predicts else input_.teacher or target.teacher
    repeated = replace(own.canvas, count_source_end=False)
    gamma, texts = its.text.regulariser.get("gamma"), its.text.candidates
    rules = {
        "input": target.decoding_order in (None, own.order) and (parallel or not distils),
        "decoder.chunk": (decoder.chunk is not None)
        == (own.order in ("hybrid", "semi-autoregressive")),
        "decoder": parallel or own.canvas == DecoderOptions(),
        "decoder copy": not own.encoder_only
        or own.upsampled
        and repeated == DecoderOptions(copy="repeated", upsample=decoder.upsample),
        "decoder.upsample": own.upsampled == target.upsampled,
        "input canvas": input_.upsampled in (None, target.upsampled),
        "parts.latent": latent is None or parallel and not own.encoder_only,
        "parts.latent.added_to": getattr(latent, "added_to", "") != "decoder_input"
        or decoder.copy.startswith("soft"),
        "length": (its.length is not None) == (parallel and not target.upsampled),
        "input.aligned_by": distils or its.input.options.get("aligned_by") != "teacher",
        "parts.input_predictor": not predicts or input_.trains_on_partial_targets and alone,
        "text": own.choice is None or own.choice.decoding_order in (None, own.order),
        "text gamma": not isinstance(gamma, list) or len(gamma) == len(texts),
        "teacher": (its.teacher is not None) == (taught_by is not None),
        "init_from": not distils or its.init_from is not None,
    }
    _refuse(configuration, name, rules)
    users: list[tuple[str, str, dict[str, bool]]] = []
    if its.teacher is not None:
        teacher = _Side(configuration, its.teacher)
        of_teacher = {
            "input": teacher.order == taught_by,
            "decoder.upsample": not (predicts and teacher.upsampled),
            "size positions": teacher.has_room_for(own),
        }
        users.append(("teacher", its.teacher, of_teacher))
    if its.init_from is not None:
        start = _Side(configuration, its.init_from.system)
        of_start = {
            "input tokens": not distils or refines(configuration, its.init_from.system),
            "size shape": None in (own.size, start.size) or own.size == start.size,
            "decoder shape": own.canvas == start.canvas,
            "parts shape": own.forms == start.forms,
            "length shape": its.length == start.its.length,
        }
        users.append(("init_from", its.init_from.system, of_start))
    for text in texts:
        # U-DiMS learns from translations of the system whose steps it distils
        if text.system and not (distils and Start(system=text.system) == its.init_from):
            order = configuration.methods(text.system).order
            users.append((f"{text.key}.system", text.system, {"input": order == "autoregressive"}))
    file = configuration.file_of("systems", name)
    for key, other, rules in users:
        with told_of(f"{file}: key '{key}': "):
            _refuse(configuration, other, rules)
    validation = configuration.recipe(its.recipe).validation.decoding
    of_texts = [(f"{text.key}.decoding", text.system, text.decoding) for text in texts]
    for key, system, decoding in [*of_texts, ("recipe", name, validation)]:
        if system is not None and decoding is not None:
            with told_of(f"{file}: key '{key}': "):
                configuration.check_decoding(system, decoding)


def check_assistant(configuration: "Configuration", decoding: str) -> None:
    """Check that a decoding has the second system that its method uses, if it uses one.

    Raises:
        UserError: for the first problem.
    """
    traits = configuration.decoding_traits(decoding)
    assistant, wanted = configuration.decoding_file(decoding).assistant, traits.assistant
    with told_of(f"{configuration.file_of('decodings', decoding)}: key 'assistant': "):
        if (assistant is None) != (wanted is None) and not traits.assistant_optional:
            kind = "null" if wanted is None else f"a system, {KINDS[wanted]}"
            raise UserError(f"found {assistant or 'null'}, expected {kind}")
        if assistant is not None:
            side = _Side(configuration, assistant)
            aligned = wanted != "parallel" or not side.upsampled
            rules = {"input": side.order == wanted, "decoder.upsample": aligned}
            _refuse(configuration, assistant, rules)


def check_suits(configuration: "Configuration", system: str, decoding: str) -> None:
    """Refuse a decoding that does not suit a system.

    Raises:
        UserError: says why; also for an unknown system or decoding.
    """
    method, traits = configuration.decoding(decoding), configuration.decoding_traits(decoding)
    file, own = configuration.decoding_file(decoding), _Side(configuration, system)
    lengths, steps, penalty = (
        max(file.tuning.get(option, [method.options.get(option) or 0]))
        for option in ("length_beam", "steps", "blank_penalty")
    )
    several = traits.needs_partial_targets or traits.decoding_order == "parallel" and steps > 1
    upsampled = False if lengths > 1 else bool(penalty) or traits.upsampled
    rules = {
        "input": own.order == traits.decoding_order,
        "decoder.upsample": upsampled in (None, own.upsampled),
        "input tokens": not several or refines(configuration, system),
        "target tokens": not traits.needs_correction or _corrects(configuration, system),
        **({} if traits.part is None else {f"parts.{traits.part}": traits.part in own.parts}),
        "size": not traits.encoder_only or own.encoder_only,
    }
    with told_of(f"the decoding '{decoding}' ({method.method}) does not suit '{system}': "):
        _refuse(configuration, system, rules)
        if file.assistant is not None:
            assistant = _Side(configuration, file.assistant)
            chunks = own.decoder.chunk, assistant.decoder.chunk
            hybrid = traits.decoding_order == "hybrid" and None not in chunks
            rules = {
                "size positions": assistant.has_room_for(own),
                "decoder.chunk size": not hybrid or chunks[0] == chunks[1],
            }
            _refuse(configuration, file.assistant, rules)
