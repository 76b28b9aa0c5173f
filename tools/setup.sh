#!/usr/bin/env bash
# Installs what a fresh Debian 12 lacks: the packages of packages.txt and, in .venv, the pinned Python packages.
#   tools/setup.sh build   what the build and the demo need
#   tools/setup.sh test    also what tests, linters and benchmarks need
# Does nothing, in a fraction of a second, when nothing is missing.
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

if [ ! -x .venv/bin/python ]; then
  python=$(command -v python3.11 || command -v python3)
  "$python" -c "$min_python" || { echo "setup: $python is older than Python 3.11" >&2; exit 1; }
  echo "setup: creating .venv with $python"
  "$python" -m venv .venv
fi

# one stamp per requirements file, named by its content
install_requirements() {
  local file=$1 stamp
  stamp=.venv/.installed-${file%.txt}-$(sha256sum <"$file" | cut -c1-16)
  [ -e "$stamp" ] && return
  echo "setup: pip install -r $file"
  .venv/bin/python -m pip install -qq --disable-pip-version-check -r "$file" </dev/null
  rm -f .venv/.installed-"${file%.txt}"-*
  touch "$stamp"
}
install_requirements requirements.txt
if [ "$level" = test ]; then install_requirements requirements-test.txt; fi
