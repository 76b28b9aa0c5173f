"""Programs compiled with the default schedule, on arrays that end at (or begin after) a page that may not be touched.

Inputs are small whole numbers, so that every sum is exact in any order and results are compared bit by bit.
"""

import ctypes
import mmap

import numpy as np

import tilewright
from tilewright import te
from tilewright.testing import whole_numbers

TARGETS = ["llvm", "llvm -mcpu=core-avx2", "llvm -mcpu=x86-64"]

libc = ctypes.CDLL(None, use_errno=True)
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def guarded(array, at_end):
    """A copy of `array` in pages of its own, at the end or the begin of them, between two closed pages."""
    page = mmap.PAGESIZE
    inner = -(-max(array.nbytes, 1) // page) * page
    region = mmap.mmap(-1, inner + 2 * page)
    address = ctypes.addressof(ctypes.c_char.from_buffer(region))
    for closed in (address, address + page + inner):
        assert libc.mprotect(closed, page, 0) == 0
    offset = page + (inner - array.nbytes if at_end else 0)
    copy = np.frombuffer(region, array.dtype, array.size, offset).reshape(array.shape)
    copy[...] = array
    return copy


def check(tensors, reference, targets=TARGETS, threads=(1,), shapes=None, inputs=None, attrs=None):
    """Compiles the program of `tensors`, inputs before the one output, and compares it with `reference` on arrays.

    shapes  of the arrays, where those of the tensors are symbolic
    inputs  the arrays themselves; default small whole numbers
    attrs   of the program
    """
    func = te.create_prim_func(tensors)
    for name, value in (attrs or {}).items():
        func = func.with_attr(name, value)
    random = np.random.default_rng(0)
    if shapes is None:
        shapes = [[int(extent) for extent in tensor.shape] for tensor in tensors]
    if inputs is None:
        inputs = [whole_numbers(s, t.dtype, random) for s, t in zip(shapes[:-1], tensors[:-1], strict=True)]
    expected = reference(*inputs)
    assert list(expected.shape) == list(shapes[-1])
    for target in targets:
        for count in threads:
            tilewright.runtime.set_num_threads(count)
            try:
                lib = tilewright.build(func, target=target)
                for at_end in (True, False):
                    arrays = [guarded(each, at_end) for each in inputs]
                    output = guarded(np.full(shapes[-1], 1, tensors[-1].dtype), at_end)
                    lib["main"](*[tilewright.from_dlpack(each) for each in [*arrays, output]])
                    np.testing.assert_array_equal(
                        output, expected.astype(output.dtype), f"{target}, {count} threads"
                    )
                    for array, original in zip(arrays, inputs, strict=True):
                        np.testing.assert_array_equal(array, original)
            finally:
                tilewright.runtime.set_num_threads(0)
