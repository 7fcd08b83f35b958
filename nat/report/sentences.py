"""The sentence browser: the first sentences of every test set, with all translations of them.

The page reads its data from files of JavaScript, since a page that is opened from disk may load
scripts but no other files: one for each test set, and one for each traced decoding, which is loaded
when its steps are looked at.
"""

import itertools
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nat.artifacts import Score, Trace, references, step_of
from nat.checksums import verified
from nat.configuration import Configuration
from nat.data.lines import read_lines
from nat.data.references import are_complete
from nat.data.splits import TRAIN, sides
from nat.data.translations import OK, read_in_order
from nat.errors import UserError
from nat.measures import bleu, statistics
from nat.measures.score import read_references
from nat.papers.reports import snakemake
from nat.registry import DecodingTraits
from nat.report import addresses
from nat.report.page import Page
from nat.report.results import Results

FOLDER = "sentences"
"""The folder of the data, beside the page."""

SHARED = ("outputs", "bleu", "chrf", "ratio", "repeated")
"""A translation and its measures, by the names and in the order by which the page reads them."""

UNLISTED = "sacreBLEU and chrF2 use it, this BLEU does not"
NOISY = f"sampled with noise; {UNLISTED}"
"""What is said of a single reference that is not one of the several ones."""

OF_MASKS = ("mask_predict", "mask_correct", "imputer")
"""Methods of decoding that fill in masks, in one pass or several."""


class TestSet(NamedTuple):
    """The test set of a corpus."""

    corpus: str
    split: str

    @property
    def name(self) -> str:
        """Both names, as in `toy-ka-lu/test`."""
        return f"{self.corpus}/{self.split}"

    @property
    def file(self) -> str:
        """The file from which the page reads its data."""
        return f"{FOLDER}/{self.corpus}.{self.split}.js"


def page(results: Results, folder: Path) -> Page:
    """Write the data of the browser to the folder of the report, and describe its page.

    Raises:
        UserError: for results that do not belong together.
    """
    (folder / FOLDER).mkdir()
    found = []
    most_first = sorted(translated(results).items(), key=lambda each: -len(each[1]))
    for place, scores in most_first:
        content = _test_set(results.configuration, place, scores, folder)
        _write(folder / place.file, "addTestSet", place.name, content)
        found.append(
            {
                "name": place.name,
                "file": place.file,
                "label": f"{place.corpus}, {place.split}: {len(content['systems'])} translations",
            }
        )
    content = {
        "test_sets": found,
        "shown": results.configuration.scale_settings.browser.sentences,
        "command": snakemake(results.configuration, "traces", "report"),
    }
    return Page(addresses.SENTENCES, "Sentences", "sentences.html", content)


def translated(results: Results) -> dict[TestSet, list[Score]]:
    """The scores that reports show and that exist, by test set; of several seeds the first one."""
    root = results.root
    firsts: dict[tuple[str, str, str, str], Score] = {}
    for cells in results.cells.values():
        for score in (cell.source for cell in cells):
            if not isinstance(score, Score) or score.split == TRAIN:
                continue
            names = score.corpus, score.split, score.system, score.decoding
            files = score.path, score.statistics.path, score.translations.path
            if names in firsts and firsts[names].seed <= score.seed:
                continue
            if all((root / path).exists() for path in files):
                firsts[names] = score
    found: dict[TestSet, list[Score]] = {}
    for _, score in sorted(firsts.items()):
        found.setdefault(TestSet(score.corpus, score.split), []).append(score)
    return found


def _test_set(
    configuration: Configuration, place: TestSet, scores: Iterable[Score], folder: Path
) -> dict[str, Any]:
    """Sources, references and translations of the sentences that are shown.

    BLEU is against the several references of a sentence, where it has some. The single reference
    need not be one of them, and stands before them even then, since other measures are against it.
    """
    root, split = Path(configuration.root), place.split
    number = configuration.scale_settings.browser.sentences
    source, target = sides(configuration.corpus(place.corpus))
    text = root / step_of(place.corpus, split, "text").path
    sources = list(read_lines(text / f"{split}.{source}"))
    correct = [[line] for line in read_lines(text / f"{split}.{target}")]
    several: dict[int, list[str]] = {}
    artifact = references(configuration, place.corpus, split)
    if artifact is not None:
        path = root / artifact.path / f"{split}.{target}.jsonl"
        several = read_references(path, len(sources))
    uncounted = []
    for sentence, texts in several.items():
        if sentence < number and correct[sentence][0] not in texts:
            uncounted.append(sentence)
        correct[sentence] = list(dict.fromkeys(correct[sentence] + texts))
    systems = [
        _translations(configuration, score, len(sources), sorted(several), folder)
        for score in scores
    ]
    translations = _shared(systems)
    return {
        "languages": [source, target],
        "sentences": len(sources),
        "sources": sources[:number],
        "references": correct[:number],
        "uncounted": uncounted,
        "why_uncounted": NOISY
        if are_complete(configuration.corpus(place.corpus), split)
        else UNLISTED,
        "translations": translations,
        "systems": systems,
    }


