PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
MATRIX := .matrix

.DEFAULT_GOAL := help

.PHONY: help
help:  ## Show the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: $(INSTALLED)  ## Real flights in a table that is widened, and the same with dbt-spark
	$(BIN)/python examples/flights/demo.py

# Two processes, each with a Spark and a metastore of its own: the tests of one leave a core idle. The
# second one's output is printed when both have ended. The lanes, test-slow and the demo have the usual
# settings of Spark.
TEST := $(BIN)/pytest -m 'not slow and not promise' --small-tables --durations=30
FIRST_TESTS := tests/conformance tests/unit tests/walk $(wildcard tests/functional/test_[a-k]*.py tests/functional/test_lo*.py \
	tests/functional/test_table_fo*.py tests/functional/test_[vw]*.py)
SECOND_TESTS := tests/readers $(filter-out $(FIRST_TESTS),$(wildcard tests/functional/test_*.py))
SECOND_LOG := .pytest_second.log
# Half of the time: other states of tables, settings, writers and processes.
RARER_TESTS := $(wildcard $(addsuffix .py,$(addprefix tests/functional/test_, \
	analyze bad_configurations catalog_names char concurrency contracts custom_strategy databricks_examples \
	declared_columns drop_again drop_by_sql drop_killed drop_partition_values empty_runs file_formats \
	filters_after_widening float_statistics* generated_* hidden_properties history hostile_* keys \
	liquid_clustering listeners merge_clauses microbatch optimize* other_formats own_materializations \
	partition_columns plan_apply plan_is_the_run project_folder projects ranges read_only replaced_macros \
	rewrite_after_run secrets self_reference session_catalog session_copies several_targets source_freshness \
	spark_dies stale_views start table_folders target_type unwritable_tables upkeep_by_sql user_metadata vacuum \
	varchar variant void_columns)))
LEFT_OUT = $(if $(ALL),,$(RARER_TESTS))

define in_two
@$(TEST) $(2) > $(SECOND_LOG) 2>&1 & second=$$!; \
	trap 'kill $$second' INT TERM; \
	$(TEST) $(1); failed=$$?; \
	wait $$second || failed=$$?; cat $(SECOND_LOG); exit $$failed
endef

.PHONY: test
test: $(INSTALLED)  ## The tests of the project without the slow and the rarer ones, on real Spark and Delta; ALL=1: with the rarer ones
	$(call in_two,$(filter-out $(LEFT_OUT),$(FIRST_TESTS)),$(filter-out $(LEFT_OUT),$(SECOND_TESTS)))

.PHONY: test-rarer
test-rarer: $(INSTALLED)  ## The tests of rarer states, settings and processes, which make test leaves out
	$(call in_two,$(filter $(RARER_TESTS),$(FIRST_TESTS)),$(filter $(RARER_TESTS),$(SECOND_TESTS)))

.PHONY: test-servers
test-servers: $(INSTALLED)  ## Every feature on servers and clusters that the tests start; needs Debian's postgresql
	$(BIN)/pytest tests/servers/connect tests/servers/thrift
	$(BIN)/pytest tests/servers/keep_alive
	$(BIN)/pytest tests/servers/standalone
	$(MAKE) test-http
	$(MAKE) test-yarn
	$(MAKE) test-catalogs
	$(MAKE) test-metastore
	$(MAKE) test-s3

# Spark's HTTP server listens on every address, so the tests run in a network that has loopback only.
# The jars are downloaded before.
.PHONY: test-http
test-http: $(INSTALLED)  ## Every feature on a Thrift server over HTTP
	$(BIN)/python -c 'from tests.servers.jars import resolved_jars; resolved_jars()'
	unshare --user --map-root-user --net sh -c 'ip link set lo up && exec $(BIN)/pytest tests/servers/http'

.PHONY: test-yarn
test-yarn: $(INSTALLED)  ## Every feature on a YARN cluster, with the driver inside dbt
	$(BIN)/pytest tests/servers/yarn

.PHONY: test-catalogs
test-catalogs: $(INSTALLED)  ## Delta and Iceberg tables, in two catalogs of Spark; needs Debian's postgresql
	$(BIN)/pytest tests/servers/catalogs
	$(BIN)/pytest tests/servers/jdbc_catalog

.PHONY: test-metastore
test-metastore: $(INSTALLED)  ## Every feature with a metastore in PostgreSQL; needs Debian's postgresql
	$(BIN)/pytest tests/servers/metastore

.PHONY: test-s3
test-s3: $(INSTALLED)  ## Every feature with tables on S3; needs Debian's postgresql
	$(BIN)/pytest tests/servers/s3
	$(BIN)/pytest tests/servers/s3_connect

