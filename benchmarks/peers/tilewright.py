"""tilewright with its default settings; functions are small graphs over its own tensors, like those of the other libraries, and
models take numpy arrays.  The environment, which run.py sets, has the number of threads."""

import json
import subprocess
import sys
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
    """Does nothing: TILEWRIGHT_NUM_THREADS sets the number of threads."""


def runner(model, values: list, case: dict):
    weights = case.get("weight_dtype", "float32")
    executable = tilewright.compile(
        model, target="llvm", precision=case.get("precision", "exact"), weights=weights
    )
    main = tilewright.VirtualMachine(executable)["main"]
    return lambda: main(*values)


def model(path: str, inputs: dict[str, np.ndarray], case: dict):
    return runner(path, list((inputs or graphs.inputs_for(onnx.load(path))).values()), case)


def function(name: str, arrays: list[np.ndarray], case: dict):
    def of_graph(graph, inputs):
        return runner(graph, list(map(tilewright.tensor, inputs.values())), case)

    return run_function(of_graph, name, arrays, case)


def run_function(of_graph, name: str, arrays: list[np.ndarray], case: dict):
    """As graphs.run_function; with open rows the weights are rounded in the graph, as language models have them."""
    if "weight_dtype" in case and case.get("open_rows"):
        return graphs.run_rounded(of_graph, arrays, case)
    return graphs.run_function(of_graph, name, arrays, case)


def command_line() -> str:
    """The program that belongs to the package: from the same build folder, or from the same environment."""
    built = Path(tilewright.__file__).absolute().parents[2] / "bin/tilewright"
    return str(built if built.exists() else Path(sys.executable).parent / "tilewright")


def explain(path: str, case: dict, num_threads: int) -> dict:
    """The output of `tilewright explain --json` for the model at `path` with the case's precision."""
    words = [command_line(), "explain", path, "--json", "--quiet", "--threads", str(num_threads)]
    if case.get("open_rows"):
        words += ["--fix", f"n={case['shapes'][0][0]}"]
    words += ["--precision", case.get("precision", "exact"), "--weights", case.get("weight_dtype", "float32")]
    return json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout)


def explain_function(name: str, arrays: list[np.ndarray], case: dict, num_threads: int) -> dict:
    """The same for a function's graph."""

    def of_graph(graph, inputs):
        with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
            onnx.save(graph, file.name)
            return explain(file.name, case, num_threads)

    return run_function(of_graph, name, arrays, case)


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


def compile_graph(num_calls: int):
    """Compiles a graph with this number of calls: sums of earlier values, functions of one value, matrix products."""
    ops = tilewright.relax.op
    weight = tilewright.relax.const(np.full((7, 7), 0.1, "float32"))
    builder = tilewright.relax.BlockBuilder()
    x = tilewright.relax.Var("x", tilewright.relax.TensorType((5, 7), "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            last = earlier = x
            for n in range(num_calls):
                if n % 16 == 0:
                    call = ops.matmul(last, weight)
                else:
                    call = (
                        ops.add(last, earlier)
                        if n % 2
                        else (ops.tanh, ops.sigmoid, ops.negative)[n % 3](last)
                    )
                earlier, last = (last if n % 5 == 0 else earlier), builder.emit(call)
            result = builder.emit_output(last)
        builder.emit_func_output(result)
    module = builder.get()
    return lambda: tilewright.compile(module, target="llvm")
