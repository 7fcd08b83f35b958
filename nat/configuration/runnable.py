"""Reasons why something is not run at a scale, and the decoding that distils a text."""

from collections.abc import Iterable
from pathlib import Path

from nat.configuration.configuration import Configuration
from nat.configuration.entries import has_decoding
from nat.configuration.files import SETTINGS
from nat.data.corpus_parts import local_files
from nat.errors import UserError
from nat.transformer.fairseq_models import COMPILED, NEEDS_COMPILED, has_compiled_parts


def cannot_train(configuration: Configuration, system: str) -> str:
    """Say why there can be no model of a system on this machine; "" if there can be one."""
    its, sizes = configuration.system(system), configuration.scale_settings.sizes
    if its.target.options.get("model") in COMPILED and not has_compiled_parts():
        return NEEDS_COMPILED
    if its.size not in sizes:
        if its.imported is None:
            return f"not run: scale {configuration.scale} has no size {its.size}"
        scales = configuration.files["scales"].items()
        having = [name for name, scale in scales if its.size in scale["sizes"]]
        return f"not run: published models are of scale {' or '.join(having)}"
    files = []
    if its.imported is not None:
        files = [its.imported.dictionary]
        files += [its.imported.checkpoint] if its.imported.address is None else []
    return _not_there(configuration.root, files)


def cannot_translate(configuration: Configuration, decoding: str) -> str:
    """Say why no job of the scale can translate with a decoding; "" if one can."""
    only_on_gpus = configuration.decoding_file(decoding).options.get("precision") == "float16"
    if only_on_gpus and not configuration.scale_settings.stages.translate.gpu:
        scale = configuration.scale
        return f"not run: float16 needs a GPU, and jobs of scale {scale} ask for none"
    return ""


def cannot_prepare(configuration: Configuration, corpus: str) -> str:
    """Say why nothing can be run on a corpus, whose text is licensed and not there; else ""."""
    description = configuration.corpus(corpus)
    if not description.licensed_by:
        return ""
    files = local_files(description) + local_files(description, references=True)
    missing = _not_there(configuration.root, (path for _, path in files))
    return missing and f"{missing} (licensed by {description.licensed_by})"


def _not_there(root: Path, files: Iterable[str | Path]) -> str:
    missing = next((file for file in files if not (root / file).exists()), None)
    return "" if missing is None else f"not run: {missing} is not there"


def is_traced(configuration: Configuration, decoding: str) -> bool:
    """True if a decoding, by one model alone, can tell what each of its passes did."""
    its = configuration.decoding_file(decoding)
    alone = its.assistant is None and its.language_model is None
    return alone and configuration.decoding_traits(decoding).traced


def published_by(configuration: Configuration, corpus: str, system: str) -> str | None:
    """The teacher whose published translations a corpus has in place of a system's own."""
    teachers = configuration.corpus(corpus).distilled
    return next(
        (each for each in teachers if configuration.canonical(corpus, each) == system), None
    )


def decoding_to_distil(configuration: Configuration, decoding: str) -> str:
    """The decoding that translates a training text where students name another.

    With `distillation_engine: ctranslate2` in config/config.yaml, a beam search gives way to
    that of CTranslate2 in float32 with the same options; every other decoding stays.
    """
    engine = configuration.settings.distillation_engine
    if engine == "pytorch" or (own := configuration.decoding(decoding)).method != "beam_search":
        return decoding
    name, wanted = f"{engine}-float32-{decoding}", {**own.options, "precision": "float32"}
    same_tuning = has_decoding(configuration, name) and (
        configuration.decoding_file(name).tuning == configuration.decoding_file(decoding).tuning
    )
    if not same_tuning or configuration.decoding(name).options != wanted:
        raise UserError(
            f"{SETTINGS}: key 'distillation_engine': with {engine}, '{name}' translates in the "
            f"place of '{decoding}'; add it to config/decodings with the same options"
        )
    return name
