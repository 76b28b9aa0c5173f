#!/usr/bin/env bash
# Configures and builds one preset of CMakePresets.json.   tools/build.sh [preset] [ninja targets...]
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
shift || true
case $preset in
  release) folder=build ;;
  asan-ubsan) folder=build-asan ;;
  *) folder=build-$preset ;;
esac
# all clones of the repository share cache entries
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
# precompiled headers are compared by content
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
export CCACHE_DIR=${CCACHE_DIR:-$HOME/.cache/ccache}

python=$PWD/.venv/bin/python
[ -x "$python" ] || python=$(command -v python3)
cmake=$(command -v cmake || echo /usr/bin/cmake)
# configure only once; ninja does it again when a CMakeLists.txt changes
if [ ! -e "$folder/build.ninja" ]; then
  "$cmake" --preset "$preset" -DPython_EXECUTABLE="$python" -DTILEWRIGHT_PYTHON=ON >"/tmp/tilewright-configure.$$" 2>&1 || { cat "/tmp/tilewright-configure.$$" >&2; exit 1; }
  rm -f "/tmp/tilewright-configure.$$"
fi
exec ninja -C "$folder" -j "${JOBS:-$(nproc)}" "$@"
