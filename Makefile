# What a developer does with this project, on a fresh machine too: each target first makes what it needs.

PYTHON ?= python3
VENV ?= .venv
PYTEST_ARGS ?=

BIN = $(VENV)/bin
TEST_PATH = $(CURDIR):$(CURDIR)/tests:$(CURDIR)/tests/support:$(CURDIR)/tests/soak
# pip compiles no byte code, since most modules are never imported; the thousands of interpreters that tests start must be able to
# write it.
PIP_INSTALL = -m pip install --quiet --disable-pip-version-check --no-compile
unexport PYTHONDONTWRITEBYTECODE
# Groups of dependencies need a newer pip than the one that comes with Python.
INSTALL_PIP = $(PIP_INSTALL) 'pip>=25.1'
EXTRAS = sequencefile,progress,numpy
INSTALL_HERE = $(PIP_INSTALL) --config-settings editable_mode=compat --editable '.[$(EXTRAS)]'
SOURCES := setup.py pyproject.toml $(shell find src/typedbytes -type f)

PYTHON_VERSIONS := 3.9 3.10 3.11 3.12 3.13
PYENV_ROOT ?= $(HOME)/.pyenv
# The newest python3.N of pyenv, or the one on PATH; empty when there is neither.
newest_of_pyenv = $(shell printf '%s\n' $(wildcard $(PYENV_ROOT)/versions/$(1).*/bin/python$(1)) | sort -V | tail -n 1)
find_python = $(or $(newest_of_pyenv),$(shell command -v python$(1)))
need_python = $(or $(find_python),$(error there is no python$(1), neither in $(PYENV_ROOT) nor on PATH))

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9.-]+:.*## / { printf "  make %-25s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@printf '  make %-25s %s\n' test-3.14 'run the suite on that version: 3.9 to 3.15; 3.14 and 3.15 come from Debian where they are not installed' \
	    test-3.13t 'run tests of all formats, and 8 threads for STRESS (240) seconds, on a Python without the GIL: also 3.14t, 3.15t' \
	    test-on-s390x "run the codec's tests on another processor, under qemu: aarch64, s390x, armhf, i386; as root"

.PHONY: system-packages
system-packages: ## install what the suite needs beside Python, where it is missing: a compiler, a JDK, Maven, valgrind, strace; Debian and Ubuntu
	.ci/system-packages test $(PYTHON)

.PHONY: build
build: $(VENV)/built ## make .venv and install the project into it, editable, with all that the tests need

# The project alone, with its extras: what the demo needs, and in stages, so that the suite afterwards compiles nothing again.
$(VENV)/installed: $(SOURCES)
	@.ci/system-packages build $(PYTHON)
	@echo "making $(VENV): compiles, one to four minutes"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(INSTALL_PIP)
	$(BIN)/python $(INSTALL_HERE)
	@touch $@

$(VENV)/built: $(VENV)/installed
	@echo "fetching what the tests need into $(VENV)"
	$(BIN)/python $(PIP_INSTALL) --group test
	@touch $@

.PHONY: test
test: $(if $(findstring not hadoop,$(PYTEST_ARGS)),,system-packages) build ## run the whole suite, up to 18 minutes on a busy machine; PYTEST_ARGS='-m "not hadoop"' needs no JDK and Maven, 7 minutes
	@echo "running the tests: the whole suite takes up to 18 minutes, 7 without Hadoop's (PYTEST_ARGS='-m \"not hadoop\"'); the percentage at the right is the progress"
	$(BIN)/python -m pytest $(PYTEST_ARGS)

HADOOP_VERSION ?= 2.10.2
.PHONY: test-hadoop
test-hadoop: build ## run the tests of jobs and of whole splits with another Hadoop, HADOOP_VERSION (2.10.2); 4 minutes
	HADOOP_VERSION=$(HADOOP_VERSION) $(BIN)/python -m pytest $(PYTEST_ARGS) tests/hadoop/test_splits.py tests/hadoop/test_submitted_jobs.py

