"""Translate lines: python example.py [DECODING] < TEXT."""

import json
import subprocess
import sys
from pathlib import Path

from raw_text import RawText

here = Path(__file__).resolve().parent
corpus, text = json.loads((here / "corpus.json").read_text("utf-8")), RawText.of_folder(here)
command = [sys.executable, "-m", "fairseq_cli.interactive", here, "--path", here / "model.pt"]
command += ["--user-dir", here / "nat_plugin", "--task", "nat_translation", "--cpu"]
command += ["--source-lang", corpus["source"], "--target-lang", corpus["target"]]
command += ["--buffer-size", 1000, "--max-tokens", 2000, "--decoding", *(sys.argv[1:] or [""])]
lines = "".join(f"{text.subwords(line)}\n" for line in sys.stdin)
words = list(map(str, command))
ended = subprocess.run(words, input=lines, stdout=subprocess.PIPE, encoding="utf-8", check=True)
for line in ended.stdout.splitlines():
    if line.startswith("H-"):  # number, score and subwords
        print(text.text(line.split("\t")[2]))
