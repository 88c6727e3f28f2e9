# Everything runs in .venv, which the first target to need it sets up. `make help` lists the targets.
PYTHON ?= python3
PYTEST_ARGS ?=

BIN := .venv/bin
STAMP := .venv/.set-up
PIP_INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt

# The reason why $(PYTHON) will not do, or nothing.
define python_fault
$(shell $(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" >/dev/null 2>&1 || \
	echo "isotropy needs Python 3.11 or newer, but $(PYTHON) is $$($(PYTHON) --version 2>/dev/null || echo not there); choose another with make PYTHON=python3.12, say")
endef
define venv_fault
$(shell $(PYTHON) -c "import ensurepip, venv" >/dev/null 2>&1 || \
	echo "$(PYTHON) comes without the venv module; on Debian and Ubuntu: apt-get install python3-venv")
endef
require = $(if $(strip $(1)),$(error $(strip $(1))))

.DELETE_ON_ERROR:
.PHONY: help setup discover test lint types bench clean
.DEFAULT_GOAL := help

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

setup: $(STAMP) ## set up .venv (the others do so themselves)
	@:

# Written last, so an install that failed is tried again. torch comes first: where a CPU build
# of the pinned version is at hand it is taken, and nothing later asks for another.
$(STAMP): pyproject.toml constraints.txt
	$(call require,$(python_fault))$(call require,$(venv_fault))@rm -f $@
	@echo "setting up .venv (a few minutes the first time)"
	@$(PYTHON) -m venv .venv
	@$(PIP_INSTALL) torch
	@$(PIP_INSTALL) -e ".[dev]"
	@touch $@

discover: setup ## the main job, on the embedded digits
	@$(BIN)/python examples/03_which_symmetry.py

# One thread per process: more only get in each other's way, and results stay the same.
test: lint types ## lint, types, and all tests with the examples of the documentation
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal $(PYTEST_ARGS)

lint: setup ## ruff: rules and format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: setup ## mypy, strict
	@$(BIN)/mypy

bench: setup ## the benchmarks, as ratios within one run
	@$(BIN)/python -m benchmarks

clean: ## remove .venv, caches and builds (never runs/)
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .benchmarks
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
