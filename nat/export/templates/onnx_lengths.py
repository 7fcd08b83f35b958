"""Translate lines: python example.py [float32 | int8] < TEXT."""

import json
import sys
from pathlib import Path

import numpy as np
from onnxruntime import InferenceSession, SessionOptions
from raw_text import RawText

here, precision = Path(__file__).resolve().parent, (sys.argv[1:] or ["int8"])[0]
about, text = json.loads((here / "model.json").read_text("utf-8")), RawText.of_folder(here)
known, words = (json.loads((here / name).read_text("utf-8")) for name in about["vocabularies"])
ids = {symbol: number for number, symbol in enumerate(known)}
options, search = SessionOptions(), about["search"]
options.add_session_config_entry("session.intra_op.allow_spinning", "0")
encoder, decoder = (
    InferenceSession(here / f"{part}.{precision}.onnx", options) for part in ("encoder", "decoder")
)
for line in sys.stdin:
    source = [ids.get(each, ids["<unk>"]) for each in text.subwords(line).split()]
    given = {"source": np.array([[*source, about["end"]]])}
    names = [each.name for each in encoder.get_outputs()]
    given |= dict(zip(names, encoder.run(names, given), strict=True))
    if about["length"] == "constant":  # the lengths nearest to the wanted one come first
        sizes = np.arange(1, about["positions"] + 1)
        merits = -np.abs(sizes - len(source) - about["length_difference"])
    else:
        sizes = search["first_length"] + np.arange(256) + search["plus_source"] * len(source)
        possible = (sizes >= 1) & (sizes <= about["positions"])
        sizes, merits = sizes[possible], given["lengths"][0, possible]
    best, written = -np.inf, []
    for size in sizes[np.argsort(-merits, kind="stable")][: search["length_beam"]]:
        size = max(size, 1 if about["end"] in about["never_chosen"] else 2)
        tokens, scores = np.zeros((1, size), dtype=int), np.zeros((1, size))
        for left in range(search["steps"], 0, -1):  # of the steps
            hidden = np.argsort(scores[0], kind="stable")[: size * left // search["steps"]]
            tokens[0, hidden], given["tokens"] = about["mask"], tokens
            inputs = {each.name: given[each.name] for each in decoder.get_inputs()}
            for all_of, new in zip((tokens, scores), decoder.run(None, inputs), strict=True):
                all_of[0, hidden] = new[0, hidden]
        if source and scores.mean() > best:
            best, written = scores.mean(), tokens[0]
    dropped = (about["blank"], about["end"])
    print(text.text(" ".join(words[each] for each in written if each not in dropped)))
