"""tilewright inspect: every stage of a small model, and what is asked for wrongly."""

import json
import subprocess

import pytest

SUMMARY = """\
model.onnx: ONNX opset 17
inputs
  x  float32[n, 3]
outputs
  y  float32[n, 2]
constants
  2 tensors, 32 B
operators
     1 Gemm
"""


def test_summary(command, affine):
    done = command("inspect", affine)
    assert (done.code, done.out, done.err) == (0, SUMMARY, "")


def test_summary_as_json(command, affine):
    assert json.loads(command("inspect", affine, "--json").out) == {
        "model": "model.onnx",
        "origin": "ONNX opset 17",
        "inputs": [{"name": "x", "type": "float32[n, 3]"}],
        "outputs": [{"name": "y", "type": "float32[n, 2]"}],
        "constants": 2,
        "constant_bytes": 32,
        "operators": {"Gemm": 1},
    }


@pytest.mark.parametrize(
    ("stage", "words"),
    [
        ("graph", ["R.matmul(", "R.add("]),
        ("relax", ["R.call_tir("]),
        ("tir", ["@T.prim_func", "with T.block("]),
        ("schedule", ["@T.prim_func", "with T.block("]),
        ("lowered", ["@T.prim_func", "__tvm_ffi_"]),
        ("llvm", ["define", "@__tvm_ffi_"]),
        ("asm", ["__tvm_ffi_", "retq"]),
        ("vm", ["main(x: float32[n, 3]) -> y: float32[n, 2]", "call_kernel("]),
    ],
)
def test_stages(command, affine, stage, words):
    done = command("inspect", affine, "--stage", stage)
    assert (done.code, done.err) == (0, "")
    assert [word for word in words if word not in done.out] == []


def test_c_source(command, affine):
    done = command("inspect", affine, "--stage", "c", "--target", "c")
    assert done.code == 0
    assert "__tvm_ffi_" in done.out


def test_stage_as_json(command, affine):
    result = json.loads(command("inspect", affine, "--stage", "vm", "--json").out)
    assert result["stage"] == "vm"
    assert result["text"] == command("inspect", affine, "--stage", "vm").out


def test_one_function(command, affine):
    done = command("inspect", affine, "--stage", "relax", "--function", "main")
    assert done.out.startswith("@I.ir_module\nclass Module:\n    @R.function\n    def main(")
    assert "T.prim_func" not in done.out


def test_library(command, affine):
    command("compile", affine, "-o", "model.so", "--opt-level", 0)
    done = command("inspect", "model.so")
    assert done.code == 0
    assert done.out == (
        "model.so: compiled for llvm\ninputs\n  x  float32[n, 3]\noutputs\n  y  float32[n, 2]\n"
        "constants\n  2 tensors, 32 B\nkernels\n  matmul\n  add\n"
    )
    assert command("inspect", "model.so", "--stage", "vm").out.startswith("main(x: float32[n, 3]) -> ")


def test_library_has_no_earlier_stage(command, affine):
    command("compile", affine, "-o", "model.so")
    done = command("inspect", "model.so", "--stage", "tir")
    assert done.code == 2
    assert done.err == (
        'error: "model.so" is compiled already: it has no stage tir\n'
        "help: give the ONNX model it was compiled from, or see --stage vm\n"
    )


def test_unknown_stage(command, affine):
    done = command("inspect", affine, "--stage", "relex")
    assert (done.code, done.err) == (2, 'error: there is no stage "relex"\nhelp: did you mean relax?\n')


def test_stage_of_another_target(command, affine):
    done = command("inspect", affine, "--stage", "c")
    assert (done.code, done.err) == (
        2,
        "error: target llvm has no stage c\nhelp: code for it can be shown as ll, asm, lowered\n",
    )


def test_unknown_kernel(command, affine):
    done = command("inspect", affine, "--stage", "asm", "--function", "mtamul", "--opt-level", 0)
    assert (done.code, done.err) == (2, 'error: there is no kernel "mtamul"\nhelp: did you mean matmul?\n')


def test_function_needs_a_stage(command, affine):
    done = command("inspect", affine, "--function", "main")
    assert (done.code, done.err) == (
        2,
        "error: --function needs a stage\nhelp: add --schedules, --tuning or e.g. --stage tir\n",
    )


def test_schedules(command, affine):
    done = command("inspect", affine, "--schedules")
    assert (done.code, done.err) == (0, "")
    kernels = command("inspect", affine, "--schedules", "--json").out
    for kernel in json.loads(kernels):
        assert f"# {kernel['kernel']}\n" in done.out
        assert all(step in kernel for step in ("trace", "rejections"))


