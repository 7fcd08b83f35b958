#!/usr/bin/env bash
# Run by Snakemake in the new conda environment, from the repository.
set -euo pipefail
python envs/install.py --here
