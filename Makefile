# make demo   set everything up and run the PyTorch graphs cold and warm
# make test   set everything up and run the tests
# make test-checked
#             the tests in check mode: everything is compiled twice, and each hit again; CHECKED
#             says which, all by default
# make test-bundles
#             the tests with programs of other builds of MLIR, and with Ray, all of which it installs
# make lint   formatting, lint, types, and the import contract
# make tidy   clang-tidy
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# On all cores, each file of tests on one.
AT_ONCE := -n auto --dist loadfile
NATIVE := $(shell find native cmake -type f) CMakeLists.txt pyproject.toml

.PHONY: demo test test-checked test-bundles lint tidy stubs clean

demo: $(VENV)/installed
	$(BIN)/python examples/demo.py

test: $(VENV)/installed-test
	$(BIN)/python -m pytest $(AT_ONCE)

test-checked: $(VENV)/installed-test
	TWINJIT_CHECK=1 TWINJIT_CHECK_HITS=1 $(BIN)/python -m pytest $(AT_ONCE) $(CHECKED)

test-bundles: $(VENV)/installed-test
	$(BIN)/python -m pip install --quiet --group bundles
	$(BIN)/python -m pytest tests/foreign tests/clusters/test_ray.py

lint: $(VENV)/installed-lint
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run --Werror $(filter %.cpp %.h,$(NATIVE))

# Minutes, and only where clang-tidy is installed: MLIR's headers are large.
tidy: $(VENV)/installed
	printf '%s\n' $(filter-out native/tests/%,$(filter %.cpp,$(NATIVE))) | \
	  xargs -P 2 -n 1 clang-tidy --quiet -p $(firstword $(wildcard build/cp*))

# The committed stubs of the native modules; a test compares them with the modules.
stubs: $(VENV)/installed-test
	for module in _llvm _mlir _sql; do \
	  $(BIN)/python -m nanobind.stubgen -q -p native/stubs.pat -m twinjit._native.$$module \
	    -o src/twinjit/_native/$$module.pyi || exit 1; \
	done

# Editable, so that only a change of the native code or of the dependencies installs again.
$(VENV)/installed: $(NATIVE)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --editable .
	touch $@

$(VENV)/installed-test: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --group test
	touch $@

$(VENV)/installed-lint: $(VENV)/installed-test
	$(BIN)/python -m pip install --quiet --group lint
	touch $@

clean:
	rm -rf build $(VENV)
