"""R.builtin.alloc_tensor, R.memory and R.vm: memory of tensors as statements; dtypes and shapes that they say, and refusals."""

import numpy as np
import pytest
from memory_testing import EXP, OUT, X, module, placed, run

import tilewright
from tilewright.script import parse

STORAGE = 'R.memory.alloc_storage(R.shape([140]), R.prim_value(0), R.str("global"), R.dtype("uint8"))'


def test_a_tensor_with_memory_of_its_own():
    body = """
a = R.builtin.alloc_tensor(R.shape([5, 7]), R.dtype("float32"), R.prim_value(0))
cls.exp(x, a)
return a
"""
    np.testing.assert_allclose(run(module(body, EXP), X), np.exp(X), rtol=1e-6)


def test_a_tensor_at_a_place_in_a_storage():
    body = f"""
s = {STORAGE}
a = {placed("s", 0)}
cls.exp(x, a)
b = R.add(a, x)
R.memory.kill_tensor(a)
R.memory.kill_storage(s)
return b
"""
    np.testing.assert_allclose(run(module(body, EXP), X), np.exp(X) + X, rtol=1e-5)


def refused(statement):
    with pytest.raises(tilewright.UserError) as error:
        parse(f"@R.function(pure=False)\ndef main(x: {OUT}):\n    a = {statement}\n    return x\n")
    return str(error.value).splitlines()[0]


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (
            'R.builtin.alloc_tensor(R.shape([5]), R.str("float32"), R.prim_value(0))',
            'error: builtin.alloc_tensor: dtype is not a dtype such as R.dtype("float32")',
        ),
        (
            'R.builtin.alloc_tensor(R.shape([5]), R.dtype("float32"), R.prim_value(1.5))',
            "error: builtin.alloc_tensor: runtime_device_index is R.Prim(value=T.float32(1.5)), expected an integer",
        ),
        (
            'R.builtin.alloc_tensor(R.shape([5]), R.dtype("float32"), R.prim_value(0), R.dtype("int8"))',
            'error: builtin.alloc_tensor: storage_scope is not a string such as R.str("global")',
        ),
        (
            'R.memory.alloc_storage(R.shape([2, 3]), R.prim_value(0), R.str("global"), R.dtype("uint8"))',
            "error: memory.alloc_storage: size is R.Shape([2, 3]), expected the number of bytes, as in R.shape([256])",
        ),
        (
            'R.memory.alloc_tensor(x, R.prim_value(0), R.shape([5]), R.dtype("float32"))',
            'error: memory.alloc_tensor: storage is R.Tensor((5, 7), "float32"), expected the result of alloc_storage',
        ),
        (
            "R.memory.kill_storage(x)",
            'error: memory.kill_storage: storage is R.Tensor((5, 7), "float32"), expected the result of alloc_storage',
        ),
    ],
)
def test_refusals(statement, text):
    assert refused(statement) == text
