#!/usr/bin/env bash
# Run by Snakemake in the new conda environment, from the repository.
set -euo pipefail
python -m pip install --requirement envs/build.txt
python -m pip install --no-build-isolation --requirement envs/cpu.lock
