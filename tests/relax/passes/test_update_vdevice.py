"""update_vdevice: another device in the module's list."""

import pytest

import tilewright
from tilewright.ir import assert_structural_equal
from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812


@I.ir_module
class Before:
    I.module_global_infos({"vdevice": [I.vdevice("cuda", 0), I.vdevice("cuda", 1)]})

    @R.function
    def main(x: R.Tensor((5,), "float32", "cuda:0")):
        y: R.Tensor((5,), "float32", "cuda:1") = R.to_vdevice(x, "cuda:1")
        z: R.Tensor((5,), "float32", "cuda:1") = R.exp(y)
        return z


@I.ir_module
class After:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("cuda", 1)]})

    @R.function
    def main(x: R.Tensor((5,), "float32", "llvm:0")):
        y: R.Tensor((5,), "float32", "cuda:0") = R.to_vdevice(x, "cuda:0")
        z: R.Tensor((5,), "float32", "cuda:0") = R.exp(y)
        return z


def info(target):
    return {"target": target, "vdevice_id": 0, "memory_scope": "global"}


def test_tensors_of_the_device_are_on_the_other():
    """The second device of its kind is the first afterwards."""
    assert_structural_equal(transform.update_vdevice(new_vdevice=info("llvm"), index=0)(Before), After)


def test_the_same_device_changes_nothing():
    assert_structural_equal(transform.update_vdevice(new_vdevice=info("cuda"), index=0)(Before), Before)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"new_vdevice": info("llvm"), "index": 2}, "there is no device 2: the module has 2 devices"),
        ({"new_vdevice": info("llvm"), "index": -1}, "there is no device -1: the module has 2 devices"),
    ],
)
def test_devices_that_there_are_not(options, text):
    with pytest.raises(tilewright.UserError) as error:
        transform.update_vdevice(**options)(Before)
    assert str(error.value) == "error: update_vdevice: " + text


def test_a_target_that_there_is_not():
    with pytest.raises(tilewright.UserError) as error:
        transform.update_vdevice(new_vdevice=info("opencll"), index=0)(Before)
    assert str(error.value) == (
        'error: update_vdevice: I.vdevice: unknown target kind "opencll"\n'
        "help: the kinds are c, cuda, llvm, metal, opencl"
    )
