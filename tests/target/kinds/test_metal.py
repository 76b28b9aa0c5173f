"""Target kind metal: its attributes are read and printed."""

import pytest

import tilewright
from tilewright.script import tir as T


@T.prim_func
def add_one(A: T.Buffer((7,), "float32"), B: T.Buffer((7,), "float32")):
    for i in range(7):
        with T.block("B"):
            vi = T.axis.spatial(7, i)
            B[vi] = A[vi] + T.float32(1)


def test_attributes_are_read_and_printed():
    target = tilewright.Target("metal -arch=apple7 -max_threads_per_block=1024")
    assert target.kind == "metal"
    assert list(target.keys) == ["metal", "gpu"]
    assert dict(target.attrs) == {"arch": "apple7", "max_threads_per_block": 1024}
    tilewright.ir.assert_structural_equal(tilewright.Target(str(target)), target)


def test_attributes_of_cpus_are_refused():
    with pytest.raises(tilewright.UserError) as error:
        tilewright.Target("metal -mcpu=native")
    assert str(error.value).splitlines()[0] == 'error: target metal has no attribute "mcpu"'


def test_code_is_made():
    """More of it is in tests/driver/targets."""
    assert "kernel void" in tilewright.build(add_one, target="metal").get_source()
