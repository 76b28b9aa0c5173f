"""jax on the CPU, compiled, on one thread or as many as XLA chooses."""

import os

import jax
import numpy as np


def version() -> str:
    return jax.__version__


def set_threads(num_threads: int) -> None:
    if num_threads == 1:  # read when the first array is created
        os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"


def layer_norm(a, scale):
    mean, variance = a.mean(-1, keepdims=True), a.var(-1, keepdims=True)
    return (a - mean) * jax.lax.rsqrt(variance + 1e-5) * scale


BODIES = {
    "mm": lambda a, b: jax.lax.dot(a, b, preferred_element_type="int32") if a.dtype == "int8" else a @ b,
    "mm_relu": lambda a, b: jax.nn.relu(a @ b),
    "softmax": jax.nn.softmax,
    "layer_norm": layer_norm,
    "gelu": lambda a: jax.nn.gelu(a, approximate=False),
    "transpose": lambda a: a.T,
    "attention": lambda a, b, c: jax.nn.softmax(a @ b.swapaxes(-1, -2)) @ c,
}


def function(name: str, arrays: list[np.ndarray], case: dict):
    if name not in BODIES:
        return None
    values = list(map(jax.device_put, arrays))
    call = jax.jit(BODIES[name])
    return lambda: call(*values).block_until_ready()


def model(path: str, inputs: dict[str, np.ndarray], case: dict):
    return None
