"""OpenVINO on the CPU, in float32 unless the case has precision bf16: by default it uses bfloat16 if the processor supports it."""

import numpy as np
import onnx
import openvino

from . import graphs

num_threads = 1


def version() -> str:
    return openvino.__version__


def set_threads(number: int) -> None:
    global num_threads
    num_threads = number


def runner(model: bytes | str, inputs: dict[str, np.ndarray], case: dict):
    core = openvino.Core()
    options = {
        "INFERENCE_NUM_THREADS": num_threads,
        "INFERENCE_PRECISION_HINT": "bf16" if case.get("precision") == "bf16" else "f32",
        "PERFORMANCE_HINT": "LATENCY",
        "NUM_STREAMS": 1,
    }
    request = core.compile_model(core.read_model(model), "CPU", options).create_infer_request()
    return lambda: request.infer(inputs, share_inputs=True, share_outputs=True)


def function(name: str, arrays: list[np.ndarray], case: dict):
    if case["dtype"] != "float32":
        return None
    return graphs.run_function(
        lambda graph, inputs: runner(graph.SerializeToString(), inputs, case), name, arrays, case
    )


def model(path: str, inputs: dict[str, np.ndarray], case: dict):
    return runner(path, inputs or graphs.inputs_for(onnx.load(path)), case)
