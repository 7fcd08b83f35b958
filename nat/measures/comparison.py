"""`nat compare A B`: two translations of a test set beside each other.

Their difference with its interval and test, overall and by length, the sentences that differ most,
and the settings that differ. What is compared is a measure of ours, or numbers by sentence that
another program or a person gives.
"""

import json
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nat.checksums import RESULTS
from nat.configuration.families import require
from nat.configuration.files import SETTINGS, read_yaml
from nat.configuration.json_values import differences
from nat.data.lines import read_lines
from nat.data.translations import read_in_order
from nat.errors import UserError
from nat.files import read_json
from nat.measures import statistics
from nat.measures.known import measure_of
from nat.measures.results import read_file
from nat.measures.significance import Estimate, Value, mean_of, resample


class ScoredSystem(NamedTuple):
    """The scores of a system with a decoding on a corpus, by seed."""

    place: tuple[str, str, str]
    name: str
    scores: dict[int, Path]

    @property
    def references(self) -> str:
        """The SHA-256 of what they are scores against."""
        return str(read_file(next(iter(self.scores.values())))["files"]["tokens"]["sha256"])


class PairedCounts(NamedTuple):
    """Counts of each sentence, of both sides by seed, and the measure that is made of them."""

    counts: list[list[np.ndarray]]
    value: Value

    def line(self, chosen: Any = slice(None)) -> tuple[str, str]:
        """The numbers of chosen sentences and their difference as text, and its method."""
        sides = [[resample(own[chosen], self.value) for own in each] for each in self.counts]
        by_seed = tuple(b.value - a.value for a, b in zip(*sides, strict=True))
        a, b = map(mean_of, sides)
        samples = None if a.samples is None or b.samples is None else b.samples - a.samples
        minus = Estimate(by_seed, samples)
        text = f"A {a.value:#.4g}   B {b.value:#.4g}   B - A {minus.value:+#.4g}"
        if (interval := minus.interval()) is None:
            return text, "no interval"
        ends = f"[{interval.low:#.4g}, {interval.high:#.4g}]"
        method = f"95% interval and test: {interval.method}; detects {interval.detectable:.2g}"
        return f"{text} {ends}   p = {minus.p_value:.2g}", method


def compare(
    sides: Sequence[str],
    run: str | None,
    corpus: str | None,
    split: str,
    decoding: Sequence[str],
    measure: str,
    scores: Sequence[Path],
    sentences: int,
) -> None:
    """Compare systems, models, runs, score files, or files of numbers, and write what differs."""
    paths, lines = [Path(each) for each in sides], []
    if all(path.is_file() and not path.read_bytes().startswith(b"{") for path in paths):
        lines = [f"A: {sides[0]}", f"B: {sides[1]}", *_numbers(paths).line()]
    else:
        run = run or str(read_yaml(Path(), SETTINGS)["scale"])
        wanted = [decoding[at : at + 1] or decoding[-1:] for at in range(2)]
        found = [
            _sides(each, run, corpus, split, own) for each, own in zip(sides, wanted, strict=True)
        ]
        pairs = _pairs(*found)
        if not pairs:
            what = f"scores of one {split} set, with a seed in common and the same references"
            raise UserError(f"{sides[0]} and {sides[1]} have no {what}")
        for pair in pairs:
            seeds = [seed for seed in pair[0].scores if seed in pair[1].scores]
            both = [[side.scores[seed] for seed in seeds] for side in pair]
            contents = [read_file(each[0]) for each in both]
            if scores:
                label, compared = "mean", _numbers(scores, contents[0]["sentences"])
            else:
                label, compared = measure_of(measure).label, _measured(both, measure)
            lines += [f"A: {pair[0].name}", f"B: {pair[1].name}", label, *compared.line()]
            lines += _parts(contents, compared, sentences) if len(pairs) == 1 else []
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def _sides(
    word: str, run: str, corpus: str | None, split: str, decoding: Sequence[str]
) -> list[ScoredSystem]:
    """The scores that a word of the command line names."""
    path = Path(word) if Path(word).exists() else Path(RESULTS, word)
    if path.is_file():
        files, split = [path], path.stem
    elif path.is_dir():
        folder = path / "scores" if (path / "scores").is_dir() else path
        files = [*Path(str(folder).replace("/models/", "/scores/")).rglob("*.json")]
    else:
        files = [*Path(RESULTS, run, "scores").glob(f"*/{word}/seed*/*/*.json")]
    sides: dict[tuple[str, str, str], ScoredSystem] = {}
    for file in sorted(files):
        *_, of_run, _, name, system, seed, its, _ = file.absolute().parts
        if file.stem == split and corpus in (None, name) and (not decoding or its in decoding):
            place, text = (name, system, its), f"{system}, {its} on {name}, {split} ({of_run})"
            side = sides.setdefault(place, ScoredSystem(place, text, {}))
            side.scores[int(seed.removeprefix("seed"))] = file
    if not sides and not path.exists():
        known = {each.name for each in Path(RESULTS, run, "scores").glob("*/*")}
        require(word, known, "system", f"{RESULTS}/{run}/scores")
    return [*sides.values()]


