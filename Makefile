# Two commands do everything: `make demo` runs the main job, `make test` passes the tests.
# Both build the environment in .venv by themselves.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
# Tests are spread over the cores. Those of one file stay together, since they share what they set up.
SPREAD := -n auto --maxprocesses 4
CHECKS := tests/test_layout.py tests/test_docs.py tests/test_requirements.py
STAMP := $(VENV)/.ready

# Every test of a command starts a Python of its own: what was compiled is kept, whatever the shell says of that.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help env demo test check style types layers layout test-all mutation bench bench-peers docs clean

help:
	@echo "make demo       the main job on bundled data; prints where to look"
	@echo "make test       checks and tests"
	@echo "make check      style, types, layers, layout"
	@echo "make test-all   the long statistical and fault tests too"
	@echo "make mutation   plants bugs in the privacy core, tests must catch 95 in 100; goes on where it stopped"
	@echo "make bench      figures side by side; make bench-peers adds other tools"
	@echo "make docs       write docs/reference anew from the code"
	@echo "make env        the environment alone"

env: $(STAMP)

$(STAMP): requirements.lock pyproject.toml environment.sh
	@PYTHON="$(PYTHON)" sh environment.sh $(VENV)
	@touch $@

demo: $(STAMP)
	@$(RUN) -m discreet demo

check: $(STAMP)
	@$(MAKE) --no-print-directory -j 2 style types layers layout

style: $(STAMP)
	@$(RUN) -m ruff check .
	@$(RUN) -m ruff format --check .

types: $(STAMP)
	@$(RUN) -m mypy

layers: $(STAMP)
	@$(VENV)/bin/lint-imports --no-cache --no-logo

layout: $(STAMP)
	@$(RUN) -m pytest $(SPREAD) -m "not slow" $(CHECKS)

test: check
	@$(RUN) -m pytest $(SPREAD) --dist loadfile -m "not slow" $(CHECKS:%=--ignore=%)

test-all: test
	@$(RUN) -m pytest $(SPREAD) --dist load -m slow

mutation: $(STAMP)
	@$(RUN) -m tests.mutation

bench: $(STAMP)
	@$(RUN) -m bench

bench-peers: $(STAMP)
	@$(RUN) -m bench.peers

docs: $(STAMP)
	@$(RUN) -m tests.reference

clean:
	rm -rf $(VENV) build dist
