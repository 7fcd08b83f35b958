"""Requirements of the analyses for the graph: the systems that each measures, and what it reads.

An analysis that is not in the table measures every system, and reads its model and the ids of the
corpus. Each start of Snakemake imports this module, so it imports nothing that only a computation
needs.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from nat import artifacts
from nat.artifacts import Analysis, CorpusStep, Inputs, Model, Translations
from nat.configuration import Configuration
from nat.data.corpus import Corpus
from nat.data.splits import held_out
from nat.errors import UserError
from nat.options import at
from nat.traits import KINDS, Order

OTHERS = "others"
PLANE_OTHER = "plane-nat-raw"
"""The system that is fine-tuned by maximum likelihood, a corner of `weight_plane`."""


@dataclass(frozen=True)
class Requirements:
    """The systems that an analysis measures, and its inputs.

    Attributes:
        orders: those of the systems that it measures; None for all.
        key: of a system, which must not be null; "" for none.
        one_text: whether the system must learn one text, not a choice.
        decodings: with which it decodes the system, by its order, or else for `OTHERS`.
        hindered: the key of a system that it cannot measure, and why not; "" for the others.
        reads: what it reads besides the model and the ids of the corpus.
        model: whether it reads a model.
    """

    orders: tuple[Order, ...] | None = None
    key: str = ""
    one_text: bool = False
    decodings: Mapping[str, str] = field(default_factory=dict)
    hindered: Callable[[Configuration, str], str] = lambda configuration, system: ""
    reads: Callable[[Configuration, Analysis], Inputs] = lambda configuration, analysis: Inputs()
    model: bool = True

    def check(self, configuration: Configuration, analysis: Analysis) -> None:
        """Refuse a system that the analysis cannot measure.

        Raises:
            UserError: naming its file, and the key that decides.
        """
        if reason := self._reason(configuration, analysis.system):
            raise UserError(
                f"{configuration.file_of('systems', analysis.system)}: {reason}; remove the system "
                f"from the table or figure that shows the analysis '{analysis.analysis}'"
            )

    def _reason(self, configuration: Configuration, name: str) -> str:
        system, order = configuration.system(name), configuration.methods(name).order
        if self.orders is not None and order not in self.orders:
            kinds = " and ".join(KINDS[each] for each in self.orders)
            return f"key 'input.method', {system.input.method}: only {kinds} systems fit"
        if self.key and at(system.as_written(), self.key) is None:
            return f"key '{self.key}' is null, so there is nothing to analyse"
        if self.one_text and system.text.choice is not None:
            return "key 'text': what is analysed is one text, raw or distilled, not a choice"
        try:
            if self.decodings:
                decoding = self.decodings.get(order, self.decodings[OTHERS])
                configuration.check_decoding(name, decoding)
        except UserError as error:
            return f"{error}; there is no other decoding for it here"
        return self.hindered(configuration, name)


def _first(keys: Mapping[str, bool], why: str) -> str:
    return next((f"key '{key}': {why}" for key, hinders in keys.items() if hinders), "")


def _of_losses(configuration: Configuration, name: str) -> str:
    reveals = configuration.methods(name).input.trains_on_partial_targets
    predicts = "input_predictor" in configuration.system(name).parts
    why = "L_input needs a model that has learned to predict which tokens are shown"
    return _first({"parts.input_predictor": reveals and not predicts}, why)


def _of_law(configuration: Configuration, name: str) -> str:
    system, parallel = configuration.system(name), configuration.methods(name).order == "parallel"
    upsampled, method = system.decoder.upsample is not None, system.target.method
    keys = {
        "target.method": method != "ctc" if upsampled else method == "axe",
        "parts.latent": upsampled and "latent" in system.parts,
        "length": system.length == "constant",
    }
    why = "the law of the outputs of such a system is not computed"
    return _first(keys, why) if parallel else ""


def _of_two_modes(configuration: Configuration, name: str) -> str:
    system = configuration.system(name)
    keys = {
        "decoder.upsample": system.decoder.upsample is not None,
        "target": configuration.methods(name).target.empty_token,
        # the variables depend on each other through what is drawn
        "parts.latent": "latent" in system.parts,
    }
    return _first(keys, "the law is that of one position for each token, without latents")


def _teacher(configuration: Configuration, analysis: Analysis) -> Model | None:
    found: Model | None = Model.of(vars(analysis)).inputs_of_training(configuration).teacher
    return found


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
    splits = held_out(description)
    found = {split: artifacts.references(description, corpus, split) for split in splits}
    return {split: several for split, several in found.items() if several is not None}


def _subwords_and_references(configuration: Configuration, analysis: Analysis) -> Inputs:
    """With what a text is split into subwords, and the references of splits with several."""
    corpus = analysis.corpus
    # of a generated corpus, train and valid lie in one folder
    several = tuple(dict.fromkeys(with_references(configuration.corpus(corpus), corpus).values()))
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
        texts=tuple(artifacts.step_of(analysis.corpus, split, "text") for split in splits),
        translations=_translations(configuration, analysis, splits),
        references=tuple(splits.values()),
    )


def truth_of(description: Corpus, corpus: str, split: str) -> CorpusStep:
    """The references of a split, or its raw text where each sentence has one reference."""
    found = artifacts.references(description, corpus, split)
    return found or artifacts.step_of(corpus, split, "text")


def _texts_and_truth(configuration: Configuration, analysis: Analysis) -> Inputs:
    """The teacher, and of each held-out split what the system learns and what is true."""
    corpus, description = analysis.corpus, configuration.corpus(analysis.corpus)
    splits = held_out(description)
    return Inputs(
        teacher=_teacher(configuration, analysis),
        translations=_translations(configuration, analysis, splits),
        truth=tuple(dict.fromkeys(truth_of(description, corpus, split) for split in splits)),
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


_PARALLEL: tuple[Order, ...] = ("parallel",)
_BOTH: tuple[Order, ...] = ("parallel", "autoregressive")
_MASK_PREDICT = {OTHERS: "mask-predict-10-lb1"}
REQUIREMENTS = {
    "confidence": Requirements(_PARALLEL, reads=_teacher_of_predictor),
    "decoding_steps": Requirements(decodings=_MASK_PREDICT),
    "latent_assignment": Requirements(key="parts.latent", reads=_subwords_and_references),
    "latent_components": Requirements(key="parts.latent"),
    "length_accuracy": Requirements(key="length"),
    # the loss of fairseq's own models is one number for a batch
    "likelihood": Requirements(tuple(order for order in KINDS if order != "fairseq")),
    "mple": Requirements(_PARALLEL, one_text=True, hindered=_of_losses, reads=_texts_and_truth),
    "reference_distances": Requirements(one_text=True, reads=_texts_and_references, model=False),
    "schedule_bounds": Requirements(reads=_subwords, model=False),
    "shown_tokens": Requirements(
        decodings={"hybrid": "hybrid5-1", "semi-autoregressive": "group-beam5"} | _MASK_PREDICT
    ),
    "state_similarity": Requirements(_BOTH, reads=_same_of_teacher),
    "step_errors": Requirements((*_BOTH, "hybrid"), hindered=_of_law, reads=_subwords),
    "two_modes": Requirements(_PARALLEL, hindered=_of_two_modes, model=False),
    "two_orders": Requirements(_BOTH, model=False),
    "weight_plane": Requirements(reads=_corners),
}
