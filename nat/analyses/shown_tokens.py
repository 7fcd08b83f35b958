"""Target tokens that a decoder sees before a late pass, and the order in which decodings write.

Wang et al. (2022), tables 1 and 12 and appendix D: a hybrid system shows stage II the tokens of
stage I, which with k = 2 are half of the target; mask-predict shows as many before the pass that
masks half of the target. A shown token is right if it occurs in the reference, of which each token
counts once; EOS does not count. The paper calls the pass of mask-predict with 10 steps that masks
half of the target the 5th, so it does not count the first one, over masks alone.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from nat.analyses import analysis
from nat.analyses.analysis import Found, Pairs, Subject
from nat.data.vocabulary import EOS, MASK, Vocabulary
from nat.decoding.group_beam_search import GroupBeamSearch
from nat.decoding.hybrid import Hybrid
from nat.decoding.mask_predict import MaskPredict
from nat.decoding.passes import Pass, Traced, words
from nat.measures.statistics import lacking

EXAMPLES = 3  # the first sentences of median target length
TYPICAL = 6  # length of the translation whose order of writing is shown, if there is one
BEAM = 5
STEPS = 10  # of mask-predict; number `STEPS // 2`, counted from 0, sees half of the target
END = "[E]"  # EOS in an order of writing
IN_SEQUENCE, AT_ONCE = " → ", " ⇒ "  # between passes, and before the parallel pass of a hybrid


@analysis.of_splits
def analyse(subject: Subject, pairs: Pairs) -> Found:
    """Decode the sources, measure systems that see partial targets, and keep some examples.

    Hybrid and semi-autoregressive systems decode with a beam of `BEAM`, others by mask-predict with
    the likeliest length. The `text` of an `order` has a letter for each token.
    """
    order = subject.system.training.order
    methods: dict[str, Traced] = {
        "hybrid": Hybrid(beam=BEAM),
        "semi-autoregressive": GroupBeamSearch(beam=BEAM),
    }
    decoded = pairs.passes(methods.get(order, MaskPredict(steps=STEPS)))
    seen = {}
    for number, sentence in decoded.items():
        late = len(sentence) if order == "hybrid" else STEPS // 2 + 1
        if order != "semi-autoregressive" and 1 < late <= len(sentence):
            seen[number] = sentence[:late]
    references = {number: pairs.targets[number].tolist() for number in sorted(decoded)}
    median = sorted(map(len, references.values()))[len(references) // 2] if references else 0
    examples = [number for number, target in references.items() if len(target) == median]
    source, target = subject.vocabularies.source, subject.vocabularies.target
    return {
        **pairs.counts(len(decoded)),
        "measures": _shares(seen, references, len(pairs.sources)),
        "order": _order(decoded, order == "hybrid", target),
        "examples": [
            {
                "sentence": number,
                "source": _words(pairs.sources[number].tolist(), source),
                "reference": _words(references[number], target),
                "tokens": marked(seen.get(number, decoded[number]), references[number], target),
                "passes": [
                    {"tokens": words(each.tokens, target), "predicted": each.chosen}
                    for each in decoded[number]
                ],
            }
            for number in examples[:EXAMPLES]
        ],
    }


def shown(sentence: Sequence[Pass]) -> list[int]:
    """Tokens that the decoder sees before the last of these passes, MASK where it sees nothing."""
    before, last = sentence[-2].tokens, sentence[-1]
    width = len(last.tokens)
    tokens = [*before, *[MASK] * width][:width]
    return [MASK if place in last.chosen else token for place, token in enumerate(tokens)]


def right(tokens: Sequence[int], reference: Sequence[int]) -> list[bool]:
    """True for tokens that are right; of equal ones, the first as many as the reference has."""
    words = [token for token in reference if token != EOS]
    return [not wrong for wrong in lacking(tokens, words)]


def _length(tokens: Sequence[int]) -> int:
    return tokens.index(EOS) if EOS in tokens else len(tokens)


def _shares(
    seen: Mapping[int, Sequence[Pass]], references: Mapping[int, list[int]], sentences: int
) -> dict[str, dict[str, Any]]:
    """Both measures; nothing is counted of a sentence that is not seen in part."""
    positions = 0
    terms: dict[int, tuple[float, float]] = dict.fromkeys(range(sentences), (0, 0))
    for number, sentence in seen.items():
        end = _length(sentence[-1].tokens)
        positions += end
        tokens = shown(sentence)[:end]
        hits = sum(right(tokens, references[number]))
        terms[number] = 100 * hits, sum(token != MASK for token in tokens)
    given = sum(tokens for _, tokens in terms.values())
    if not given:
        return {}
    share = analysis.measures({"shown_tokens": 100 * given / positions})
    return share | {"right_shown_tokens": analysis.ratio(terms)}


def marked(sentence: Sequence[Pass], reference: Sequence[int], vocabulary: Vocabulary) -> list[str]:
    """The tokens after the last of these passes.

    [word]: masked before that pass, which chose it; word*: shown before it, and right.
    """
    last = sentence[-1]
    hits = right(shown(sentence), reference) if len(sentence) > 1 else [False] * len(last.tokens)
    return [
        f"[{word}]" if place in last.chosen else f"{word}{'*' * hits[place]}"
        for place, word in enumerate(_words(last.tokens, vocabulary))
    ]


def _order(decoded: dict[int, list[Pass]], hybrid: bool, vocabulary: Vocabulary) -> Found:
    """The order of writing of the first translation whose length is nearest to the typical one."""
    if not decoded:
        return {}
    lengths = {number: _length(sentence[-1].tokens) for number, sentence in decoded.items()}
    number = min(decoded, key=lambda each: (abs(lengths[each] - TYPICAL), each))
    sentence, end = decoded[number], lengths[number]
    # a to z, then a1 to z1 and so on
    signs = [f"{chr(ord('a') + place % 26)}{place // 26 or ''}" for place in range(end)]
    groups = [
        ", ".join(signs[place] if place < end else END for place in each.chosen)
        for each in sentence
    ]
    together = [AT_ONCE if hybrid else IN_SEQUENCE, groups.pop()] if len(groups) > 1 else []
    return {
        "sentence": number,
        "tokens": _words(sentence[-1].tokens[:end], vocabulary),
        "text": "".join([IN_SEQUENCE.join(groups), *together]),
    }


def _words(tokens: Sequence[int], vocabulary: Vocabulary) -> list[str]:
    return [vocabulary.symbols[token] for token in tokens]
