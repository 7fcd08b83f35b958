# make demo    the main job on an embedded corpus, within minutes, and its table
# make test    everything that is checked before a change goes in; 8 to 17 minutes
# make golden    what a change of the code must leave as it is: places, trainings, graph, records;
#                RENEW=--renew stores what is the case now, after showing what has changed
# make test-long    the tests that take longest, and every job at scale micro; 15 to 50 minutes
# make test-endurance   kills, full disks, damaged and hostile files at random, with figures;
#                       ENDURANCE=0.1 runs a tenth of it
# make test-learning   an estimate that is known exactly, and what the tests of learning are worth:
#                       mistakes planted in trainings, 45 minutes
# make test-latest   the tiny run with the newest versions of all packages; Python 3.11 to 3.13,
#                    or those that PYTHONS="python3.11 ..." names
# make audit   known vulnerabilities of the versions in envs/; fails where PyPI has no answer
# make test-gpu   the tests that need an NVIDIA GPU
# make test-slurm   the graph on a real Slurm of its own, with two virtual nodes; some minutes;
#                   CASES= chooses tests, by an expression of pytest's -k
# make bench   speed and memory, beside stock fairseq and CTranslate2; about half an hour
# make speedrun   Multi30k from raw text to a one-pass student with a score, anew, on the device
#                 that there is: wall time and score, and the log in results/bench;
#                 SPEEDRUN="recipes.ctc.updates=2000", for one, changes keys
# make bench-gpu   training speed, one pass beside beam search, a short chain and the tests of an
#                  NVIDIA GPU, of each at most 8 minutes
# make environment   .venv, from the lock files in envs/; made anew when these change; PYTHON= is the
#                    Python that makes it, and WITHOUT_UV=1 installs with pip
# make docs   the pages of docs/ as a site, results/site/index.html
# make pictures   docs/figures/report_*.png, of the report of the demo as it is; needs Chromium,
#                 whose program CHROMIUM= names
#
# All but test-latest, audit and pictures make the environment .venv first; demo without what lints,
# tests and documents.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.PHONY: docs help demo test checks golden formatting types test-long test-gpu test-slurm test-endurance test-learning test-latest audit bench bench-gpu environment running pictures

PYTHON ?= python3
BIN := .venv/bin
CASES ?=
RENEW ?=
PYTHONS ?= python3.11 python3.12 python3.13
ENDURANCE ?= 1
CHROMIUM ?= chromium
SLURM_PROGRAMS ?= slurmctld slurmd munged sbatch $(if $(filter whole,$(CASES)),,slurmdbd mariadbd)
SLURM_PACKAGES := munge slurmctld slurmd slurm-client slurmdbd slurm-wlm-mysql-plugin mariadb-server
export PYTHONHASHSEED := 0

# An environment that is made anew, in a folder that holds nothing else.
define anew
if [ -L $(1) ] || [ -e $(1) -a ! -e $(1)/pyvenv.cfg ]; then
	echo "error: $(1) was not made here, and it or what it links to would be cleared; move it away"
	exit 1
fi
$(PYTHON) -m venv --clear $(1)
endef

help:
	@sed -n '/^SHELL/q; s/^# \{0,1\}//p' Makefile

demo: running
	@$(BIN)/snakemake demo --config scale=demo
	$(BIN)/python workflow_scripts/show_results.py --scale demo

test: checks
	$(BIN)/pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder --durations 10

# The two at once; apart from the tests, which 'make -n' would run as well.
checks: environment
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target types formatting

golden: environment
	$(BIN)/python -m tests.golden.freeze $(RENEW)

formatting: environment
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/snakefmt --check Snakefile rules
	$(BIN)/snakemake --lint

types: environment
	$(BIN)/mypy

test-long: environment
	$(BIN)/pytest -m long --numprocesses 2 --dist loadfile --no-loadscope-reorder --durations 10

test-gpu: environment
	$(BIN)/pytest -m gpu

test-slurm: environment
	@PATH=$$PATH:/usr/sbin
	missing=
	for program in $(SLURM_PROGRAMS); do command -v $$program > /dev/null || missing+=" $$program"; done
	if [ -n "$$missing" ]; then
		[ $$(id -u) = 0 ] && command -v apt-get > /dev/null || { echo "error: missing:$$missing; install Slurm and MariaDB (Debian: apt-get install $(SLURM_PACKAGES))"; exit 1; }
		apt-get update -qq
		DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $(SLURM_PACKAGES) > /dev/null
	fi
	$(BIN)/pytest -m slurm tests/slurm -k '$(CASES)'

