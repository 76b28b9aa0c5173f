"""Target metal: text that nothing here runs."""

import pytest

import tilewright as tw
from tilewright.script import tir as T


@T.prim_func
def double(A: T.Buffer((7,), "float32"), B: T.Buffer((7,), "float32")):
    for i in range(7):
        with T.block("B"):
            vi = T.axis.spatial(7, i)
            B[vi] = A[vi] * T.float32(2)


def test_source():
    module = tw.build(double, "metal")
    (kernels,) = module.imports
    assert kernels.kind == "metal"
    assert kernels.get_source() == module.get_source() == module.get_source("metal")
    assert "kernel void double_kernel(" in kernels.get_source()


def test_names_of_machines():
    assert tw.build(double, "apple/m1-gpu").get_source() == tw.build(double, "metal").get_source()


def test_doubles_are_refused():
    @T.prim_func
    def main(A: T.Buffer((7,), "float64"), B: T.Buffer((7,), "float64")):
        for i in range(7):
            with T.block("B"):
                vi = T.axis.spatial(7, i)
                B[vi] = A[vi] * T.float64(2)

    with pytest.raises(tw.Unsupported, match="float64"):
        tw.build(main, "metal")
