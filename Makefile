# Every target sets up .venv itself, and does so only when what it is made from changed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
USE := $(VENV)/.for-use
DEV := $(VENV)/.for-development

.DEFAULT_GOAL := help
.PHONY: help lab grade test build check bench lint clean

help: ## what there is to do
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "error: Python 3.11 or newer is needed, $$($(PYTHON) --version 2>&1) found"; \
	    echo "  next: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	@echo "setting up $(VENV) (once, some minutes: torch and JupyterLab are large)"
	@$(PYTHON) -m venv $(VENV)

# --no-compile: Python compiles what it imports, once; pip would compile every file of every package, for half a minute.
INSTALL = $(PY) -m pip install -qq --disable-pip-version-check --no-compile

$(USE): requirements.txt constraints.txt pyproject.toml | $(PY)
	@$(INSTALL) -r requirements.txt
	@touch $@

# What authors need holds what graders need: one round for both.
$(DEV): requirements-dev.txt requirements.txt constraints.txt pyproject.toml | $(PY)
	@$(INSTALL) -r requirements-dev.txt
	@touch $(USE) $@

lab: $(USE) ## open the first lesson in JupyterLab
	@$(PY) -m course lab $(ARGS)

grade: $(USE) ## grade submitted/ (where it is empty: a simulated class), print the table
	@$(PY) -m course grade $(ARGS)

build: $(USE) ## lessons/ -> source/ -> release/
	@$(PY) -m course build $(ARGS)

check: $(USE) ## the author contract: every check accepts right answers and rejects wrong ones
	@$(PY) -m course check $(ARGS)

lint: $(DEV) ## style and types
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

test: $(DEV) ## all of it: style, types, the contract, the tests
	@$(PY) -m tests

bench: $(DEV) ## stock nbgrader, the engine and the floor; then cost as the class grows (long)
	@$(PY) -m benchmarks.bench && $(PY) -m benchmarks.bench --growth

clean: ## remove what can be made again
	rm -rf $(VENV) *.egg-info .pytest_cache .ruff_cache .mypy_cache
