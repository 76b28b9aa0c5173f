#!/usr/bin/env bash
# Makes dist/tilewright-*.whl, installs it into a new virtual environment and imports it there, away from the sources.
set -euo pipefail
cd "$(dirname "$0")/.."
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-$(nproc)}
rm -rf dist
log=$(mktemp)
.venv/bin/python -m build --wheel --outdir dist . >"$log" 2>&1 </dev/null || { tail -n 40 "$log" >&2; exit 1; }
wheel=$(ls dist/*.whl)
echo "$wheel: $(du -h "$wheel" | cut -f1)"

clean=$(mktemp -d)
trap 'rm -rf "$clean" "$log"' EXIT
.venv/bin/python -m venv "$clean/venv"
"$clean/venv/bin/python" -m pip install -qq --disable-pip-version-check "$wheel" </dev/null
cp tests/install/smoke.py "$clean/"
(cd "$clean" && env -u PYTHONPATH venv/bin/python smoke.py)
