"""numpy; its BLAS takes the number of threads from the environment, which run.py sets before the process starts."""

import numpy as np


def version() -> str:
    return np.__version__


def set_threads(num_threads: int) -> None:
    """Does nothing: OPENBLAS_NUM_THREADS sets the number of threads."""


def function(name: str, arrays: list[np.ndarray], case: dict):
    if not name.startswith("mm") or case["dtype"] != "float32":
        return None
    a, b = arrays
    out = np.empty((a.shape[0], b.shape[1]), a.dtype)
    if name == "mm":
        return lambda: np.matmul(a, b, out=out)
    return lambda: np.maximum(np.matmul(a, b, out=out), 0, out=out)


def model(path: str, inputs: dict[str, np.ndarray], case: dict):
    return None
