"""tilewright.testing: what its helpers accept, and with which words they refuse."""

import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import tilewright
from tilewright import testing

PAGE = Path(__file__).resolve().parents[2] / "docs/testing.md"
BEFORE = """
@T.prim_func
def before(A: T.Buffer((7, 5), "float32"), B: T.Buffer((7, 5), "float32")):
    for i, j in T.grid(7, 5):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + T.float32(1)
"""
AFTER = """
@T.prim_func
def after(A: T.Buffer((7, 5), "float32"), B: T.Buffer((7, 5), "float32")):
    for i in T.parallel(7):
        for j in range(5):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + T.float32(1)
"""


def in_parallel(sch):
    sch.parallel(sch.get_loops("B")[0])


def refused(error, function, *args, **kwargs) -> str:
    with pytest.raises(error) as caught:
        function(*args, **kwargs)
    return str(caught.value)


def test_the_examples_of_the_page_run():
    for block in re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL):
        exec(compile(block, "docs/testing.md", "exec"), {})


def test_distances_in_units_in_the_last_place():
    a = np.array([0.0, 1, 1, -1, np.inf, np.nan, np.inf, 65504], "float16")
    b = np.array([-0.0, 1, 1.001, 1, np.inf, np.nan, -np.inf, np.inf], "float16")
    assert testing.ulp_distance(a, b).tolist() == [0, 0, 1, 30720, 0, 0, 2**64 - 1, 2**64 - 1]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "bfloat16", "float8_e4m3fn"])
def test_neighbours_are_one_unit_apart(dtype):
    a = np.array([1, -2, 0.5], dtype)
    b = np.nextafter(a, np.array([9, -9, 9], dtype))
    assert testing.ulp_distance(a, b).tolist() == [1, 1, 1]


def test_the_range_of_float64_is_counted_without_overflow():
    largest = np.finfo("float64").max
    assert testing.ulp_distance(largest, -largest).item() == 2 * 0x7FEFFFFFFFFFFFFF


def test_distances_need_one_dtype_of_floats():
    assert refused(tilewright.ArgumentError, testing.ulp_distance, np.float32([1]), np.float64([1, 2])) == (
        "ulp_distance: found float32 of shape [1] and float64 of shape [2], expected equal shapes and dtypes"
    )
    assert refused(tilewright.ArgumentError, testing.ulp_distance, [1], [2]) == (
        "ulp_distance: int64 is no float\nhelp: subtract integers"
    )


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (np.float32([1, np.nan, np.inf]), np.float64([1.000001, np.nan, np.inf])),
        (tilewright.tensor(np.int8([1, 2])), [1, 2]),
        (np.float16(1), 1.002),
        (np.array([1], ml_dtypes.bfloat16), np.float32([1.02])),
        (np.float64(1), 1 + 1e-13),
        (np.zeros((0, 5), "float32"), np.ones((0, 5), "float32")),
    ],
)
def test_the_tolerance_is_that_of_the_coarser_dtype(actual, expected):
    testing.assert_allclose(actual, expected)


def test_close_arrays_are_refused_with_the_worst_element():
    check = testing.assert_allclose
    assert refused(AssertionError, check, np.float32([[1, 2], [3, 4]]), np.float32([[1, 2.1], [4, 4]])) == (
        "2 of 4 elements differ by more than rtol = 1e-05, atol = 1e-06\n"
        "worst at [1, 0]: actual 3.0, expected 4.0, difference 1"
    )
    assert refused(AssertionError, check, np.float32([9, np.nan]), np.float32([1, 1])) == (
        "2 of 2 elements differ by more than rtol = 1e-05, atol = 1e-06\n"
        "worst at [1]: actual nan, expected 1.0, difference nan"
    )
    assert refused(AssertionError, check, np.float32(1), np.float32(1.5), rtol=0.1) == (
        "1 of 1 elements differ by more than rtol = 0.1, atol = 0\nworst actual 1.0, expected 1.5, difference 0.5"
    )
    assert refused(AssertionError, check, [True], [False]) == (
        "1 of 1 elements differ by more than rtol = 0, atol = 0\n"
        "worst at [0]: actual True, expected False, difference 1"
    )


