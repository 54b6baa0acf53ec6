# One door for everything. `make help` says what is behind it.
VENV := .venv
BIN := $(VENV)/bin
# Any Python from 3.11 on: `make demo PYTHON=python3.13` makes .venv anew if it is of another one.
ifeq ($(PYTHON),)
override PYTHON := python3
else
KIND := -c 'import sys; print(sys.implementation.cache_tag, sys.abiflags)'
ifeq ($(shell $(PYTHON) $(KIND) 2> /dev/null),)
# The `python3.13` that pyenv puts on PATH runs only where somebody chose it; the one behind it runs always.
override PYTHON := $(or $(shell ls -d $(or $(PYENV_ROOT),$(HOME)/.pyenv)/versions/3.*/bin/$(PYTHON) 2> /dev/null | grep -v 't\(-dev\)\{0,1\}/bin/' | sort -V | tail -n 1),$(PYTHON))
endif
ifneq ($(shell $(PYTHON) $(KIND)),$(shell [ ! -x $(BIN)/python ] || $(BIN)/python $(KIND)))
$(VENV)/created: another-python
endif
endif
CODE := src tests benchmarks examples docs
CPP := core/*.hpp core/*.cpp core/tests/*.hpp core/tests/*.cpp core/fuzz/*.cpp bindings/*.hpp bindings/*.cpp
FUZZ_TARGETS := frame index wire example columns csv statistics saved strings
FUZZ_SECONDS ?= 60
# There are many doors, and most of them lead to the core.
DOOR_SECONDS ?= $(shell expr $(FUZZ_SECONDS) / 20)
SOAK_SECONDS ?= 600
# What kills processes, lets calls fail, commits and dies, cuts and flips, lies in every way, knocks at all doors, and soaks.
HOSTILE := tests/crash tests/test_commits_sets.py tests/test_commits_folders.py tests/test_commits_stores.py tests/corrupt tests/conformance/test_hostile.py tests/conformance/test_wire.py tests/test_pack_hostile.py tests/doors tests/test_soak.py tests/test_faults.py tests/mutations
FORKING := tests/integrations/test_torch.py tests/integrations/test_s3.py
FUZZ_PROBE := mkdir -p build && echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' | clang++ -x c++ -fsanitize=fuzzer,address - -o build/fuzz-probe 2> /dev/null
BROWSER_PROBE := command -v chromium > /dev/null
FONT_PROBE := fc-list :lang=zh | grep -q .
JAVA_PROBE := command -v java > /dev/null
# Processes that share the tests: as many as there are processors. WORKERS=0 is for a debugger.
WORKERS ?= auto
SHARED := -n $(WORKERS) --dist worksteal
PIP := $(BIN)/pip --disable-pip-version-check --quiet

.DEFAULT_GOAL := help
.PHONY: help demo test test-integrations test-pythons check check-python check-core check-bindings another-python hostile race mutants soak conformance system fuzz format docs reference pictures bench bench-page dist clean

help: ## print this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 20

demo: $(VENV)/installed ## build, then draw pictures, pack, train, resume and repair before your eyes
	$(BIN)/tfreel demo --force

test: $(VENV)/test ## run the tests that need nothing heavy
	$(BIN)/python -m pytest $(SHARED) tests --ignore tests/integrations

test-integrations: $(VENV)/integrations ## run the tests against TensorFlow, PyTorch, JAX, a browser and other peers
	@$(BROWSER_PROBE) || (echo "the browser tests need Chromium: make system, or apt-get install chromium" && exit 1)
	@$(JAVA_PROBE) || (echo "the tests of Spark need Java 17: make system, or apt-get install default-jre-headless" && exit 1)
	$(BIN)/python -m pytest $(SHARED) tests/integrations $(FORKING:%=--ignore %) --ignore-glob 'tests/integrations/test_ray*.py'
	# Each by itself: they fork, and a process where JAX or TensorFlow has threads may hang then.
	for file in $(FORKING); do $(BIN)/python -m pytest $$file || exit 1; done
	# By themselves too: a cluster wants both processors, and its driver has threads.
	$(BIN)/python -m pytest tests/integrations/test_ray*.py

test-pythons: $(VENV)/check ## build the wheels as they are published, and test them with every Python from 3.11 on that is here
	$(BIN)/python tests/pythons.py

hostile: $(VENV)/test ## kill, fail, cut, flip, lie, knock and soak; the counts come last
	$(BIN)/python -m pytest $(SHARED) $(HOSTILE)

race: $(VENV)/check ## the tests of the core under the thread sanitizer
	mkdir -p build
	$(BIN)/cmake -S . -B build/race -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DTFREEL_CORE_TESTS=ON -DTFREEL_SANITIZE=thread -DCMAKE_BUILD_TYPE=RelWithDebInfo > build/race.log 2>&1 || (cat build/race.log; exit 1)
	$(BIN)/cmake --build build/race --target core_tests
	TSAN_OPTIONS=allocator_may_return_null=1 build/race/core_tests

mutants: $(VENV)/check ## take out the guards of the core, one by one: a test must fail; ARGS="--sample 5"
	$(BIN)/python tests/mutations/run.py $(ARGS)

soak: $(VENV)/test ## epochs for SOAK_SECONDS=600: memory, files and threads must stay flat
	cd tests && SOAK_SECONDS=$(SOAK_SECONDS) $(CURDIR)/$(BIN)/python soak.py

conformance: $(VENV)/test ## compare millions of messages with protobuf, from a new seed; ARGS="--count N --seed N"
	cd tests && $(CURDIR)/$(BIN)/python -m conformance.wire $(ARGS)

check: check-python check-core check-bindings ## lint, types, the one-way street, core tests under sanitizers, bindings for Python 3.12 and newer

check-python: $(VENV)/check
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)
	$(BIN)/mypy
	$(BIN)/lint-imports

check-core: $(VENV)/check
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	mkdir -p build
	$(BIN)/cmake -S . -B build/core -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DTFREEL_CORE_TESTS=ON -DTFREEL_SANITIZE=address,undefined -DCMAKE_BUILD_TYPE=RelWithDebInfo > build/core.log 2>&1 || (cat build/core.log; exit 1)
	$(BIN)/cmake --build build/core
	build/core/core_tests
	for name in $(FUZZ_TARGETS); do build/core/$${name}_replay core/fuzz/seeds/$$name/* || exit 1; done

# Wheels for Python 3.12 and newer are built with the limited API, which has less than the one of 3.11, and less with
# each version: here with the newest that there is, in `make test-pythons` with the oldest.
check-bindings: $(VENV)/check
	python=$$($(BIN)/python tests/pythons.py --stable-abi) || exit 1; $(BIN)/cmake -S . -B build/bindings -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS="-Wall -Wextra -Wpedantic -Werror" -DPython_EXECUTABLE=$$python -DPython_NumPy_INCLUDE_DIR=$$($(BIN)/python -c "import numpy; print(numpy.get_include())") -Dnanobind_DIR=$$($(BIN)/python -m nanobind --cmake_dir) > build/bindings.log 2>&1 || (cat build/bindings.log; exit 1)
	grep -q Py_LIMITED_API build/bindings/build.ninja
	$(BIN)/ninja -C build/bindings $(patsubst %,CMakeFiles/_core.dir/%.o,$(wildcard bindings/*.cpp))

system: ## install the Debian packages that `make fuzz`, the tests of Spark and of the browser, and `make pictures` need; asks for root
	@($(FUZZ_PROBE) && $(BROWSER_PROBE) && $(FONT_PROBE) && $(JAVA_PROBE)) || (apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends clang libclang-rt-dev chromium fontconfig fonts-wqy-microhei default-jre-headless > /dev/null)
	@$(FUZZ_PROBE) && echo "clang and its fuzzer are there"
	@$(BROWSER_PROBE) && echo "Chromium is there"
	@$(FONT_PROBE) && echo "a Chinese font is there"
	@$(JAVA_PROBE) && echo "Java is there"

fuzz: $(VENV)/check ## let clang's fuzzer at the core, new inputs at the doors of Python, new pipelines and new cases at every law; FUZZ_SECONDS=60 for each target
	@$(FUZZ_PROBE) || (echo "the fuzzers need clang: make system, or apt-get install clang libclang-rt-dev" && exit 1)
	$(BIN)/cmake -S . -B build/fuzz -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DCMAKE_CXX_COMPILER=clang++ -DTFREEL_FUZZ=ON -DTFREEL_SANITIZE=address,undefined -DCMAKE_BUILD_TYPE=RelWithDebInfo > build/fuzz.log 2>&1 || (cat build/fuzz.log; exit 1)
	$(BIN)/cmake --build build/fuzz
	for name in $(FUZZ_TARGETS); do mkdir -p build/fuzz/corpus/$$name; build/fuzz/$${name}_fuzz -max_total_time=$(FUZZ_SECONDS) -verbosity=0 -print_final_stats=1 -artifact_prefix=build/fuzz/$$name- build/fuzz/corpus/$$name core/fuzz/seeds/$$name || exit 1; done
	[ $(DOOR_SECONDS) = 0 ] || FUZZ_SECONDS=$(DOOR_SECONDS) $(BIN)/python -m pytest -q --timeout 3600 tests/doors
	[ $(DOOR_SECONDS) = 0 ] || (cd tests && $(CURDIR)/$(BIN)/python -m properties.search --seconds $(FUZZ_SECONDS))
	[ $(DOOR_SECONDS) = 0 ] || $(BIN)/python -m pytest -q -m hypothesis --hypothesis-profile new tests --ignore tests/integrations

format: $(VENV)/check ## put all code into shape
	$(BIN)/ruff format $(CODE)
	$(BIN)/ruff check --fix $(CODE)
	$(BIN)/clang-format -i $(CPP)

docs: $(VENV)/docs ## build the site of the documentation in build/site; any broken link fails
	$(BIN)/python -m sphinx --quiet --fresh-env --write-all --fail-on-warning --keep-going --jobs auto --conf-dir docs/site --doctree-dir build/site-work . build/site
	@echo "build/site/index.html"

reference: $(VENV)/docs ## write docs/reference, docs/tensorflow.md and the table in docs/dataset.md anew, out of the source
	$(BIN)/python docs/site/reference.py
	$(BIN)/python docs/site/stages.py
	$(BIN)/python -m tfreel.tf.compatibility > docs/tensorflow.md

pictures: $(VENV)/integrations ## make the pictures of the viewer in docs/ anew
	PYTHONPATH=tests $(BIN)/python docs/pictures/make.py

bench: $(VENV)-bench/peers/made ## measure against the peers, side by side; ARGS="--scale 0.1 --save NAME"
	$(VENV)-bench/bin/python benchmarks/run.py $(ARGS)

bench-page: $(VENV)/created ## write docs/benchmarks.md and its charts from the receipts
	$(BIN)/python benchmarks/report.py

dist: $(VENV)/release ## build the source archive, a wheel and its list of parts in dist/, the same bytes every time
	rm -rf dist
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python -m build --outdir dist .
	$(BIN)/python -m venv --clear build/release && build/release/bin/pip --disable-pip-version-check --quiet install dist/*.whl
	$(BIN)/cyclonedx-py environment build/release --pyproject pyproject.toml --output-reproducible --output-file dist/tfreel.cdx.json

clean: ## forget everything that was built
	rm -rf $(VENV) $(VENV)-bench build dist tfreel-demo

# The environments. A stamp file stands for each set of packages; what it depends on makes it anew.
SOURCES := $(wildcard core/*.cpp core/*.hpp bindings/*.cpp bindings/*.hpp) CMakeLists.txt pyproject.toml

$(VENV)/created:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "tfreel needs Python 3.11 or newer: make PYTHON=python3.11 …")'
	$(PYTHON) -m venv --clear $(VENV)
	$(PIP) install --upgrade "pip>=25.1"
	@mkdir -p build
	@touch $@

$(VENV)/installed: $(VENV)/created $(SOURCES)
	@command -v c++ > /dev/null || command -v g++ > /dev/null || (echo "tfreel needs a C++20 compiler: apt-get install g++" && exit 1)
	$(PIP) install --editable .
	@touch $@

$(VENV)/test: $(VENV)/installed
	$(PIP) install --group test
	@touch $@

$(VENV)/docs: $(VENV)/installed
	$(PIP) install --group docs
	@touch $@

$(VENV)/check: $(VENV)/test
	$(PIP) install --group check
	@mkdir -p build
	@touch $@

$(VENV)/release: $(VENV)/created
	$(PIP) install --group release
	@touch $@

$(VENV)/integrations: $(VENV)/test
	$(PIP) install --group integrations
	@touch $@

$(VENV)-bench/installed: $(SOURCES) benchmarks/requirements.txt $(wildcard src/tfreel/*.py src/tfreel/*/*.py)
	$(PYTHON) -m venv $(VENV)-bench
	$(VENV)-bench/bin/pip --disable-pip-version-check --quiet install --upgrade pip
	rm -rf build/bench && $(VENV)-bench/bin/pip --disable-pip-version-check --quiet wheel --no-deps -w build/bench .
	$(VENV)-bench/bin/pip --disable-pip-version-check --quiet install --force-reinstall --no-deps build/bench/tfreel-*.whl
	$(VENV)-bench/bin/pip --disable-pip-version-check --quiet install -r benchmarks/requirements.txt tfreel
	@touch $@

# Peers that do not install are named, with the reason, in every receipt; nothing else depends on them.
$(VENV)-bench/peers/made: $(VENV)-bench/installed $(wildcard benchmarks/environments/*.txt) benchmarks/environments.py
	$(VENV)-bench/bin/python benchmarks/environments.py build/bench/tfreel-*.whl
	@touch $@
