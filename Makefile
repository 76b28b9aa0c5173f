# Thin: each target sets up what it needs (tools/setup.sh; nothing to do the second time) and calls one tool.
#   make demo     build, compile the network that examples/fashion_mnist carries, classify the held-out pictures
#   make test     every check and test, as CI runs them;  make test STAGES="format python"  only these
#   make bench    benchmarks/cases.toml against numpy, torch and onnxruntime
#   make bench-peers   the same beside OpenVINO, jax and apache-tvm as well, which it installs in environments of their own;
#                 CASES=--asked  only what something is asked of; then a table of what was asked and reached, and why not
#   make wheel    dist/tilewright-*.whl, tried in a clean environment
#   make docs     the pages and lists of docs/ that are made from the program
#   make ptxas-table   what the default kernels for NVIDIA's GPUs take, in docs/gpu-schedules.md
#   make format   clang-format and ruff, in place
#   make lint     linters, layer and size checks, error inventory
#   make tidy     clang-tidy on what changed since it last passed
PYTHON := .venv/bin/python
RUN := PYTHONPATH=$(CURDIR)/build/python PATH=$(CURDIR)/build/bin:$$PATH

.PHONY: build demo test bench bench-peers wheel docs ptxas-table format lint tidy clean setup setup-test setup-peers
build: setup
	@tools/build.sh release

setup:
	@tools/setup.sh build

setup-test:
	@tools/setup.sh test

setup-peers:
	@tools/setup.sh peers

demo: setup
	@tools/build.sh release --quiet tilewright_core tilewright_command
	@$(RUN) $(PYTHON) examples/fashion_mnist/demo.py

test: setup-test
	@$(PYTHON) tools/ci.py $(STAGES)

bench: setup-test
	@tools/build.sh release --quiet tilewright_core tilewright_command runtime_overhead
	@$(RUN) $(PYTHON) benchmarks/run.py $(CASES)

bench-peers: setup-peers
	@tools/build.sh release --quiet tilewright_core tilewright_command runtime_overhead
	@$(RUN) TVM_PYTHON=$(CURDIR)/.venv-tvm/bin/python .venv-peers/bin/python benchmarks/run.py $(CASES)

wheel: setup-test
	@tools/build_wheel.sh

docs: setup-test
	@tools/build.sh release --quiet tilewright_core tilewright_command
	@$(RUN) $(PYTHON) tools/primitive_docs.py
	@$(RUN) $(PYTHON) tools/machine_table.py
	@$(RUN) $(PYTHON) tools/doc_lists.py
	@$(RUN) $(PYTHON) tools/onnx_coverage.py
	@$(RUN) $(PYTHON) tools/cli_page.py
	@$(RUN) $(PYTHON) tools/travel_page.py
	@$(RUN) $(PYTHON) tools/tuning_picture.py
	@$(RUN) $(PYTHON) tools/tutorial.py

ptxas-table: setup-test
	@tools/build.sh release --quiet tilewright_core tilewright_command
	@command -v nvcc >/dev/null || test -x /usr/local/cuda/bin/nvcc || tools/setup.sh nvcc
	@$(RUN) $(PYTHON) tools/ptxas_table.py

format: setup-test
	@git ls-files '*.cc' '*.h' '*.c' | xargs -r clang-format-19 -i
	@$(PYTHON) -m ruff check --quiet --fix . || true
	@$(PYTHON) -m ruff format --quiet .

lint: setup-test
	@$(PYTHON) tools/ci.py format layout

tidy: setup-test
	@$(PYTHON) tools/ci.py tidy

clean:
	rm -rf build build-* dist
