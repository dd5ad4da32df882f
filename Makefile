# Everything here starts from a machine with Python 3.11 or newer and nothing else.
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
CORE    = $(VENV)/.core
READY   = $(VENV)/.ready
OLD    ?= .venv-lowest
OLD_TESTS = $(addprefix tests/, laws problems channels certificates tables queries releases test_compatibility.py)

.PHONY: test quick cases lowest demo bench docs serve judges lint format clean help

help:            ## list the targets
	@grep -E '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed 's/: .*##/\t/'

$(CORE): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Takifugu needs Python 3.11 or newer; set PYTHON=")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[files]'
	@touch $@

$(READY): $(CORE)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

lint: $(READY)   ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# A file's tests stay on one core: what they set up or remember is then made once.
test: lint       ## lint, type-check and test
	$(BIN)/python -m pytest -n auto --dist loadfile

quick: $(READY)  ## lint and the fast tests, in about a minute
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m pytest -m 'not slow' tests

cases: $(READY)  ## all of the random cases, of which make test goes through a sixth
	$(BIN)/python -m benchmarks.many_cases

lowest:          ## the fast tests of everyday parts with the oldest libraries that pyproject.toml allows
	$(PYTHON) -m venv $(OLD)
	$(OLD)/bin/python -m pip install --quiet --disable-pip-version-check uv
	$(OLD)/bin/uv pip install --quiet --python $(OLD)/bin/python --resolution lowest-direct -e '.[files,excel]' \
	  'hypothesis>=6.100' 'jsonschema>=4.20' 'mpmath>=1.3' 'openpyxl>=3.1' 'polars>=1.0' 'pytest>=8.2'
	$(OLD)/bin/python -m pytest -m 'not slow' $(OLD_TESTS)

demo: $(CORE)    ## the main job, from nothing
	$(BIN)/python -m takifugu demo

bench: $(READY)  ## ratios against peers, side by side
	$(BIN)/python -m benchmarks --page docs/benchmarks.md

judges: $(READY) ## anonymeter and sdmetrics, in an environment of their own (a gigabyte; Python 3.11 or 3.12)
	$(BIN)/python -m studies.judges --make

docs: $(READY)   ## the documentation, as pages in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "Open site/index.html; make serve shows it with its search, which a browser does not run from the disk"

serve: docs      ## the documentation with its search, at an address of this machine
	@echo "http://127.0.0.1:8000/index.html (Ctrl-C ends it)"
	@$(BIN)/python -m http.server 8000 --bind 127.0.0.1 --directory site

format: $(READY) ## rewrite the code in the house style
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:           ## remove everything that was made
	rm -rf $(VENV) $(OLD) .judges build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +
