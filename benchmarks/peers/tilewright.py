"""tilewright as it builds by default; functions are small graphs.  Threads come from the environment, which run.py sets."""

import tempfile
from pathlib import Path

import numpy as np
import onnx

import tilewright

from . import graphs

if not hasattr(tilewright, "compile"):
    raise ImportError("tilewright is not built here")


def version() -> str:
    return tilewright.__version__


def set_threads(num_threads: int) -> None:
    """Nothing: TILEWRIGHT_NUM_THREADS holds."""


def model(path: str, inputs: dict[str, np.ndarray]):
    executable = tilewright.compile(path, target="llvm")
    machine = tilewright.VirtualMachine(executable)
    main = machine["main"]
    values = list((inputs or graphs.inputs_for(onnx.load(path))).values())
    return lambda: main(*values)


def function(name: str, arrays: list[np.ndarray]):
    built = graphs.graph_of(name, arrays)
    if not built:
        return None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.onnx"
        onnx.save(built, file)
        return model(str(file), dict(zip("ab", arrays, strict=True)))


KERNEL = """
@T.prim_func
def main(A: T.Buffer((1,), "float32")):
    for i in range(1):
        with T.block("A"):
            vi = T.axis.spatial(1, i)
            A[vi] = T.float32(0)
"""
GRAPH = """
@R.function
def main(x: R.Tensor((1,), "float32")) -> R.Tensor((1,), "float32"):
    return x
"""


def empty_call(what: str):
    """A call that does nothing: of a kernel, or of a graph function in the virtual machine."""
    x = tilewright.tensor(np.zeros(1, "float32"))
    if what == "kernel":
        main = tilewright.build(tilewright.script.parse(KERNEL))["main"]
    else:
        main = tilewright.VirtualMachine(tilewright.compile(tilewright.script.parse(GRAPH)))["main"]
    return lambda: main(x)
