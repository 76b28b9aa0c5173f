"""The console command `tilewright` of the Python package: becomes the program that the package carries."""

import importlib.util
import os
import sys
from pathlib import Path


def main() -> None:
    # a package of its own: the compiler's need not be imported, which would cost more than the program's start
    spec = importlib.util.find_spec("tilewright")
    program = Path(spec.origin).with_name("tilewright")
    os.environ.setdefault("TILEWRIGHT_PYTHON", sys.executable)  # tuning runs in it
    os.execv(program, [str(program), *sys.argv[1:]])