def _pairs(
    left: Sequence[ScoredSystem], right: Sequence[ScoredSystem]
) -> list[tuple[ScoredSystem, ScoredSystem]]:
    """What is compared: of two runs the same system, of two systems the same decoding, if any."""
    pairs = [
        (a, b)
        for a, b in product(left, right)
        if a.place[0] == b.place[0] and a != b and a.scores.keys() & b.scores.keys()
        if a.references == b.references
    ]
    for alike in (slice(3), slice(2, 3)):
        pairs = [(a, b) for a, b in pairs if a.place[alike] == b.place[alike]] or pairs
    return pairs


def _measured(both: Sequence[Sequence[Path]], measure: str) -> PairedCounts:
    name = statistics.counted_as(measure)

    def counts(path: Path) -> np.ndarray:
        arrays = statistics.read(path, read_file(path))
        return arrays[require(name, arrays, "measure", str(path))]

    sides = [[counts(path) for path in paths] for paths in both]
    return PairedCounts(sides, statistics.MEASURED[measure].value)


def _numbers(paths: Sequence[Path], sentences: int | None = None) -> PairedCounts:
    """One number a line, or a list in JSON, of each side, as counts whose ratio is their mean."""
    sides: list[list[np.ndarray]] = []
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8")
            numbers = json.loads(text) if text.startswith("[") else text.split()
            sides.append([np.asarray_chkfinite([[float(each), 1.0] for each in numbers])])
            if len(sides[-1][0]) != (expected := sentences or len(sides[0][0])):
                raise ValueError(f"found {len(sides[-1][0])} numbers, expected {expected}")
        except (OSError, ValueError, TypeError) as error:
            what = "expected a number for each sentence, in lines or in a list in JSON"
            raise UserError(f"{path}: {what} ({error})") from error
    return PairedCounts(sides, statistics.ratio)


def _parts(contents: Sequence[dict[str, Any]], compared: PairedCounts, most: int) -> list[str]:
    """The difference by length, the sentences of the first seed that differ most, and settings."""
    files, lines = contents[0]["files"], []
    tokens = [*read_lines(Path(files["tokens"]["path"]))]
    first = [compared.value(own[0]) for own in compared.counts]
    if len(first[0]) == len(tokens):
        lines.append("by words of the reference")
        for chosen in statistics.sentences_by_length(tokens, None).values():
            words = [len(tokens[at].split()) for at in chosen]
            lines.append(f"   {min(words)} to {max(words)}: {compared.line(chosen)[0]}")
        texts = {"reference": [*read_lines(Path(files["reference"]["path"]))]}
        for name, content in zip("AB", contents, strict=True):
            rows = read_in_order(Path(content["files"]["hypotheses"]["path"]))
            texts[name] = [row["text"] for row in rows]
        lines.append("sentences that differ most")
        for at in np.argsort(-np.abs(first[1] - first[0]), kind="stable")[:most]:
            lines.append(f"   {at + 1}: A {first[0][at]:#.4g}   B {first[1][at]:#.4g}")
            lines += [f"      {name}: {text[at]}" for name, text in texts.items()]
    models = [Path(content.get("model", {}).get("path", "")) for content in contents]
    records = [model / "training.json" for model in models]
    if all(record.exists() for record in records):
        settings = [read_json(record)["training"] | {"system": None} for record in records]
        lines += ["settings, from A to B", *(f"   {each}" for each in differences(*settings))]
    return lines
