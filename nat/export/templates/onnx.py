"""Translate lines: python example.py [float32 | int8] < TEXT."""

import json
import sys
from itertools import groupby
from pathlib import Path

import numpy as np
from onnxruntime import InferenceSession, SessionOptions
from raw_text import RawText

here, precision = Path(__file__).resolve().parent, (sys.argv[1:] or ["int8"])[0]
about, text = json.loads((here / "model.json").read_text("utf-8")), RawText.of_folder(here)
known, words = (json.loads((here / name).read_text("utf-8")) for name in about["vocabularies"])
ids = {symbol: number for number, symbol in enumerate(known)}
options, search = SessionOptions(), about["search"]
steps, blank, end = search.get("steps", 1), about["blank"], about["end"]
options.add_session_config_entry("session.intra_op.allow_spinning", "0")
encoder, decoder = (
    InferenceSession(here / f"{part}.{precision}.onnx", options) for part in ("encoder", "decoder")
)
for line in sys.stdin:
    source = [ids.get(each, ids["<unk>"]) for each in text.subwords(line).split()]
    given = {"source": np.array([[*source, end]])}
    names = [each.name for each in encoder.get_outputs()]
    given |= dict(zip(names, encoder.run(names, given), strict=True))
    if about["upsample"]:
        frames = round(about["upsample"] * (len(source) + about["count_source_end"]), 9)
        sizes = np.array([max(1, int(np.ceil(frames)))])
        given["blank_penalty"] = np.array(search["blank_penalty"], dtype=np.float32)
    else:
        if about["length"] == "constant":  # the lengths nearest to the wanted one come first
            sizes = np.arange(1, about["positions"] + 1)
            merits = -np.abs(sizes - len(source) - about["length_difference"])
        else:
            sizes = search["first_length"] + np.arange(256) + search["plus_source"] * len(source)
            possible = (sizes >= 1) & (sizes <= about["positions"])
            sizes, merits = sizes[possible], given["lengths"][0, possible]
        sizes = sizes[np.argsort(-merits, kind="stable")][: search["length_beam"]]
        sizes = np.maximum(sizes, 1 if end in about["never_chosen"] else 2)
    best, written = -np.inf, []
    for size in sizes:
        tokens, scores = np.zeros((1, size), dtype=int), np.zeros((1, size))
        for left in range(steps, 0, -1):
            hidden = np.argsort(scores[0], kind="stable")[: size * left // steps]
            tokens[0, hidden], given["tokens"] = about["mask"], tokens
            inputs = {each.name: given[each.name] for each in decoder.get_inputs()}
            for all_of, new in zip((tokens, scores), decoder.run(None, inputs), strict=True):
                all_of[0, hidden] = new[0, hidden]
        if source and scores.mean() > best:
            best, written = scores.mean(), tokens[0]
    written = [blank if each == end else each for each in written]
    if about["upsample"]:
        written = [each for each, _ in groupby(written)]
    print(text.text(" ".join(words[each] for each in written if each != blank)))