# The tools of a dependency group, in an environment of their own.
build/lint/built build/types/built build/docs/built: build/%/built: pyproject.toml
	$(PYTHON) -m venv build/$*
	build/$*/bin/python $(INSTALL_PIP)
	build/$*/bin/python $(PIP_INSTALL) --group $*
	@touch $@

.PHONY: lint
lint: build/lint/built ## check style, spelling, scripts and workflows with ruff, cython-lint, codespell, shellcheck, actionlint and zizmor; 8 seconds
	build/lint/bin/ruff check
	build/lint/bin/ruff format --check
	build/lint/bin/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	build/lint/bin/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
	build/lint/bin/cibuildwheel --print-build-identifiers --platform linux --archs x86_64,aarch64 >/dev/null
	PATH="$(CURDIR)/build/lint/bin:$$PATH" build/lint/bin/actionlint
	build/lint/bin/zizmor --quiet --offline .github
	git ls-files .ci | xargs grep -lE '^#!.*\<(ba)?sh$$' | xargs build/lint/bin/shellcheck --exclude=SC2016,SC1091  # text for another shell; files of the system
	git ls-files 'src/*.px[di]' | PATH="$(CURDIR)/build/lint/bin:$$PATH" xargs cython-lint
	git ls-files | xargs build/lint/bin/codespell

.PHONY: types
types: build build/types/built ## check the package with mypy, the stubs against the built modules, and that every public name has a type; half a minute
	build/types/bin/mypy
	MYPYPATH=$(CURDIR) PYTHONPATH=$(CURDIR) build/types/bin/stubtest typedbytes --concise --mypy-config-file pyproject.toml \
	    --ignore-disjoint-bases --allowlist .stubtest-allowed
	PYTHONPATH=$(CURDIR) build/types/bin/basedpyright --pythonpath build/types/bin/python --verifytypes typedbytes --ignoreexternal

.PHONY: docs
docs: build build/docs/built ## build the site into build/site; fails at a broken link and at a public name without documentation; half a minute
	PYTHONPATH=$(CURDIR) build/docs/bin/python -m sphinx --quiet --fail-on-warning --fresh-env --doctree-dir build/doctrees docs build/site

.PHONY: docs-serve
docs-serve: docs ## show the site on http://localhost:8000
	build/docs/bin/python -m http.server --bind localhost --directory build/site 8000

.PHONY: test-all-pythons
test-all-pythons: $(foreach version,$(PYTHON_VERSIONS),$(if $(call find_python,$(version)),test-$(version))) ## run the suite on every installed Python of 3.9 to 3.13

# build-3.9, test-3.9 and so on: the target of that name with its own Python in its own folder.
ON_A_PYTHON := $(foreach version,$(PYTHON_VERSIONS),build-$(version) test-$(version))
.PHONY: $(ON_A_PYTHON)
$(ON_A_PYTHON): version = $(lastword $(subst -, ,$@))
$(ON_A_PYTHON):
	$(MAKE) $(firstword $(subst -, ,$@)) PYTHON=$(call need_python,$(version)) VENV=build/venv-$(version)

build/venv-lowest/built: $(SOURCES)
	$(call need_python,3.9) -m venv build/venv-lowest
	build/venv-lowest/bin/python $(PIP_INSTALL) uv
	VIRTUAL_ENV=build/venv-lowest build/venv-lowest/bin/uv pip install --quiet --resolution lowest-direct --group test \
	    --config-settings editable_mode=compat --editable '.[$(EXTRAS)]'
	@touch $@

.PHONY: test-lowest
test-lowest: build/venv-lowest/built ## run what uses other packages with the oldest of each that pyproject.toml allows; on Python 3.9
	build/venv-lowest/bin/python -m pytest -m "not hadoop and not once" $(PYTEST_ARGS) tests/sequencefile tests/columns tests/sorting \
	    tests/core/test_npy.py tests/cli/test_terminal.py tests/cli/test_compression.py

