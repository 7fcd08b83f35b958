"""Translate lines: python example.py [float32 | int8] < TEXT."""

import json
import sys
from itertools import groupby
from math import ceil
from pathlib import Path

import numpy as np
from onnxruntime import InferenceSession, SessionOptions
from raw_text import RawText

here, precision = Path(__file__).resolve().parent, (sys.argv[1:] or ["int8"])[0]
about, text = json.loads((here / "model.json").read_text("utf-8")), RawText.of_folder(here)
known, words = (json.loads((here / name).read_text("utf-8")) for name in about["vocabularies"])
ids = {symbol: number for number, symbol in enumerate(known)}
options = SessionOptions()
options.add_session_config_entry("session.intra_op.allow_spinning", "0")
encoder, decoder = (
    InferenceSession(here / f"{part}.{precision}.onnx", options) for part in ("encoder", "decoder")
)
for line in sys.stdin:
    source = [ids.get(each, ids["<unk>"]) for each in text.subwords(line).split()]
    given = {"source": np.array([[*source, about["end"]]])}
    names = [each.name for each in encoder.get_outputs()]
    given |= dict(zip(names, encoder.run(names, given), strict=True))
    count = len(source) + about["count_source_end"]
    frames = max(1, ceil(round(about["upsample"] * count, 9)))
    given["tokens"] = np.full((1, frames), about["mask"])
    given["blank_penalty"] = np.array(about["search"]["blank_penalty"], dtype=np.float32)
    inputs = {each.name: given[each.name] for each in decoder.get_inputs()}
    best = decoder.run(["symbols"], inputs)[0][0] if source else []
    best = [about["blank"] if each == about["end"] else each for each in best]
    merged = [words[each] for each, _ in groupby(best) if each != about["blank"]]
    print(text.text(" ".join(merged)))
