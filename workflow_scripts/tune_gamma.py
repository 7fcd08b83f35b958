"""Tune the weights of dynamic distillation on a split with several references; prints them."""

import json
import sys
from pathlib import Path

from nat.artifacts import references
from nat.configuration import Configuration
from nat.data.lines import read_lines
from nat.data.translations import read_in_order
from nat.errors import UserError
from nat.measures.distortion import pairwise_bleu, tune
from nat.measures.score import read_references, reference_files
from nat.workflow.program import program


@program
def main(configuration: Configuration, corpus: str, split: str, translations: list[Path]) -> None:
    """Tune the weights of the candidates."""
    files = reference_files(
        corpus,
        configuration.corpus(corpus),
        split,
        several=references(configuration, corpus, split) is not None,
    )
    if files.references is None:
        raise UserError(f"{corpus}: the split '{split}' has one reference only")
    raw = list(read_lines(files.reference))
    candidates = [[row["text"] for row in read_in_order(path)] for path in translations]
    for path, texts in zip(translations, candidates, strict=True):
        if len(texts) != len(raw):
            raise UserError(
                f"{path} has {len(texts)} translations but {files.reference} has {len(raw)} "
                "sentences; translate it again"
            )
    several = read_references(files.references, len(raw))
    covered = sorted(several)
    found = tune(
        pairwise_bleu(
            [[version[number] for number in covered] for version in [*candidates, raw]],
            [several[number] for number in covered],
        )
    )
    result = {"sentences": len(covered), "gamma": found.gamma, "mean_bleu": round(found.bleu, 4)}
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
