"""The sentence browser: the first sentences of every test set, with all translations of them.

The page reads its data from files of JavaScript, since a page that is opened from disk may load
scripts but no other files: one for each test set, and one for each traced decoding, which is loaded
when its steps are looked at.
"""

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from nat.artifacts import Score, Trace, references, step_of
from nat.configuration import Configuration
from nat.configuration.runnable import is_traced
from nat.data.lines import read_lines
from nat.data.references import read_references, references_path
from nat.data.splits import TRAIN
from nat.data.translations import OK, read_in_order
from nat.errors import UserError
from nat.measures import bleu, statistics
from nat.measures.results import read_file
from nat.papers.reports import snakemake
from nat.report.page import SENTENCES, Page, of_system
from nat.report.results import Results

FOLDER = "sentences"
"""The folder of the data, beside the page."""


def page(results: Results, folder: Path) -> Page:
    """Write the data of the browser to the folder of the report, and describe its page.

    Results that do not belong together are UserErrors.
    """
    (folder / FOLDER).mkdir()
    configuration, test_sets = results.configuration, []
    for place, scores in sorted(translated(results).items(), key=lambda each: -len(each[1])):
        file = _write(folder, ".".join(place), _test_set(configuration, *place, scores, folder))
        label = f"{', '.join(place)}: {len(scores)} translations"
        test_sets.append({"name": "/".join(place), "file": file, "label": label})
    lead = (
        f"The first {configuration.scale_settings.browser.sentences} sentences of every test set, "
        "as each system translates them, step by step where steps are recorded."
    )
    traced_by = snakemake(configuration, "traces", "report")
    content = {"test_sets": test_sets, "traced_by": traced_by}
    return Page(SENTENCES, "Sentences", lead, content=content, template="sentences.html")


def translated(results: Results) -> dict[tuple[str, str], list[Score]]:
    """Scores that reports show and that exist, by corpus and split, with the first seed."""
    every = (cell.source for cells in results.cells.values() for cell in cells)
    scores = {each for each in every if isinstance(each, Score) and each.split != TRAIN}
    by_set: dict[tuple[str, str], dict[tuple[str, str], Score]] = {}
    for score in sorted(scores, key=lambda each: (each.system, each.decoding, each.seed)):
        files = score.path, score.statistics.path, score.translations.path
        if all((results.root / path).exists() for path in files):
            firsts = by_set.setdefault((score.corpus, score.split), {})
            firsts.setdefault((score.system, score.decoding), score)
    return {place: [*firsts.values()] for place, firsts in by_set.items()}


def _test_set(
    configuration: Configuration, corpus: str, split: str, scores: Sequence[Score], folder: Path
) -> dict[str, Any]:
    """Sources, references and translations of the sentences that are shown.

    BLEU is against the several references of a sentence, where it has some. The single reference
    need not be one of them, and stands before them even then, since other measures are against it.
    """
    root, shown = Path(configuration.root), configuration.scale_settings.browser.sentences
    languages = configuration.corpus(corpus).sides
    text = root / step_of(corpus, split, "text").path
    sources, single = (list(read_lines(text / f"{split}.{each}")) for each in languages)
    several: dict[int, list[str]] = {}
    if artifact := references(configuration.corpus(corpus), corpus, split):
        path = references_path(root / artifact.path, split, languages[1])
        read = read_references(path, len(sources))
        several = {number: texts for number, (texts, _) in read.items()}
    systems = [
        _translations(configuration, score, len(sources), several, folder) for score in scores
    ]
    return {
        "chosen": _chosen(systems),
        "languages": languages,
        "sentences": len(sources),
        "sources": sources[:shown],
        "references": [
            list(dict.fromkeys([line, *several.get(number, [])]))
            for number, line in enumerate(single[:shown])
        ],
        # sentences whose single reference is none of the several ones
        "uncounted": [each for each, texts in several.items() if single[each] not in texts],
        "systems": systems,
    }


def _chosen(systems: list[dict[str, Any]]) -> list[str]:
    """The two translations that the page shows at first, as `system/decoding`.

    These are the best of one pass and the best of several passes, with recorded steps if there are
    any; without both of them, the two best systems.
    """
    ranked = sorted(systems, key=lambda each: (not each["parallel"], -mean(each["bleu"])))
    several = [each for each in ranked if each["parallel"] and mean(each["passes"]) > 1]
    best = min(several, key=lambda each: each["steps"] is None, default=ranked[0])
    others = [each for each in ranked if each["system"] != best["system"]]
    once = [each for each in others if each["parallel"] and mean(each["passes"]) <= 1]
    first = (once or others or ranked)[0]
    return [first["name"], best["name"]]


def _translations(
    configuration: Configuration,
    score: Score,
    sentences: int,
    several: Mapping[int, list[str]],
    folder: Path,
) -> dict[str, Any]:
    """The translations of the sentences that are shown, how they were made, and their numbers."""
    root, shown = Path(configuration.root), configuration.scale_settings.browser.sentences
    counts = statistics.read(root / score.path, read_file(root / score.path))
    of_bleu = counts["sacrebleu"].copy()
    if len(of_bleu) != sentences:
        raise UserError(
            f"{score.statistics.path} is of {len(of_bleu)} sentences but the test set has "
            f"{sentences}; remove it and run again"
        )
    if several:
        of_bleu[sorted(several)] = counts["multi_reference_bleu"]
    rows = list(itertools.islice(read_in_order(root / score.translations.path), shown))
    there = configuration.on(score.corpus)
    traits, trace = there.decoding_traits(score.decoding), Trace(**vars(score))
    helped = traits.assistant or traits.converted
    steps, command = None, ""
    if is_traced(there, score.decoding):
        command = snakemake(configuration, trace.path, "report")
        if (root / trace.path).exists():
            lines = [json.loads(line) for line in read_lines(root / trace.path)]
            traced = {line["id"]: line for line in lines if line["id"] < len(rows)}
            for number, line in traced.items():
                line["differs"] = line["tokens"] != rows[number]["tokens"]
            names = trace.corpus, trace.split, trace.system, trace.decoding
            steps = _write(folder, ".".join(names), traced)
    return {
        "name": f"{score.system}/{score.decoding}",
        "system": score.system,
        "decoding": score.decoding,
        "seed": score.seed,
        "page": of_system(score.corpus, score.system),
        "parallel": traits.decoding_order == "parallel" and not helped,
        "frames": traits.upsampled is True,
        "steps": steps,
        "command": command,
        "outputs": [row["text"] for row in rows],
        "passes": [row["steps"] for row in rows],
        "lost": {row["id"]: row["status"] for row in rows if row["status"] != OK},
        "bleu": bleu.of_sentences(of_bleu[:shown]).round(1).tolist(),
        "chrf": bleu.chrf_score(counts["chrf"][:shown]).round(1).tolist(),
        "ratio": statistics.ratio(of_bleu[:shown]).round(2).tolist(),
        "repeated": counts["repeated_tokens"][:shown, 0].tolist(),
    }


def _write(folder: Path, name: str, content: Any) -> str:
    """Write a script that hands its content to the page; returns the file."""
    file = f"{FOLDER}/{name}.js"
    data = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    text = f"sentenceBrowser.add({json.dumps(file)},{data});\n"
    (folder / file).write_text(text, encoding="utf-8")
    return file
