#!/usr/bin/env bash
# Installs what a fresh Debian 12 lacks: the packages of packages.txt and, in .venv, the pinned Python
# packages.
#   tools/setup.sh build   for the build and the demo
#   tools/setup.sh test    also for tests, linters and benchmarks
#   tools/setup.sh nvcc    NVIDIA's compiler of CUDA C, in .venv
#   tools/setup.sh peers   other compilers and libraries that benchmarks measure, in .venv-peers and .venv-tvm
# Takes a fraction of a second if nothing is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
level=${1:-build}
min_python="import sys; sys.exit(sys.version_info < (3, 11))"

missing=()
while read -r package; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done < <(sed -e 's/#.*//' -e '/^\s*$/d' packages.txt)
if [ ${#missing[@]} -gt 0 ]; then
  as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "setup: these Debian packages are missing, and there is no sudo to install them: ${missing[*]}" >&2; exit 1; }
    as_root=(sudo)
  fi
  echo "setup: installing ${missing[*]}"
  log=$(mktemp)
  if ! { "${as_root[@]}" apt-get update -q && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 </dev/null; then
    tail -n 20 "$log" >&2
    echo "setup: apt-get failed, its whole output is in $log" >&2
    exit 1
  fi
  rm -f "$log"
fi

# creates an environment in the folder $1
make_environment() {
  local folder=$1 python
  [ -x "$folder/bin/python" ] && return
  python=$(command -v python3.11 || command -v python3)
  "$python" -c "$min_python" || { echo "setup: $python is older than Python 3.11" >&2; exit 1; }
  echo "setup: creating $folder with $python"
  "$python" -m venv "$folder"
}

# installs the requirements file $2 into the environment $1; one stamp per file, named by its content
install_requirements() {
  local folder=$1 file=$2 stamp
  stamp=$folder/.installed-${file%.txt}-$(sha256sum <"$file" | cut -c1-16)
  [ -e "$stamp" ] && return
  echo "setup: pip install -r $file"
  "$folder/bin/python" -m pip install -qq --disable-pip-version-check -r "$file" </dev/null
  rm -f "$folder"/.installed-"${file%.txt}"-*
  touch "$stamp"
}
# Lets .venv's `python` find this clone's package, and its `tilewright` start this clone's program, once they
# are built. Paths are relative to .venv.  A wheel that is installed there takes precedence.
link_clone() {
  local packages
  packages=$(echo .venv/lib/python3.*/site-packages)
  echo ../../../../build/python >"$packages/tilewright-clone.pth"
  [ -e .venv/bin/tilewright ] && return
  printf '#!/bin/sh\nexec "$(dirname "$0")/../../build/bin/tilewright" "$@"\n' >.venv/bin/tilewright
  chmod +x .venv/bin/tilewright
}
make_environment .venv
link_clone
install_requirements .venv requirements.txt
case $level in
test) install_requirements .venv requirements-test.txt ;;
nvcc) install_requirements .venv requirements-nvcc.txt ;;
peers)
  make_environment .venv-peers
  install_requirements .venv-peers requirements-peers.txt
  # needs another apache-tvm-ffi than our tests
  make_environment .venv-tvm
  install_requirements .venv-tvm requirements-tvm.txt
  ;;
esac
