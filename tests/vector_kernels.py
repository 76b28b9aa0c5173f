"""Kernels that use vectors in many ways, with operands and what numpy gives: for processors that nobody here owns."""

import dataclasses

import numpy as np

import tilewright as tw
from tilewright import te, topi


@dataclasses.dataclass
class Kernel:
    """A function of tensors whose last parameter is the result."""

    func: object
    inputs: list[np.ndarray]
    expected: np.ndarray
    tolerance: float = 0.0  # relative to the largest number that is expected


def _random(*shape: int, dtype: str = "float32") -> np.ndarray:
    rng = np.random.default_rng(sum(shape))
    if dtype.startswith("float"):
        return rng.standard_normal(shape).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype, endpoint=True)


def _placeholders(*arrays: np.ndarray):
    return [te.placeholder(array.shape, str(array.dtype), name=f"X{n}") for n, array in enumerate(arrays)]


def matmul(rows: int, columns: int, terms: int, dtype: str = "float32", of: str = "") -> Kernel:
    """Products of `dtype`, summed in `of`."""
    of = of or dtype
    a, b = _random(rows, terms, dtype=dtype), _random(terms, columns, dtype=dtype)
    x, y = _placeholders(a, b)
    k = te.reduce_axis((0, terms), "k")
    z = te.compute(
        (rows, columns), lambda i, j: te.sum(x[i, k].astype(of) * y[k, j].astype(of), axis=k), name="Z"
    )
    wide = "int64" if of.startswith("int") else "float64"
    tolerance = {"float16": 2e-2, "float32": 1e-5, "float64": 1e-13}.get(of, 0.0)
    return Kernel(
        te.create_prim_func([x, y, z]), [a, b], (a.astype(wide) @ b.astype(wide)).astype(of), tolerance
    )


def convolution(size: int, channels: int, filters: int) -> Kernel:
    """3 x 3, channels last."""
    a, b = _random(1, size + 2, size + 2, channels), _random(3, 3, channels, filters)
    x, w = _placeholders(a, b)
    h, v, c = (te.reduce_axis((0, extent), name) for extent, name in ((3, "h"), (3, "v"), (channels, "c")))
    y = te.compute(
        (1, size, size, filters),
        lambda n, i, j, f: te.sum(x[n, i + h, j + v, c] * w[h, v, c, f], axis=[h, v, c]),
        name="Y",
    )
    expected = sum(
        np.einsum("nijc,cf->nijf", a[:, p : p + size, q : q + size].astype("float64"), b[p, q])
        for p in range(3)
        for q in range(3)
    )
    return Kernel(te.create_prim_func([x, w, y]), [a, b], expected.astype("float32"), 1e-5)


def softmax(rows: int, columns: int) -> Kernel:
    a = _random(rows, columns)
    (x,) = _placeholders(a)
    largest = topi.max(x, axis=1, keepdims=True)
    powers = topi.exp(topi.subtract(x, largest))
    y = topi.divide(powers, topi.sum(powers, axis=1, keepdims=True))
    powers_of_a = np.exp(a.astype("float64") - a.max(1, keepdims=True))
    return Kernel(
        te.create_prim_func([x, y]),
        [a],
        (powers_of_a / powers_of_a.sum(1, keepdims=True)).astype("float32"),
        1e-5,
    )


def elements(rows: int, columns: int, dtype: str) -> Kernel:
    """max(x * y + x, 0.5), by a row of y."""
    a, b = _random(rows, columns, dtype=dtype), _random(columns, dtype=dtype)
    x, y = _placeholders(a, b)
    z = topi.maximum(topi.add(topi.multiply(x, y), x), tw.tir.const(0.5, dtype))
    wide = a.astype("float64")
    expected = np.maximum(wide * b + wide, 0.5).astype(dtype)
    return Kernel(te.create_prim_func([x, y, z]), [a, b], expected, 2e-3 if dtype == "float16" else 1e-6)


def sum_of(axis: int, rows: int, columns: int, dtype: str = "float32") -> Kernel:
    a = _random(rows, columns, dtype=dtype)
    (x,) = _placeholders(a)
    wide = "int64" if dtype.startswith("int") else "float64"
    tolerance = 0.0 if wide == "int64" else 1e-5
    return Kernel(
        te.create_prim_func([x, topi.sum(x, axis=axis)]),
        [a],
        a.astype(wide).sum(axis).astype(dtype),
        tolerance,
    )


