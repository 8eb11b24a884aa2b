# Every target sets up what it needs. `make` uses a virtual environment in this folder.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BENCH := .venv-bench
export HF_HUB_OFFLINE = 1

.PHONY: setup demo test lint bench frontier clean

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Chunkwise needs Python 3.11 or newer; try: make PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

# Index the texts in examples/, ask them, and count how often the answer was found.
demo: setup
	$(BIN)/python examples/demo.py

test: setup
	$(BIN)/python -m pytest

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Compare with other libraries, which get an environment of their own. One part: make bench ARGS="--only cost"
bench: $(BENCH)/.ready
	$(BENCH)/bin/python bench/run.py $(ARGS)

$(BENCH)/.ready: pyproject.toml bench/requirements.txt
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/pip install --quiet --disable-pip-version-check -e '.[search,fast,code,documents]' -r bench/requirements.txt
	@touch $@

# What methods find against the tokens that they return, on public questions: hours, and goes on where it was stopped.
frontier: setup
	$(BIN)/python bench/frontier.py $(ARGS)

clean:
	rm -rf $(VENV) $(BENCH) .demo .bench
