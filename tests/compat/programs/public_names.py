"""Every name of ../public_names.txt is served, or stands in docs/compat.md under "Not served"."""

import importlib
import re
from pathlib import Path

import tvm

TESTS = Path(__file__).resolve().parents[1]
_, _, not_served = (TESTS.parents[1] / "docs/compat.md").read_text().partition("## Not served")
listed = {
    word
    for row in not_served.splitlines()
    for word in re.findall(r"\w+", row.partition("|")[2].partition("|")[0])
}


def thing(path: str):
    """The module or class at a path; nothing where it is not served."""
    try:
        return importlib.import_module(path)
    except ImportError:
        module, _, name = path.rpartition(".")
        return getattr(importlib.import_module(module), name)


missing = []
for line in (TESTS / "public_names.txt").read_text().splitlines():
    path, _, names = line.partition(": ")
    if not line.startswith("#"):
        missing += [
            f"{path}.{name}"
            for name in names.split()
            if name not in listed and not hasattr(thing(path), name)
        ]
assert tvm and not missing, "\n".join(missing)

print("ok")