def largest_place(rows: int, columns: int) -> Kernel:
    a = _random(rows, columns)
    (x,) = _placeholders(a)
    return Kernel(te.create_prim_func([x, topi.argmax(x, axis=1)]), [a], a.argmax(1).astype("int32"))


def strided(columns: int) -> Kernel:
    """Every second and every third element, one behind the other's end, and where they differ in sign."""
    a = _random(3 * columns)
    (x,) = _placeholders(a)
    y = te.compute(
        (columns,),
        lambda i: tw.tir.if_then_else(x[2 * i] * x[3 * i] < 0, x[3 * columns - 1 - i], x[2 * i] + x[3 * i]),
        name="Y",
    )
    n = np.arange(columns)
    two, three = a[2 * n], a[3 * n]
    return Kernel(
        te.create_prim_func([x, y]), [a], np.where(two * three < 0, a[::-1][:columns], two + three), 1e-6
    )


def pooled(size: int, channels_last: bool, dtype: str = "float32") -> Kernel:
    """The largest of 3 x 3 at every second place."""
    a = _random(3, size, size, dtype=dtype) if not channels_last else _random(size, size, 7, dtype=dtype)
    (x,) = _placeholders(a)
    h, v = te.reduce_axis((0, 3), "h"), te.reduce_axis((0, 3), "v")
    count = (size - 3) // 2 + 1
    ends = [slice(p, p + 2 * count - 1, 2) for p in range(3)]
    if channels_last:
        shape = (count, count, 7)
        y = te.compute(shape, lambda i, j, c: te.max(x[2 * i + h, 2 * j + v, c], axis=[h, v]), name="Y")
        parts = [a[p, q] for p in ends for q in ends]
    else:
        shape = (3, count, count)
        y = te.compute(shape, lambda c, i, j: te.max(x[c, 2 * i + h, 2 * j + v], axis=[h, v]), name="Y")
        parts = [a[:, p, q] for p in ends for q in ends]
    return Kernel(te.create_prim_func([x, y]), [a], np.max(parts, axis=0))


def rounded(columns: int) -> Kernel:
    """float32 to int8: what quantization does."""
    a = _random(5, columns) * 40
    (x,) = _placeholders(a)
    y = topi.cast(topi.clip(topi.round(x), -128, 127), "int8")
    return Kernel(te.create_prim_func([x, y]), [a], np.clip(np.round(a), -128, 127).astype("int8"))


def all_kernels() -> dict[str, Kernel]:
    return {
        "matmul_odd": matmul(5, 127, 7),
        "matmul_64": matmul(64, 64, 64),
        "matmul_primes": matmul(127, 131, 129),
        "matmul_row": matmul(1, 127, 65),
        "matmul_few_columns": matmul(64, 7, 64),
        "matmul_few_doubles": matmul(5, 3, 127, "float64"),
        "matmul_few_halves": matmul(5, 7, 33, "float16"),
        "matmul_half": matmul(7, 127, 64, "float16"),
        "matmul_half_64": matmul(64, 64, 64, "float16", "float32"),
        "matmul_double": matmul(7, 65, 33, "float64"),
        "matmul_bytes": matmul(7, 127, 67, "int8", "int32"),
        "matmul_bytes_64": matmul(64, 64, 64, "int8", "int32"),
        "matmul_unsigned_bytes": matmul(5, 64, 64, "uint8", "int32"),
        "convolution_odd": convolution(7, 5, 13),
        "convolution_few_filters": convolution(14, 16, 6),
        "convolution_64": convolution(14, 64, 64),
        "softmax": softmax(7, 127),
        "elements": elements(5, 127, "float32"),
        "elements_half": elements(7, 129, "float16"),
        "elements_double": elements(3, 31, "float64"),
        "sum_of_columns": sum_of(0, 127, 65),
        "sum_of_rows": sum_of(1, 5, 1027),
        "sum_of_words": sum_of(1, 7, 129, "int32"),
        "largest_place": largest_place(7, 127),
        "strided": strided(127),
        "pooled": pooled(33, False),
        "pooled_by_channels": pooled(15, True),
        "pooled_doubles": pooled(19, False, "float64"),
        "pooled_halves": pooled(35, False, "float16"),
        "rounded": rounded(127),
    }