# Versions that may not be installed: then Debian's, in a chroot without JDK and Maven.
NEWER_VERSIONS := 3.14 3.15
ON_A_NEWER := $(foreach version,$(NEWER_VERSIONS),build-$(version) test-$(version))
.PHONY: $(ON_A_NEWER)
$(ON_A_NEWER): version = $(lastword $(subst -, ,$@))
$(ON_A_NEWER):
	$(if $(call find_python,$(version)),,.ci/in-chroot )make $(firstword $(subst -, ,$@)) PYTHON=$(or $(call find_python,$(version)),python$(version)) VENV=build/venv-$(version) \
	    PYTEST_ARGS="-m 'not hadoop and not once' $(subst ",\",$(PYTEST_ARGS))"

.PHONY: $(PYTHON_VERSIONS:%=which-%)
$(PYTHON_VERSIONS:%=which-%): which-%:
	@echo $(call need_python,$*)

# A build with other switches is made in a fresh copy under build/, so that nothing else uses it; the gates do the same.
define in_a_copy
	rm -rf build/$(1)
	cd tests && $(abspath $(BIN))/python -c "from gates import build_copies; build_copies.copy_and_build('$(1)', $(2)='1')"
endef

CODEC_TESTS := $(addprefix core/test_,vectors hostile encoder unencodable changing_objects depth decoder hooks map_keys signals collector concurrency memory) \
    $(addprefix stream/test_,writer copy legacy failing_sinks)
.PHONY: test-portable
test-portable: build ## run the codec's tests on a build that uses the interpreter's public API only
	$(call in_a_copy,portable,TYPEDBYTES_PORTABLE)
	cd build/portable && PYTHONPATH=$(CURDIR)/build/portable $(abspath $(BIN))/python -m pytest $(PYTEST_ARGS) \
	    $(CODEC_TESTS:%=tests/%.py)

# Other processors: Debian's Python for them under qemu, in a chroot; extensions are cross-compiled here with zig.
MACHINES := aarch64 s390x armhf i386
.PHONY: $(MACHINES:%=test-on-%)
$(MACHINES:%=test-on-%): test-on-%: build build/wheel-tools/built
	VENV=$(VENV) WHEEL_TOOLS=build/wheel-tools .ci/on-machine $* --hypothesis-profile=brief $(PYTEST_ARGS) $(CODEC_TESTS:%=tests/%.py)

# The tests left out need signals, typedbytes.block or a pipe that buffers 20,000 bytes; Windows has none of them.
WINDOWS_TESTS := $(filter-out core/test_signals core/test_collector core/test_memory stream/test_failing_sinks,$(CODEC_TESTS)) \
    $(addprefix core/test_,pickle reference utf8 other_formats)
.PHONY: test-on-windows
test-on-windows: build build/wheel-tools/built ## run the codec's tests on CPython for Windows, under wine; as root
	VENV=$(VENV) WHEEL_TOOLS=build/wheel-tools .ci/on-windows --hypothesis-profile=brief -k 'not as_soon_as_they_are_in_it' $(PYTEST_ARGS) $(WINDOWS_TESTS:%=tests/%.py)

# Nothing here runs modules for macOS: they are compiled and linked, against the headers of this Python.
.PHONY: compile-for-macos
compile-for-macos: build build/wheel-tools/built ## compile the modules for macOS, by zig: x86_64 and arm64; 2 minutes of CPU
	set -e; cd tests; for target in x86_64 aarch64; do \
	    export CC="$(CURDIR)/build/wheel-tools/bin/python -m ziglang cc -target $$target-macos"; \
	    LDSHARED="$$CC -shared -undefined dynamic_lookup" _PYTHON_HOST_PLATFORM=macosx-11.0-$$target SETUPTOOLS_EXT_SUFFIX=.$$target-darwin.so \
	        TYPEDBYTES_QUICK=1 $(abspath $(BIN))/python -c "from gates import build_copies; build_copies.copy_and_build('macos')"; \
	done

.PHONY: test-dispatch
test-dispatch: build ## run the codec's tests with the loops over text of each kind of processor: every one's, AVX2, AVX-512; 4 minutes
	@set -e; for most in 0 1 2; do \
	    export TYPEDBYTES_VECTORS=$$most; \
	    $(BIN)/python -c 'from typedbytes import _core; print("vector loops in use (limit '$$most'):", _core._limit_vectors('$$most'))'; \
	    $(BIN)/python -m pytest $(PYTEST_ARGS) tests/core/test_utf8.py $(CODEC_TESTS:%=tests/%.py); \
	done

