"""What the analysis `step_errors` reads besides the model, and the systems that it refuses."""

from nat.analyses.needs import known_law
from nat.analyses.needs.refusals import refused
from nat.configuration import Configuration

reads = known_law.reads


def check(configuration: Configuration, system: str) -> None:
    """Refuse a system whose outputs have no law that is computed here.

    Raises:
        UserError: naming the file and the key.
    """
    training = configuration.system(system)
    order = configuration.decoding_order(system)
    key = None
    if order in ("semi-autoregressive", "fairseq"):
        key = f"'input.method', {training.input.method}"
    elif order == "parallel" and training.decoder.upsample is not None:
        if training.target.method != "ctc":
            key = f"'target.method', {training.target.method}"
        elif training.latent is not None:
            key = "'latent', with CTC"
    elif order == "parallel" and training.target.method == "axe":
        key = "'target.method', axe"
    elif order == "parallel" and training.length == "constant":
        key = "'length', constant"
    if key is not None:
        reason = "the law of the outputs of such a system is not computed"
        raise refused(configuration, system, f"key {key}: {reason}")
