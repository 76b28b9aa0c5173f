"""A test suite as those of TVM: parameters, targets, requirements, before and after a pass."""

import numpy as np
import pytest
import tvm
import tvm.testing
from tvm.script import ir as I
from tvm.script import tir as T

extent = tvm.testing.parameter(5, 7)
dtype, scale = tvm.testing.parameters(("float32", 2), ("int32", 3))
seen = []


@tvm.testing.fixture(cache_return_value=True)
def zeros(extent):
    return np.zeros(extent)


def test_parameters(extent, dtype, scale, zeros):
    assert (dtype, scale) in (("float32", 2), ("int32", 3)) and len(zeros) == extent
    seen.append((extent, dtype))


def test_all_were_seen():
    assert sorted(seen) == [(5, "float32"), (5, "int32"), (7, "float32"), (7, "int32")]


@tvm.testing.parametrize_targets("llvm", "c")
def test_targets(target, dev):
    assert target in ("llvm", "c") and "cpu" in str(dev)


def test_enabled_targets(target, dev):
    assert target == "llvm"


@tvm.testing.requires_hexagon
def test_skipped():
    raise AssertionError


@tvm.testing.requires_cublas()
def test_skipped_too():
    raise AssertionError


@tvm.testing.requires_llvm
def test_runs():
    tvm.testing.assert_allclose(tvm.nd.array(np.ones(3)), np.ones(3))
    with pytest.raises(AssertionError):
        tvm.testing.assert_allclose(np.ones(3), np.ones(4))


class TestAddsAttribute(tvm.testing.CompareBeforeAfter):
    def transform(self):
        return lambda mod: tvm.IRModule({"main": mod["main"].with_attr("seen", True)})

    def before(A: T.Buffer((4,), "float32")):
        for i in range(4):
            A[i] = T.float32(0)

    def expected(A: T.Buffer((4,), "float32")):
        T.func_attr({"seen": True})
        for i in range(4):
            A[i] = T.float32(0)


class TestRefuses(tvm.testing.CompareBeforeAfter):
    def transform(self):
        def refuse(mod):
            raise tvm.TVMError("no")

        return refuse

    @I.ir_module
    class before:
        @T.prim_func
        def main(A: T.Buffer((4,), "float32")):
            A[0] = T.float32(0)

    expected = tvm.TVMError


if __name__ == "__main__":
    tvm.testing.main()