.PHONY: coverage
coverage: build ## lines and branches of Cython and C, lines of Python that the suite never reaches; needs gcc
	$(BIN)/python tests/gates/line_coverage.py $(PYTEST_ARGS)

SECONDS ?= 60
FUZZ_ARGS ?=
.PHONY: fuzz
fuzz: build ## fuzz every target, SECONDS (60) in all
	$(BIN)/python tests/fuzz/run.py --seconds $(SECONDS) $(FUZZ_ARGS)

$(VENV)/fuzz-built: $(VENV)/built pyproject.toml
	$(BIN)/python $(PIP_INSTALL) --group fuzz
	@touch $@

.PHONY: fuzz-coverage
fuzz-coverage: $(VENV)/fuzz-built ## coverage-guided fuzzing of the same targets, under ASan and UBSan; needs clang
	$(BIN)/python tests/fuzz/run.py --engine atheris --seconds $(SECONDS) $(FUZZ_ARGS)

.PHONY: fuzz-java
fuzz-java: build ## decode 100,000 inputs beside Hadoop's own readers, and as many block messages with ours in Java
	$(BIN)/python tests/fuzz/java.py
	$(BIN)/python tests/fuzz/java_blocks.py

.PHONY: faults
faults: build ## put in deliberate bugs one by one; each must be caught
	$(BIN)/python tests/gates/faults.py

.PHONY: test-sanitize
test-sanitize: build ## run the suite and the fuzz targets under ASan and UBSan
	$(BIN)/python tests/gates/sanitize.py $(PYTEST_ARGS)

.PHONY: test-leaks
test-leaks: build ## count references and blocks on a debugging Python
	$(BIN)/python tests/gates/debug_python.py

.PHONY: test-valgrind
test-valgrind: build ## decode vectors and corpus under valgrind
	$(BIN)/python tests/gates/memory_check.py

.PHONY: test-free-threads
test-free-threads: build ## run threads without the GIL under TSan; builds that Python first
	$(BIN)/python tests/gates/free_threads.py

# Free-threaded 3.13 has no wheels of the newest Hypothesis and NumPy, and none has those of pandas, Polars and cramjam; these tests do without.
FREE_THREADED_TESTS := $(addprefix core/test_,vectors hostile depth encoder unencodable changing_objects decoder hooks map_keys signals collector concurrency) \
    $(addprefix stream/test_,writer copy failing_sinks legacy) $(addprefix columns/test_,reader batches columns nulls) \
    $(addprefix block/test_,messages sockets coalescing shared_memory) $(addprefix sorting/test_,sortkey text_input) \
    $(addprefix sequencefile/test_,misuse many_files)
FREE_THREADED := 3.13t 3.14t 3.15t
PACKAGES_FOR_3.13t := 'hypothesis==6.112.0' 'numpy<2.4' backports.zstd
$(FREE_THREADED:%=build/venv-%/built): build/venv-%/built: $(SOURCES)
	$(call need_python,$*) -m venv build/venv-$*
	build/venv-$*/bin/python $(PIP_INSTALL) --only-binary :all: pytest hypothesis numpy pyarrow $(PACKAGES_FOR_$*)
	build/venv-$*/bin/python $(PIP_INSTALL) --config-settings editable_mode=compat --editable .
	@touch $@

.PHONY: $(FREE_THREADED:%=test-%)
$(FREE_THREADED:%=test-%): test-%: build/venv-%/built
	build/venv-$*/bin/python -m pytest --hypothesis-profile=brief $(PYTEST_ARGS) $(FREE_THREADED_TESTS:%=tests/%.py)
	build/venv-$*/bin/python tests/soak/shared_by_threads.py $(or $(STRESS),240) 8

.PHONY: soak-coalescing
soak-coalescing: build ## send 10,000,000 small messages of four threads to a slow reader; none may be lost or written in part
	PYTHONPATH=$(TEST_PATH) $(BIN)/python tests/soak/block_coalescing.py 10000000

