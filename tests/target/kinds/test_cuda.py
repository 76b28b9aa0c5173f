"""Target kind cuda: its attributes are read and printed."""

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
    target = tilewright.Target("cuda -arch=sm_80 -max_threads_per_block=1024")
    assert target.kind == "cuda"
    assert list(target.keys) == ["cuda", "gpu"]
    assert dict(target.attrs) == {"arch": "sm_80", "max_threads_per_block": 1024}
    tilewright.ir.assert_structural_equal(tilewright.Target(str(target)), target)


def test_attributes_of_cpus_are_refused():
    with pytest.raises(tilewright.UserError) as error:
        tilewright.Target("cuda -mcpu=native")
    assert str(error.value).splitlines()[0] == 'error: target cuda has no attribute "mcpu"'


def test_code_is_made():
    """More of it is in tests/driver/targets."""
    assert "__global__" in tilewright.build(add_one, target="cuda").get_source()
