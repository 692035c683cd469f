# What a developer does with this project, on a fresh machine too: each target first makes what it needs. The rest is
# in the Makefiles of bench, tests/fuzz, tests/gates and tests/soak: "make -C bench" lists them.

PYTHON ?= python3
VENV ?= .venv
PYTEST_ARGS ?=
# Workers take tests from one another, and pytest-benchmark, which would warn of them, is off; '-n 0' starts none.
PARALLEL = --numprocesses auto --maxprocesses 8 --dist worksteal --benchmark-disable

BIN = $(VENV)/bin
TEST_PATH = $(CURDIR):$(CURDIR)/tests
# pip compiles no byte code, since most modules are never imported; the thousands of interpreters that tests start must
# be able to write it.
PIP_INSTALL = -m pip install --quiet --disable-pip-version-check --no-compile
unexport PYTHONDONTWRITEBYTECODE
# Groups of dependencies need a newer pip than the one that comes with Python.
INSTALL_PIP = $(PIP_INSTALL) 'pip>=25.1'
EXTRAS = sequencefile,progress,numpy
# The mode "compat" adds the folder to the path and nothing else. setuptools warns each time that it may go some day.
NO_WARNING = PYTHONWARNINGS='ignore:Compat editable installs'
INSTALL_HERE = $(PIP_INSTALL) --config-settings editable_mode=compat --editable '.[$(EXTRAS)]'
SOURCES := setup.py pyproject.toml $(shell find src/typedbytes -type f)

PYENV_ROOT ?= $(HOME)/.pyenv
# The newest python3.N of pyenv, or the one on PATH; empty when there is neither.
newest_of_pyenv = $(shell printf '%s\n' $(wildcard $(PYENV_ROOT)/versions/$(1).*/bin/python$(1)) | sort -V | tail -n 1)
find_python = $(or $(newest_of_pyenv),$(shell command -v python$(1)))
need_python = $(or $(find_python),$(error there is no python$(1), neither in $(PYENV_ROOT) nor on PATH))
PYTHON_VERSIONS := 3.9 3.10 3.11 3.12 3.13

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help system-packages build packages test test-quick lint types docs demo demo-hadoop cluster spark fuzz reliability bench bench-instructions jar wheels release-source release-check try-fresh clean

# Of this file, or of that in the folder which includes it.
help:
	@awk -F ':.*## ' '/^[a-z0-9.%-]+:.*## / { printf "  make $(addprefix -C ,$(filter-out .,$(patsubst %/,%,$(dir $(firstword $(MAKEFILE_LIST)))))) %-18s %s\n", $$1, $$2 }' \
	    $(firstword $(MAKEFILE_LIST)) | sed 's/make  /make /'

system-packages: # install what the suite needs beside Python: a compiler, a JDK, Maven, valgrind, strace
	.ci/system-packages test $(PYTHON)

build: $(VENV)/built ## make .venv and install the project into it, editable, with all that the tests need

$(VENV)/pyvenv.cfg:
	@.ci/system-packages build $(PYTHON)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(INSTALL_PIP)

# The project alone, with its extras: what the demo needs, and in stages, so that the suite afterwards compiles nothing
# again. By the Cython of the tests if it is installed: another one, just unpacked, is newer than all C that was made,
# and would make it again.
$(VENV)/installed: $(SOURCES) | $(VENV)/pyvenv.cfg
	@echo "installing into $(VENV): compiles, one to four minutes"
	$(NO_WARNING) $(BIN)/python $(INSTALL_HERE) $(if $(wildcard $(VENV)/packages),--no-build-isolation)
	@touch $@
packages: $(VENV)/packages # of .venv, what the tests need beside the project
$(VENV)/packages: pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "fetching what the tests need into $(VENV)"
	$(BIN)/python $(PIP_INSTALL) --group test
	@touch $@
$(VENV)/built: $(VENV)/installed $(VENV)/packages
	@touch $@

test: $(if $(findstring not hadoop,$(PYTEST_ARGS)),,system-packages)
test: build ## run the whole suite, 8 minutes on two processors; PYTEST_ARGS='-m "not hadoop"' needs no JDK
	@echo "running the tests, 5 minutes and 3 for Hadoop's on two processors; the percentage at the right is the progress"
	$(BIN)/python -m pytest $(PARALLEL) $(PYTEST_ARGS)

test-quick: build ## run the tests of codec, streams and the command's basics, before a commit; a minute
	$(BIN)/python -m pytest $(PARALLEL) -m "(codec or quick) and not once" $(PYTEST_ARGS) tests

test-%: ## run other tests, as "make -C tests/gates" lists them: test-3.9, test-hadoop, test-on-s390x
	@$(MAKE) --no-print-directory -f tests/gates/Makefile $*

# The tools of a dependency group, in an environment of their own.
build/lint/built build/types/built build/docs/built build/wheel-tools/built: build/%/built: pyproject.toml
	$(PYTHON) -m venv build/$*
	build/$*/bin/python $(INSTALL_PIP)
	build/$*/bin/python $(PIP_INSTALL) --group $(*:wheel-tools=wheels)
	@touch $@

lint: build/lint/built ## check style, spelling, scripts and workflows; 8 seconds
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

