"""Translate lines: python example.py [float32 | int8] < TEXT."""

import json
import sys
from itertools import groupby
from math import ceil
from pathlib import Path

import ctranslate2
import numpy as np
from raw_text import RawText

here, precision = Path(__file__).resolve().parent, (sys.argv[1:] or ["int8"])[0]
names = "model.json", "labels.json", f"{precision}/vocabulary.json"
about, labels, known = (json.loads((here / name).read_text("utf-8")) for name in names)
ids, text = {symbol: number for number, symbol in enumerate(known)}, RawText.of_folder(here)
encoder = ctranslate2.Encoder(str(here / precision), compute_type=precision)
projection = np.load(here / "projection.npy")
for line in sys.stdin:
    source = [ids.get(each, ids["<unk>"]) for each in text.subwords(line).split()]
    count = max(1, len(source) + about["count_source_end"])
    number = ceil(round(about["upsample"] * count, 9))
    frames = [[*source, about["end"]][place * count // number] for place in range(number)]
    given = (np.array(each, dtype=np.int32) for each in ([frames], [number]))
    states = encoder.forward_batch(*map(ctranslate2.StorageView.from_array, given))
    logits = np.array(states.last_hidden_state)[0] @ projection.T
    logits[:, about["never_chosen"]] = -np.inf
    logits[:, about["blank"]] -= about["search"]["blank_penalty"]
    best = [each for each, _ in groupby(logits.argmax(1)) if source and each != about["blank"]]
    print(text.text(" ".join(labels[each] for each in best)))
