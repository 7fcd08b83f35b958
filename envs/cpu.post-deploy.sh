#!/usr/bin/env bash
# Run by Snakemake in the new conda environment, from the repository. On Linux, PyPI's torch brings
# the CUDA libraries with it; where it does, cuda.lock says which.
set -euo pipefail
python -m pip install --requirement envs/build.txt --constraint envs/cuda.lock
python -m pip install --no-build-isolation --requirement envs/cpu.lock --constraint envs/cuda.lock
