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
test: $(INSTALLED)  ## All tests but the slow ones, on real Spark and Delta
	$(BIN)/pytest tests -m 'not slow'

.PHONY: test-slow
test-slow: $(INSTALLED)  ## The tests that start many processes: a drop that is killed at each of its commits
	$(BIN)/pytest tests -m slow

.PHONY: test-unit
test-unit: $(INSTALLED)  ## The tests of the pure part, in seconds
	$(BIN)/pytest tests/unit

# One environment for each lane, from its constraints; all lanes run even where one fails.
LANES := $(basename $(notdir $(wildcard requirements/matrix/*.in)))
MATRIX := .matrix
MATRIX_TESTS := tests/conformance $(addprefix tests/functional/test_, \
	engines.py nested.py described.py history.py table_states.py plan_on_delta.py \
	drop_type_widening.py drop_by_sql.py snapshots.py python_models.py)

.PHONY: test-matrix
test-matrix: $(INSTALLED)  ## The engine's tests on every supported Spark and Delta, and docs/conformance.md
	@failed=''; for lane in $(LANES); do $(MAKE) test-lane LANE=$$lane || failed="$$failed $$lane"; done; \
	$(BIN)/python -m tests.conformance.report $(MATRIX); \
	if [ -n "$$failed" ]; then echo "failed:$$failed"; exit 1; fi

.PHONY: test-lane
test-lane: $(MATRIX)/$(LANE)/.installed  ## One lane of the matrix, such as LANE=spark-3.5
	rm -f $(MATRIX)/$(LANE)/conformance.json
	$(MATRIX)/$(LANE)/bin/pytest $(MATRIX_TESTS) --conformance-report $(MATRIX)/$(LANE)/conformance.json

.PHONY: readers
readers: $(INSTALLED)  ## What other readers can do with a table; writes docs/readers.md
	$(BIN)/pytest tests/readers --readers-page docs/readers.md

.PHONY: bench
bench: $(INSTALLED)  ## Ours against another program, on this machine: ratios
	$(BIN)/python -m benchmarks.planning
	$(BIN)/python -m benchmarks.dropping

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
	for lane in $(LANES); do $(BIN)/uv pip compile --quiet --universal --upgrade --python-version 3.10 \
		--no-annotate --no-header --extra dev --constraint requirements/matrix/$$lane.in pyproject.toml \
		--output-file requirements/matrix/$$lane.txt || exit 1; done

.PHONY: clean
clean:  ## Remove the virtual environment and what the demo made
	rm -rf $(VENV) $(MATRIX) examples/flights/.run

$(INSTALLED): pyproject.toml requirements/constraints.txt
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/pip install --quiet --constraint requirements/constraints.txt --editable '.[dev,demo]'
	touch $@

$(MATRIX)/%/.installed: pyproject.toml requirements/matrix/%.txt
	$(PYTHON) -m venv --clear $(MATRIX)/$*
	$(MATRIX)/$*/bin/pip install --quiet --constraint requirements/matrix/$*.txt --editable '.[dev]'
	touch $@
