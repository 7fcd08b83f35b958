# make demo    the main job on the embedded corpora, within minutes, and its table
# make test    everything that is checked before a change goes in
#
# Both make the environment .venv first, from the lock files in envs/.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.PHONY: help demo test test-gpu bench environment

PYTHON ?= python3
BIN := .venv/bin
export PYTHONPATH := $(CURDIR)
export PYTHONHASHSEED := 0

help:
	@sed -n 's/^# //p' Makefile

demo: environment
	@$(BIN)/snakemake demo --config scale=demo
	$(BIN)/python workflow_scripts/show_results.py --scale demo

test: environment
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/snakefmt --check Snakefile rules
	$(BIN)/snakemake --lint
	$(BIN)/mypy
	$(BIN)/pytest --numprocesses 2 --dist loadfile

test-gpu: environment
	$(BIN)/pytest -m gpu

bench: environment
	$(BIN)/python benchmarks/training_speed.py

environment:
	@command -v $(PYTHON) > /dev/null || { echo "error: Python 3.11 or newer is needed, but there is no $(PYTHON)"; exit 1; }
	$(PYTHON) envs/install.py
