"""Which goes with which: what the methods of a system, its decodings and others expect of it.

`RULES` has a sentence for each thing that may be expected; `docs/methods.md` shows them, and
`tests/configuration/test_compatibility.py` breaks each rule.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nat.configuration.models import Start
from nat.errors import UserError, told_of
from nat.options import at
from nat.traits import KINDS
from nat.transformer.decoder_options import DecoderOptions

if TYPE_CHECKING:
    from nat.configuration.configuration import Configuration

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
    **{
        f"{key} shape": "a system has that of the one that it starts from"
        for key in ("size", "decoder", "parts", "length")
    },
}


def _facts(configuration: "Configuration", name: str) -> dict[str, Any]:
    """What rules compare with expectations; None agrees with everything."""
    its, parts = configuration.system(name), configuration.parts(name)
    text, choice = configuration.text(name), configuration.text_choice(name)
    decoder, size = its.decoder, configuration.scale_settings.sizes.get(its.size)
    plain, gamma = replace(decoder, chunk=None), text.regulariser.get("gamma")
    upsampled = decoder.upsample is not None
    copied = DecoderOptions(copy="repeated", upsample=decoder.upsample)
    return {
        "input": configuration.decoding_order(name),
        "input canvas": configuration.input_traits(name).upsampled,
        "input tokens": configuration.trained_on_partial_targets(name),
        "input.aligned_by": its.input.options.get("aligned_by") == "teacher",
        "target tokens": configuration.trained_to_correct(name),
        "decoder": plain != DecoderOptions(),
        "decoder copy": upsampled and replace(plain, count_source_end=False) == copied,
        "decoder.upsample": upsampled,
        "decoder.chunk": decoder.chunk is not None,
        "parts.input_predictor": "input_predictor" in parts,
        "parts.latent": "latent" in parts,
        "parts.latent.added_to": getattr(parts.get("latent"), "added_to", "") == "decoder_input",
        "length": its.length is not None,
        "text": choice and choice.traits.decoding_order,
        "text gamma": len(gamma) if isinstance(gamma, list) else None,
        "teacher": its.teacher is not None,
        "init_from": its.init_from is not None,
        "size": configuration.is_encoder_only(name),
        "size positions": size and size.max_positions,
        "decoder.chunk size": decoder.chunk,
        "size shape": size,
        "decoder shape": plain,  # the chunk concerns no weights
        "parts shape": {part: options.form for part, options in parts.items()},
        "length shape": its.length or "",
    }


def check_system(configuration: "Configuration", name: str) -> None:
    """Check that what a system says fits its methods, and the systems that it names.

    Raises:
        UserError: for the first problem.
    """
    file, its = configuration.file_of("systems", name), configuration.system(name)
    input_, target = configuration.input_traits(name), configuration.target_traits(name)
    order, decoder, own = input_.decoding_order, its.decoder, _facts(configuration, name)
    parallel, distils, predicts = order == "parallel", target.distils, own["parts.input_predictor"]
    layered = parallel and not own["size"]
    alone = not distils and target.teacher is None and decoder.upsample is None
    may_predict = input_.trains_on_partial_targets and alone and not own["parts.latent"]
    taught_by = "parallel" if predicts else input_.teacher or target.teacher
    _expect(
        configuration,
        name,
        {
            "input": target.decoding_order or ("parallel" if distils else None),
            "decoder.chunk": order in ("hybrid", "semi-autoregressive"),
            "decoder": None if parallel else False,
            "decoder copy": own["size"] or None,
            "decoder.upsample": target.upsampled,
            "input canvas": target.upsampled,
            "parts.latent": None if layered else False,
            "parts.latent.added_to": None if decoder.copy.startswith("soft") else False,
            "length": parallel and not target.upsampled,
            "input.aligned_by": None if distils else False,
            "parts.input_predictor": None if may_predict else False,
            "text": order,
            "text gamma": len(its.text.candidates),
            "teacher": taught_by is not None,
            "init_from": distils or None,
        },
    )
    users: list[tuple[str, str, dict[str, Any]]] = []
    if its.teacher is not None:
        room = own["size positions"]
        aligned = {"decoder.upsample": False if predicts else None, "size positions": room}
        users.append(("teacher", its.teacher, {"input": taught_by, **aligned}))
    if its.init_from is not None:
        shape = {fact: own[fact] for fact in own if fact.endswith(" shape")}
        users.append(
            ("init_from", its.init_from.system, {"input tokens": distils or None, **shape})
        )
    for text in its.text.candidates:
        # U-DiMS learns from translations of the system whose steps it distils
        own_start = distils and text.system and Start(text.system) == its.init_from
        if text.system is not None and not own_start:
            users.append((f"{text.key}.system", text.system, {"input": "autoregressive"}))
    for key, other, expected in users:
        with told_of(f"{file}: key '{key}': "):
            _expect(configuration, other, expected)
    validation = configuration.recipe(its.recipe).validation.decoding
    uses = [(f"{each.key}.decoding", each.system, each.decoding) for each in its.text.candidates]
    for key, system, used in [*uses, ("recipe", name, validation)]:
        if system is not None and used is not None:
            with told_of(f"{file}: key '{key}': "):
                configuration.check_decoding(system, used)


def _expect(configuration: "Configuration", name: str, expected: Mapping[str, Any]) -> None:
    """Refuse a system unless its facts are as expected, where anything is."""
    facts, written = _facts(configuration, name), configuration.files["systems"][name]
    for rule, due in expected.items():
        found = facts[rule]
        if None in (found, due) or found == due or rule == "size positions" and found > due:
            continue
        key = rule.partition(" ")[0]
        said = {each: _shown(at(written, each)) for each in (key, "input", "target", "size")}
        place = f"{configuration.file_of('systems', name)}: key '{key}'"
        found = found if type(found) is int else said[key]
        wanted = "another"
        if rule == key != "size":
            wanted = {True: "one", False: "none"}.get(due) or f"one for {KINDS[due]} systems"
        elif type(due) is int or isinstance(due, str):
            wanted = str(due) or "null"
        kind = ", ".join(f"{each} {said[each]}" for each in ("input", "target", "size"))
        raise UserError(
            f"{place}: found {found}, expected {wanted}: {RULES[rule]} ('{name}' is "
            f"{KINDS[facts['input']]}: {kind})"
        )


def _shown(value: Any) -> str:
    """A value of a file, of a method its name."""
    value = value.get("method", value) if isinstance(value, dict) else value
    return value if isinstance(value, str) else json.dumps(value)


def check_assistant(configuration: "Configuration", decoding: str) -> None:
    """Check that a decoding has the second system that its method uses, if it uses one.

    Raises:
        UserError: for the first problem.
    """
    traits, assistant = configuration.decoding_traits(decoding), configuration.assistant(decoding)
    with told_of(f"{configuration.file_of('decodings', decoding)}: key 'assistant': "):
        if (assistant is None) != (traits.assistant is None) and not traits.assistant_optional:
            wanted = "null" if traits.assistant is None else f"a system, {KINDS[traits.assistant]}"
            method = configuration.decoding(decoding).method
            raise UserError(f"found {assistant or 'null'}, expected {wanted}, with {method}")
        if assistant is not None:
            aligned = False if traits.assistant == "parallel" else None
            expected = {"input": traits.assistant, "decoder.upsample": aligned}
            _expect(configuration, assistant, expected)


def check_suits(configuration: "Configuration", system: str, decoding: str) -> None:
    """Refuse a decoding that does not suit a system.

    Raises:
        UserError: says why; also for an unknown system or decoding.
    """
    method, traits = configuration.decoding(decoding), configuration.decoding_traits(decoding)
    tried, assistant = configuration.tried(decoding), configuration.assistant(decoding)
    lengths, steps = (
        max(tried.get(option, [method.options.get(option, 1)]))
        for option in ("length_beam", "steps")
    )
    penalised = bool(method.options.get("blank_penalty")) or "blank_penalty" in tried
    several = traits.decoding_order == "parallel" and steps > 1
    upsampled = False if lengths > 1 else penalised or traits.upsampled
    of_traits = {
        "input": traits.decoding_order,
        "input tokens": several or traits.needs_partial_targets,
        "target tokens": traits.needs_correction,
        **({f"parts.{traits.part}": True} if traits.part else {}),
        "size": traits.encoder_only,
    }
    expected = {
        "decoder.upsample": upsampled,
        **{key: due or None for key, due in of_traits.items()},
    }
    most = "".join(
        f", {number} {each}"
        for number, each in ((lengths, "lengths"), (steps, "steps"))
        if number > 1
    )
    with told_of(f"the decoding '{decoding}' ({method.method}{most}) does not suit '{system}': "):
        _expect(configuration, system, expected)
        if assistant is not None:
            own, hybrid = _facts(configuration, system), traits.decoding_order == "hybrid"
            room, chunk = own["size positions"], own["decoder.chunk size"] if hybrid else None
            expected = {"size positions": room, "decoder.chunk size": chunk}
            _expect(configuration, assistant, expected)
