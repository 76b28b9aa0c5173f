#!/usr/bin/env bash
# Makes dist/tilewright-*.whl, installs it into a new virtual environment and uses it there, away from the sources.
#   tools/build_wheel.sh only   makes it, no more
# It is a build of its own (build-wheel), but with the flags of the release build, so that ccache has most objects.
set -euo pipefail
cd "$(dirname "$0")/.."
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-$(nproc)}
export CCACHE_DIR=${CCACHE_DIR:-$HOME/.cache/ccache}
python=$PWD/.venv/bin/python
[ -x "$python" ] || python=$(command -v python3)
rm -rf dist
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# without isolation nanobind's headers have the path of the release build, and nothing is downloaded
"$python" -m build --no-isolation --wheel --outdir dist . >"$work/log" 2>&1 </dev/null || { tail -n 40 "$work/log" >&2; exit 1; }
wheel=$(ls dist/*.whl)
echo "$wheel: $(du -h "$wheel" | cut -f1)"
[ "${1:-}" = only ] && exit

"$python" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -qq --disable-pip-version-check "$wheel" </dev/null
cp tests/install/smoke.py "$work/"
(cd "$work" && env -u PYTHONPATH PATH="$work/venv/bin:$PATH" venv/bin/python smoke.py)
