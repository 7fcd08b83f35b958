"""Translate lines: python example.py [float32 | int8] < TEXT."""

import json
import sys
from pathlib import Path

import ctranslate2
from raw_text import RawText

here, precision = Path(__file__).resolve().parent, (sys.argv[1:] or ["int8"])[0]
about, text = json.loads((here / "model.json").read_text("utf-8")), RawText.of_folder(here)
translator = ctranslate2.Translator(str(here / precision), compute_type=precision)
for line in sys.stdin:
    sentence = text.subwords(line).split()
    longest = int(about["limit"]["ratio"] * len(sentence)) + about["limit"]["margin"]
    longest = min(longest, about["longest_target"])
    results = translator.translate_batch(
        [sentence], max_decoding_length=longest + 1, **about["translate_batch"]
    )
    hypotheses = results[0].hypotheses if sentence else [[]]
    best = next((each[:-1] for each in hypotheses if each[-1:] == ["</s>"]), hypotheses[0])
    print(text.text(" ".join(best[:longest])))
