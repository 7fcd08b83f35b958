"""What a decoder sees of the target before a late pass, and in which order decodings write.

Wang et al. (2022), tables 1 and 12 and appendix D: a hybrid system shows stage II the tokens of
stage I, which with k = 2 are half of the target; mask-predict shows as many before the pass that
masks half of the target. A shown token is right if it occurs in the reference, of which each token
counts once; EOS does not count. The paper calls the pass of mask-predict with 10 steps that masks
half of the target the 5th, so it does not count the first one, over masks alone.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from nat.analyses import analysis
from nat.analyses.decoding_steps import text_passes
from nat.artifacts import Analysis
from nat.data.vocabulary import EOS, MASK, Vocabulary
from nat.decoding.group_beam_search import GroupBeamSearch
from nat.decoding.hybrid import Hybrid
from nat.decoding.mask_predict import MaskPredict
from nat.decoding.passes import Pass, Traced, described
from nat.job import Job
from nat.transformer.model import Transformer

EXAMPLES = 3
"""Sentences that are shown: the first ones of median target length."""

TYPICAL = 6
"""Length of the translation whose order of writing is shown, if there is one."""

STEPS = 10
"""Decoder passes of mask-predict; number `STEPS // 2`, counted from 0, sees half of the target."""

BEAM = 5

END = "[E]"
"""EOS in an order of writing."""

IN_SEQUENCE, AT_ONCE = " → ", " ⇒ "
"""Between passes, and before the parallel pass of a hybrid system."""

UNITS = {"shown_tokens": "percent of positions", "right_shown_tokens": "percent of shown tokens"}


def analyse(job: Job[Analysis]) -> dict[str, Any]:
    """Decode every split but the training text, and keep the passes of some sentences.

    Hybrid and semi-autoregressive systems decode with a beam of `BEAM`, others by mask-predict with
    the likeliest length.

    Returns:
        For each split `measures` (of systems that see partial targets; of right tokens
        `by_sentence`, too), `order`: `text`, with a letter for each token, and `tokens`; and
        `examples`: `source`, `reference` and `tokens` (words, see `marked`), and `passes`.

    Raises:
        UserError: if the model does not fit.
    """
    order = job.configuration.systems[job.artifact.system].order
    found = analysis.subject(job)
    source, target = found.vocabularies.source, found.vocabularies.target
    splits = {}
    for split in found.splits:
        decoded = _decoded(found.model, split.sources, order, found.batch_tokens)
        late = len if order == "hybrid" else lambda _: STEPS // 2 + 1
        seen = {
            number: sentence[: late(sentence)]
            for number, sentence in decoded.items()
            if order != "semi-autoregressive" and 1 < late(sentence) <= len(sentence)
        }
        references = {number: split.targets[number].tolist() for number in decoded}
        splits[split.name] = {
            "sentences": len(decoded),
            "left_out": len(split.sources) - len(decoded),
            "measures": _shares(seen, references, len(split.sources)),
            "order": _order(decoded, order == "hybrid", target),
            "examples": [
                {
                    "sentence": number,
                    "source": _words(split.sources[number].tolist(), source),
                    "reference": _words(references[number], target),
                    "tokens": marked(seen.get(number, decoded[number]), references[number], target),
                    "passes": described(decoded[number], target),
                }
                for number in _of_median_length(references)
            ],
        }
    return {"splits": splits}


def _decoded(
    model: Transformer, sources: analysis.Sentences, order: str, batch_tokens: int
) -> dict[int, list[Pass]]:
    """The passes of each sentence that fits the model, by its number."""
    method: Traced = MaskPredict(steps=STEPS)
    if order == "hybrid":
        method = Hybrid(beam=BEAM)
    elif order == "semi-autoregressive":
        method = GroupBeamSearch(beam=BEAM)
    return text_passes(method, model, sources, batch_tokens)


def shown(sentence: Sequence[Pass]) -> list[int]:
    """What the decoder sees before the last of these passes, MASK where it sees nothing."""
    before, last = sentence[-2].tokens, sentence[-1]
    width = len(last.tokens)
    tokens = [*before, *[MASK] * width][:width]
    return [MASK if place in last.chosen else token for place, token in enumerate(tokens)]


def right(tokens: Sequence[int], reference: Sequence[int]) -> list[bool]:
    """Whether each shown token is right; of equal ones, the first as many as the reference has."""
    left = Counter(reference)
    found = []
    for token in tokens:
        found.append(token not in (MASK, EOS) and left[token] > 0)
        left[token] -= found[-1]
    return found


def _shares(
    seen: Mapping[int, Sequence[Pass]], references: Mapping[int, list[int]], sentences: int
) -> dict[str, dict[str, Any]]:
    """Both measures; nothing is counted of a sentence that is not seen in part."""
    positions = 0
    of_sentences: dict[int, tuple[float, float]] = dict.fromkeys(range(sentences), (0, 0))
    for number, sentence in seen.items():
        tokens = shown(sentence)
        written = sentence[-1].tokens
        end = written.index(EOS) if EOS in written else len(written)
        positions += end
        found = sum(right(tokens[:end], references[number]))
        of_sentences[number] = 100 * found, sum(token != MASK for token in tokens[:end])
    percent = sum(each for each, _ in of_sentences.values())
    given = sum(each for _, each in of_sentences.values())
    if not given:
        return {}
    measures = analysis.measures(
        {"shown_tokens": 100 * given / positions, "right_shown_tokens": percent / given}, UNITS
    )
    measures["right_shown_tokens"]["by_sentence"] = analysis.by_sentence(of_sentences)
    return measures


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


def _order(decoded: dict[int, list[Pass]], hybrid: bool, vocabulary: Vocabulary) -> dict[str, Any]:
    """The order of writing of the first translation whose length is nearest to the typical one."""

    def length(number: int) -> int:
        tokens = decoded[number][-1].tokens
        return tokens.index(EOS) if EOS in tokens else len(tokens)

    if not decoded:
        return {}
    number = min(decoded, key=lambda each: (abs(length(each) - TYPICAL), each))
    sentence, end = decoded[number], length(number)
    groups = [
        ", ".join(_letter(place) if place < end else END for place in each.chosen)
        for each in sentence
    ]
    together = [AT_ONCE if hybrid else IN_SEQUENCE, groups.pop()] if len(groups) > 1 else []
    return {
        "sentence": number,
        "tokens": _words(sentence[-1].tokens[:end], vocabulary),
        "text": "".join([IN_SEQUENCE.join(groups), *together]),
    }


def _letter(place: int) -> str:
    """What stands for a token in an order of writing: a to z, then a1 to z1 and so on."""
    turn, letter = divmod(place, 26)
    return f"{chr(ord('a') + letter)}{turn or ''}"


def _of_median_length(references: dict[int, list[int]]) -> list[int]:
    """Numbers of the first sentences of median target length, whatever the system."""
    if not references:
        return []
    middle = sorted(map(len, references.values()))[len(references) // 2]
    alike = [number for number in sorted(references) if len(references[number]) == middle]
    return alike[:EXAMPLES]


def _words(tokens: Sequence[int], vocabulary: Vocabulary) -> list[str]:
    """Subwords."""
    return [vocabulary.symbols[token] for token in tokens]
