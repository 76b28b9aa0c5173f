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