.PHONY: test-standard
test-standard: $(INSTALLED)  ## dbt's own test suite
	$(BIN)/pytest tests/functional/standard

.PHONY: test-slow
test-slow: $(INSTALLED)  ## The tests that take minutes, and the combinations that make test leaves out
	$(BIN)/pytest tests -m slow

COVERAGE := $(MATRIX)/coverage
MEASURED := test ALL=1

.PHONY: coverage
coverage: export COVERAGE_FILE = $(CURDIR)/$(COVERAGE)/data
coverage: $(INSTALLED)  ## How much of the code the tests run; other targets: MEASURED=test-unit
	rm -rf $(COVERAGE) && mkdir -p $(COVERAGE)
	@COVERAGE_PROCESS_START=$(CURDIR)/pyproject.toml $(MAKE) $(MEASURED); failed=$$?; \
	$(BIN)/coverage combine --quiet && $(BIN)/coverage html --quiet && $(BIN)/coverage report || failed=1; exit $$failed

WALKS ?= 0
.PHONY: test-promise
test-promise: $(INSTALLED)  ## Random models and repairs over random schemas, in more than an hour: is every value stored exactly? WALKS=1 to 9: others
	$(BIN)/pytest tests/walk -m promise --other-walks $(WALKS) --conformance-report $(MATRIX)/promise/conformance.json

.PHONY: test-unit
test-unit: $(INSTALLED)  ## The tests that need no Spark, in seconds
	$(BIN)/pytest tests/unit

.PHONY: test-random
test-random: $(INSTALLED)  ## The property tests with many new random examples
	$(BIN)/pytest $(shell grep -l "hypothesis import.* given" -r tests --include=test_*.py) --hypothesis-profile random

# Spark, Java and URIs treat each of these characters in another way.
ODD_FOLDER = $(MATRIX)/a b%20 \#ü

.PHONY: test-folder
test-folder: $(INSTALLED)  ## The tests without Spark, and a project, in a folder with blanks, %, # and an umlaut
	rm -rf "$(ODD_FOLDER)" && mkdir -p "$(ODD_FOLDER)"
	git ls-files -z | xargs -0 cp --parents -t "$(ODD_FOLDER)"
	cd "$(ODD_FOLDER)" && PYTHONPATH=. "$(CURDIR)/$(BIN)/pytest" tests/unit tests/functional/test_project_folder.py

