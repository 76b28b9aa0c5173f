"""Errors for arguments of other shapes than a function takes."""

import numpy as np
import pytest
from refusals import refusal

import tilewright
from tilewright.script import parse


@pytest.mark.parametrize("size", ["int32", "int64"])
def test_sizes_of_signatures_are_plain_numbers(size):
    """Whichever dtype the program has them in."""
    four, one = ("4", "1") if size == "int32" else ("T.int64(4)", "T.int64(1)")
    library = tilewright.build(
        parse(f"""
@T.prim_func
def f(a: T.handle, b: T.handle):
    n = T.{size}()
    A = T.match_buffer(a, (n, {four}), "float32")
    B = T.match_buffer(b, (n + {one},), "float32")
    for i in range(n):
        with T.block("B"):
            v = T.axis.spatial(n, i)
            B[v] = A[v, 0]
""")
    )
    usage = "\nhelp: the function is f(A: float32[n, 4], B: float32[n + 1] (written))"
    zeros = lambda *shape: np.zeros(shape, "float32")  # noqa: E731
    assert refusal(library["f"], zeros(3, 4, 1), zeros(4)) == (
        f"error: f: argument A is 3-dimensional, expected 2-dimensional{usage}"
    )
    assert refusal(library["f"], zeros(3, 5), zeros(4)) == (
        f"error: f: argument A has shape [3, 5], expected [n, 4]{usage}"
    )
    assert refusal(library["f"], zeros(3, 4), zeros(5)) == (
        f"error: f: dimension 0 of argument B is 5, expected n + 1 = 4{usage}"
    )


@pytest.mark.parametrize(
    ("x", "y", "text"),
    [
        ((3,), (3, 4, 4), "x is float32[3], expected float32[n, n]"),
        ((3, 4), (3, 4, 4), "x is float32[3, 4], expected float32[n, n] with n = 3"),
        ((3, 3), (3, 4), "y is float32[3, 4], expected float32[n, m, m] with n = 3"),
        ((3, 3), (2, 4, 4), "y is float32[2, 4, 4], expected float32[n, m, m] with n = 3, m = 4"),
        ((3, 3), (3, 4, 5), "y is float32[3, 4, 5], expected float32[n, m, m] with n = 3, m = 4"),
    ],
)
def test_a_wrong_shape_says_what_sizes_are_known(x, y, text):
    """A size that no argument has said yet is not 0."""
    module = parse("""
@R.function
def main(x: R.Tensor(("n", "n"), "float32"), y: R.Tensor(("n", "m", "m"), "float32")):
    z = R.add(x, x)
    return z
""")
    main = tilewright.VirtualMachine(tilewright.compile(module))["main"]
    found = refusal(main, np.zeros(x, "float32"), np.zeros(y, "float32"))
    assert found.split("\n")[0] == f"error: main: {text}"
    assert refusal(main, [1.0], np.zeros(y, "float32")).split("\n")[0] == (
        "error: main: x is a tuple or list, expected float32[n, n]"
    )


def machine(signature, result):
    program = f"""
@R.function
def main({signature}):
    n = T.int64()
    return {result}
"""
    return tilewright.VirtualMachine(tilewright.compile(parse(program)))["main"]


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ((3,), "x is float32[3], expected float32[n, n + 1]"),
        ((3, 4, 5), "x is float32[3, 4, 5], expected float32[n, n + 1]"),
        ((3, 5), "x: dimension 1 (n + 1) is 5, expected 4"),
    ],
)
def test_a_size_that_is_computed_has_its_formula(shape, text):
    main = machine('x: R.Tensor(("n", "n + 1"), "float32")', "x")
    assert main(np.zeros((3, 4), "float32")).shape == (3, 4)
    assert refusal(main, np.zeros(shape, "float32")).splitlines()[0] == f"error: main: {text}"


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ((3, 7, 2), "s is shape[3, 7, 2], expected a shape [n, n * 2]"),
        ((3, 7), "s: dimension 1 (n * 2) is 7, expected 6"),
    ],
)
def test_a_size_of_a_shape_that_is_computed_is_compared(shape, text):
    main = machine('s: R.Shape(["n", "n * 2"])', "s")
    assert tuple(main(tilewright.runtime.Shape([3, 6]))) == (3, 6)
    assert refusal(main, tilewright.runtime.Shape(shape)).splitlines()[0] == f"error: main: {text}"
