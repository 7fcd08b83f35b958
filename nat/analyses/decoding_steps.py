"""Mask-predict pass by pass: what each pass chooses, and how much the first one is changed.

Iterative decoding repairs what the first pass, which sees no target tokens, gets wrong. The
examples are what the figures of kind `steps` show: for each pass its tokens, and the positions that
it chose (the qualitative samples of Norouzi et al. 2022, section G, and Wang et al. 2022, table 12,
compare such passes).
"""

from collections.abc import Sequence

from nat.analyses import analysis
from nat.analyses.analysis import Found, Pairs, Subject
from nat.decoding.mask_predict import MaskPredict
from nat.decoding.passes import Pass, Traced, described

EXAMPLES = 3  # sentences that are shown: those of which the most positions change
STEPS = (4, 10)  # decoder passes of mask-predict


@analysis.of_splits
def analyse(subject: Subject, pairs: Pairs) -> Found:
    """Decode the sources, with the likeliest length of each, and keep examples."""
    source, target = subject.vocabularies.source, subject.vocabularies.target
    decoded = {steps: text_passes(MaskPredict(steps=steps), pairs) for steps in STEPS}
    most = decoded[STEPS[-1]]
    examples = sorted(most, key=lambda number: (-changed(most[number]), number))[:EXAMPLES]
    values = {}
    for steps, passes in decoded.items():
        positions = max(sum(len(sentence[0].tokens) for sentence in passes.values()), 1)
        values[f"changed_tokens_{steps}"] = 100 * sum(map(changed, passes.values())) / positions
    return {
        **pairs.counts(len(most)),
        "measures": analysis.measures(values),
        "examples": [
            {
                "sentence": number,
                "source": source.decode(pairs.sources[number].tolist()).split(),
                "reference": target.decode(pairs.targets[number].tolist()).split(),
                "passes": {
                    str(steps): described(decoded[steps][number], target) for steps in STEPS
                },
            }
            for number in examples
        ],
    }


def changed(sentence: Sequence[Pass]) -> int:
    """Number of positions whose last token is not that of the first pass."""
    first, last = sentence[0].tokens, sentence[-1].tokens
    return sum(one != other for one, other in zip(first, last, strict=True))


def text_passes(method: Traced, pairs: Pairs) -> dict[int, list[Pass]]:
    """The passes of each source that fits the model, by number."""
    passes: dict[int, list[Pass]] = {}
    for numbers, source in pairs.source_batches():
        passes.update(zip(numbers, method.passes(pairs.model, source), strict=True))
    return passes
