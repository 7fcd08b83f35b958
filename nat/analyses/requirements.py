"""Requirements of the analyses for the graph: the systems that each measures, and what it reads.

An analysis that is not in a table measures every system, and reads its model and the ids of the
corpus. Each start of Snakemake imports this module, so it needs nothing that computes.
"""

from collections.abc import Iterable

from nat.artifacts import Analysis, CorpusStep, Inputs, Model, Translations, references, step_of
from nat.configuration import Configuration
from nat.configuration.compatibility import check_decoding
from nat.data.corpus import Corpus
from nat.errors import UserError

PLANE_OTHER = "plane-nat-raw"
"""The system that is fine-tuned by maximum likelihood, a corner of `weight_plane`."""

WITHOUT_MODEL = ("reference_distances", "schedule_bounds", "two_modes", "two_orders")


def check(configuration: Configuration, analysis: Analysis) -> None:
    """Refuse, by a `UserError` that names the key, a system that the analysis cannot measure."""
    system, methods = configuration.system(analysis.system), configuration.methods(analysis.system)
    order, target = methods.order, system.target.method
    parallel, one_text = order == "parallel", system.text.choice is None
    upsampled, latents = system.decoder.upsample is not None, "latent" in system.parts
    guesses = methods.input.trains_on_partial_targets and "input_predictor" not in system.parts

    only_parallel = ("input.method", not parallel, "only non-autoregressive systems fit")
    both = "only non-autoregressive and autoregressive systems fit"
    one_or_other = ("input.method", not parallel and order != "autoregressive", both)
    no_choice = ("text", not one_text, "one text is analysed, raw or distilled, not a choice")
    no_latents = ("parts.latent", not latents, "there are no latents to analyse")
    no_law = "the law of the outputs of such a system is not computed"
    plain = "the law is that of one position for each token, without latents"
    hindrances = {
        "confidence": [only_parallel],
        "latent_assignment": [no_latents],
        "latent_components": [no_latents],
        "length_accuracy": [("length", system.length is None, "there is no length predictor")],
        "likelihood": [
            ("input.method", order == "fairseq", "its loss is one number for a batch"),
        ],
        "mple": [
            only_parallel,
            no_choice,
            ("parts.input_predictor", guesses, "L_input needs a model that predicts what is shown"),
        ],
        "reference_distances": [no_choice],
        "state_similarity": [one_or_other],
        "step_errors": [
            ("input.method", order in ("semi-autoregressive", "fairseq"), no_law),
            ("target.method", parallel and upsampled and target != "ctc", no_law),
            ("target.method", parallel and not upsampled and target == "axe", no_law),
            ("parts.latent", parallel and upsampled and latents, no_law),
            ("length", parallel and system.length == "constant", no_law),
        ],
        "two_modes": [
            only_parallel,
            ("decoder.upsample", upsampled, plain),
            ("target", methods.target.empty_token, plain),
            # the variables depend on each other through what is drawn
            ("parts.latent", latents, plain),
        ],
        "two_orders": [one_or_other],
    }
    own = hindrances.get(analysis.analysis, [])
    if parallel and not upsampled and analysis.analysis not in ("length_accuracy", *WITHOUT_MODEL):
        imported = configuration.on(analysis.corpus).system(analysis.system).imported
        own = [*own, ("imported", imported is not None, "its canvas has a place for EOS, too")]
    reason = next((f"key '{key}': {why}" for key, hinders, why in own if hinders), None)
    if analysis.analysis == "shown_tokens":
        decodings = {"hybrid": "hybrid5-1", "semi-autoregressive": "group-beam5"}
        try:
            decoding = decodings.get(order, "mask-predict-10-lb1")
            check_decoding(configuration, analysis.system, decoding)
        except UserError as error:
            reason = f"{error}; there is no other decoding for it here"
    if reason is not None:
        raise UserError(
            f"{configuration.file_of('systems', analysis.system)}: {reason}; remove the system "
            f"from the table or figure that shows the analysis '{analysis.analysis}'"
        )


def _teacher(configuration: Configuration, analysis: Analysis) -> Model | None:
    teacher: Model | None = Model.of(vars(analysis)).inputs_of_training(configuration).teacher
    return teacher


def _teacher_of_predictor(configuration: Configuration, analysis: Analysis) -> Inputs:
    """The teacher from which the input predictor learned which tokens to show, if any."""
    learned = "input_predictor" in configuration.system(analysis.system).parts
    return Inputs(teacher=_teacher(configuration, analysis) if learned else None)


