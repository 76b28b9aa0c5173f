"""Cases of sums and the like, and of running ones."""

import numpy as np
from topi.table import FLOATS, NUMBERS, Case, Input

from tilewright import topi

X = [Input("n", 5, 7)]


def near_one(rng, shape, dtype):
    """Numbers whose product over many is no overflow."""
    return rng.uniform(0.98, 1.02, shape) if dtype.startswith("float") else rng.integers(1, 3, shape)


def wide(x):
    return x.astype("float64") if x.dtype.kind == "f" else x


def over(name, reference, dtypes=NUMBERS, inputs=X, tolerance=None):
    """One function over one axis, over several that are kept, and over all, which no leading extent of 0 has."""
    ours = getattr(topi, name)
    options = {"tolerance": tolerance}
    return [
        Case(f"topi.{name}", lambda x: ours(x, -1), lambda x: reference(x, -1, False), inputs, dtypes, **options),
        Case(
            f"topi.{name}", lambda x: ours(x, (2, 1), True), lambda x: reference(x, (1, 2), True), inputs, dtypes,
            label="kept", **options,
        ),
        Case(
            f"topi.{name}", ours, lambda x: reference(x, None, False), inputs, dtypes, is_empty=False, label="all",
            tolerance=5e-3 if tolerance is None and dtypes is FLOATS else tolerance,
        ),
    ]  # fmt: skip


def of(function):
    def reduce(x, axis, keepdims):
        return function(wide(x), axis=axis, keepdims=keepdims)

    return reduce


def same_dtype(function):
    def reduce(x, axis, keepdims):
        if x.dtype.kind == "f":
            return function(wide(x), axis=axis, keepdims=keepdims)
        return function(x, axis=axis, keepdims=keepdims, dtype=x.dtype)

    return reduce


def position(function):
    """Of the first such element in row-major order over the axes."""

    def reduce(x, axis, keepdims):
        if isinstance(axis, tuple):
            rows = function(x.reshape(x.shape[0], x.shape[1] * x.shape[2]), axis=1)
            return rows.reshape(-1, 1, 1).astype("int32")
        return np.asarray(function(x, axis=axis, keepdims=keepdims)).astype("int32")

    return reduce


def running(name, function):
    ours = getattr(topi, name)

    def exclusive(x, axis):
        whole = function(wide(x), axis=axis, dtype=None if x.dtype.kind == "f" else x.dtype)
        first = np.full_like(np.take(whole, [0], axis), 0 if name == "cumsum" else 1)
        return np.concatenate([first, np.delete(whole, -1, axis)], axis)

    def inclusive(x, axis):
        return function(wide(x), axis=axis, dtype=None if x.dtype.kind == "f" else x.dtype)

    inputs = [Input("n", 3, 7, low=1, high=3)]
    return [
        Case(f"topi.{name}", lambda x: ours(x, -1), lambda x: inclusive(x, -1), inputs, NUMBERS),
        Case(f"topi.{name}", lambda x: ours(x, 1, exclusive=True), lambda x: exclusive(x, 1), inputs, NUMBERS, label="exclusive"),
        Case(
            f"topi.{name}", lambda x: ours(x, 1, reverse=True), lambda x: inclusive(x[:, ::-1], 1)[:, ::-1], inputs, NUMBERS,
            label="reverse",
        ),
        Case(
            f"topi.{name}", lambda x: ours(x, 0, dtype="int64"), lambda x: function(x, axis=0, dtype="int64"), inputs,
            ("int8", "int32"), label="dtype",
        ),
    ]  # fmt: skip


def collapse(x):
    return x.sum((0, 2), keepdims=True, dtype=x.dtype if x.dtype.kind != "f" else "float64")[0]


CASES = [
    *over("sum", same_dtype(np.sum)),
    *over("prod", same_dtype(np.prod), inputs=[Input("n", 3, 2, make=near_one)], tolerance=2e-2),
    *over("max", of(np.max)),
    *over("min", of(np.min)),
    *over("mean", of(np.mean), FLOATS),
    *over("variance", of(np.var), FLOATS),
    *over("std", of(np.std), FLOATS),
    *over("all", of(np.all), ("bool",)),
    *over("any", of(np.any), ("bool",)),
    *over("argmax", position(np.argmax)),
    *over("argmin", position(np.argmin)),
    *running("cumsum", np.cumsum),
    *running("cumprod", np.cumprod),
    Case(
        "topi.collapse_sum", lambda x: topi.collapse_sum(x, (5, 1)), collapse, X, NUMBERS, is_open=False, is_empty=False,
    ),
]  # fmt: skip
