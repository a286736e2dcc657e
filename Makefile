PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.DEFAULT_GOAL := help

.PHONY: help
help:  ## Show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: $(INSTALLED)  ## Real flights in a table that grows wider, and the same on plain dbt-spark
	$(BIN)/python examples/flights/demo.py

.PHONY: test
test: $(INSTALLED)  ## All tests, on real Spark and Delta
	$(BIN)/pytest tests

.PHONY: test-unit
test-unit: $(INSTALLED)  ## The tests of the pure part, in seconds
	$(BIN)/pytest tests/unit

.PHONY: lint
lint: $(INSTALLED)  ## Format check, lint, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

.PHONY: format
format: $(INSTALLED)  ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: constraints
constraints: $(INSTALLED)  ## Pin anew what the tests install
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --upgrade --python-version 3.10 --no-annotate --no-header \
		--extra dev --extra demo --constraint requirements/pins.in pyproject.toml \
		--output-file requirements/constraints.txt

.PHONY: clean
clean:  ## Remove the virtual environment and what the demo made
	rm -rf $(VENV) examples/flights/.run

$(INSTALLED): pyproject.toml requirements/constraints.txt
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/pip install --quiet --constraint requirements/constraints.txt --editable '.[dev,demo]'
	touch $@
