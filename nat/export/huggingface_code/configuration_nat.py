"""Configuration of a model of this project in transformers."""

from typing import Any

from transformers import PretrainedConfig


class NatConfig(PretrainedConfig):
    """Sizes of the model and its decodings.

    Attributes:
        network: arguments of `Transformer`, JSON-able.
        decodings: methods with their options, by name; the usual one first.
    """

    model_type = "nat"

    def __init__(
        self,
        network: dict[str, Any] | None = None,
        decodings: dict[str, dict[str, Any]] | None = None,
        **others: Any,
    ) -> None:
        super().__init__(**others)
        self.network, self.decodings = network or {}, decodings or {}
