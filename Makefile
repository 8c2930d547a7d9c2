# Every target sets up .venv itself, and does so only when what it is made from changed.
PYTHON ?= python3
# `make lab TORCH=cpu`, at the first use: PyTorch without CUDA. On Linux 0.4 GB to download instead of 2.9.
TORCH ?= default
VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
USE := $(VENV)/.for-use
DEV := $(VENV)/.for-development

.DEFAULT_GOAL := help
.PHONY: help lab grade quick test nightly build wheels site check coverage mutants bench lint clean

help: ## list all targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

# install.py says what it does, and what to do if it fails; it takes another Python if $(PYTHON) is too old or too new.
INSTALL = @command -v $(PYTHON) >/dev/null || { echo "error: there is no $(PYTHON) here"; \
	    echo "  next: install Python 3.11 or newer, or: make PYTHON=/path/to/python3 $(MAKECMDGOALS)"; exit 1; }; \
	  $(PYTHON) install.py --torch $(TORCH) --again '$(subst ','\'',$(strip make $(MAKECMDGOALS) $(MAKEOVERRIDES)))'

# An environment that lies elsewhere than where it was made does not work: then it is set up again.
ifneq ($(shell test -x $(PY) && cat $(USE) 2>/dev/null),$(CURDIR))
.PHONY: $(USE) $(DEV)
endif

$(USE): requirements.txt constraints.txt pyproject.toml $(wildcard packages/*/pyproject.toml packages/*/setup.py)
	$(INSTALL)

# What authors need holds what graders need: one round for both.
$(DEV): requirements-dev.txt requirements.txt constraints.txt pyproject.toml $(wildcard packages/*/pyproject.toml packages/*/setup.py)
	$(INSTALL) --development

lab: $(USE) ## open the first lesson in JupyterLab
	@$(PY) -m course lab $(ARGS)

grade: $(USE) ## grade submitted/ (if it is empty: a simulated class), print the table
	@$(PY) -m course grade $(ARGS)

build: $(USE) ## make source/ and release/ from lessons/
	@$(PY) -m course build $(ARGS)

wheels: $(USE) ## make dist/: tool and course to be installed without a clone, and a zip for graders
	@$(PY) -m course wheels $(ARGS)

site: $(DEV) ## make build/site: lessons, as chapters with their pictures, and pages, to be read in a browser
	@$(PY) -m course site $(ARGS)

check: $(DEV) ## prove the author contract: every check accepts right answers and rejects wrong ones; then explore, a minute each
	@$(PY) -m course check $(ARGS)
	@$(if $(ARGS),,$(PY) -m course check --explore)

lint: $(DEV) ## check style and types
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

# Where several programs share the cores, OpenMP's threads wait for each other most of the time, and burn it. Without
# compiled files, hundreds of processes would compile the course anew.
TESTS = env -u PYTHONDONTWRITEBYTECODE OMP_NUM_THREADS=1 $(PY) -m pytest
# The tests of a file stay together, because they share what they set up.
AT_ONCE = --dist loadfile --no-loadscope-reorder

quick: $(DEV) ## check after each change, in a minute: style, types, the quick tests, a thin slice of the engine
	@$(TESTS) -n logical $(AT_ONCE) $(patsubst %,--ignore=tests/%,attacks browser gradebook nbgrader run) -m "not (slow or stock or browser or nightly)"

test: $(DEV) ## run what CI runs: of each kind of test at least one
	@$(TESTS) -n auto $(AT_ONCE) -m "not nightly"

# The attacks count seconds: they have the machine for themselves.
NIGHTLY = "$(TESTS) -n auto $(AT_ONCE) --ignore=tests/attacks" "$(TESTS) tests/attacks" "$(PY) -m benchmarks.lessons" \
  "$(PY) -m benchmarks.judge --tries 300" "$(PY) -m benchmarks.damaged --submissions 100" "$(PY) -m benchmarks.honest" \
  "$(PY) -m course check --explore --minutes 4"

nightly: $(DEV) ## run everything: all candidates, attacks, machines, lessons in a browser; damaged, honest and hostile work
	@failed=0; for run in $(NIGHTLY); do echo "--- $$run"; $$run || failed=1; done; exit $$failed

coverage: $(DEV) ## measure which lines of the tool the tests run: all but the nightly ones, or ARGS="tests/values tests/checks"
	@$(TESTS) -n auto $(AT_ONCE) -m "not nightly" --cov --cov-report=term $(ARGS)

# Not among the requirements: few need it, and it brings a text editor's worth of packages.
mutants: $(DEV) ## change one thing at a time in the pure rooms, and list what no test notices: ARGS="nbproof.values.compare*"
	@test -x $(BIN)/mutmut || $(BIN)/pip install -q --disable-pip-version-check -c constraints.txt mutmut==3.8.1
	@OMP_NUM_THREADS=1 $(BIN)/mutmut run $(ARGS); $(BIN)/mutmut results

bench: $(DEV) ## measure stock nbgrader, the engine and the floor; then cost as the class grows (long)
	@$(PY) -m benchmarks.bench && $(PY) -m benchmarks.bench --growth

clean: ## remove what can be made again
	rm -rf $(VENV) build *.egg-info packages/*/*.egg-info .pytest_cache .ruff_cache .mypy_cache
