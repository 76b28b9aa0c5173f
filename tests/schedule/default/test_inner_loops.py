"""The innermost loops of kernels are counted, instruction by instruction: what makes them slower fails here without a clock.

A bound is what LLVM 19 gives today; fewer instructions for as many multiply-adds are progress: lower the bound.
"""

import sys
from pathlib import Path

import numpy as np
import pytest
from op_testing import build

import tilewright
from tilewright import te
from tilewright.relax import transform

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))
from assembly_loops import counts_of_loops, hottest_loop  # noqa: E402

TARGETS = {
    "avx512": "llvm -mcpu=skylake-avx512 -num-cores=1 -l1_cache_size_bytes=49152 -l2_cache_size_bytes=2097152",
    "avx2": "llvm -mcpu=core-avx2 -num-cores=1",
    "sse": "llvm -mcpu=x86-64 -num-cores=1",
    "neon": "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1 -num-cores=1",
}


def matmul(rows, columns, terms, left="float32", right="float32", out="float32"):
    a = te.placeholder((rows, terms), left, name="a")
    b = te.placeholder((terms, columns), right, name="b")
    k = te.reduce_axis((0, terms))
    c = te.compute((rows, columns), lambda i, j: te.sum(a[i, k].astype(out) * b[k, j].astype(out), axis=k))
    return te.create_prim_func([a, b, c])


def convolution(size, channels, filters):
    x = te.placeholder((1, size + 2, size + 2, channels), "float32", name="x")
    w = te.placeholder((3, 3, channels, filters), "float32", name="w")
    r = [te.reduce_axis((0, extent)) for extent in (3, 3, channels)]
    y = te.compute(
        (1, size, size, filters),
        lambda n, i, j, f: te.sum(x[n, i + r[0], j + r[1], r[2]] * w[r[0], r[1], r[2], f], axis=r),
    )
    return te.create_prim_func([x, w, y])


def depthwise(size, channels):
    """Windows of three by three, each channel for itself."""
    x = te.placeholder((size + 2, size + 2, channels), "float32", name="x")
    w = te.placeholder((3, 3, channels), "float32", name="w")
    r = [te.reduce_axis((0, 3)), te.reduce_axis((0, 3))]
    y = te.compute(
        (size, size, channels),
        lambda i, j, c: te.sum(x[i + r[0], j + r[1], c] * w[r[0], r[1], c], axis=r),
    )
    return te.create_prim_func([x, w, y])


def product_by_groups(rows, bits):
    """Of 1024 terms and columns, whose weights of 8 or 4 bits have a scale for each 32 terms."""
    x, scale = np.zeros((rows, 1024), "float32"), np.zeros((32, 1024), "float32")
    data = np.zeros((1024, 1024), "int8") if bits == 8 else np.zeros((128, 1024), "int32")
    return transform.legalize_ops()(build("dequantize_matmul", [x, data, scale], {}))["dequantize_matmul"]


def assembly(func, target):
    return tilewright.build(func, target=target).get_source("asm")


# the least multiply-adds, the most instructions, the most uses of the stack (small copies of panels are there, too)
BOUNDS = [
    (
        matmul,
        (128, 128, 128),
        {"avx512": (26, 44, 0), "avx2": (12, 23, 0), "sse": (12, 46, 0), "neon": (16, 25, 0)},
    ),
    (
        matmul,
        (127, 127, 127),
        {"avx512": (16, 35, 8), "avx2": (10, 20, 0), "sse": (8, 32, 2), "neon": (16, 28, 0)},
    ),
    (  # found: the four lanes of the last vector were joined with it after each addition
        matmul,
        (14, 68, 68),
        {"avx512": (25, 38, 0), "avx2": (12, 25, 0), "sse": (14, 60, 0), "neon": (21, 34, 0)},
    ),
    (
        matmul,
        (1, 1000, 512),
        {"avx512": (7, 12, 0), "avx2": (12, 18, 0), "sse": (7, 27, 0), "neon": (7, 16, 0)},
    ),
    (
        matmul,
        (1024, 1024, 1024),
        {"avx512": (26, 46, 0), "avx2": (8, 18, 2), "sse": (8, 32, 2), "neon": (16, 30, 0)},
    ),
    (
        convolution,
        (14, 64, 64),
        {"avx512": (28, 50, 0), "avx2": (8, 26, 0), "sse": (8, 39, 0), "neon": (28, 49, 2)},
    ),
    (
        depthwise,
        (28, 128),
        {"avx512": (126, 208, 0), "avx2": (21, 35, 0), "sse": (21, 68, 0), "neon": (126, 215, 0)},
    ),
    (
        product_by_groups,
        (1, 8),
        {"avx512": (8, 29, 0), "avx2": (7, 26, 0), "sse": (4, 34, 0), "neon": (8, 33, 0)},
    ),
    (
        product_by_groups,
        (1, 4),
        {"avx512": (64, 297, 2), "avx2": (32, 176, 25), "sse": (32, 238, 0), "neon": (64, 278, 0)},
    ),
    (
        product_by_groups,
        (4, 4),
        {"avx512": (128, 278, 0), "avx2": (64, 178, 24), "sse": (64, 324, 9), "neon": (128, 279, 1)},
    ),
]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("kind", "sizes", "bounds"), BOUNDS, ids=[f"{kind.__name__}{sizes}" for kind, sizes, _ in BOUNDS]
)
def test_counts(kind, sizes, bounds, target):
    multiply_adds, count, on_stack = hottest_loop(assembly(kind(*sizes), TARGETS[target]))
    least, most, most_on_stack = bounds[target]
    assert multiply_adds >= least
    assert count / multiply_adds <= most / least
    assert on_stack <= most_on_stack


@pytest.mark.parametrize(
    ("target", "bounds"),
    {"avx512": (16, 28, 4), "avx2": (8, 18, 2), "sse": (8, 33, 0), "neon": (16, 26, 0)}.items(),
)
def test_attention(target, bounds):
    """Both of its products are such loops; that of exponentials has more multiply-adds on some processors."""
    query = np.zeros((1, 128, 4, 64), "float32")
    attention = transform.legalize_ops()(build("nn.attention", [query, query, query], {}))["attention"]
    least, most, most_on_stack = bounds
    products = [
        count
        for count in counts_of_loops(assembly(attention, TARGETS[target]))
        if count[0] >= least and count[1] / count[0] <= most / least and count[2] <= most_on_stack
    ]
    assert len(products) >= 2


@pytest.mark.parametrize(
    ("dtypes", "target", "least", "most"),
    [
        (("uint8", "int8", "int32"), "llvm -mcpu=cascadelake -num-cores=1", 16, 28),
        (("bfloat16", "bfloat16", "float32"), "llvm -mcpu=cooperlake -num-cores=1", 16, 28),
        (("int8", "int8", "int32"), TARGETS["neon"], 16, 29),
    ],
)
def test_dot_products(dtypes, target, least, most):
    """Each instruction does the work of four, or two, multiply-adds; on the stack is at most the panel of four vectors."""
    dots, count, on_stack = hottest_loop(assembly(matmul(128, 128, 128, *dtypes), target))
    assert dots >= least
    assert count / dots <= most / least
    assert on_stack <= 4