# One environment for each lane, from its constraints; all lanes run even where one fails. Each runs what
# depends on what it is named after: the engine, dbt or Python.
PINNED_LANES := $(basename $(notdir $(wildcard requirements/matrix/*.in)))
PYTHON_LANES := python-3.10 python-3.12 python-3.13
LANES := $(PINNED_LANES) $(PYTHON_LANES)
LANE_PYTHON = $(if $(filter python-%,$(LANE)),$(subst -,,$(LANE)),$(PYTHON))
LANE_PINS = $(if $(filter python-%,$(LANE)),requirements/constraints.txt,requirements/matrix/$(LANE).txt)
ENGINE_TESTS := tests/conformance $(addprefix tests/functional/test_, \
	engines.py nested.py described.py session_catalog.py history.py table_states.py generated_columns.py \
	void_columns.py plan_on_delta.py drop_type_widening.py drop_by_sql.py snapshots.py python_models.py \
	merge_clauses.py replace_where.py liquid_clustering.py optimize.py optimize_after_run.py vacuum.py \
	analyze.py tblproperties.py persist_docs.py declared_columns.py renamed_columns.py \
	restore_and_backfill.py backfill_new_columns.py file_formats.py)
DBT_TESTS := tests/unit $(addprefix tests/functional/test_, \
	incremental.py type_widening_config.py snapshots.py python_models.py contracts.py tblproperties.py \
	widen_columns.py report_type_widening.py check_type_widening.py errors.py start.py catalog.py \
	seeds.py custom_strategy.py create.py target_type.py) \
	$(addprefix tests/functional/standard/test_, basic.py incremental.py dbt_show.py empty.py unit_testing.py)
PYTHON_TESTS := tests/unit $(addprefix tests/functional/test_, \
	incremental.py python_models.py widen_columns.py errors.py start.py catalog.py wheel.py)
LANE_TESTS = $(or $(and $(filter spark-%,$(LANE)),$(ENGINE_TESTS)), \
	$(and $(filter python-%,$(LANE)),$(PYTHON_TESTS)),$(DBT_TESTS))

.PHONY: test-matrix
test-matrix: $(INSTALLED)  ## Every supported Spark, Delta, dbt-core and Python; writes docs/conformance.md
	@failed=''; for lane in $(LANES); do $(MAKE) test-lane LANE=$$lane || failed="$$failed $$lane"; done; \
	$(BIN)/python -m tests.conformance.report $(MATRIX); $(BIN)/python -m tests.compatibility $(MATRIX); \
	if [ -n "$$failed" ]; then echo "failed:$$failed"; exit 1; fi

.PHONY: test-lane
test-lane: $(MATRIX)/$(LANE)/.installed  ## One lane of the matrix, such as LANE=spark-3.5
	rm -f $(MATRIX)/$(LANE)/*.json $(MATRIX)/$(LANE)/*.xml
	$(MATRIX)/$(LANE)/bin/pytest $(LANE_TESTS) --junit-xml $(MATRIX)/$(LANE)/results.xml \
		--conformance-report $(MATRIX)/$(LANE)/conformance.json

.PHONY: compatibility
compatibility: $(INSTALLED)  ## dbt's own test suite on this adapter and on dbt-spark; writes docs/compatibility.md
	mkdir -p $(MATRIX)/standard
	-$(BIN)/pytest tests/functional/standard --junit-xml $(MATRIX)/standard/deltawiden.xml
	-$(BIN)/pytest tests/functional/standard --junit-xml $(MATRIX)/standard/spark.xml --dbt-adapter spark
	$(BIN)/python -m tests.compatibility $(MATRIX)

.PHONY: readers
readers: $(INSTALLED)  ## What other readers can do with a table; writes docs/readers.md
	$(BIN)/pytest tests/readers --readers-page docs/readers.md

.PHONY: pictures
pictures: $(INSTALLED)  ## Screenshots of the pages of plan and report_type_widening, in docs/; needs Chromium
	$(BIN)/pytest tests/functional/test_downstream.py tests/functional/test_report_type_widening.py \
		-m 'not slow' --pictures docs

.PHONY: docs-page
docs-page: demo  ## A screenshot of a table's page in dbt docs: docs/catalog.png; needs Chromium
	$(BIN)/python -m examples.flights.docs_page

.PHONY: recording
recording: $(INSTALLED)  ## A recording of the demo in a terminal: docs/demo.svg
	$(BIN)/python -m examples.flights.recording

.PHONY: docs
docs: $(MATRIX)/docs/.installed  ## The documentation as a site, in site/; a dead link or a page outside of the navigation is an error
	NO_MKDOCS_2_WARNING=1 $(MATRIX)/docs/bin/mkdocs build --quiet --config-file website/mkdocs.yml

BROWSER = $(firstword $(shell command -v chromium chromium-browser google-chrome))
.PHONY: docs-widths
docs-widths: docs  ## Check that no page of the site is wider than a phone or a desktop; needs Chromium
	$(PYTHON) website/widths.py $(BROWSER)

# The wheel with the script for diagrams is for a newer Python, and is only read.
$(MATRIX)/docs/.installed: requirements/docs.txt requirements/mermaid.txt
	$(PYTHON) -m venv --clear $(MATRIX)/docs
	$(MATRIX)/docs/bin/pip install --quiet --requirement requirements/docs.txt
	$(MATRIX)/docs/bin/pip download --quiet --no-deps --only-binary=:all: --python-version 3.12 --dest $(MATRIX)/docs \
		--requirement requirements/mermaid.txt
	touch $@

.PHONY: bench
bench: $(INSTALLED)  ## This adapter compared with other programs; writes docs/benchmarks.md; ONLY=merges runs one
	$(BIN)/python -m benchmarks $(ONLY)

# To grow is a decision: it raises these numbers.
PYTHON_LINES := 34017
SQL_LINES := 1081
MODULE_LINES := 400

.PHONY: weight
weight:  ## Check how many lines the code has
	@find dbt -name '*.py' -o -name '*.sql' | xargs wc -l | awk -v most=$(MODULE_LINES) \
		-v python=$(PYTHON_LINES) -v sql=$(SQL_LINES) '$$2 == "total" { next } \
		$$1 > most { print $$2 ": " $$1 " lines of at most " most; failed = 1 } \
		{ sum[$$2 ~ /py$$/] += $$1 } \
		END { print "Python: " sum[1] " of " python " lines; SQL: " sum[0] " of " sql; \
		exit failed || sum[1] > python || sum[0] > sql }'

# Without the other packages of the environment: import-linter reads namespace packages only, and dbt-core
# makes `dbt` one of another kind.
IMPORT_LINTER := $(VENV)/import-linter

.PHONY: lint
lint: $(INSTALLED) weight  ## Check the format, the code, the types, the direction of imports, spelling and workflows
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/codespell $$(git ls-files)
	$(BIN)/pymarkdown scan $$(git ls-files '*.md')
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/[bf]*.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.dependabot .github/dependabot.yml
	PYTHONPATH=$(IMPORT_LINTER):. $(BIN)/python -S -c 'from importlinter.cli import lint_imports_command as run; run()'

.PHONY: format
format: $(INSTALLED)  ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: constraints
constraints: $(INSTALLED)  ## Pin anew what the tests install
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --upgrade --python-version 3.10 --no-annotate --no-header \
		--extra dev --extra coverage --extra demo --extra bench --extra lint --extra servers --constraint requirements/pins.in --override requirements/overrides.in pyproject.toml \
		--output-file requirements/constraints.txt
	for lane in $(PINNED_LANES); do $(BIN)/uv pip compile --quiet --universal --upgrade --python-version 3.10 \
		--no-annotate --no-header --extra dev --constraint requirements/matrix/$$lane.in \
		--override requirements/overrides.in pyproject.toml --output-file requirements/matrix/$$lane.txt || exit 1; done
	for tools in docs release; do $(BIN)/uv pip compile --quiet --universal --upgrade --python-version 3.10 \
		--no-annotate --no-header requirements/$$tools.in --output-file requirements/$$tools.txt || exit 1; done

# The tools and the user have an environment each. The user's one has never seen this folder, and has no
# pins: it gets the versions that a stranger gets today.
RELEASE := $(MATRIX)/release
EXAMPLE := $(RELEASE)/example

.PHONY: release
release:  ## Build dist/, check it, run the demo from the wheel alone, and say what is left to a person
	rm -rf dist $(RELEASE)
	$(PYTHON) -m venv $(RELEASE)/tools
	$(RELEASE)/tools/bin/pip install --quiet --requirement requirements/release.txt
	$(RELEASE)/tools/bin/python -m build --outdir dist
	$(RELEASE)/tools/bin/twine check --strict dist/*
	$(RELEASE)/tools/bin/check-wheel-contents dist/*.whl
	git ls-files dbt | sort > $(RELEASE)/expected
	$(PYTHON) -m zipfile --list "$$(echo dist/*.whl)" | awk '$$1 ~ /^dbt\// { print $$1 }' | sort > $(RELEASE)/contained
	diff $(RELEASE)/expected $(RELEASE)/contained
	$(PYTHON) -m venv $(RELEASE)/user
	$(RELEASE)/user/bin/pip install --quiet "$$(echo dist/*.whl)[demo]"
	cp -r examples/flights $(EXAMPLE) && rm -rf $(EXAMPLE)/.run
	cd $(EXAMPLE) && ../user/bin/python demo.py
	@version=$$($(RELEASE)/user/bin/python -c 'from importlib.metadata import version; print(version("dbt-deltawiden"))'); \
	grep -q "^## $$version" CHANGELOG.md || { echo "CHANGELOG.md has no section $$version"; exit 1; }; \
	left=''; grep -qE "^## $$version - 20[0-9]{2}-[0-9]{2}-[0-9]{2}$$" CHANGELOG.md || { left=day; \
	echo "The heading of $$version in CHANGELOG.md has no day yet: ## $$version - YYYY-MM-DD"; }; \
	links=$$(grep -oE '\]\([^):]+\)' README.md | tr -d '()]' | sed 's/#.*//' | sort -u | xargs); \
	[ -z "$$links" ] || { left=links; echo "PyPI can't follow these links of README.md: $$links"; }; \
	[ -z '$(TAG)' ] || { [ '$(TAG)' = "v$$version" ] && [ -z "$$left" ]; } || \
	{ echo "$(TAG) is not the tag of a finished version $$version"; exit 1; }; \
	echo "dist/ has version $$version. docs/releasing.md says what is left: a day, links, a tag, and an approval."

.PHONY: clean
clean:  ## Remove the virtual environments and what demo and benchmarks made
	rm -rf $(VENV) $(MATRIX) .bench dist site examples/flights/.run

$(INSTALLED): pyproject.toml requirements/constraints.txt
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/pip install --quiet --constraint requirements/constraints.txt --editable '.[dev,coverage,demo,bench,servers]'
	$(BIN)/pip install --quiet --constraint requirements/constraints.txt --target $(VENV)/import-linter import-linter
	touch $@

# Without dependencies: the pins are all of them.
$(MATRIX)/$(LANE)/.installed: pyproject.toml $(LANE_PINS)
	$(LANE_PYTHON) -m venv --clear $(MATRIX)/$(LANE)
	$(MATRIX)/$(LANE)/bin/pip install --quiet --no-deps --requirement $(LANE_PINS)
	$(MATRIX)/$(LANE)/bin/pip install --quiet --no-deps --editable .
	touch $@