MESSAGES ?= 100000
.PHONY: echo-java
echo-java: build ## send MESSAGES (100000) random block messages to a JVM and compare what comes back
	PYTHONPATH=$(TEST_PATH) $(BIN)/python tests/soak/block_echo.py $(MESSAGES)

GIGABYTES ?= 5
.PHONY: soak
soak: build ## move GIGABYTES (5) through decoding and encoding, and SequenceFiles; fail when memory grows by more than 1 MiB
	PYTHONPATH=$(TEST_PATH) $(BIN)/python tests/soak/soak.py $(GIGABYTES)
	PYTHONPATH=$(TEST_PATH) $(BIN)/python tests/soak/soak_sequencefile.py $(GIGABYTES)

.PHONY: bounds
bounds: build ## CPU time, growth and signal latency of the worst input; fail beyond a limit
	PYTHONPATH=$(TEST_PATH) $(BIN)/python bench/bounds.py

GATES ?=
.PHONY: reliability
reliability: $(VENV)/fuzz-built ## run all gates, hours of them, or GATES='faults soak', and write their figures into RELIABILITY.md
	$(BIN)/python tests/gates/reliability.py $(GATES)

RUNS ?= 1000
HADOOP_RUNS ?= 100
.PHONY: chaos
chaos: build ## RUNS (1000) jobs here, HADOOP_RUNS (100) in a local Hadoop, with faults and signals; each is right or fails, and leaves nothing behind
	PYTHONPATH=$(TEST_PATH) $(BIN)/python tests/soak/chaos.py $(RUNS) $(HADOOP_RUNS)

.PHONY: shells
shells: build ## type lines with Tabs into bash, zsh and fish, which complete them; needs all three
	$(BIN)/python tests/soak/shells.py

.PHONY: local-beside-hadoop
local-beside-hadoop: build ## run every example here and by a real Hadoop, with 1, 2 and 7 reducers, and compare the part files
	PYTHONPATH=$(TEST_PATH) $(BIN)/python tests/soak/beside_hadoop.py

$(VENV)/demo-built: $(VENV)/installed
	$(BIN)/python $(PIP_INSTALL) 'pyarrow>=18'
	@touch $@

.PHONY: demo
demo: $(VENV)/demo-built ## count the words of the standard library and join its functions with their calls, without Java; two minutes with the build
	$(BIN)/python examples/demo.py

.PHONY: demo-hadoop
demo-hadoop: system-packages $(VENV)/installed ## count the words by a real Hadoop Streaming job; installs a JDK and Maven where they are missing
	$(BIN)/python examples/demo_hadoop.py

CLUSTER_ARGS ?=
.PHONY: cluster
cluster: build ## run jobs on HDFS and YARN with three nodes on this machine; needs a JDK, Maven and 1 GB of memory
	$(BIN)/python tests/cluster/run.py $(CLUSTER_ARGS)

build/spark/built: $(SOURCES)
	$(PYTHON) -m venv build/spark
	build/spark/bin/python $(INSTALL_PIP)
	build/spark/bin/python $(INSTALL_HERE) 'pyspark>=4' 'pyarrow>=18' 'pandas<3' pytest hypothesis
	@touch $@

.PHONY: spark
spark: build/spark/built ## data frames, SequenceFiles and jobs of a real Spark, 450 MB of PySpark from the package index; needs JDK 17; 9 minutes
	build/spark/bin/python -m pytest -W default $(PYTEST_ARGS) tests/spark/sessions.py
	build/spark/bin/python -m pytest -W default $(PYTEST_ARGS) tests/spark/jobs.py
	build/spark/bin/python -m pytest -W default $(PYTEST_ARGS) tests/spark/cluster.py
	build/spark/bin/python examples/spark.py

build/file-systems/built: $(SOURCES)
	$(PYTHON) -m venv build/file-systems
	build/file-systems/bin/python $(INSTALL_HERE) s3fs gcsfs 'moto[server]' gcp-storage-emulator requests
	@touch $@

