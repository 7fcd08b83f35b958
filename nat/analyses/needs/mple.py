"""What the analysis `mple` reads besides the analysed model, and the systems that it refuses."""

from nat.artifacts import CorpusStep, Inputs, Model, Translations, held_out, references, step_of
from nat.configuration import Configuration
from nat.data.corpus import Corpus
from nat.errors import UserError


def reads(configuration: Configuration, corpus: str, system: str, seed: int) -> Inputs:
    """What the losses of a system that `check` does not refuse depend on.

    These are the `teacher` of its objective, `translations` of the splits that are held out, which
    stand for what the system learns, none for raw text, and the `truth_of` these splits.
    """
    model = Model(configuration.run, corpus, system, seed)
    [text] = configuration.training(corpus, system).text.candidates
    translations: tuple[Translations, ...] = ()
    description = configuration.corpus(corpus)
    if text.system is not None:
        assert text.seed is not None
        translations = tuple(
            Translations(model.run, corpus, text.system, text.seed, str(text.decoding), split)
            for split in held_out(description)
        )
    steps = (truth_of(description, corpus, split) for split in held_out(description))
    return Inputs(
        teacher=model.inputs_of_training(configuration).teacher,
        translations=translations,
        truth=tuple(dict.fromkeys(steps)),
    )


def truth_of(description: Corpus, corpus: str, split: str) -> CorpusStep:
    """The references of a split, or its raw text where each sentence has one reference."""
    return references(description, corpus, split) or step_of(corpus, split, "text")


def check(configuration: Configuration, system: str) -> None:
    """Refuse a system whose losses are not defined, or not known.

    Raises:
        UserError: naming the file, and the key where one decides.
    """
    file, description = configuration.file_of("systems", system), configuration.system(system)
    if configuration.decoding_order(system) != "parallel":
        raise UserError(f"{file}: the losses of MPLE are defined for parallel systems")
    if description.text.choice is not None:
        raise UserError(
            f"{file}: key 'text': the losses of MPLE are of one text, raw or distilled, not of a "
            "choice; take the system out of that table or figure"
        )
    reveals = configuration.input_traits(system).trains_on_partial_targets
    if reveals and not description.decoder.input_predictor:
        raise UserError(
            f"{file}: key 'decoder.input_predictor': {description.input.method} reveals "
            "tokens, and L_input needs a model that has learned to predict them; set it to true, "
            "with a 'teacher', and train the system again"
        )