def _shared(systems: list[dict[str, Any]]) -> list[list[tuple[Any, ...]]]:
    """Store each different translation of a sentence once, since many systems translate it alike.

    Returns:
        For each sentence its different translations, each with the values of `SHARED`. `systems`
        lose these keys and have `places` instead, the number of their translation in each list.
    """
    found: list[dict[tuple[Any, ...], int]] = [{} for _ in systems[0]["outputs"]]
    for system in systems:
        values = zip(*(system.pop(key) for key in SHARED), strict=True)
        system["places"] = [
            known.setdefault(each, len(known)) for known, each in zip(found, values, strict=True)
        ]
    return [list(known) for known in found]


def _translations(
    configuration: Configuration, score: Score, sentences: int, several: list[int], folder: Path
) -> dict[str, Any]:
    """The translations of the sentences that are shown, and what is measured of each.

    Args:
        configuration: of the run.
        score: of the translations.
        sentences: of the test set.
        several: numbers of the sentences with several references.
        folder: of the report.

    Raises:
        UserError: if the score is of another test set.
    """
    root, number = Path(configuration.root), configuration.scale_settings.browser.sentences
    counts = statistics.read(root / score.statistics.path)
    if len(counts["sacrebleu"]) != sentences:
        raise UserError(
            f"{score.statistics.path} is of {len(counts['sacrebleu'])} sentences but the test set "
            f"has {sentences}; remove it and run again"
        )
    rows = list(
        itertools.islice(read_in_order(root / score.translations.path), min(number, sentences))
    )
    of_bleu = counts["sacrebleu"].copy()
    if several:
        of_bleu[several] = counts["multi_reference_bleu"]
    there = configuration.on(score.corpus)
    traits = there.decoding_traits(score.decoding)
    traced = there.is_traced(score.decoding)
    trace = Trace(**vars(score))
    steps = _steps(root / trace.path, trace, rows, folder) if traced else None
    return {
        "system": score.system,
        "decoding": score.decoding,
        "seed": score.seed,
        "page": addresses.system(score.corpus, score.system),
        "kind": _kind(there.decoding(score.decoding).as_json()["method"], traits),
        "frames": traits.upsampled is True,
        "steps": steps,
        "command": snakemake(configuration, trace.path, "report") if traced and not steps else "",
        "outputs": [row["text"] for row in rows],
        "passes": [row["steps"] for row in rows],
        "lost": {row["id"]: row["status"] for row in rows if row["status"] != OK},
        "bleu": _rounded(bleu.of_sentences(of_bleu[:number])),
        "chrf": _rounded(bleu.chrf_score(counts["chrf"][:number])),
        "ratio": _rounded(bleu.length_ratio(of_bleu[:number]), digits=2),
        "repeated": counts["repeated_tokens"][:number, 0].tolist(),
    }


def _kind(method: str, traits: DecodingTraits) -> str:
    """The kind of a decoding, by which the page chooses the translations that it shows at first."""
    if traits.starts_from_assistant:
        return "probe"
    if method in OF_MASKS:
        return "masks"
    is_student = traits.decoding_order == "parallel" and not (traits.assistant or traits.converted)
    return "student" if is_student else ""


def _steps(path: Path, trace: Trace, rows: list[dict[str, Any]], folder: Path) -> str | None:
    """Write the passes of a traced decoding as the page reads them; returns the file, if any.

    A sentence is written as [positions, whether its translation differs from the one in `rows`,
    passes], and a pass as its positions, tokens, percentages and, if these are other positions,
    those that were masked.
    """
    if not path.exists():
        return None
    found = {}
    for line in map(json.loads, read_lines(verified(path))):
        number = line["id"]
        if number >= len(rows):
            continue
        passes = [
            [
                each["chosen"],
                each["tokens"],
                [round(100 * probability) for probability in each["probabilities"]],
                *([each["masked"]] if each["masked"] != each["chosen"] else []),
            ]
            for each in line["passes"]
        ]
        differs = line["tokens"] != rows[number]["tokens"]
        found[number] = [line["positions"], int(differs), passes]
    names = trace.corpus, trace.split, trace.system, trace.decoding
    file = f"{FOLDER}/{'.'.join(names)}.js"
    _write(folder / file, "addSteps", file, found)
    return file


def _rounded(values: np.ndarray, digits: int = 1) -> list[float]:
    return [round(float(value), digits) for value in values]


def _write(path: Path, function: str, name: str, content: Any) -> None:
    """Write a script that calls a function of the page with a name and its content."""
    arguments = (
        json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in (name, content)
    )
    path.write_text(f"sentenceBrowser.{function}({','.join(arguments)});\n", encoding="utf-8")
