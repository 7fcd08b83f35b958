"""The five families of methods, and what a method of each may say about itself: its traits.

The fields of a method's class are its options. Its traits are class variables, by which the
configuration refuses combinations (`nat.configuration.checks`).
"""

from typing import Any, ClassVar, Literal, get_args

from nat.options import StrictModel, options_of

Order = Literal["parallel", "autoregressive", "semi-autoregressive", "hybrid", "fairseq"]
"""An order in which a system predicts the tokens of a sentence; `fairseq`: decided by fairseq's own
models."""

KINDS: dict[Order, str] = {
    "parallel": "non-autoregressive",
    "autoregressive": "autoregressive",
    "semi-autoregressive": "semi-autoregressive",
    "hybrid": "hybrid",
    "fairseq": "fairseq-native",
}
"""The kind of a system by its order, in messages."""

Engine = Literal["ctranslate2", "onnx"]
"""An engine besides PyTorch; also the name of the folder of a model in its format."""

ENGINES: tuple[Engine, ...] = get_args(Engine)


class ProxyInput(StrictModel):
    """A proxy input: the tokens that the decoder sees in training.

    Attributes:
        decoding_order: order in which the system predicts tokens.
        trains_on_partial_targets: whether part of the target is visible in training, so that the
            system can refine a translation in several steps.
        upsampled: True: only for an upsampled canvas; False: not for one; None: for all.
        teacher: order of the system that the key `teacher` must name; None if there is no teacher.
    """

    decoding_order: ClassVar[Order] = "parallel"
    trains_on_partial_targets: ClassVar[bool] = False
    upsampled: ClassVar[bool | None] = None
    teacher: ClassVar[Order | None] = None


class ProxyTarget(StrictModel):
    """A proxy target: the labels of a training.

    Attributes:
        decoding_order: order of the systems that can use it; None for all.
        upsampled: whether the system learns on an upsampled canvas, so that no length predictor is
            needed.
        distils: whether an iterative teacher, the system of `init_from`, labels the target.
        trains_correction: whether the system learns to replace visible tokens that are wrong.
        empty_token: whether the system learns to predict BLANK for "no token"; decodings may
            predict it and then drop it.
        teacher: as for inputs.
    """

    decoding_order: ClassVar[Order | None] = None
    upsampled: ClassVar[bool] = False
    distils: ClassVar[bool] = False
    trains_correction: ClassVar[bool] = False
    empty_token: ClassVar[bool] = False
    teacher: ClassVar[Order | None] = None

    @property
    def fewest_tokens(self) -> dict[str, int]:
        """Tokens that a target must have for a part of the loss, by the name of the part."""
        return {}


class TextChoice(StrictModel):
    """Which of several target sentences a system learns.

    Attributes:
        decoding_order: order of the systems that can use it; None for all.
    """

    decoding_order: ClassVar[Order | None] = None


class NetworkPart(StrictModel):
    """A further part of the network, beyond encoder, decoder and length predictor.

    A method of this family is called with the sizes of the model and its dropout, and returns a
    `nat.transformer.part.Part`.
    """

    @property
    def form(self) -> dict[str, Any]:
        """Options that the shapes of its weights depend on: all, if it does not say otherwise."""
        return options_of(self)


class DecodingMethod(StrictModel):
    """A way of producing translations.

    Attributes:
        decoding_order: order of the systems that can use it.
        upsampled: True: only for systems with an upsampled canvas; False: for the rest; None: for
            all.
        encoder_only: whether it is only for systems without decoder layers.
        needs_partial_targets: whether the decoder sees part of a translation, so that it is only
            for systems that saw part of the target in training.
        needs_correction: whether it replaces visible tokens, so that it is only for systems that
            have learned to.
        part: network part that the system must have; None if it needs none.
        assistant: order of the system that the key `assistant` must name; None if there is no
            assistant.
        assistant_optional: whether the key `assistant` may be left out all the same.
        starts_from_assistant: whether it completes what the assistant writes, which is the same for
            all such decodings of a job.
        starts_from_masks: whether it begins with a pass over masks, which is the same for all such
            decodings of a job with the same lengths.
        converted: the other engine that runs the model, for which it is converted; None for
            PyTorch.
        traced: whether its passes can be looked at, see `nat.decoding.passes.Traced`.
    """

    decoding_order: ClassVar[Order] = "parallel"
    upsampled: ClassVar[bool | None] = False
    encoder_only: ClassVar[bool] = False
    needs_partial_targets: ClassVar[bool] = False
    needs_correction: ClassVar[bool] = False
    part: ClassVar[str | None] = None
    assistant: ClassVar[Order | None] = None
    assistant_optional: ClassVar[bool] = False
    starts_from_assistant: ClassVar[bool] = False
    starts_from_masks: ClassVar[bool] = False
    converted: ClassVar[Engine | None] = None
    traced: ClassVar[bool] = False
