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


def rounded_once(a, b, c):
    """a * b + c of float32: float64 has the product exactly, and its sum rounds where float32 cannot tell."""
    return (a.astype("float64") * b + c).astype("float32")


FORMS = {  # of a, b and c: what is written, and what one instruction gives
    "product first": ("A[v] * B[v] + C[v]", lambda a, b, c: rounded_once(a, b, c)),
    "product second": ("C[v] + A[v] * B[v]", lambda a, b, c: rounded_once(a, b, c)),
    "product less": ("A[v] * B[v] - C[v]", lambda a, b, c: rounded_once(a, b, -c)),
    "less a product": ("C[v] - A[v] * B[v]", lambda a, b, c: rounded_once(-a, b, c)),
    "a square": ("C[v] + T.pow(A[v], T.float32(2))", lambda a, b, c: rounded_once(a, a, c)),
    "two products": ("A[v] * B[v] + B[v] * C[v]", lambda a, b, c: rounded_once(b, c, a * b)),
    "no product": ("A[v] + B[v] - C[v]", lambda a, b, c: a + b - c),
}


@pytest.mark.parametrize("form", FORMS)
def test_fast_rounds_by_the_expression_alone(form):
    """Scalars, vectors and what a loop does not change have the same bits."""
    text, expected = FORMS[form]
    plain = parse(f"""
@T.prim_func
def f(A: T.Buffer((127,), "float32"), B: T.Buffer((127,), "float32"), C: T.Buffer((127,), "float32"), D: T.Buffer((127, 16), "float32")):
    for i, j in T.grid(127, 16):
        with T.block("D"):
            v, w = T.axis.remap("SS", [i, j])
            D[v, w] = {text}
""")
    vectors, rows = Schedule(plain), Schedule(plain)
    vectors.vectorize(vectors.get_loops("D")[1])
    i, j = rows.get_loops("D")
    outer, inner = rows.split(i, [None, 8])
    rows.reorder(outer, j, inner)
    rows.vectorize(inner)
    for program in (plain, vectors.mod, rows.mod):
        result = tilewright.tensor(np.zeros((127, 16), "float32"))
        tilewright.build(program, "llvm", schedule=False)["f"](*map(tilewright.tensor, EXACT), result)
        np.testing.assert_array_equal(result.numpy(), np.repeat(expected(*EXACT)[:, None], 16, axis=1))


@pytest.mark.parametrize("target", ["llvm -fp-contract=on", "c -fp-contract=1"])
def test_other_values_are_refused(target):
    kind, value = target.split()[0], target.split("=")[1]
    with pytest.raises(tilewright.UserError) as error:
        tilewright.target.Target(target)
    assert str(error.value) == (f'error: target {kind}: -fp-contract is "{value}", expected "fast" or "off"')
