"""Names that other years gave to methods."""

import subprocess
import sys

import pytest

import tilewright
from tilewright.compat.keywords import spelled
from tilewright.compat.relax_onnx import from_onnx

PROGRAM = """
import tvm
from tvm.script import ir as I, tir as T


@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for i in range(8):
            with T.sblock("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi] + T.float32(1)


sch = tvm.s_tir.Schedule(Module)
(i,) = sch.get_loops(sch.get_sblock("B"))
sch.split(i, factors=[2, None])
again = tvm.s_tir.Schedule(Module)
sch.trace.apply_to_schedule(again, remove_postproc=False)
tvm.ir.assert_structural_equal(again.mod, sch.mod)
print("same")
"""


def test_sblock_and_s_tir(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "tilewright.compat", str(file)], capture_output=True, text=True, check=False
    )
    assert done.stdout == "same\n", done.stderr


def test_topi_under_its_old_name():
    """Functions of topi are those of tilewright."""
    code = "from tvm import te, topi; A = te.placeholder((3, 4)); print(int(topi.nn.relu(topi.add(A, 1.0)).shape[1]))"
    command = [sys.executable, "-c", f"import tilewright.compat as c; c.install(); {code}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert (done.stdout, done.stderr) == ("4\n", "")


def test_onnx_files_by_their_path(tmp_path):
    onnx = pytest.importorskip("onnx")
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Relu", ["x"], ["y"])], "g", [value("x", 1, ["n", 5])], [value("y", 1, None)]
    )
    path = tmp_path / "model.onnx"
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)]), path)
    module = from_onnx(path, shape_dict={"x": (3, 5)}, dtype_dict={"x": "float64"})
    tilewright.ir.assert_structural_equal(
        module["main"].params[0].type, tilewright.relax.TensorType((3, 5), "float64")
    )


def test_an_argument_under_two_names():
    call = spelled(lambda name: name, old="name")
    assert call(old=3) == call(name=3) == call(3) == 3
    with pytest.raises(TypeError) as error:
        call(old=3, name=4)
    assert str(error.value) == "<lambda>() got values for both 'old' and 'name'"
