"""Choosing the weights of a beam search on the validation set.

Gu and Kong (2021), section 4.2: alpha, the weight of the language model, and beta, the word bonus,
are searched over a grid on the validation set. The network reads each sentence once; the search is
repeated with each pair of weights on what the network said. The pair with the highest sacreBLEU is
chosen; of equals, the one that comes first in the grid. The paper does not say which BLEU.

Of a search over draws of latents, the sentences are read once with the latents of greatest prior
density, without draws and without the system that would choose among them.
"""

import itertools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nat import registry
from nat.artifacts import TunedWeights
from nat.configuration import Configuration
from nat.data.batch import source_tensor
from nat.data.binarised import BinarisedText
from nat.data.lines import read_lines
from nat.data.splits import VALID, sides
from nat.data.vocabulary import Vocabularies
from nat.decoding.corpus import NOTHING, Translation, batches, records
from nat.decoding.ctc_beam import PrefixSearch
from nat.decoding.hypothesis import Hypothesis
from nat.errors import UserError
from nat.files import read_json, write_json
from nat.language_model.scorer import LanguageModel, matching_language_model
from nat.measures import bleu
from nat.measures.score import reference_files
from nat.program import Progress
from nat.training.trained_model import matching_model
from nat.transformer.model import Transformer


def tune_decoding(configuration: Configuration, weights: TunedWeights) -> None:
    """Translate the validation set with every pair of weights, and write which one is best.

    Raises:
        UserError: if something is missing or does not belong together; nothing is written.
    """
    corpus, inputs = weights.corpus, weights.inputs(configuration)
    description = configuration.corpus(corpus)
    source, target = sides(description)
    folder = Path(inputs.corpus.path)
    vocabularies = Vocabularies.load(folder)
    vocabulary = vocabularies.target
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", configuration.threads)))
    model = matching_model(inputs.model, configuration, vocabularies.sizes)
    ngrams = inputs.language_model
    language_model = (
        None if ngrams is None else matching_language_model(Path(ngrams.path), len(vocabulary))
    )
    search = registry.build("decoding", configuration.decoding(weights.decoding))
    binarised = BinarisedText(folder / f"{VALID}.{source}")
    files = reference_files(corpus, description, VALID, several=False)
    references = list(read_lines(files.reference))
    if len(references) != len(binarised):
        raise UserError(
            f"{files.reference} has {len(references)} sentences but {folder} has {len(binarised)}; "
            "remove the corpus and make it again"
        )
    first = range(len(binarised))[: configuration.tuning.sentences]
    sentences = [binarised[number] for number in first]
    progress = Progress(
        f"tune {weights.decoding} of {weights.system} on {corpus}", len(sentences), "sentences"
    )
    grid = points(search)
    found = translations(
        model, search, grid, language_model, sentences, configuration.decoding_tokens, progress
    )
    tokeniser = description.preprocessing.tokeniser
    tried, signature = [], ""
    for point, hypotheses in zip(grid, found, strict=True):
        translated = [Translation(number, each) for number, each in enumerate(hypotheses)]
        rows = records(translated, vocabulary, target, tokeniser)
        counts = bleu.sacrebleu(
            [row["text"] for row in rows],
            [[references[number]] for number in first],
            files.lowercase,
        )
        sums, signature = counts.sentences.sum(0), counts.signature
        described = bleu.parts(sums, smooth=True)
        tried.append(
            {
                **point,
                "sacrebleu": round(float(bleu.smoothed(sums[None])[0]), bleu.DIGITS),
                "brevity_penalty": described["brevity_penalty"],
                "length_ratio": described["length_ratio"],
            }
        )
    best = max(tried, key=lambda point: point["sacrebleu"])
    names = {key: value for key, value in vars(weights).items() if key != "run"}
    write_json(
        Path(weights.path),
        {
            **names,
            "split": VALID,
            "sentences": len(sentences),
            "signature": signature,
            "chosen": {key: best[key] for key in ("weight", "word_bonus")},
            "points": tried,
        },
    )


def points(search: PrefixSearch) -> list[dict[str, Any]]:
    """The pairs of weights that a search is tuned over, as arguments of its method `tuned`."""
    tuning = search.tuning
    assert tuning is not None
    pairs = itertools.product(tuning.weights or (None,), tuning.word_bonuses)
    return [{"weight": weight, "word_bonus": bonus} for weight, bonus in pairs]


@torch.inference_mode()
def translations(
    model: Transformer,
    search: PrefixSearch,
    grid: list[dict[str, Any]],
    language_model: LanguageModel | None,
    sentences: Sequence[np.ndarray],
    batch_tokens: int,
    progress: Progress,
) -> list[list[Hypothesis]]:
    """Translations of all sentences at each point of a grid; empty for what cannot be decoded."""
    searches = [search.tuned(**point) for point in grid]
    number_of_sentences = len(sentences)
    found = [[NOTHING] * number_of_sentences for _ in grid]
    lengths = {number: len(sentences[number]) for number in range(number_of_sentences)}
    fitting = {
        number: length for number, length in lengths.items() if 0 < length <= model.longest_source
    }
    device = next(model.parameters()).device
    done = number_of_sentences - len(fitting)
    for batch in batches(fitting, batch_tokens):
        source = source_tensor([sentences[number] for number in batch]).to(device)
        emissions = search.emissions(model, model.encode(source))
        for number, each in zip(batch, emissions, strict=True):
            for place, tuned in enumerate(searches):
                found[place][number] = tuned.best(each, language_model)
        done += len(batch)
        progress.update(done)
    return found


def chosen_weights(path: Path) -> dict[str, Any]:
    """What `tune_decoding` has chosen, as arguments of the method `tuned` of a search.

    Raises:
        UserError: if the file is missing or damaged.
    """
    chosen = read_json(path).get("chosen")
    if not isinstance(chosen, dict) or set(chosen) != {"weight", "word_bonus"}:
        raise UserError(f"{path} does not hold the key 'chosen'; remove it and tune again")
    return chosen
