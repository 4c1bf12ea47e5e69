# The API Surface. `make` alone lists what can be made.
PYTHON ?= python3
BIN := .venv/bin
PY := $(BIN)/python
PIP := $(PY) -m pip --quiet --disable-pip-version-check install
NOTEBOOKS = $(sort $(wildcard book/*.ipynb))
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: help book test format test-pages test-judges test-live notebook serve save run record bench
.PHONY: fuzz mutants verdicts
.PHONY: where lab lock picture clean

help:  ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 22

# --- the environment -------------------------------------------------------------
# One stamp per lock: a target installs only what it needs, once.

.venv/.stamp: requirements/book.lock pyproject.toml
	@$(PYTHON) tools/check_python.py
	@echo "==> creating .venv from requirements/book.lock (about a minute, once)"
	@test -x $(PY) || $(PYTHON) -m venv .venv
	@$(PIP) --require-hashes -r requirements/book.lock
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

.venv/.stamp-%: requirements/%.lock .venv/.stamp
	@echo "==> adding requirements/$*.lock to .venv"
	@$(PIP) --require-hashes --no-deps -r $<
	@touch $@

# --- read and write --------------------------------------------------------------

book: .venv/.stamp  ## Build the HTML book and say where to open it
	@$(PY) -m tools.build

notebook: .venv/.stamp  ## Open the chapters in JupyterLab
	$(BIN)/jupyter lab --notebook-dir=book

serve: book  ## Build, then serve the book on http://localhost:8000
	$(PY) -m http.server 8000 --bind 127.0.0.1 --directory book/_build/html

run: .venv/.stamp  ## Execute notebooks in place (all, or NB="book/wire.ipynb …")
	$(PY) -m tools.run $(or $(NB),$(NOTEBOOKS))

save: .venv/.stamp  ## Save the marked cells into src/apisurface and tidy the notebooks
	$(PY) -m tools.save

where: .venv/.stamp  ## Say which chapter and cell a name comes from (NAME=chat)
	@$(PY) -m tools.where $(NAME)

lab: .venv/.stamp  ## Test the engine that you write in book/lab (LAB_MODULE=…)
	@$(BIN)/pytest book/lab -q

# --- the tests, in tiers ---------------------------------------------------------

# A step that passed is not run again until something it looks at changes; FRESH=1 runs all.
STEP := @$(PY) -m tools.step
CANARY := tests/tools/test_canary.py
UNIT := tests --ignore=tests/pages --ignore=tests/live --ignore=tests/judges --ignore=$(CANARY)

test: .venv/.stamp  ## Lint, types, gates, nbval, unit and property tests, strict build
	$(STEP) 1/12 lint . -- $(BIN)/ruff check
	$(STEP) 2/12 style . -- bash -c "$(BIN)/ruff format --check && $(PY) -m tools.style --check"
	$(STEP) 3/12 types src -- $(BIN)/mypy
	$(STEP) 4/12 silence .ci tests book -- $(PY) -m tools.silence
	$(STEP) 5/12 save src book -- $(PY) -m tools.save --check
	$(STEP) 6/12 cells book -- $(PY) -m tools.cells
	$(STEP) 7/12 prose book src -- $(PY) -m tools.prose
	$(STEP) 8/12 nbval book src -- $(PY) -m tools.nbval
	$(STEP) 9/12 outputs book src README.md LICENSE -- $(PY) -m tools.outputs
	$(STEP) 10/12 tests . -- $(PY) -m pytest $(UNIT) -q -n 2 --dist worksteal
	$(STEP) 11/12 canaries tests/tools tests/conftest.py book/_ext book/_config.yml \
	  -- $(PY) -m pytest $(CANARY) -q -n 2 --dist worksteal
	$(STEP) 12/12 build book src -- $(PY) -m tools.build --strict
	@echo "==> all passed"

format: .venv/.stamp  ## Format the Python files and the notebooks' code cells
	@$(BIN)/ruff check --fix --quiet tools tests book
	@$(BIN)/ruff format --quiet tools tests book
	@$(PY) -m tools.style

test-pages: .venv/.stamp-pages  ## The built pages in Chromium, network blocked
	@$(PY) -m tools.build
	$(BIN)/pytest tests/pages -n 2 --dist loadgroup

test-judges: .venv/.stamp-judges  ## Outside judges: suites, recorded traffic, official clients
	$(PY) -m tools.archives
	$(BIN)/pytest tests/judges

verdicts: .venv/.stamp-judges  ## Write down what got better with the judges, never what got worse
	$(PY) -m tools.archives
	RECORD_VERDICTS=1 $(BIN)/pytest tests/judges

test-live: .venv/.stamp-live .venv/.stamp-judges  ## The boundary against a real model server on loopback
	$(BIN)/pytest tests/live

record: .venv/.stamp-live  ## Record a real model server into book/recordings (ONLY="chat …")
	$(PY) -m tools.record $(ONLY)

bench: .venv/.stamp-judges  ## Speed as a ratio against named peers
	@$(PY) -m tools.bench

fuzz: .venv/.stamp-judges  ## The property tests, 100 times as deep and with new examples
	HYPOTHESIS_PROFILE=fuzz $(BIN)/pytest -m hypothesis -n 2 $(UNIT) tests
	FUZZ_PAIRS=100000 $(BIN)/pytest tests/judges/test_validator_fuzz.py -s

mutants: .venv/.stamp-mutants  ## Break the package on purpose: who notices? (MODULE="wire …" N=12)
	$(PY) -m tools.mutants $(MODULE) --sample $(or $(N),12)

# --- upkeep ----------------------------------------------------------------------

lock:  ## Write the hash-pinned locks again (needs uv)
	@$(PYTHON) tools/lock.py

picture: .venv/.stamp-pages  ## Take the picture of a page that the README shows
	@$(PY) -m tools.build
	@$(PY) -m tools.picture

clean:  ## Remove what was built; keep .venv
	rm -rf book/_build dist .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis
