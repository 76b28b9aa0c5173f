"""Buffers of a program's own with extents below 0, which only a call says, are refused; loops of such extents do not run."""

import numpy as np
import pytest

import tilewright

BUILDS = {"llvm": {}, "c": {"target": "c"}, "check_bounds": {"check_bounds": True}}
SHAPES = {
    "one": ("(k,)", 4, -3, -12),
    "a difference": ("(k - 4,)", 7, 3, -4),
    "the last of two": ("(2, k)", 3, -1, -8),
    "a quotient": ("(k // 2,)", 4, -1, -4),
}


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("size", ["int32", "int64"])
@pytest.mark.parametrize("name", SHAPES)
def test_an_extent_below_zero(name, size, build):
    shape, good, bad, num_bytes = SHAPES[name]
    index = "A[2], A[2] - 1" if "2, k" in shape else "A[2]"  # not known: the buffer keeps its extent
    f = tilewright.build(
        tilewright.script.parse(f"""
@T.prim_func
def f(A: T.Buffer((4,), 'int32'), k: T.{size}):
    L = T.alloc_buffer({shape}, 'int32')
    if A[0] == 1:
        L[{index}] = 5
        A[1] = L[{index}]
"""),
        **BUILDS[build],
    )["f"]
    a = np.array([1, 0, 1, 0], "int32")
    f(a, good)
    np.testing.assert_array_equal(a, [1, 5, 1, 0])
    with pytest.raises(tilewright.UserError) as caught:
        f(a, bad)
    assert str(caught.value) == (
        f"error: cannot allocate a buffer of {num_bytes} bytes: an extent is negative, or the product of all is too large\n"
        "help: guard the allocation with T.max(extent, 0), or call with other values"
    )