types: build build/types/built ## check types, stubs beside the built modules, types of public names; half a minute
	build/types/bin/mypy
	MYPYPATH=$(CURDIR) build/types/bin/mypy --config-file= --strict --follow-imports=silent tests/records/type_checks.py
	PYTHONPATH=$(CURDIR) build/types/bin/basedpyright --level error --pythonpath build/types/bin/python tests/records/type_checks.py
	MYPYPATH=$(CURDIR) PYTHONPATH=$(CURDIR) build/types/bin/stubtest typedbytes --concise --mypy-config-file pyproject.toml \
	    --ignore-disjoint-bases --allowlist .stubtest-allowed
	PYTHONPATH=$(CURDIR) build/types/bin/basedpyright --pythonpath build/types/bin/python --verifytypes typedbytes --ignoreexternal

docs: build build/docs/built ## build the site in build/site; a broken link or an undocumented name fails; half a minute
	PYTHONPATH=$(CURDIR) build/docs/bin/python -m sphinx --quiet --fail-on-warning --fresh-env --doctree-dir build/doctrees docs build/site

$(VENV)/demo-built: $(VENV)/installed
	$(BIN)/python $(PIP_INSTALL) 'pyarrow>=18'
	@touch $@

demo: $(VENV)/demo-built ## count words and join functions with their calls, without Java; two to five minutes with the build
	$(BIN)/python examples/demo.py

demo-hadoop: system-packages $(VENV)/installed ## count words by a real Hadoop Streaming job; gets a JDK and Maven
	$(BIN)/python examples/demo_hadoop.py

cluster: build ## run jobs on HDFS and YARN with three nodes on this machine; needs a JDK, Maven and 1 GB of memory
	$(BIN)/python tests/cluster/run.py $(CLUSTER_ARGS)

build/spark/built: $(SOURCES)
	$(PYTHON) -m venv build/spark
	build/spark/bin/python $(INSTALL_PIP)
	$(NO_WARNING) build/spark/bin/python $(INSTALL_HERE) 'pyspark>=4' 'pyarrow>=18' 'pandas<3' pytest hypothesis
	@touch $@

spark: build/spark/built ## data frames and jobs of a real Spark, 450 MB of PySpark; needs JDK 17; 9 minutes
	set -e; for part in sessions jobs cluster; do build/spark/bin/python -m pytest -W default $(PYTEST_ARGS) tests/spark/$$part.py; done
	build/spark/bin/python examples/spark.py

SECONDS ?= 60
fuzz: build ## fuzz every target, SECONDS (60) in all
	$(BIN)/python tests/fuzz/run.py --seconds $(SECONDS) $(FUZZ_ARGS)

reliability: $(VENV)/fuzz-built ## run all gates, for hours, or GATES='faults soak', and write RELIABILITY.md
	$(BIN)/python tests/gates/reliability.py $(GATES)

# The tools of benchmarks and of fuzzing by coverage, beside those of the tests.
$(VENV)/bench-built $(VENV)/fuzz-built: $(VENV)/%-built: $(VENV)/built pyproject.toml
	$(BIN)/python $(PIP_INSTALL) --group $*
	@touch $@

bench: $(VENV)/bench-built ## measure everything beside its contenders; the record goes into bench/results
	$(BIN)/python bench/report.py $(BENCH_ARGS)

bench-instructions: build ## count instructions of the hot paths by callgrind; growth by over 1 % fails
	$(BIN)/python bench/instructions.py --check

jar: ## make the plug-in of Hadoop for whole splits, run its tests, and put it into the package; needs a JDK and Maven
	mvn --batch-mode --quiet --file src/java/hadoop/pom.xml package
	cp build/java-hadoop/typedbytes-hadoop.jar typedbytes/hadoop/

NATIVE_WHEELS = $(foreach version,3.13t $(PYTHON_VERSIONS),$(call find_python,$(version)))
CROSS_WHEELS = $(addprefix $(lastword $(NATIVE_WHEELS)):,x86_64-musllinux aarch64-manylinux aarch64-musllinux)
WHEELS ?= $(NATIVE_WHEELS) $(CROSS_WHEELS)
wheels: jar build/wheel-tools/built ## build wheels on every Python here, others by zig; check them; 8 minutes of CPU
	VENV=build/wheel-tools .ci/wheels build/wheels $(WHEELS)

release-source: jar build/wheel-tools/built # make and check the source archive and the jars of a release; 2 minutes
	VENV=build/wheel-tools .ci/release-check build/release

release-check: jar test-dist docs build/wheel-tools/built ## make and check what a release consists of; 40 minutes
	build/wheel-tools/bin/python .ci/render_recipe.py
	VENV=build/wheel-tools .ci/release-check build/release $(WHEELS)

RELEASES ?= bookworm trixie noble
try-fresh: ## make demo and test in new systems, Debian 12 and 13, Ubuntu 24.04; as root, an hour
	@set -e; for release in $(RELEASES); do .ci/try-fresh $$release; .ci/try-fresh $$release someone; done

clean: ## remove all that the targets made
	rm -rf build $(VENV) *.egg-info .hypothesis .benchmarks .coverage htmlcov
	find src typedbytes tests test_vectors examples bench docs -depth \( -name '*.so' -o -name '*.jar' -o -name __pycache__ \) -exec rm -rf {} +
