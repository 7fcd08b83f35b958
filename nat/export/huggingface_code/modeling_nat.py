"""A model of this project in transformers."""

from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor
from transformers import PreTrainedModel
from transformers.utils import cached_file

from nat.data.batch import pad, padded_right
from nat.data.vocabulary import EOS, SPECIALS
from nat.decoding.hypothesis import hypotheses
from nat.errors import UserError
from nat.export.huggingface_code.configuration_nat import NatConfig
from nat.options import hint
from nat.transformer.architecture import Architecture
from nat.transformer.decoder_options import DecoderOptions
from nat.transformer.latent_options import LatentOptions
from nat.transformer.model import Transformer

WEIGHTS = "model.safetensors"

OF_HUB = (
    *("revision", "cache_dir", "token", "local_files_only", "subfolder"),
    *("force_download", "proxies"),
)
"""Options of `from_pretrained` that say where the files are."""

OF_AUTO = ("trust_remote_code", "adapter_kwargs", "_from_auto")
"""What `AutoModel` passes on by itself."""

OF_TYPE = ("dtype", "torch_dtype")
"""Options for the type of the weights, which are in float32."""

METHODS: dict[str, type] = {}
"""The decoding methods that travel with the model, by name."""


class NatModel(PreTrainedModel):
    """A Transformer and its decodings.

    Attributes:
        network: the Transformer.
    """

    config_class = NatConfig
    base_model_prefix = "nat"
    main_input_name = "input_ids"

    def __init__(self, config: NatConfig) -> None:
        super().__init__(config)
        given = dict(config.network)
        latent = given.pop("latent")
        self.network = Transformer(
            architecture=Architecture(**given.pop("architecture")),
            decoder=DecoderOptions(**given.pop("decoder")),
            latent=None if latent is None else LatentOptions(**latent),
            **given,
        )

    @classmethod
    def from_pretrained(
        cls, name: str, *, config: NatConfig | None = None, **options: Any
    ) -> "NatModel":
        """Load configuration and weights, in evaluation mode; options of the hub are passed on.

        Raises:
            TypeError: for other options, of which none would change anything.
        """
        for key, value in options.items():
            if key in OF_TYPE and value in (None, "auto", "float32", torch.float32):
                continue
            if key not in (*OF_HUB, *OF_AUTO):
                raise TypeError(
                    f"from_pretrained() takes no option '{key}', only config, {', '.join(OF_HUB)}"
                )
        hub = {key: options[key] for key in OF_HUB if options.get(key) is not None}
        model = cls(NatConfig.from_pretrained(name, **hub) if config is None else config)
        path = cached_file(name, WEIGHTS, **hub)
        assert path is not None  # or it has raised
        model.load_state_dict(load_file(path))
        return model.eval().requires_grad_(False)

    @torch.inference_mode()
    def generate(
        self, input_ids: Tensor, decoding: str | None = None, attention_mask: Tensor | None = None
    ) -> Tensor:
        """Translate.

        Args:
            input_ids: sources of the tokenizer, each with its end, padded on either side, [B, S];
                one with nothing but its end has an empty translation.
            decoding: one of `config.decodings`; None for the first.
            attention_mask: of the tokenizer; it tells nothing that the ids do not tell.

        Returns:
            Ids of the translations, each with its end, padded on the right, [B, T].

        Raises:
            UserError: for an unknown decoding, or a source that is too long or has no end.
        """
        known = self.config.decodings
        if decoding is None:
            decoding = next(iter(known))
        if decoding not in known:
            raise UserError(
                f"the model was exported without a decoding '{decoding}'; {hint(decoding, known)}"
            )
        source = padded_right(input_ids)
        if not source.eq(EOS).any(1).all():
            raise UserError(
                f"a source has no {SPECIALS[EOS]} at its end; call the tokenizer without "
                "add_special_tokens=False"
            )
        options = dict(known[decoding])
        method = METHODS[options.pop("method")](**options)
        found = [[*each.tokens, EOS] for each in hypotheses(method, self.network, source)]
        return pad(found).to(input_ids.device)
