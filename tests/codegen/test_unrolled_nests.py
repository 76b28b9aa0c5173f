"""Nests that are unrolled as a whole give the numbers of those that are not."""

import numpy as np
import pytest

import tilewright
from tilewright.script import tir as T


@T.prim_func
def product(A: T.Buffer((12, 8), "float32"), B: T.Buffer((8, 7), "float32"), D: T.Buffer((12, 7), "float32")):
    C = T.alloc_buffer((12, 7))
    for i, j, k in T.grid(12, 7, 8):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0.0
            C[vi, vj] += A[vi, vk] * B[vk, vj]
    for i, j in T.grid(12, 7):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = T.max(C[vi, vj], 0.0) + 1.0


@pytest.mark.parametrize(
    "target", ["llvm", "llvm -opt-level=3", "llvm -opt-level=1", "llvm -mcpu=x86-64-v3", "c"]
)
@pytest.mark.parametrize("blocks", [("C",), ("D",), ("C", "D")])
def test_product(target, blocks):
    """Found: row 5 was wrong on processors with AVX-512, by LLVM's vectorizer of straight-line code."""
    sch = tilewright.Schedule(product)
    for block in blocks:
        for loop in sch.get_loops(sch.get_block(block)):
            sch.unroll(loop)
    rng = np.random.default_rng(0)
    a, b, found = rng.random((12, 8), "float32"), rng.random((8, 7), "float32"), np.zeros((12, 7), "float32")
    tilewright.build(sch.mod, target)["product"](a, b, found)
    np.testing.assert_allclose(found, np.maximum(a @ b, 0) + 1, rtol=1e-5)