def test_schedules_of_one_kernel(command, affine):
    done = command("inspect", affine, "--schedules", "--function", "matmull", "--opt-level", 0)
    assert (done.code, done.err) == (2, 'error: there is no kernel "matmull"\nhelp: did you mean matmul?\n')
    done = command("inspect", affine, "--schedules", "--function", "matmul", "--opt-level", 0)
    assert done.code == 0
    assert done.out.startswith("# matmul\n") and done.out.count("\n# ") == 0


def test_schedules_of_a_library(command, affine):
    command("compile", affine, "-o", "model.so")
    done = command("inspect", "model.so", "--schedules")
    assert done.code == 2
    assert done.err == (
        'error: "model.so" is compiled already and has no schedules\nhelp: give the ONNX model it was compiled from\n'
    )


def test_names_that_are_not_utf_8(program, affine, tmp_path):
    path = tmp_path / affine
    path.write_bytes(path.read_bytes().replace(b"\x01x", b"\x01\xff"))
    done = subprocess.run(
        [program, "inspect", affine, "--json"], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0
    assert json.loads(done.stdout)["inputs"] == [{"name": "\\xff", "type": "float32[n, 3]"}]


UNSUPPORTED = """\
model.onnx: ONNX opset 17
inputs
  x  float32[n, 3]
  k  int64[k.0]
outputs
  y  float32
  z  unknown
constants
  0 tensors, 0 B
operators
     6 Nothing
     2 Relu
     1 Reshape
     1 Sigmoid
     1 com.mine::Fast
cannot be imported
  Nothing (a, b, c, d, ... 6 nodes): the operator cannot be imported
  com.mine::Fast (fast): the operator cannot be imported
  Relu (wrong): 2 inputs, expected 1
  Reshape (reshape): REASON
  nodes that need their outputs: 1
"""


@pytest.fixture
def unsupported(save_model):
    """A model with operators that are missing or wrong, and a shape that only its input says."""
    from onnx import TensorProto, helper

    nodes = [helper.make_node("Nothing", ["x"], [name]) for name in "abcdef"]
    nodes += [
        helper.make_node("Fast", ["x"], ["g"], name="fast", domain="com.mine"),
        helper.make_node("Relu", ["x", "x"], ["h"], name="wrong"),
        helper.make_node("Relu", ["a"], ["z"], name="after"),
        helper.make_node("Reshape", ["x", "k"], ["y"], name="reshape"),
        helper.make_node("Sigmoid", ["x"], ["s"], name="fine"),
    ]
    return save_model(
        nodes,
        {"x": (TensorProto.FLOAT, ["n", 3]), "k": (TensorProto.INT64, [None])},
        {"y": (TensorProto.FLOAT, None), "z": (TensorProto.UNDEFINED, None)},
    )


def test_summary_of_what_cannot_be_imported(command, unsupported):
    done = command("inspect", unsupported)
    assert (done.code, done.err) == (0, "")
    (reason,) = [line.split(": ", 1)[1] for line in done.out.splitlines() if line.startswith("  Reshape (")]
    assert done.out == UNSUPPORTED.replace("REASON", reason)
    assert reason.startswith('input "k" ')


def test_summary_of_what_cannot_be_imported_as_json(command, unsupported):
    found = json.loads(command("inspect", unsupported, "--json").out)
    assert found["operators"]["Nothing"] == 6
    assert found["nodes_that_need_these"] == 1
    assert found["cannot_be_imported"][1] == {
        "operator": "com.mine::Fast",
        "nodes": ["fast"],
        "reason": "the operator cannot be imported",
    }


def test_input_that_is_no_tensor_of_numbers(command, save_model):
    from onnx import TensorProto, helper

    nodes = [helper.make_node("Identity", ["x"], ["y"])]
    path = save_model(nodes, {"x": (TensorProto.COMPLEX64, [3])}, {"y": (TensorProto.COMPLEX64, [3])})
    done = command("inspect", path)
    assert done.code == 0
    assert done.out.endswith(
        'cannot be imported\n  input (x): value "x" has element type COMPLEX64\n'
        "  nodes that need their outputs: 1\n"
    )


def test_opset_that_is_too_old(command, save_model, tmp_path):
    import onnx
    from onnx import TensorProto, helper

    kind = {"x": (TensorProto.FLOAT, [3])}
    path = save_model([helper.make_node("Relu", ["x"], ["y"])], kind, {"y": kind["x"]})
    model = onnx.load(tmp_path / path)
    model.opset_import[0].version = 0
    onnx.save(model, tmp_path / path)
    done = command("inspect", path)
    assert done.out.endswith("cannot be imported\n  Relu (y): the model has opset 0, supported are 1 to 28\n")


COVERAGE = """\
model.onnx: ONNX opset 17
15 nodes, 4 can be imported
native: compiled code computes them
     2 Relu  float32
computed when the model is imported
     1 Constant  int64
     1 Shape  float32, int64
need values that only a run knows
  ReduceSum (total): input "k" is known only at run time
missing operators
  NotThere (a, b, c, d, ... 6 nodes): the operator cannot be imported
  com.mine::Fast (fast): the operator cannot be imported
cannot be imported as they are
  Relu (wrong): 2 inputs, expected 1
need the result of a node that cannot be imported
  Relu (after)
  Sigmoid (last)
"""


@pytest.fixture
def mixed(save_model):
    """A model with nodes of every fate."""
    from onnx import TensorProto, helper

    nodes = [helper.make_node("NotThere", ["x"], [name]) for name in "abcdef"]
    nodes += [
        helper.make_node("Constant", [], ["one"], value_ints=[1]),
        helper.make_node("Fast", ["x"], ["g"], name="fast", domain="com.mine"),
        helper.make_node("Relu", ["x", "x"], ["h"], name="wrong"),
        helper.make_node("Relu", ["a"], ["i"], name="after"),
        helper.make_node("ReduceSum", ["x", "k"], ["z"], name="total"),
        helper.make_node("Sigmoid", ["z"], ["s"], name="last"),
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("Relu", ["r"], ["y"]),
        helper.make_node("Shape", ["r"], ["t"]),
    ]
    return save_model(
        nodes,
        {"x": (TensorProto.FLOAT, ["n", 3]), "k": (TensorProto.INT64, [1])},
        {"y": (TensorProto.FLOAT, None)},
    )


def test_coverage(command, mixed):
    done = command("inspect", mixed, "--coverage")
    assert (done.code, done.err) == (0, "")
    assert done.out == COVERAGE


def test_coverage_as_json(command, mixed):
    found = json.loads(command("inspect", mixed, "--coverage", "--json").out)
    assert (found["nodes"], found["importable"], found["other_reasons"]) == (15, 4, [])
    states = {row["operator"]: row["state"] for row in found["operators"]}
    assert states["NotThere"] == "missing" and states["Shape"] == "computed"
    assert found["operators"][0] == {
        "operator": "Relu",
        "state": "native",
        "nodes": ["r", "y"],
        "dtypes": ["float32"],
    }
    assert {row["state"] for row in found["operators"]} == {
        "native",
        "computed",
        "needs values",
        "missing",
        "refused",
        "follows",
    }


def test_coverage_of_a_model_that_runs(command, affine):
    done = command("inspect", affine, "--coverage")
    assert done.out == (
        "model.onnx: ONNX opset 17\n1 node, 1 can be imported\n"
        "native: compiled code computes them\n     1 Gemm  float32\n"
    )


def test_coverage_looks_into_subgraphs(command, save_model):
    from onnx import TensorProto, helper

    value = helper.make_tensor_value_info("r", TensorProto.FLOAT, None)
    inner = [helper.make_node("Fast", ["x"], ["r"], name="inside", domain="com.mine")]
    other = [helper.make_node("Relu", ["x"], ["r"], name="beside")]
    branches = [
        helper.make_graph(inner, "then", [], [value]),
        helper.make_graph(other, "else", [], [value]),
    ]
    nodes = [
        helper.make_node("If", ["c"], ["y"], name="choice", then_branch=branches[0], else_branch=branches[1])
    ]
    path = save_model(
        nodes,
        {"c": (TensorProto.BOOL, []), "x": (TensorProto.FLOAT, [3])},
        {"y": (TensorProto.FLOAT, None)},
    )
    found = json.loads(command("inspect", path, "--coverage", "--json").out)
    assert found["nodes"] == 3
    missing = [row["nodes"] for row in found["operators"] if row["operator"] == "com.mine::Fast"]
    assert missing == [["inside"]]


def test_coverage_of_an_input_that_is_no_tensor_of_numbers(command, save_model):
    from onnx import TensorProto, helper

    path = save_model(
        [helper.make_node("Identity", ["x"], ["y"])],
        {"x": (TensorProto.COMPLEX64, [3])},
        {"y": (TensorProto.COMPLEX64, [3])},
    )
    done = command("inspect", path, "--coverage")
    assert done.out.endswith('other reasons\n  input (x): value "x" has element type COMPLEX64\n')


def test_coverage_of_a_library(command, affine):
    command("compile", affine, "-o", "model.so")
    done = command("inspect", "model.so", "--coverage")
    assert (done.code, done.err) == (
        2,
        'error: "model.so" is compiled already\nhelp: give the ONNX model it was compiled from\n',
    )
