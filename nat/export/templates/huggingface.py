"""Translate lines: python example.py [DECODING] < TEXT."""

import sys
from pathlib import Path

from transformers import AutoModel, AutoTokenizer

folder, *decoding = str(Path(__file__).resolve().parent), *sys.argv[1:]
tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=True)
model = AutoModel.from_pretrained(folder, trust_remote_code=True)
lines = [line.rstrip("\n") for line in sys.stdin]
for start in range(0, len(lines), 50):
    sources = tokenizer(lines[start : start + 50], return_tensors="pt", padding=True).input_ids
    made = model.generate(sources, *decoding)
    print(*tokenizer.batch_decode(made, skip_special_tokens=True), sep="\n")