test-endurance: environment
	NAT_ENDURANCE=$(ENDURANCE) $(BIN)/pytest -s -q tests/graph/test_endurance.py tests/graph/test_damage.py

test-learning: environment
	@NAT_LEARNING=1 $(BIN)/pytest -q tests/analyses/test_known_law.py
	$(BIN)/python -m tests.learning.measure worth

# In an environment of its own, `.venv-latest`, which each Python makes anew. A command that exists may
# still not run (a shim of pyenv).
test-latest:
	@tested=
	for python in $(PYTHONS); do
		if ! $$python -c '' 2> /dev/null; then echo "$$python is not installed: left out"; continue; fi
		$$python envs/latest.py
		tested+=" $$python with Snakemake $$(.venv-latest/bin/snakemake --version);"
		.venv-latest/bin/pytest -m graph
		.venv-latest/bin/pytest tests/transformer/test_stored_model.py tests/training/test_training.py
	done
	[ -n "$$tested" ] || { echo "error: none of $(PYTHONS) is installed; set PYTHONS="; exit 1; }
	echo "tested:$$tested"

audit:
	@$(call anew,.venv-audit)
	.venv-audit/bin/pip install --quiet pip-audit==2.10.1
	.venv-audit/bin/pip-audit --strict --no-deps --disable-pip $(patsubst %,--requirement envs/%,build.txt torch.txt run.lock dev.lock gpu.lock fairseq.txt)

bench: environment
	$(BIN)/python benchmarks/training_speed.py
	$(BIN)/python benchmarks/objectives.py
	$(BIN)/python benchmarks/beam_search.py
	$(BIN)/python benchmarks/decoding.py
	$(BIN)/python benchmarks/ctc_beam.py
	$(BIN)/python benchmarks/one_pass.py
	$(BIN)/python benchmarks/deployment.py
	$(BIN)/python benchmarks/start_up.py
	$(BIN)/python benchmarks/growth.py --pairs 1000 10000

# The corpus has a name of its own, and its results and those of the scale are made anew each time.
# With CTranslate2 the text is distilled in half of the time.
SPEEDRUN ?=
CHANGES = config.distillation_engine=ctranslate2 $(SPEEDRUN)
speedrun: environment
	@rm -rf results/speedrun@clock results/corpora/multi30k-speedrun
	mkdir -p results/bench
	log=results/bench/speedrun-$$(date -u +%Y%m%d-%H%M%S).log
	begun=$$(date +%s)
	$(BIN)/snakemake speedrun --config scale=speedrun name=clock override="$(CHANGES)" 2>&1 | tee $$log
	$(BIN)/python workflow_scripts/show_results.py --scale speedrun --name clock --override "$(CHANGES)" --paper speedrun | tee -a $$log
	echo "after $$(( $$(date +%s) - begun )) s" | tee -a $$log

bench-gpu: environment
	$(BIN)/python benchmarks/on_a_gpu.py

environment running:
	@command -v $(PYTHON) > /dev/null || { echo "error: Python 3.11 or newer is needed, but there is no $(PYTHON)"; exit 1; }
	$(PYTHON) envs/install.py $(if $(filter environment,$@),--dev)

docs: environment
	@$(BIN)/mkdocs build --strict --quiet --config-file envs/mkdocs.yml
	echo "results/site/index.html"

pictures:
	@command -v $(CHROMIUM) > /dev/null || { echo "error: there is no $(CHROMIUM); install it (Debian: apt-get install chromium) or set CHROMIUM="; exit 1; }
	for page in index papers/one_pass sentences; do
		test -f results/demo/report/$$page.html || { echo "error: results/demo/report/$$page.html does not exist; run 'snakemake report --config scale=demo'"; exit 1; }
		$(CHROMIUM) --headless=new --no-sandbox --disable-gpu --hide-scrollbars --window-size=1280,1000 --virtual-time-budget=10000 --screenshot=docs/figures/report_$$(basename $$page).png "file://$$PWD/results/demo/report/$$page.html" > /dev/null 2>&1
		echo "docs/figures/report_$$(basename $$page).png"
	done
