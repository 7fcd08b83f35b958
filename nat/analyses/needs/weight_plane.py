"""What the analysis `weight_plane` reads besides the analysed model."""

from nat.artifacts import Inputs, Model
from nat.configuration import Configuration
from nat.errors import UserError

OTHER = "plane-nat-raw"
"""The system that is fine-tuned by maximum likelihood."""


def reads(configuration: Configuration, corpus: str, system: str, seed: int) -> Inputs:
    """The other corners of the plane: the common start, and the model of maximum likelihood.

    Raises:
        UserError: if the analysed system and the other one do not start from the same weights.
    """
    name = configuration.canonical(corpus, OTHER)
    own, other = (Model(configuration.run, corpus, each, seed) for each in (system, name))
    start, its_start = (each.inputs_of_training(configuration).start for each in (own, other))
    if start is None or start != its_start:
        raise UserError(
            f"{configuration.file_of('systems', system)}: key 'init_from': a plane of weights "
            f"needs a system that starts from the same model as {OTHER}"
        )
    return Inputs(start=start, other=other)
