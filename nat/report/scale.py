"""What a run has in place of what the papers have."""

from dataclasses import replace

from nat.artifacts import is_generated
from nat.configuration import Configuration
from nat.configuration.file_names import PAPER_SCALE
from nat.configuration.overrides import Overrides
from nat.data.splits import derived_from
from nat.papers.coordinates import heading

BASE = "base"
"""The size of models that papers compare with."""


def stand_ins(configuration: Configuration) -> str:
    """A sentence on corpora and models that are not those of the papers; empty without such."""
    papers = replace(configuration, scale=PAPER_SCALE, overrides=Overrides())
    corpora: dict[str, str] = {}
    for task, corpus in configuration.tasks.items():
        if papers.tasks.get(task, corpus) != corpus:
            corpora.setdefault(corpus, heading(task))
    parts = []
    if corpora:
        invented = all(_is_invented(configuration, corpus) for corpus in corpora)
        kind = "invented languages" if invented else "other corpora"
        pairs = ", ".join(f"{corpus} for {task}" for corpus, task in corpora.items())
        parts.append(f"{kind} stand in for the corpora of the papers ({pairs})")
    ours, theirs = (each.scale_settings.sizes[BASE] for each in (configuration, papers))
    if ours.model_dim != theirs.model_dim:
        parts.append(
            f"a base model is {ours.model_dim} wide with {ours.encoder_layers} + "
            f"{ours.decoder_layers} layers, in the papers {theirs.model_dim} with "
            f"{theirs.encoder_layers} + {theirs.decoder_layers}"
        )
    if not parts:
        return ""
    return (
        f"Numbers of scale {configuration.scale} are not results on the corpora of the papers: "
        f"here {', and '.join(parts)}."
    )


def _is_invented(configuration: Configuration, corpus: str) -> bool:
    return is_generated(configuration, derived_from(configuration.corpus(corpus)) or corpus)
