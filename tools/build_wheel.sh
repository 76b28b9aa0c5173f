#!/usr/bin/env bash
# Makes dist/tilewright-*.whl, installs it into a new virtual environment and tests it there, away from the
# sources.
#   tools/build_wheel.sh only   only makes it
# Its binaries are those of the release build; `pip install .` builds them in build-wheel.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$PWD/.venv/bin/python
[ -x "$python" ] || python=$(command -v python3)
tools/build.sh release --quiet
rm -rf dist
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# without isolation nothing is downloaded, and the path of nanobind's headers is the one in the release build
"$python" -m build --no-isolation --wheel --outdir dist -C build-dir=build -C cmake.define.TILEWRIGHT_TESTS=ON . >"$work/log" 2>&1 </dev/null || { tail -n 40 "$work/log" >&2; exit 1; }
wheel=$(ls dist/*.whl)
echo "$wheel: $(du -h "$wheel" | cut -f1)"
[ "${1:-}" = only ] && exit

"$python" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -qq --disable-pip-version-check "$wheel" </dev/null
cp tests/install/smoke.py "$work/"
(cd "$work" && env -u PYTHONPATH PATH="$work/venv/bin:$PATH" venv/bin/python smoke.py)
