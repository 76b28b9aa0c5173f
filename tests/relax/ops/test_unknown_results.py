"""Operators that the runtime does, of tensors whose shapes nobody knows before: a clear error, or a result."""

import numpy as np
import pytest

import tilewright
from tilewright.script import parse

HELP = (
    "\nhelp: a tensor to write is given only where the shape of the result is known when a graph is compiled: "
    "R.match_cast says it"
)


def run(call, *inputs, type='R.Tensor(dtype="float32", ndim=2)'):
    params = ", ".join(f"x{n}: {type if n == 0 else given}" for n, (_, given) in enumerate(inputs))
    program = f"@R.function\ndef main({params}):\n    y = {call}\n    return y\n"
    main = tilewright.VirtualMachine(tilewright.compile(tilewright.IRModule({"main": parse(program)})))[
        "main"
    ]
    return main(*(array for array, _ in inputs))


X = (np.zeros((2, 3), "float32"), "")
AT = (np.zeros((2, 3), "int64"), 'R.Tensor((2, 3), "int64")')


@pytest.mark.parametrize(
    ("call", "inputs", "text"),
    [
        ("R.sort(x0)", [X], "tilewright.sort: 3 arguments are given, expected at least 4"),
        ("R.argsort(x0)", [X], "tilewright.argsort: 3 arguments are given, expected at least 4"),
        ("R.topk(x0, k=1)", [X], "tilewright.topk: 5 arguments are given, expected at least 6"),
        ("R.median(x0, axis=0)", [X], "tilewright.median: 3 arguments are given, expected at least 4"),
        (
            "R.scatter_elements(x0, x1, x0)",
            [X, AT],
            "tilewright.scatter_elements: 5 arguments are given, expected at least 6",
        ),
    ],
)
def test_what_needs_a_tensor_to_write(call, inputs, text):
    with pytest.raises(tilewright.UserError) as error:
        run(call, *inputs)
    assert text + HELP in str(error.value)


def test_a_median_of_all_has_a_known_shape():
    np.testing.assert_array_equal(run("R.median(x0)", X).numpy(), np.float32(0))


def test_a_match_cast_says_the_shape():
    program = """
@R.function
def main(x: R.Tensor(dtype="float32", ndim=2)):
    n, m = T.int64(), T.int64()
    y = R.match_cast(x, R.Tensor((n, m), "float32"))
    z = R.sort(y)
    return z
"""
    main = tilewright.VirtualMachine(tilewright.compile(tilewright.IRModule({"main": parse(program)})))[
        "main"
    ]
    x = np.array([[3, 1, 2]], "float32")
    np.testing.assert_array_equal(main(x).numpy(), np.sort(x))


def test_an_axis_that_turns_out_to_be_none():
    with pytest.raises(tilewright.UserError) as error:
        run("R.unique(x0, axis=5)", X, type='R.Tensor(dtype="float32", ndim=-1)')
    assert "unique: axis 5 is outside of a tensor with 2 dimensions" in str(error.value)


def test_by_their_own_names():
    sort = tilewright.get_global_func("tilewright.sort")
    with pytest.raises(tilewright.UserError) as error:
        sort(X[0])
    assert "tilewright.sort: 1 argument is given, expected at least 4" in str(error.value)