.PHONY: file-systems
file-systems: build/file-systems/built ## write and read SequenceFiles on a real HDFS, and on servers that emulate S3 and GCS; needs a JDK and Maven
	build/file-systems/bin/python tests/support/file_systems.py

.PHONY: vectors
vectors: ## write the test vectors that this project describes itself
	$(PYTHON) test_vectors/generate.py

.PHONY: vectors-java
vectors-java: ## write the vectors of Hadoop's own classes again
	$(PYTHON) test_vectors/java/make_vectors.py

.PHONY: dist-check
dist-check: build ## build sdist and wheel, install each in a folder of its own, and run the suite there
	$(BIN)/python $(PIP_INSTALL) build
	rm -rf build/dist
	$(BIN)/python -m build --sdist --wheel --outdir build/dist
	@set -e; for archive in build/dist/*; do \
	    folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; \
	    git ls-files -z ':!typedbytes' | tar --create --null --files-from=- | tar --extract --directory="$$folder"; \
	    $(BIN)/python -m venv "$$folder/venv"; \
	    "$$folder/venv/bin/python" $(INSTALL_PIP); \
	    "$$folder/venv/bin/python" $(PIP_INSTALL) "$$archive[$(EXTRAS)]" --group test; \
	    (cd "$$folder" && venv/bin/python -m pytest -m "not hadoop" --ignore=tests/package/test_sdist.py --ignore=tests/package/test_wheels.py $(PYTEST_ARGS) tests); \
	    rm -rf "$$folder"; \
	done

build/wheel-tools/built: pyproject.toml
	$(PYTHON) -m venv build/wheel-tools
	build/wheel-tools/bin/python $(INSTALL_PIP)
	build/wheel-tools/bin/python $(PIP_INSTALL) --group wheels
	@touch $@

NATIVE_WHEELS := $(foreach version,3.13t $(PYTHON_VERSIONS),$(call find_python,$(version)))
CROSS_WHEELS := $(addprefix $(lastword $(NATIVE_WHEELS)):,x86_64-musllinux aarch64-manylinux aarch64-musllinux)
WHEELS ?= $(NATIVE_WHEELS) $(CROSS_WHEELS)
.PHONY: jar
jar: ## make the plug-in of Hadoop for whole splits, run its tests, and put it into the package; needs a JDK and Maven
	mvn --batch-mode --quiet --file src/java/hadoop/pom.xml package
	cp build/java-hadoop/typedbytes-hadoop.jar typedbytes/hadoop/

.PHONY: wheels
wheels: jar build/wheel-tools/built ## build wheels on every installed Python, by zig those for musl and aarch64; check them; 8 minutes of CPU
	VENV=build/wheel-tools .ci/wheels build/wheels $(WHEELS)

.PHONY: try-wheel
try-wheel: ## install the wheel for CPython 3.11 that "make wheels" made in a new Debian 12 without a compiler; half a minute, as root
	.ci/try-in-debian build/wheels/*-cp311-manylinux*_x86_64.whl

.PHONY: release-source
release-source: jar build/wheel-tools/built ## make the source archive, the jars and the bill of materials of a release, and check them; 2 minutes
	VENV=build/wheel-tools .ci/release-check build/release

RELEASES ?= bookworm trixie noble
.PHONY: try-fresh
try-fresh: ## make demo and make test in new systems with nothing but git, make and python3: Debian 12 and 13, Ubuntu 24.04; as root, an hour
	@set -e; for release in $(RELEASES); do .ci/try-fresh $$release; .ci/try-fresh $$release someone; done

.PHONY: conda-recipe
conda-recipe: build/wheel-tools/built ## render the recipe of the conda package for every Python and system; seconds
	build/wheel-tools/bin/python .ci/render_recipe.py

.PHONY: release-check
release-check: jar dist-check docs conda-recipe build/wheel-tools/built ## make what a release consists of and check it: dist-check, wheels, docs, metadata; 40 minutes
	VENV=build/wheel-tools .ci/release-check build/release $(WHEELS)

BASE ?= HEAD~1
BENCH_ARGS ?=

.PHONY: bench-blocks
bench-blocks: $(VENV)/bench-built ## measure block messages beside Py4J, pyarrow and published algorithms, with a real JVM
	$(BIN)/python bench/blocks.py $(BENCH_ARGS)

$(VENV)/bench-built: $(VENV)/built pyproject.toml
	$(BIN)/python $(PIP_INSTALL) --group bench
	@touch $@

.PHONY: bench
bench: $(VENV)/bench-built ## measure everything beside its contenders; the record into bench/results, tables and plots into build/bench
	$(BIN)/python bench/report.py $(BENCH_ARGS)

LOCAL_ARGS ?= words 1
.PHONY: bench-local
bench-local: $(VENV)/bench-built ## count the words of 1 GB beside Hadoop and others; LOCAL_ARGS='sort 10 512M' sorts, beside GNU sort
	$(BIN)/python bench/local.py $(LOCAL_ARGS)

.PHONY: bench-command
bench-command: $(VENV)/bench-built ## measure the command beside GNU sort, wc, grep and MessagePack tools, 1 GB of records
	PYTHONPATH=$(TEST_PATH) $(BIN)/python bench/command.py $(BENCH_ARGS)

.PHONY: docs-command
docs-command: build ## run the commands of docs/command-tour.md and write it again
	$(BIN)/python docs/command_tour.py

.PHONY: bench-compare
bench-compare: $(VENV)/bench-built ## measure another commit and this one in turn: BASE=HEAD~1
	$(BIN)/python bench/compare.py $(BASE) $(BENCH_ARGS)

.PHONY: bench-threads
bench-threads: build ## measure what one, two and four threads do in the same time; a minute
	$(BIN)/python bench/threads.py $(BENCH_ARGS)

.PHONY: bench-own-process
bench-own-process: $(VENV)/bench-built ## decode large values beside other libraries, each in a process of its own; two minutes
	$(BIN)/python bench/own_process.py $(BENCH_ARGS)

.PHONY: bench-hadoop
bench-hadoop: build ## measure an identity job on Hadoop by /bin/cat and by Python, with a real JVM
	$(BIN)/python bench/hadoop_identity.py $(BENCH_ARGS)

.PHONY: bench-hadoop-splits
bench-hadoop-splits: build ## measure whole splits beside Hadoop's single pairs, with a real JVM; 20 minutes
	$(BIN)/python bench/hadoop_splits.py $(BENCH_ARGS)

.PHONY: bench-spark
bench-spark: build/spark/built ## read pairs into a data frame of Spark beside its own SequenceFiles and Parquet; 10 minutes
	build/spark/bin/python bench/spark.py $(BENCH_ARGS)

.PHONY: bench-instructions
bench-instructions: build ## count the instructions of the hot paths with callgrind; fail where they have grown by more than 1 %
	$(BIN)/python bench/instructions.py --check

.PHONY: bench-instructions-update
bench-instructions-update: build ## write these counts into bench/instructions.json
	$(BIN)/python bench/instructions.py --update

.PHONY: bench-quick
bench-quick: $(VENV)/bench-built ## run each bench once and small, to see that they still run
	$(BIN)/python -m pytest bench --benchmark-disable --quiet
	$(BIN)/python bench/report.py --quick
	$(BIN)/python bench/blocks.py --quick
	$(BIN)/python bench/threads.py 1
	$(BIN)/python bench/interpreters.py $(BIN)/python $(BIN)/python small_int
	$(BIN)/python bench/hadoop_identity.py --pairs 1000 --rounds 1
	$(BIN)/python bench/hadoop_splits.py --pairs 1000 --megabytes 2 --rounds 1
	PYTHONPATH=$(TEST_PATH) $(BIN)/python bench/command.py --quick

.PHONY: clean
clean: ## remove all that the targets made
	rm -rf build $(VENV) *.egg-info .hypothesis .benchmarks .coverage htmlcov
	find src typedbytes tests test_vectors examples bench docs -depth \( -name '*.so' -o -name '*.jar' -o -name __pycache__ \) -exec rm -rf {} +
