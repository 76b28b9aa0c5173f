"""Names in a model file that are no UTF-8 are shown escaped, wherever they are printed."""

import subprocess

import numpy as np
import pytest

import tilewright
from tilewright.frontend.onnx import from_onnx

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper

# each of the length of the name that it takes the place of: a byte alone, one that begins a character, an overlong form, a surrogate
WRONG = {
    b"NAME": [b"a\xffbc", b"ab\xc3\xc3", b"\xc0\x80bc", b"\xed\xa0\x80d", b"abc\xe2", b"\x80\x81\x82\x83"]
}
SHOWN = [r"a\xffbc", r"ab\xc3\xc3", r"\xc0\x80bc", r"\xed\xa0\x80d", r"abc\xe2", r"\x80\x81\x82\x83"]


def model(op="Neg", dim="DIMN", **attributes):
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [dim]) for name in ("NAME", "OUTN"))
    node = helper.make_node(op, ["NAME"], ["OUTN"], name="NODE", **attributes)
    return helper.make_model(
        helper.make_graph([node], "g", [x], [y]), opset_imports=[helper.make_opsetid("", 17)], ir_version=10
    ).SerializeToString()


@pytest.mark.parametrize(("wrong", "shown"), [*zip(WRONG[b"NAME"], SHOWN, strict=True)])
def test_inputs_outputs_and_dimensions(wrong, shown):
    data = model().replace(b"NAME", wrong)
    executable = tilewright.compile(data)
    assert [each.name for each in executable.inputs] == [shown]
    x = np.ones(3, "float32")
    assert tilewright.VirtualMachine(executable)["main"](**{shown: x}).tolist() == [-1, -1, -1]
    executable = tilewright.compile(model().replace(b"OUTN", wrong))
    assert [each.name for each in executable.outputs] == [shown]
    module = from_onnx(model().replace(b"DIMN", wrong))
    assert tilewright.compile(module).inputs[0].type.startswith("float32[")
    assert module.script() and repr(module)


@pytest.mark.parametrize(("wrong", "shown"), [*zip(WRONG[b"NAME"], SHOWN, strict=True)])
def test_errors(wrong, shown):
    for name, text in [(b"NODE", f'ReduceSum node "{shown}"'), (b"ABCD", shown)]:
        op = "ReduceSum" if name == b"NODE" else "ABCD"
        attributes = {"keepdims": "text"} if name == b"NODE" else {}
        with pytest.raises((tilewright.UserError, tilewright.Unsupported)) as error:
            from_onnx(model(op, **attributes).replace(name, wrong))
        assert text in str(error.value)


def test_the_command_line_shows_them_too(tmp_path):
    pytest.importorskip("onnx")
    (tmp_path / "model.onnx").write_bytes(model("ABCD").replace(b"ABCD", b"a\xffbc"))
    program = __import__("shutil").which("tilewright")
    if program is None:
        pytest.skip("tilewright is not built")
    done = subprocess.run(
        [program, "compile", "model.onnx", "-o", "m.so"], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode != 0 and rb"a\xffbc" in done.stderr and b"\xff" not in done.stderr


def test_scripts():
    text = b'@T.prim_func\ndef f(A: T.Buffer((3,), "float32")):\n    A[\xff] = 1\n'.decode(
        errors="surrogateescape"
    )
    with pytest.raises(tilewright.UserError) as error:
        tilewright.script.parse(text)
    assert "A[\\udcff] = 1" in str(error.value)


def two_negations(x, y, outputs=((None,), (None,))):
    """A model of inputs x and y with these shapes, and their negatives."""
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in [("x", x), ("y", y)]]
    results = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in zip("ab", outputs, strict=True)
    ]
    nodes = [helper.make_node("Neg", ["x"], ["a"]), helper.make_node("Neg", ["y"], ["b"])]
    return helper.make_model(
        helper.make_graph(nodes, "g", values, results),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=10,
    )


