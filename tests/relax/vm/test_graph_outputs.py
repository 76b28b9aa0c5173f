"""Results of graph functions besides tensors: shapes, numbers, texts, tuples of all of them."""

import numpy as np
import pytest

import tilewright
from tilewright.script import parse

X = np.arange(15, dtype="float32").reshape(5, 3)

RESULTS = {
    "R.shape([n, 3, n * 2])": (5, 3, 10),
    "R.shape_of(x)": (5, 3),
    "R.prim_value(n * 2)": 10,
    "R.prim_value(1.5)": 1.5,
    'R.str("abc")': "abc",
    'R.dtype("float32")': "float32",
    "()": (),
    "(R.shape([n]), (R.prim_value(7), ()))": ((5,), (7, ())),
}


def run(value: str, opt_level: int):
    lines = [
        "@R.function",
        'def f(x: R.Tensor(("n", 3), "float32")):',
        "    n = T.int64()",
        f"    z = {value}",
        "    return z",
    ]
    with tilewright.transform.PassContext(opt_level=opt_level):
        executable = tilewright.compile(tilewright.IRModule({"f": parse("\n".join(lines) + "\n")}))
    return tilewright.VirtualMachine(executable)["f"](tilewright.tensor(X))


@pytest.mark.parametrize("opt_level", [0, 2])
@pytest.mark.parametrize(("value", "expected"), RESULTS.items())
def test_result_is_a_python_value(value, expected, opt_level):
    assert run(value, opt_level) == expected


@pytest.mark.parametrize("opt_level", [0, 2])
def test_a_shape_as_a_tensor(opt_level):
    np.testing.assert_array_equal(run("R.shape_to_tensor(R.shape([n, 3]))", opt_level).numpy(), [5, 3])


def test_tuples_of_tuples_keep_their_form():
    (first, (second, shape)), third = run("((R.add(x, x), (x, R.shape_of(x))), x)", 2)
    np.testing.assert_array_equal(first.numpy(), X + X)
    np.testing.assert_array_equal(second.numpy(), X)
    np.testing.assert_array_equal(third.numpy(), X)
    assert shape == (5, 3)


@pytest.mark.parametrize("opt_level", [0, 2])
def test_split_into_one_part_is_a_tuple(opt_level):
    module = parse(
        """
@R.function
def f(x: R.Tensor(("n", 3), "float32")):
    parts = R.split(R.negative(x), 1, axis=1)
    part = R.negative(parts[0])
    return (parts, part)
"""
    )
    module = tilewright.IRModule({"f": module})
    legal = tilewright.relax.transform.legalize_ops()(module)
    tilewright.ir.assert_structural_equal(parse(legal.script()), legal)
    with tilewright.transform.PassContext(opt_level=opt_level):
        executable = tilewright.compile(module)
    (whole,), part = tilewright.VirtualMachine(executable)["f"](X)
    assert np.array_equal(whole.numpy(), -X) and np.array_equal(part.numpy(), X)
