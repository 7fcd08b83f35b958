"""Requirements of the analyses for the graph: the systems that each measures, and what it reads.

An analysis that is not named here measures every system, and reads its model and the ids of the
corpus. Each start of Snakemake imports this module, so it needs nothing that computes.
"""

from collections.abc import Iterable

from nat.artifacts import Analysis, CorpusStep, Inputs, Model, Translations, references, step_of
from nat.configuration import Configuration
from nat.configuration.compatibility import check_decoding
from nat.data.corpus import Corpus
from nat.errors import UserError, told_of

PLANE_OTHER = "plane-nat-raw"
"""The system that is fine-tuned by maximum likelihood, a corner of `weight_plane`."""

WITHOUT_MODEL = ("reference_distances", "schedule_bounds", "two_modes", "two_orders")


def check(configuration: Configuration, analysis: Analysis) -> None:
    """Refuse, by a `UserError` that names the key, a system that the analysis cannot measure."""
    system, methods = configuration.system(analysis.system), configuration.methods(analysis.system)
    order, target = methods.order, system.target.method
    parallel, causal = order == "parallel", order == "autoregressive"
    upsampled, latents = system.decoder.upsample is not None, "latent" in system.parts
    guesses = methods.input.trains_on_partial_targets and "input_predictor" not in system.parts

    only_parallel = "only non-autoregressive systems fit"
    both = "only non-autoregressive and autoregressive systems fit"
    one_text = "one text is analysed, raw or distilled, not a choice"
    no_latents, no_lengths = "there are no latents to analyse", "there is no length predictor"
    shown = "L_input needs a model that predicts what is shown"
    no_law = "the law of the outputs of such a system is not computed"
    plain = "the law is that of one position for each token, without latents"
    # the analyses that a key of a system hinders, if it does, and why
    hindrances = [
        ("confidence mple two_modes", "input.method", not parallel, only_parallel),
        ("state_similarity two_orders", "input.method", not (parallel or causal), both),
        ("likelihood", "input.method", order == "fairseq", "its loss is one number for a batch"),
        ("step_errors", "input.method", order in ("semi-autoregressive", "fairseq"), no_law),
        ("mple reference_distances", "text", system.text.choice is not None, one_text),
        ("latent_assignment latent_components", "parts.latent", not latents, no_latents),
        ("length_accuracy", "length", system.length is None, no_lengths),
        ("mple", "parts.input_predictor", guesses, shown),
        ("step_errors", "target.method", parallel and upsampled and target != "ctc", no_law),
        ("step_errors", "target.method", parallel and not upsampled and target == "axe", no_law),
        ("step_errors", "parts.latent", parallel and upsampled and latents, no_law),
        ("step_errors", "length", parallel and system.length == "constant", no_law),
        ("two_modes", "decoder.upsample", upsampled, plain),
        # the variables depend on each other through what is drawn
        ("two_modes", "target", methods.target.empty_token, plain),
        ("two_modes", "parts.latent", latents, plain),
    ]
    own = [each for names, *each in hindrances if analysis.analysis in names.split()]
    if parallel and not upsampled and analysis.analysis not in ("length_accuracy", *WITHOUT_MODEL):
        imported = configuration.on(analysis.corpus).system(analysis.system).imported
        own.append(["imported", imported is not None, "its canvas has a place for EOS, too"])
    reason = next((f"key '{key}': {why}" for key, hinders, why in own if hinders), None)
    if analysis.analysis == "shown_tokens":
        decodings = {"hybrid": "hybrid5-1", "semi-autoregressive": "group-beam5"}
        decoding = decodings.get(order, "mask-predict-10-lb1")
        with told_of(f"the analysis '{analysis.analysis}' has no other decoding for this system: "):
            check_decoding(configuration, analysis.system, decoding)
    if reason is not None:
        raise UserError(
            f"{configuration.file_of('systems', analysis.system)}: {reason}; remove the system "
            f"from the table or figure that shows the analysis '{analysis.analysis}'"
        )


def reads(configuration: Configuration, analysis: Analysis) -> Inputs:
    """What an analysis reads besides the model and the ids of the corpus.

    Raises a `UserError` if the corpus or the system lacks it.
    """
    corpus, description = analysis.corpus, configuration.corpus(analysis.corpus)
    model, subwords = Model.of(vars(analysis)), CorpusStep(corpus, "bpe")
    several = with_references(description, corpus)
    match analysis.analysis:
        case "confidence":
            # the input predictor learned from a teacher which tokens to show
            learned = "input_predictor" in configuration.system(analysis.system).parts
            teacher = model.inputs_of_training(configuration).teacher if learned else None
            return Inputs(teacher=teacher)
        case "latent_assignment":
            if not several:
                raise UserError(
                    f"{corpus} has one reference per sentence; the assignment of latents needs two "
                    "of them"
                )
            return Inputs(subwords=subwords, references=tuple(several.values()))
        case "mple":
            splits = description.held_out
            return Inputs(
                teacher=model.inputs_of_training(configuration).teacher,
                translations=_translations(configuration, analysis, splits),
                truth=tuple(truth_of(description, corpus, split) for split in splits),
            )
        case "reference_distances":
            return Inputs(
                texts=tuple(step_of(corpus, split, "text") for split in several),
                translations=_translations(configuration, analysis, several),
                references=tuple(several.values()),
            )
        case "schedule_bounds" | "step_errors":
            if description.generator is None:
                raise UserError(
                    f"{configuration.file_of('corpora', corpus)}: no key 'generator', so the law "
                    f"of '{corpus}' is not known; remove it from the table or figure"
                )
            return Inputs(subwords=subwords)
        case "state_similarity":
            # a parallel system shows the head of the one whose translations it learns from, if any
            text, *others = configuration.training(corpus, analysis.system).text.candidates
            parallel = configuration.methods(analysis.system).order != "autoregressive"
            distilled = parallel and not others and text.system is not None
            return Inputs(teacher=Analysis.of(vars(analysis) | vars(text)) if distilled else None)
        case "weight_plane":
            # the other corners: the common start, and the model of maximum likelihood
            other = Model.of(vars(analysis), system=configuration.canonical(corpus, PLANE_OTHER))
            start, its = (each.inputs_of_training(configuration).start for each in (model, other))
            if start is None or start != its:
                raise UserError(
                    f"{configuration.file_of('systems', analysis.system)}: key 'init_from': a "
                    "plane of weights needs a system that starts from the same model as "
                    f"{PLANE_OTHER}"
                )
            return Inputs(start=start, other=other)
    return Inputs()


def with_references(description: Corpus, corpus: str) -> dict[str, CorpusStep]:
    """The references of each held-out split that has several."""
    steps = {split: references(description, corpus, split) for split in description.held_out}
    return {split: step for split, step in steps.items() if step is not None}


def truth_of(description: Corpus, corpus: str, split: str) -> CorpusStep:
    """The references of a split, or its raw text where each sentence has one reference."""
    return references(description, corpus, split) or step_of(corpus, split, "text")


def _translations(
    configuration: Configuration, analysis: Analysis, splits: Iterable[str]
) -> tuple[Translations, ...]:
    """The teacher's translations, which stand for what the system learns; none for raw text."""
    [text] = configuration.training(analysis.corpus, analysis.system).text.candidates
    names = vars(analysis) | vars(text)
    return tuple(Translations.of(names, split=split) for split in splits if text.system)
