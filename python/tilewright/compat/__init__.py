"""Old and TVM-only spellings: `import tvm` for the course's texts and for programs written for Apache TVM 0.10 to 0.27.

Names only, never logic: every entry of tables.py points at something of tilewright.

    python -m tilewright.compat script.py args...     runs a script that says `import tvm`
    import tilewright.compat; tilewright.compat.install()      inside a notebook
    pytest -p tilewright.compat.pytest                for a test suite
"""

import importlib.machinery
import sys
import types

from . import (
    classes,
    compiled,
    devices,
    errors,
    graphs,
    keywords,
    nodes,
    printing,
    relay,
    schedules,
    scopes,
    tables,
    target,
)

__all__ = ["install"]


def install() -> types.ModuleType:
    """Makes `import tvm` give tilewright under TVM's names; returns the module `tvm`.

    Raises RuntimeError if Apache TVM itself has been imported already.
    >>> tilewright.compat.install(); import tvm
    """
    present = sys.modules.get("tvm")
    if present is not None:
        if not getattr(present, "__tilewright__", False):
            raise RuntimeError(
                "tvm is imported already: call tilewright.compat.install() before `import tvm`"
            )
        return present
    modules = {name: _module(name) for name in tables.MODULES}
    for name, table in tables.MODULES.items():
        modules[name].__dict__.update(table())
    for name, module in modules.items():
        parent, _, child = name.rpartition(".")
        # tvm.topi.sort is the function, and `from tvm.topi.sort import argsort` finds the module
        is_hidden = parent.startswith("tvm.topi") and isinstance(
            modules[parent].__dict__.get(child), types.FunctionType
        )
        if parent and not is_hidden:
            modules[parent].__dict__[child] = module
    errors.add()
    classes.rename()
    classes.add_spellings()
    printing.add()
    nodes.add()
    schedules.add()
    scopes.add()
    compiled.add()
    devices.add()
    keywords.add(modules)
    graphs.add()
    target.add()
    relay.add()
    if "tvm_ffi" in sys.modules:  # the real one is in use: it keeps its name
        modules = {name: module for name, module in modules.items() if not name.startswith("tvm_ffi")}
    sys.modules.update(modules)
    return modules["tvm"]


def _module(name: str) -> types.ModuleType:
    module = types.ModuleType(name, f"tilewright under the name {name}.")
    module.__spec__ = importlib.machinery.ModuleSpec(name, None)
    module.__tilewright__ = True
    module.__path__ = []
    module.__tilewright_module__ = tables.SCRIPT_MODULES.get(name)
    return module
