"""Mask-predict pass by pass: what each pass chooses, and how much the first one is changed.

Iterative decoding repairs what the first pass, which sees no target tokens, gets wrong. The
examples are what the figures of kind `steps` show: for each pass its tokens, and the positions that
it chose (the qualitative samples of Norouzi et al. 2022, section G, and Wang et al. 2022, table 12,
compare such passes).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from nat.analyses import analysis
from nat.artifacts import Analysis
from nat.data.batch import source_tensor
from nat.decoding.corpus import batches
from nat.decoding.mask_predict import MaskPredict
from nat.decoding.passes import Pass, Traced, described
from nat.job import Job
from nat.transformer.model import Transformer

EXAMPLES = 3
"""Sentences that are shown: those of which the most positions change."""

STEPS = (4, 10)
"""Decoder passes of mask-predict."""

UNITS = {f"changed_tokens_{steps}": "percent of positions" for steps in STEPS}


def changed(sentence: Sequence[Pass]) -> int:
    """Positions whose last token is not that of the first pass."""
    first, last = sentence[0].tokens, sentence[-1].tokens
    return sum(one != other for one, other in zip(first, last, strict=True))


def text_passes(
    method: Traced,
    model: Transformer,
    sources: analysis.Sentences,
    batch_tokens: int,
) -> dict[int, list[Pass]]:
    """The passes of each sentence of a text that fits the model, by its number.

    Args:
        method: of decoding.
        model: that decodes.
        sources: source sentences.
        batch_tokens: most source tokens of a batch.
    """
    device = next(model.parameters()).device
    found: dict[int, list[Pass]] = {}
    for numbers in batches(analysis.usable_sources(model, sources), batch_tokens):
        source = source_tensor([sources[number] for number in numbers]).to(device)
        found.update(zip(numbers, method.passes(model, source), strict=True))
    return found


def changed_share(found: Mapping[int, Sequence[Pass]]) -> float:
    """Percentage of positions of a text whose last token is not that of the first pass."""
    positions = sum(len(sentence[0].tokens) for sentence in found.values())
    return 100 * sum(map(changed, found.values())) / max(positions, 1)


def analyse(job: Job[Analysis]) -> dict[str, Any]:
    """Decode every split but the training text, with the likeliest length of each sentence.

    Raises:
        UserError: if the model does not fit.
    """
    found = analysis.subject(job)
    source, target = found.vocabularies.source, found.vocabularies.target
    splits = {}
    for split in found.splits:
        decoded = {
            steps: text_passes(
                MaskPredict(steps=steps), found.model, split.sources, found.batch_tokens
            )
            for steps in STEPS
        }
        most = decoded[STEPS[-1]]
        examples = sorted(most, key=lambda number: (-changed(most[number]), number))[:EXAMPLES]
        values = {f"changed_tokens_{steps}": changed_share(decoded[steps]) for steps in STEPS}
        splits[split.name] = {
            "sentences": len(most),
            "left_out": len(split.sources) - len(most),
            "measures": analysis.measures(values, UNITS),
            "examples": [
                {
                    "sentence": number,
                    "source": source.decode(split.sources[number].tolist()).split(),
                    "reference": target.decode(split.targets[number].tolist()).split(),
                    "passes": {
                        str(steps): described(decoded[steps][number], target) for steps in STEPS
                    },
                }
                for number in examples
            ],
        }
    return {"splits": splits}
