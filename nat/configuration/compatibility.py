"""Which goes with which: what the methods of a system, its decodings and others expect of it.

`RULES` has a sentence for each thing that may be expected;
`tests/configuration/test_compatibility.py` breaks each rule.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from nat.configuration.configuration import Configuration, SystemMethods
from nat.errors import UserError, told_of
from nat.options import at
from nat.traits import KINDS
from nat.transformer.architecture import DecoderOptions

SHAPES = ("size shape", "decoder shape", "parts shape", "length shape")
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
    "parts": "decodings such as latent_rescoring go with systems that have their part",
    "length": "a length predictor goes with a canvas as long as the target",
    "text": "a choice such as dynamic goes with non-autoregressive systems",
    "text gamma": "'gamma' has a weight for each text",
    "teacher": "a teacher goes with inputs and targets that use one, and with an input predictor",
    "init_from": "targets such as dims distil the system that they start from",
    "size": "decodings such as ctranslate2_ctc go with sizes without decoder layers",
    "size layers": "targets such as hints have a teacher with as many 'decoder_layers' and 'heads'",
    "size positions": "a second system has at least as many 'max_positions'",
    "decoder.chunk size": "a hybrid assistant has the same chunk",
    **dict.fromkeys(SHAPES, "it is to fit the weights that a system starts from"),
    "decoder canvas": "a system has that of the one that it distils",
}


def _require(system: SystemMethods, rules: Mapping[str, bool], where: str = "") -> None:
    """Refuse a system for the first rule that does not hold."""
    for rule in (rule for rule, holds in rules.items() if not holds):
        key = rule.partition(" ")[0]
        given = at(system.content, key)
        value = json.dumps(given.get("method", given) if isinstance(given, dict) else given)
        raise UserError(
            f"{where}{system.file}: key '{key}': found {value}: {RULES[rule]} ('{system.name}' is "
            f"{KINDS[system.order]})"
        )


def _fits_into(one: SystemMethods, other: SystemMethods) -> bool:
    """True unless sentences may be longer than those of a second system."""
    if one.size is None or other.size is None:
        return True
    return one.size.max_positions <= other.size.max_positions


def check_system(configuration: Configuration, name: str) -> None:
    """Check that what a system says fits its methods, and the systems that it names."""
    own = configuration.methods(name)
    its, target, decoder, text = own.its, own.target, own.its.decoder, own.its.text
    canvas = replace(decoder, chunk=None)
    parallel, chunked = own.order == "parallel", own.order in ("hybrid", "semi-autoregressive")
    predicts, latent = "input_predictor" in own.parts, own.parts.get("latent")
    revealing = own.input.trains_on_partial_targets and target.teacher is None
    alone = not (target.distils or own.upsampled or latent)
    repeated = DecoderOptions(copy="repeated", upsample=decoder.upsample)
    soft = decoder.copy.startswith("soft")
    taught_by = "parallel" if predicts else own.input.teacher or target.teacher
    gamma = text.regulariser.get("gamma")
    rules = {
        "input": target.decoding_order in (None, own.order) and (parallel or not target.distils),
        "decoder.chunk": (decoder.chunk is not None) == chunked,
        "decoder": parallel or canvas == DecoderOptions(),
        "decoder copy": not own.encoder_only
        or (own.upsampled and replace(canvas, count_source_end=False) == repeated),
        "decoder.upsample": own.upsampled == target.upsampled,
        "input canvas": own.input.upsampled in (None, target.upsampled),
        "parts.latent": not latent or (parallel and not own.encoder_only),
        "parts.latent.added_to": soft or getattr(latent, "added_to", "") != "decoder_input",
        "length": (its.length is not None) == (parallel and not target.upsampled),
        "input.aligned_by": target.distils or its.input.options.get("aligned_by") != "teacher",
        "parts.input_predictor": not predicts or (revealing and alone),
        "text": own.choice is None or own.choice.decoding_order in (None, own.order),
        "text gamma": not isinstance(gamma, list) or len(gamma) == len(text.candidates),
        "teacher": (its.teacher is not None) == (taught_by is not None),
        "init_from": not target.distils or its.init_from is not None,
    }
    _require(own, rules)
    if its.teacher is not None:
        teacher = configuration.methods(its.teacher)
        layers = {(each.decoder_layers, each.heads) for each in (own.size, teacher.size) if each}
        rules = {
            "input": teacher.order == taught_by,
            "decoder.upsample": not (predicts and teacher.upsampled),
            "size layers": not target.same_layers or len(layers) < 2,
            "size positions": _fits_into(own, teacher),
        }
        _require(teacher, rules, f"{own.file}: key 'teacher': ")
    if (start := own.start) is not None:
        forms = [{part: each.form for part, each in side.parts.items()} for side in (own, start)]
        rules = {
            "input tokens": not target.distils or start.refines,
            "size shape": None in (own.size, start.size) or own.size == start.size,
            "decoder shape": decoder.of_weights == start.its.decoder.of_weights,
            "decoder canvas": not target.distils
            or canvas == replace(start.its.decoder, chunk=None),
            "parts shape": forms[0] == forms[1],
            "length shape": its.length == start.its.length,
        }
        _require(start, rules, f"{own.file}: key 'init_from': ")
    decodings = [("recipe", name, configuration.recipe_of(name).validation.decoding)]
    for each in (each for each in text.candidates if each.system is not None):
        # U-DiMS learns from translations of the system whose steps it distils
        own_start = its.init_from is not None and its.init_from.as_json() == each.system
        if not (target.distils and own_start):
            writer = configuration.methods(str(each.system))
            rules = {"input": writer.order == "autoregressive"}
            _require(writer, rules, f"{own.file}: key '{text.key}.system': ")
        decodings.append((f"{text.key}.decoding", str(each.system), each.decoding))
    for key, other, decoding in decodings:
        with told_of(f"{own.file}: key '{key}': "):
            if decoding is not None:
                check_decoding(configuration, other, decoding)


@lru_cache(4096)
def check_decoding(configuration: Configuration, system: str, decoding: str) -> None:
    """Refuse a decoding that does not suit a system, or whose own assistant does not suit it."""
    method, traits = configuration.decoding(decoding), configuration.decoding_traits(decoding)
    file, own = configuration.decoding_file(decoding), configuration.methods(system)
    lengths, steps, penalty = (
        max(file.tuning.get(option, [method.options.get(option) or 0]))
        for option in ("length_beam", "steps", "blank_penalty")
    )
    several = traits.needs_partial_targets or (traits.decoding_order == "parallel" and steps > 1)
    upsampled = False if lengths > 1 else bool(penalty) or traits.upsampled
    rules = {
        "input": own.order == traits.decoding_order,
        "decoder.upsample": upsampled in (None, own.upsampled),
        "input tokens": not several or own.refines,
        "target tokens": not traits.needs_correction or own.learned("trains_correction"),
        "size": not traits.encoder_only or own.encoder_only,
        "parts": traits.part is None or traits.part in own.parts,
    }
    where = f"the decoding '{decoding}' ({method.method}) does not suit '{system}': "
    _require(own, rules, where)
    given, wanted = file.assistant, traits.assistant
    if (given is None) != (wanted is None) and not traits.assistant_optional:
        kind = "null" if wanted is None else f"a system, {KINDS[wanted]}"
        raise UserError(f"{where}key 'assistant': found {given or 'null'}, expected {kind}")
    if given is not None:
        assistant = configuration.methods(given)
        chunks = {own.its.decoder.chunk, assistant.its.decoder.chunk} - {None}
        rules = {
            "input": assistant.order == wanted,
            "decoder.upsample": wanted != "parallel" or not assistant.upsampled,
            "size positions": _fits_into(own, assistant),
            "decoder.chunk size": wanted != "hybrid" or len(chunks) == 1,
        }
        _require(assistant, rules, where)
