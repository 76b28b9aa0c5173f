"""apache-tvm after tuning, in a process of the Python that TVM_PYTHON names (tvm_worker.py)."""

import os
import subprocess
from pathlib import Path

import numpy as np
import timing

PYTHON = os.environ.get("TVM_PYTHON", "")
WORKER = Path(__file__).resolve().parents[1] / "tvm_worker.py"

if not Path(PYTHON).is_file():
    raise ImportError("TVM_PYTHON does not name a Python with apache-tvm")

num_threads = 1


def version() -> str:
    return subprocess.run(
        [PYTHON, "-c", "import tvm; print(tvm.__version__)"], capture_output=True, text=True, check=True
    ).stdout.strip()


def set_threads(count: int) -> None:
    global num_threads
    num_threads = count


class Worker(timing.Worker):
    """Times a product in another process, which measures the time itself."""

    def __init__(self, sizes: list[int]):
        name = "x".join(map(str, sizes)) + f"-{num_threads}"
        folder = Path(PYTHON).absolute().parents[1] / "tuned" / name
        folder.mkdir(parents=True, exist_ok=True)
        words = [PYTHON, str(WORKER), *map(str, sizes), str(num_threads), str(folder)]
        super().__init__(words, os.environ | {"TVM_NUM_THREADS": str(num_threads), "PYTHONPATH": ""})

    def __call__(self) -> np.ndarray:
        return np.array(self.ask("result"), "float32")


def function(name: str, arrays: list[np.ndarray], case: dict):
    if name != "mm" or case["dtype"] != "float32":
        return None
    (m, k), (_, n) = (array.shape for array in arrays)
    return Worker([m, k, n])


def model(path: str, inputs: dict[str, np.ndarray], case: dict):
    return None
