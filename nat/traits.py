"""The five families of methods, and what a method of each may say about itself: its traits.

The fields of a method's class are its options. Its traits are class variables, by which the
configuration refuses combinations (`nat.configuration.checks`).
"""

from typing import Any, ClassVar, Literal, get_args

from nat.options import StrictModel, options_of

Order = Literal["parallel", "autoregressive", "semi-autoregressive", "hybrid", "fairseq"]
"""An order in which a system predicts the tokens of a sentence; `fairseq`: decided by fairseq's own
models."""

KINDS: dict[Order, str] = {order: order for order in get_args(Order)} | {
    "parallel": "non-autoregressive",
    "fairseq": "fairseq-native",
}
"""The kind of a system by its order, in messages."""

Engine = Literal["ctranslate2", "onnx"]
"""An engine besides PyTorch; also the name of the folder of a model in its format."""

ENGINES: tuple[Engine, ...] = get_args(Engine)


class ProxyInput(StrictModel):
    """A proxy input: the tokens that the decoder sees in training."""

    decoding_order: ClassVar[Order] = "parallel"  # in which the system predicts tokens
    # part of the target is visible in training, so that a translation can be refined in steps
    trains_on_partial_targets: ClassVar[bool] = False
    upsampled: ClassVar[bool | None] = None  # whether the canvas must be; None for both
    teacher: ClassVar[Order | None] = None  # of the system that the key `teacher` must name


class ProxyTarget(StrictModel):
    """A proxy target: the labels of a training."""

    decoding_order: ClassVar[Order | None] = None  # of the systems that can use it; None for all
    upsampled: ClassVar[bool] = False  # learns on an upsampled canvas, without a length predictor
    distils: ClassVar[bool] = False  # an iterative teacher, the system of `init_from`, labels it
    trains_correction: ClassVar[bool] = False  # learns to replace visible tokens that are wrong
    # learns to predict BLANK for "no token"; decodings may predict it and then drop it
    empty_token: ClassVar[bool] = False
    teacher: ClassVar[Order | None] = None  # as for inputs
    same_layers: ClassVar[bool] = False  # this teacher has as many decoder layers and heads

    @property
    def fewest_tokens(self) -> dict[str, int]:
        """Tokens that a target must have for a part of the loss, by the name of the part."""
        return {}


class TextChoice(StrictModel):
    """Which of several target sentences a system learns."""

    decoding_order: ClassVar[Order | None] = None  # of the systems that can use it; None for all


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
    """A way of producing translations."""

    decoding_order: ClassVar[Order] = "parallel"  # of the systems that can use it
    upsampled: ClassVar[bool | None] = False  # whether their canvas is; None for all
    encoder_only: ClassVar[bool] = False  # only for systems without decoder layers
    needs_partial_targets: ClassVar[bool] = False  # the decoder sees part of a translation
    needs_correction: ClassVar[bool] = False  # it replaces visible tokens
    part: ClassVar[str | None] = None  # network part that the system must have
    assistant: ClassVar[Order | None] = None  # of the system that the key `assistant` must name
    assistant_optional: ClassVar[bool] = False  # the key may be left out all the same
    # the other engine that runs the model, for which it is converted; None for PyTorch
    converted: ClassVar[Engine | None] = None
    traced: ClassVar[bool] = False  # its passes can be looked at, see `nat.decoding.passes.Traced`
