"""Classes of Hugging Face's transformers, which travel with an exported model."""

import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor
from transformers import PretrainedConfig, PreTrainedModel, PreTrainedTokenizer
from transformers.utils import cached_file

from nat import registry
from nat.data.batch import pad, padded_right
from nat.data.raw_text import RawText
from nat.data.vocabulary import BOS, EOS, MASK, PAD, SPECIALS, UNK, Vocabularies
from nat.decoding.hypothesis import hypotheses
from nat.errors import UserError
from nat.options import hint
from nat.transformer.as_values import built_of

WEIGHTS = "model.safetensors"

OF_HUB = (
    *("revision", "cache_dir", "token", "local_files_only", "subfolder"),
    *("force_download", "proxies"),
)
"""Options of `from_pretrained` that say where the files are."""

OF_AUTO = ("trust_remote_code", "adapter_kwargs", "_from_auto")
"""Options that `AutoModel` passes on by itself."""

OF_TYPE = ("dtype", "torch_dtype")
"""Options for the type of the weights, which are in float32."""


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


class NatModel(PreTrainedModel):
    """A Transformer, `network`, and its decodings."""

    config_class = NatConfig
    base_model_prefix = "nat"
    main_input_name = "input_ids"

    def __init__(self, config: NatConfig) -> None:
        super().__init__(config)
        self.network = built_of(config.network)

    @classmethod
    def from_pretrained(
        cls, name: str, *, config: NatConfig | None = None, **options: Any
    ) -> "NatModel":
        """Load configuration and weights, in evaluation mode; options of the hub are passed on.

        Raises a `TypeError` for other options, of which none would change anything.
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
        self,
        input_ids: Tensor,
        decoding: str | None = None,
        attention_mask: Tensor | None = None,
        **others: Any,
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
            UserError: for an unknown decoding, a source that is too long or has no end, or another
                option, such as `num_beams`.
        """
        known = self.config.decodings
        if others:
            raise UserError(
                f"generate() does not take '{next(iter(others))}': all options of the search are "
                f"in the decoding; choose one with decoding=NAME, of {', '.join(known)}"
            )
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
        method = registry.build("decoding", registry.Method(**known[decoding]))
        translated = [[*each.tokens, EOS] for each in hypotheses(method, self.network, source)]
        return pad(translated).to(input_ids.device)


class NatTokenizer(PreTrainedTokenizer):
    """Prepares raw source text as the corpus of the model, and makes text of ids of translations.

    Tokens become ids by the source vocabulary, and ids tokens by that of the target.
    """

    vocab_files_names = {  # noqa: RUF012
        "corpus_file": "corpus.json",
        "vocabulary_file": "vocabulary.txt",
        "source_vocabulary_file": "vocabulary.source.txt",
        "target_vocabulary_file": "vocabulary.target.txt",
        "codes_file": "codes",
        "source_codes_file": "codes.source",
        "pieces_file": "pieces.model",
    }
    model_input_names = ["input_ids", "attention_mask"]  # noqa: RUF012

    def __init__(self, corpus_file: str, **others: Any) -> None:
        given = [corpus_file, *(others.pop(name, None) for name in self.vocab_files_names)]
        self._files = [Path(file) for file in given if file is not None]
        folder = self._files[0].parent
        self.vocabularies, self.raw_text = Vocabularies.load(folder), RawText.of_folder(folder)
        # not UNK, which is a word of translations like any other: special symbols are left out
        for name, token in {"pad": PAD, "bos": BOS, "eos": EOS, "mask": MASK}.items():
            others.setdefault(f"{name}_token", SPECIALS[token])
        others["clean_up_tokenization_spaces"] = False
        others.setdefault("padding_side", "right")
        super().__init__(**others)

    def save_vocabulary(
        self, save_directory: str, filename_prefix: str | None = None
    ) -> tuple[str, ...]:
        """Copy the files of preprocessing, vocabularies and subwords; return their paths."""
        prefix = f"{filename_prefix}-" if filename_prefix else ""
        paths = [Path(save_directory, f"{prefix}{file.name}") for file in self._files]
        for file, path in zip(self._files, paths, strict=True):
            if not (path.exists() and path.samefile(file)):
                shutil.copyfile(file, path)
        return tuple(map(str, paths))

    @property
    def vocab_size(self) -> int:
        """Number of source symbols."""
        return len(self.vocabularies.source)

    def get_vocab(self) -> dict[str, int]:
        """Ids of all source symbols."""
        return dict(self.vocabularies.source.ids)

    def tokenize(self, text: str, *_: Any, **__: Any) -> list[str]:
        """The subwords of raw text; nothing in it is a special symbol.

        transformers looks a special symbol up before it asks `_convert_token_to_id`, so one that
        is written in the text is replaced here.
        """
        subwords = self.raw_text.subwords(text).split()
        return [SPECIALS[UNK] if each in SPECIALS else each for each in subwords]

    def _convert_token_to_id(self, token: str) -> int:
        return self.vocabularies.source.ids.get(token, UNK)

    def _convert_id_to_token(self, index: int) -> str:
        return self.vocabularies.target.symbols[index]

    def build_inputs_with_special_tokens(
        self, token_ids_0: list[int], token_ids_1: list[int] | None = None
    ) -> list[int]:
        """Ids and the end."""
        return [*token_ids_0, EOS]

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        """The text of a translation."""
        return self.raw_text.text(" ".join(tokens))
