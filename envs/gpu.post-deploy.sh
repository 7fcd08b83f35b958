#!/usr/bin/env bash
# Run by Snakemake in the new conda environment, from the repository. No GPU is needed for it.
set -euo pipefail
python envs/install.py --here
python -c 'import sys, torch; sys.exit(None if torch.version.cuda else "this torch has no CUDA")'
