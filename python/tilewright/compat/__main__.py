"""python -m tilewright.compat FILE.py ARGS: runs a script that says `import tvm`."""

import runpy
import sys
from pathlib import Path

from . import install


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        raise SystemExit(0 if len(sys.argv) > 1 else 2)
    install()
    sys.argv = sys.argv[1:]
    runpy.run_path(str(Path(sys.argv[0]).resolve()), run_name="__main__")


main()
