"""jax on the CPU, compiled, on one thread or as many as XLA likes."""

import os

import jax
import numpy as np


def version() -> str:
    return jax.__version__


def set_threads(num_threads: int) -> None:
    if num_threads == 1:  # read when the first array is made
        os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"


def function(name: str, arrays: list[np.ndarray]):
    a, b = map(jax.device_put, arrays)
    bodies = {"mm": lambda a, b: a @ b, "mm_relu": lambda a, b: jax.nn.relu(a @ b)}
    if name not in bodies:
        return None
    call = jax.jit(bodies[name])
    return lambda: call(a, b).block_until_ready()


def model(path: str, inputs: dict[str, np.ndarray]):
    return None
