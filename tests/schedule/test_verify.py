"""Schedule.verify says what it has compared, and takes no more than it may."""

import pytest

import tilewright as tw
from tilewright.schedule import Verified

OPEN = """
@I.ir_module
class Module:
    @T.prim_func
    def one(a: T.handle, b: T.handle):
        n = T.int64()
        m = T.int64()
        A = T.match_buffer(a, (n, m), "float32")
        B = T.match_buffer(b, (n, m), "float32")
        for i, j in T.grid(n, m):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
    @T.prim_func
    def two(A: T.Buffer((128, 127), "float32"), C: T.Buffer((128, 127), "float32")):
        for i, j in T.grid(128, 127):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] + T.float32(1)
"""


def scheduled(*blocks):
    sch = tw.Schedule(tw.script.parse(OPEN))
    for block, func in blocks:
        sch.parallel(sch.get_loops(sch.get_block(block, func))[0])
    return sch


def test_what_was_compared():
    found = scheduled(("B", "one"), ("C", "two")).verify(samples=2, seed=1)
    assert [function for function, _ in found.samples] == ["one", "one", "two", "two"]
    assert all(
        text.startswith("n = ") and ", m = " in text for function, text in found.samples if function == "one"
    )
    sizes = [text.split(" = ")[1:] for _, text in found.samples[:2]]
    iterations = [int(n.split(",")[0]) * (int(m) + 1) for n, m in sizes]
    assert found.num_steps == 2 * (sum(iterations) + 2 * 128 * 128)
    assert found.left_out == 0
    first, second = (text for _, text in found.samples[:2])
    assert str(found) == (
        f"one: 2 samples with {first}; {second}; two: 2 samples; {found.num_steps:,} iterations of loops"
    )


def test_functions_that_are_as_they_were():
    assert scheduled().verify() == Verified([], 0, 0)
    assert str(scheduled().verify()) == "no function has changed"


def test_samples_that_take_too_long_are_left_out():
    found = scheduled(("C", "two")).verify(samples=5, max_steps=5 * 128 * 128)
    assert found == Verified([("two", ""), ("two", "")], 3, found.num_steps)
    assert str(found) == f"two: 2 samples; left out by max_steps: 3; {found.num_steps:,} iterations of loops"


@pytest.mark.parametrize(
    ("named", "text"),
    [
        (
            {"max_steps": 1000},
            "error: verify: one sample of two takes more than 1000 iterations of its loops\n"
            "help: max_steps allows more; the same steps on smaller extents take fewer",
        ),
        ({"samples": 0}, "verify: samples = 0, max_steps = 100000000, expected at least 1 and 1"),
        ({"max_steps": 0}, "verify: samples = 3, max_steps = 0, expected at least 1 and 1"),
        ({"seed": -1}, "verify: the seed is -1, expected a number from 0 to 2**64 - 1"),
    ],
)
def test_what_is_refused(named, text):
    with pytest.raises(tw.UserError) as error:
        scheduled(("C", "two")).verify(**named)
    assert str(error.value) == text