def test_tolerance_in_units_in_the_last_place():
    a = np.float32([1, 2])
    testing.assert_allclose(a, np.nextafter(a, np.float32(9)), ulp=1)
    assert (
        refused(AssertionError, testing.assert_allclose, a, np.float32([1, 2.5]), ulp=4)
        == "1 of 2 elements differ by more than 4 ULP\nworst at [1]: actual 2.0, expected 2.5, difference 2097152 ULP"
    )


def test_shapes_and_kinds_of_tolerances_do_not_mix():
    assert refused(AssertionError, testing.assert_allclose, np.ones((2, 1)), np.ones(2)) == (
        "the shapes differ: actual [2, 1], expected [2]"
    )
    assert refused(tilewright.ArgumentError, testing.assert_allclose, 1.0, 1.0, rtol=0.1, ulp=1) == (
        "assert_allclose: ulp stands beside rtol or atol\nhelp: give one kind of tolerance"
    )


@pytest.mark.parametrize(("dtype", "low", "high"), [("float16", -3, 3), ("uint8", 0, 3), ("bool", 0, 1)])
def test_whole_numbers_are_few_and_the_same_each_time(dtype, low, high):
    numbers = testing.whole_numbers((127,), dtype)
    assert numbers.dtype == dtype
    assert set(numbers.astype(int).tolist()) == set(range(low, high + 1))
    assert (numbers == testing.whole_numbers((127,), dtype, seed=0)).all()
    assert (numbers != testing.whole_numbers((127,), dtype, seed=np.random.default_rng(1))).any()


@pytest.mark.parametrize("before", [BEFORE, tilewright.script.parse(BEFORE)], ids=["text", "function"])
def test_a_schedule_is_compared_run_and_replayed(before):
    sch = testing.check_schedule(before, in_parallel, AFTER)
    assert isinstance(sch, tilewright.Schedule)


def test_a_schedule_of_a_module():
    module = tilewright.IRModule({"f": tilewright.script.parse(BEFORE)})
    testing.check_schedule(module, in_parallel, AFTER)
    testing.check_schedule(module, in_parallel, testing.check_schedule(module, in_parallel).mod)


def test_another_program_than_expected():
    with pytest.raises(
        testing.StructuralMismatch, match=r"^the programs differ at functions\[.before.\]\.body"
    ):
        testing.check_schedule(BEFORE, in_parallel, BEFORE)


def test_what_is_no_program():
    assert refused(tilewright.ArgumentError, testing.check_schedule, 3, in_parallel) == (
        "a Python int is no program\nhelp: give a module, a function or a text"
    )
    functions = {name: tilewright.script.parse(BEFORE) for name in ("f", "g")}
    assert (
        refused(
            tilewright.ArgumentError,
            testing.check_schedule,
            tilewright.IRModule(functions),
            lambda sch: None,
            AFTER,
        )
        == "check_schedule: after is a function, and before a module of several\nhelp: give a module"
    )


def test_steps_that_are_refused():
    text = 'error: get_block: the module has no block "D"\nhelp: the names are root, B'
    testing.check_refused(BEFORE, lambda sch: sch.get_block("D"), text)
    testing.check_refused(BEFORE, lambda sch: sch.get_block("D"), text.splitlines()[0])
    assert (
        refused(AssertionError, testing.check_refused, BEFORE, lambda sch: sch.get_block("D"), "another text")
        == f"refused with another text\n--- found\n{text}\n--- expected\nanother text"
    )
    assert refused(AssertionError, testing.check_refused, BEFORE, in_parallel, text) == (
        f"nothing was refused\n--- expected\n{text}"
    )
