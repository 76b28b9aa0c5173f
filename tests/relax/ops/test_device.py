"""R.to_vdevice and R.hint_on_device: where tensors are."""

import numpy as np

import tilewright
from tilewright import relax
from tilewright.ir import assert_structural_equal
from tilewright.script import ir as I
from tilewright.script import parse
from tilewright.script import relax as R


@I.ir_module
class Moved:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("llvm", 1)]})

    @R.function
    def main(x: R.Tensor((2, 3), "float32"), w: R.Tensor((3, 5), "float32")):
        with R.dataflow():
            lv: R.Tensor((2, 3), "float32", "llvm:0") = R.hint_on_device(x, R.device(1, 0))
            lv1 = R.to_vdevice(lv, "llvm:1")
            gv = R.matmul(lv1, w)
            R.output(gv)
        return gv


def test_text_names_devices_and_reads_back():
    assert 'R.to_vdevice(lv, dst_vdevice="llvm:1")' in Moved.script()
    assert 'R.hint_on_device(x, dst_vdevice="cpu:0")' in Moved.script()
    assert_structural_equal(parse(Moved.script()), Moved)


def test_a_moved_tensor_says_where_it_is():
    moved = Moved["main"].body.blocks[0].bindings[1].var
    assert moved.type.device == "llvm:1"


def test_a_device_of_python_in_a_script():
    device = tilewright.cpu(1)

    @R.function
    def main(x: R.Tensor((5,), "float32")):
        y = R.hint_on_device(x, device)
        return y

    assert 'dst_vdevice="cpu:1"' in main.script()


def test_python_spells_devices_as_devices_and_names():
    x = relax.Var("x", relax.TensorType((5,), "float32"))
    assert relax.op.to_vdevice(x, "llvm:1").attrs == {"dst_vdevice": "llvm:1"}
    assert relax.op.hint_on_device(x, tilewright.cpu()).attrs == {"dst_vdevice": "cpu:0"}


def test_several_devices_of_one_kind_run():
    x, w = np.random.rand(2, 3).astype("float32"), np.random.rand(3, 5).astype("float32")
    for level in range(3):
        with tilewright.transform.PassContext(opt_level=level):
            executable = tilewright.compile(Moved)
        machine = tilewright.VirtualMachine(executable, [tilewright.cpu(0), tilewright.cpu(0)])
        np.testing.assert_allclose(machine["main"](x, w).numpy(), x @ w, rtol=1e-5)