@pytest.mark.parametrize(
    ("x", "y", "outputs", "shown"),
    [
        (["y.0"], [None], [[None], [None]], ["float32[y.0]", "float32[y.0_]"]),
        ([None], ["x.0"], [[None], [None]], ["float32[x.0_]", "float32[x.0]"]),
        (["y.0"], ["?"], [[None], [None]], ["float32[y.0]", "float32[y.0_]"]),
        ([None, "x.0"], ["x.0_"], [[None, None], [None]], ["float32[x.0__, x.0]", "float32[x.0_]"]),
        ([None], [None], [["x.0"], ["y.0"]], ["float32[x.0_]", "float32[y.0_]"]),
        ([None], [None], [[None], [None]], ["float32[x.0]", "float32[y.0]"]),
    ],
)
def test_a_name_made_for_an_axis_is_no_name_of_the_model(x, y, outputs, shown):
    executable = tilewright.compile(two_negations(x, y, outputs))
    assert [each.type for each in executable.inputs] == shown
    arrays = [np.arange(15, dtype="float32").reshape(3, 5) if len(x) == 2 else np.ones(3, "float32")]
    arrays.append(np.ones(7, "float32"))
    found = tilewright.VirtualMachine(executable)["main"](*arrays)
    for array, result in zip(arrays, found, strict=True):
        np.testing.assert_array_equal(result.numpy(), -array)


def test_made_names_are_fixed_beside_those_of_the_model():
    model = two_negations([None, "x.0"], ["y.0"], [[None, None], [None]])
    fixed = tilewright.compile(model, shapes={"x.0": 5, "x.0_": 3, "y.0": 7})
    assert [each.type for each in fixed.inputs] == ["float32[3, 5]", "float32[7]"]


def small_network():
    """Convolution, bias and activation, twice, and a product of what they make."""
    node = helper.make_node
    random = np.random.default_rng(0)
    weights = {"w1": (4, 3, 3, 3), "w2": (4, 4, 3, 3), "w3": (4, 5)}
    tensors = [
        onnx.numpy_helper.from_array(random.standard_normal(shape).astype("float32"), name)
        for name, shape in weights.items()
    ]
    nodes = [
        node("Conv", ["x", "w1"], ["a"], name="conv1", pads=[1, 1, 1, 1]),
        node("Relu", ["a"], ["b"], name="relu1"),
        node("Conv", ["b", "w2"], ["c"], name="conv2", pads=[1, 1, 1, 1]),
        node("Add", ["c", "b"], ["d"], name="residual"),
        node("Relu", ["d"], ["e"]),
        node("GlobalAveragePool", ["e"], ["f"], name="mean"),
        node("Flatten", ["f"], ["g"], name="flat"),
        node("MatMul", ["g", "w3"], ["y"], name="head"),
    ]
    values = [
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 7, 5])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    ]
    return helper.make_model(
        helper.make_graph(nodes, "g", *values, tensors),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
    )


@pytest.mark.parametrize("level", [0, 2])
def test_names_of_nodes_survive_fusion(level):
    with tilewright.transform.PassContext(opt_level=level):
        executable = tilewright.compile(small_network())
    profile = tilewright.VirtualMachine(executable).profile("main", np.ones((2, 3, 7, 5), "float32"))
    named = [call.nodes for call in profile.calls if call.nodes]
    assert {name for nodes in named for name in nodes} >= {
        "conv1",
        "relu1",
        "conv2",
        "residual",
        "e",
        "mean",
        "head",
    }
    if level == 2:
        assert ["conv2", "residual", "e"] in named
        assert "conv2, residual, e" in str(profile)
    else:
        assert all(len(nodes) == 1 for nodes in named if "conv1" in nodes)


def test_a_library_keeps_the_names(tmp_path):
    tilewright.compile(small_network()).export_library(tmp_path / "m.so")
    machine = tilewright.VirtualMachine(tilewright.load_module(str(tmp_path / "m.so")))
    profile = machine.profile("main", np.ones((2, 3, 7, 5), "float32"))
    assert ["conv2", "residual", "e"] in [call.nodes for call in profile.calls]
    assert "residual" in profile.as_json()


def test_an_explanation_names_the_nodes(tmp_path):
    program = __import__("shutil").which("tilewright")
    if program is None:
        pytest.skip("tilewright is not built")
    (tmp_path / "m.onnx").write_bytes(small_network().SerializeToString())
    done = subprocess.run(
        [program, "explain", "m.onnx", "--random", "0"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "  nodes   conv2, residual, e\n" in done.stdout
