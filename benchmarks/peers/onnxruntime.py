"""onnxruntime's CPU provider; functions are small graphs."""

import numpy as np
import onnx
import onnxruntime

from . import graphs

num_threads = 1


def version() -> str:
    return onnxruntime.__version__


def set_threads(number: int) -> None:
    global num_threads
    num_threads = number


def runner(model: bytes | str, inputs: dict[str, np.ndarray]):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = num_threads
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return lambda: session.run(names, inputs)


def function(name: str, arrays: list[np.ndarray], case: dict):
    if case["dtype"] == "bfloat16":  # it has no such kernels for CPUs
        return None

    def run(graph, inputs):
        return runner(graph.SerializeToString(), inputs)

    if "weight_dtype" in case:
        return graphs.run_rounded(run, arrays, case)
    return graphs.run_function(run, name, arrays, case)


def model(path: str, inputs: dict[str, np.ndarray], case: dict):
    return runner(path, inputs or graphs.inputs_for(onnx.load(path)))
