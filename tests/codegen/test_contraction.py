"""-fp-contract: whether a product and the sum it is added to are rounded as one."""

import numpy as np
import pytest

import tilewright
from tilewright.schedule import Schedule
from tilewright.script import parse

PROGRAM = parse("""
@T.prim_func
def f(A: T.Buffer((127,), "float32"), B: T.Buffer((127,), "float32"), C: T.Buffer((127,), "float32")):
    for i in range(127):
        with T.block("C"):
            v = T.axis.spatial(127, i)
            C[v] = A[v] * B[v] + C[v]
""")
EXACT = (np.random.default_rng(0).standard_normal((3, 127)) + 3).astype("float32")


def vectorized():
    sch = Schedule(PROGRAM)
    outer, inner = sch.split(sch.get_loops("C")[0], [None, 8])
    sch.vectorize(inner)
    return sch.mod


def run(program, target):
    a, b, c = EXACT
    found = tilewright.tensor(c.copy())
    tilewright.build(program, target, schedule=False)["f"](tilewright.tensor(a), tilewright.tensor(b), found)
    return found.numpy()


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_off_rounds_each_operation(target):
    a, b, c = EXACT
    for program in (PROGRAM, vectorized()):
        np.testing.assert_array_equal(run(program, f"{target} -fp-contract=off"), a * b + c)


def test_fast_is_the_default():
    source = tilewright.build(PROGRAM, "llvm -mcpu=haswell").get_source("asm")
    assert "vfmadd" in source
    assert "vfmadd" not in tilewright.build(PROGRAM, "llvm -mcpu=haswell -fp-contract=off").get_source("asm")
    assert "vfmadd" in tilewright.build(PROGRAM, "llvm -mcpu=haswell -fp-contract=fast").get_source("asm")


@pytest.mark.parametrize("target", ["llvm -fp-contract=on", "c -fp-contract=1"])
def test_other_values_are_refused(target):
    kind, value = target.split()[0], target.split("=")[1]
    with pytest.raises(tilewright.UserError) as error:
        tilewright.target.Target(target)
    assert str(error.value) == (f'error: target {kind}: -fp-contract is "{value}", expected "fast" or "off"')