def _subwords(configuration: Configuration, analysis: Analysis) -> Inputs:
    """With what words are split into subwords, of a corpus whose law is known."""
    if configuration.corpus(analysis.corpus).generator is None:
        raise UserError(
            f"{configuration.file_of('corpora', analysis.corpus)}: no key 'generator', so the law "
            f"of '{analysis.corpus}' is not known; remove it from the table or figure"
        )
    return Inputs(subwords=CorpusStep(analysis.corpus, "bpe"))


def with_references(description: Corpus, corpus: str) -> dict[str, CorpusStep]:
    """The references of each held-out split that has several."""
    steps = {split: references(description, corpus, split) for split in description.held_out}
    return {split: step for split, step in steps.items() if step is not None}


def _subwords_and_references(configuration: Configuration, analysis: Analysis) -> Inputs:
    """With what a text is split into subwords, and the references of splits with several."""
    corpus = analysis.corpus
    several = tuple(with_references(configuration.corpus(corpus), corpus).values())
    if not several:
        raise UserError(
            f"{corpus} has one reference per sentence; the assignment of latents needs two of them"
        )
    return Inputs(subwords=CorpusStep(corpus, "bpe"), references=several)


def _translations(
    configuration: Configuration, analysis: Analysis, splits: Iterable[str]
) -> tuple[Translations, ...]:
    """The teacher's translations, which stand for what the system learns; none for raw text."""
    [text] = configuration.training(analysis.corpus, analysis.system).text.candidates
    names = vars(analysis) | vars(text)
    return tuple(Translations.of(names, split=split) for split in splits if text.system)


def _texts_and_references(configuration: Configuration, analysis: Analysis) -> Inputs:
    """Of each split with several references: its raw text, the teacher's translation, and these."""
    splits = with_references(configuration.corpus(analysis.corpus), analysis.corpus)
    return Inputs(
        texts=tuple(step_of(analysis.corpus, split, "text") for split in splits),
        translations=_translations(configuration, analysis, splits),
        references=tuple(splits.values()),
    )


def truth_of(description: Corpus, corpus: str, split: str) -> CorpusStep:
    """The references of a split, or its raw text where each sentence has one reference."""
    return references(description, corpus, split) or step_of(corpus, split, "text")


def _texts_and_truth(configuration: Configuration, analysis: Analysis) -> Inputs:
    """The teacher, and of each held-out split what the system learns and what is true."""
    corpus, description = analysis.corpus, configuration.corpus(analysis.corpus)
    splits = description.held_out
    return Inputs(
        teacher=_teacher(configuration, analysis),
        translations=_translations(configuration, analysis, splits),
        truth=tuple(truth_of(description, corpus, split) for split in splits),
    )


def _same_of_teacher(configuration: Configuration, analysis: Analysis) -> Inputs:
    """The analysis of the system whose translations a parallel system learns from, if any."""
    text, *others = configuration.training(analysis.corpus, analysis.system).text.candidates
    is_autoregressive = configuration.methods(analysis.system).order == "autoregressive"
    if is_autoregressive or others or text.system is None:
        return Inputs(teacher=None)
    return Inputs(teacher=Analysis.of(vars(analysis) | vars(text)))


def _corners(configuration: Configuration, analysis: Analysis) -> Inputs:
    """The other corners of the plane: the common start, and the model of maximum likelihood."""
    name = configuration.canonical(analysis.corpus, PLANE_OTHER)
    own, other = Model.of(vars(analysis)), Model.of(vars(analysis), system=name)
    start, its_start = (each.inputs_of_training(configuration).start for each in (own, other))
    if start is None or start != its_start:
        raise UserError(
            f"{configuration.file_of('systems', analysis.system)}: key 'init_from': a plane of "
            f"weights needs a system that starts from the same model as {PLANE_OTHER}"
        )
    return Inputs(start=start, other=other)


READS = {
    "confidence": _teacher_of_predictor,
    "latent_assignment": _subwords_and_references,
    "mple": _texts_and_truth,
    "reference_distances": _texts_and_references,
    "schedule_bounds": _subwords,
    "state_similarity": _same_of_teacher,
    "step_errors": _subwords,
    "weight_plane": _corners,
}
"""What an analysis reads besides the model and the ids of the corpus."""
