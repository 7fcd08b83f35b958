"""The score of a perfect translation: the references of a test set, prepared and put back as text.

No translation can be expected to score more, since a model sees and writes only what is left of a
text by its preparation. What is lost is no fault of a model: words that the vocabulary lacks, and
whatever joining subwords and detokenising do not restore.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from nat.data.binarised import BinarisedText
from nat.data.corpus import Corpus
from nat.data.splits import PERFECT
from nat.data.translations import OK
from nat.data.vocabulary import SPECIALS, UNK, Vocabularies
from nat.errors import UserError
from nat.files import write_json
from nat.measures.results import DIGITS
from nat.measures.score import flags, reference_files, translated
from nat.measures.statistics import MEASURED, counted

SCORES = {"sacrebleu": "sacreBLEU", "tokenised_bleu": "tokenised BLEU", "chrf": "chrF2"}
"""The measures of a perfect translation, and their names in a sentence."""

FLAGGED = 99.0
"""A test set is flagged if the lowest of the three is below this."""

SHOWN = 5  # most frequent differences

LONGEST_LINE = 1000  # words or characters; longer lines take too long to compare

_LONGEST = 40  # characters of a difference
_LETTERS = re.compile(r"\w+")
_ENTITY = re.compile("&(?:[a-z]+|#[0-9]+);")
_ESCAPED = frozenset("&<>|[]'\"")


def measure(corpus: Corpus, split: str, folder: Path) -> None:
    """Write the score of a perfect translation of a prepared test set to its folder `tokens`.

    Raises a `UserError` if BLEU is lower than the key `least_perfect_score` of the corpus, or needs
    packages that are not installed.
    """
    vocabulary = Vocabularies.load(folder / "binarised").target
    sentences = BinarisedText(folder / "binarised" / f"{split}.{corpus.target}")
    tokenised = [vocabulary.decode(sentences[number].tolist()) for number in range(len(sentences))]
    texts = [*map(corpus.preparation(corpus.target).text, tokenised)]
    rows = [
        {"tokens": tokens, "text": text, "score": 0.0, "steps": 1, "status": OK}
        for tokens, text in zip(tokenised, texts, strict=True)
    ]
    files = reference_files(folder, corpus, split, several=False)
    text = translated(rows, folder, files, corpus)
    counts = counted(text)
    sums = {name: counts[name].sentences.sum(0, keepdims=True) for name in SCORES}
    scores = {name: round(float(MEASURED[name].value(sums[name])[0]), DIGITS) for name in SCORES}
    truth = [line.lower() if text.lowercase else line for line in text.reference]
    changed = differences(truth, texts, str.split if corpus.has_spaces else list)
    unknown = int((sentences.tokens == UNK).sum())
    flagged = min(scores.values()) < FLAGGED
    note = _note(scores, flagged, changed)
    lowest = min(scores["sacrebleu"], scores["tokenised_bleu"])
    if lowest < corpus.least_perfect_score:
        cause = _cause(changed, vocabulary.symbols)
        raise UserError(
            f"{folder}: {note}; {cause}, or accept it with the key "
            f"'least_perfect_score: {int(lowest)}' of the corpus file"
        )
    report = {
        "sentences": len(texts),
        **scores,
        "signatures": {name: counts[name].signature for name in SCORES},
        "unknown": unknown,
        "differences": changed,
        "flags": [f"a perfect translation scores less than {FLAGGED:g}"] * flagged
        + flags(texts, text.reference),
        "note": note,
    }
    write_json(folder / "tokens" / PERFECT, report)


def _cause(changed: Sequence[Mapping[str, Any]], symbols: Iterable[str]) -> str:
    """Name the cause of a low score, and the key that changes it."""
    if not changed:
        what = "no line differs, but few have four words of BLEU: change the key"
        return f"{what} 'bleu_tokeniser', as to 'char'"
    truth = changed[0]["reference"]
    if SPECIALS[UNK] not in changed[0]["translation"]:
        if _ENTITY.search(truth):
            return "the text has XML escapes, which its tokeniser tears; give text without them"
        keys = "'tokeniser: unicode' and 'normalise_punctuation: false'"
        return f"tokens are not joined as they were: set {keys} in 'preprocessing'"
    if _ESCAPED & {*truth} and any(symbol.startswith("&") for symbol in symbols):
        what = "the vocabulary is of text with XML escapes such as &quot;: set"
        return f"{what} 'escaped: true' in 'preprocessing'"
    return "the vocabulary lacks subwords of the text: see the keys 'subwords', 'splits'"


def differences(
    references: Sequence[str],
    translations: Sequence[str],
    words_of: Callable[[str], list[str]] = str.split,
) -> list[dict[str, Any]]:
    """The most frequent differences of texts, word by word, with an example of each.

    Differences that differ in their letters and digits alone are counted together.
    """
    counts: Counter[tuple[str, str]] = Counter()
    examples: dict[tuple[str, str], tuple[str, str]] = {}
    glue = " " if words_of is str.split else ""
    for lines in zip(references, translations, strict=True):
        one, other = map(words_of, lines)
        if max(len(one), len(other)) > LONGEST_LINE:
            continue
        matcher = SequenceMatcher(None, one, other, autojunk=False)
        for kind, first, last, start, stop in matcher.get_opcodes():
            if kind != "equal":
                pair = glue.join(one[first:last]), glue.join(other[start:stop])
                form = _LETTERS.sub("x", pair[0]), _LETTERS.sub("x", pair[1])
                form = pair if form[0] == form[1] else form
                counts[form] += 1
                examples.setdefault(form, pair)
    return [
        {"reference": examples[form][0], "translation": examples[form][1], "count": count}
        for form, count in counts.most_common(SHOWN)
    ]


def _note(scores: Mapping[str, float], flagged: bool, changed: Sequence[Mapping[str, Any]]) -> str:
    """Say what a perfect translation scores, and by which differences from the references."""
    told = ", ".join(f"{scores[name]:.2f} {label}" for name, label in SCORES.items())
    only = "only " if flagged else ""
    note = f"a perfect translation, the reference prepared and put back, scores {only}{told}"
    shown = []
    for each in changed:
        texts = (each["reference"], each["translation"])
        before, after = (text[:_LONGEST] + "..." * (len(text) > _LONGEST) for text in texts)
        shown.append(f"'{before}' becomes '{after}' ({each['count']})")
    return f"{note}; most often {', '.join(shown)}" if changed else note
