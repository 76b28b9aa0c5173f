"""tilewright.models reads, cuts and writes ONNX files as the package onnx does, and says what is wrong with one."""

import numpy as np
import pytest

import tilewright
from tilewright.models import ModelFile
from tilewright.models.fields import Message, varint
from tilewright.models.tensors import ELEMENT_TYPES, array_of, tensor_of, value_info

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

FLOAT = TensorProto.FLOAT


def model(nodes, weights=None, inputs=("x",), outputs=("y",)):
    values = [
        [helper.make_tensor_value_info(name, FLOAT, shape) for name in names]
        for names, shape in ((inputs, ["n", 3]), (outputs, None))
    ]
    tensors = [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()]
    graph = helper.make_graph(nodes, "g", *values, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


CHAIN = [
    helper.make_node("Mul", ["x", "w"], ["a"], name="first"),
    helper.make_node("Relu", ["a"], ["b"], name="second"),
    helper.make_node("Neg", ["b"], ["y"]),
]
W = {"w": np.arange(3, dtype="float32")}


def test_what_a_file_holds():
    found = ModelFile(model(CHAIN, W).SerializeToString())
    assert (found.inputs, found.outputs, found.constants, found.opset) == (["x"], ["y"], ["w"], 17)
    assert found.input_type("x") == (np.dtype("float32"), ["n", 3])
    assert [node.shown for node in found.nodes] == [
        'Mul node "first"',
        'Relu node "second"',
        'Neg node that makes "y"',
    ]
    np.testing.assert_array_equal(found.constant("w"), W["w"])
    assert found.constant("a") is None and found.maker("b").name == "second" and found.maker("x") is None


def test_bytes_that_nothing_changes_stay_as_they_are():
    data = model(CHAIN, W).SerializeToString()
    assert Message(data).to_bytes() == data


def test_a_part_is_a_model():
    found = ModelFile(model(CHAIN, W).SerializeToString())
    part = onnx.load_from_string(found.part(found.nodes[1:], ["y"], {"a": np.ones((5, 3), "float32")}))
    assert [node.op_type for node in part.graph.node] == ["Relu", "Neg"]
    assert [value.name for value in part.graph.input] == ["a"] and len(part.graph.initializer) == 0
    assert part.opset_import[0].version == 17
    result = tilewright.VirtualMachine(tilewright.compile(part))["main"](np.full((5, 3), -2, "float32"))
    np.testing.assert_array_equal(result.numpy(), np.zeros((5, 3)))
    whole = onnx.load_from_string(found.part(found.nodes[:1], ["a"]))
    assert [value.name for value in whole.graph.input] == ["x"]
    assert [tensor.name for tensor in whole.graph.initializer] == ["w"]


def test_nodes_come_after_those_they_need():
    found = ModelFile(model(CHAIN[::-1], W).SerializeToString())
    assert [node.op for node in found.nodes] == ["Mul", "Relu", "Neg"]
    cycle = [helper.make_node("Neg", ["b"], ["a"]), helper.make_node("Neg", ["a"], ["b"])]
    with pytest.raises(
        tilewright.UserError, match=r"^the graph has a cycle\nhelp: an ONNX graph must be acyclic$"
    ):
        ModelFile(model(cycle).SerializeToString())


def test_subgraphs_read_values_outside():
    value = helper.make_tensor_value_info("r", FLOAT, None)
    inner = helper.make_graph([helper.make_node("Mul", ["a", "w"], ["r"])], "then", [], [value])
    choice = helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=inner)
    (node,) = ModelFile(model([choice]).SerializeToString()).nodes
    assert node.reads() == {"a", "c", "w"}


@pytest.mark.parametrize("name", sorted(set(ELEMENT_TYPES) - {"object"}))
def test_tensors_of_every_dtype(name):
    dtype = np.dtype(__import__("ml_dtypes").bfloat16) if name == "bfloat16" else np.dtype(name)
    array = np.array([[0, 1, 3]]).astype(dtype)
    found = array_of(Message(numpy_helper.from_array(array, "t").SerializeToString()), ".")
    assert found.dtype == dtype and found.shape == (1, 3)
    np.testing.assert_array_equal(found, array)
    back = numpy_helper.to_array(onnx.load_tensor_from_string(tensor_of("t", array).to_bytes()))
    np.testing.assert_array_equal(back, array)
    listed = helper.make_tensor(
        "t", ELEMENT_TYPES[name], (1, 3), array.astype("float32").reshape(-1).tolist()
    )
    np.testing.assert_array_equal(array_of(Message(listed.SerializeToString()), "."), array)


@pytest.mark.parametrize("shape", [(), (0,), (1, 3)])
def test_tensors_of_strings(shape):
    array = np.resize(np.array(["a", "", "\u00e9\U0001f600"]), shape)
    for given in (array, array.astype(object)):
        back = onnx.load_tensor_from_string(tensor_of("t", given).to_bytes())
        assert (back.data_type, tuple(back.dims)) == (TensorProto.STRING, shape)
        found = array_of(Message(back.SerializeToString()), ".")
        assert found.dtype == object and found.shape == shape
        np.testing.assert_array_equal(found, array)


def test_numbers_of_64_bits():
    assert [varint(value) for value in (0, 127, 128, -1)] == [
        b"\0",
        b"\x7f",
        b"\x80\x01",
        b"\xff" * 9 + b"\x01",
    ]
    message = Message().set(1, -5, 2**40)
    assert Message(message.to_bytes()).ints(1) == [-5, 2**40]


def test_types_of_values():
    info = onnx.ValueInfoProto()
    info.ParseFromString(value_info("v", "int64", ["n", 3]).to_bytes())
    assert info == helper.make_tensor_value_info("v", TensorProto.INT64, ["n", 3])


def test_tensors_in_other_files(tmp_path):
    made = model(CHAIN, {"w": np.arange(3, dtype="float32")})
    onnx.save(made, tmp_path / "m.onnx", save_as_external_data=True, size_threshold=0, location="w.bin")
    found = ModelFile(tmp_path / "m.onnx")
    np.testing.assert_array_equal(found.constant("w"), W["w"])
    inside = onnx.load_from_string(found.part(found.nodes, ["y"]))
    np.testing.assert_array_equal(numpy_helper.to_array(inside.graph.initializer[0]), W["w"])
    (tmp_path / "w.bin").unlink()
    with pytest.raises(tilewright.UserError) as error:
        found.constant("w")
    assert str(error.value) == f'tensor "w" is kept in "{tmp_path}/w.bin": No such file or directory'


def external(location):
    tensor = TensorProto(name="w", data_type=FLOAT, dims=[3], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=location)
    return Message(tensor.SerializeToString())


def test_what_is_refused(tmp_path):
    def text(call, *args):
        with pytest.raises((tilewright.UserError, tilewright.Unsupported)) as error:
            call(*args)
        return str(error.value)

    damaged = "the file is not an ONNX model, or is cut short\nhelp: export or download the model again"
    data = model(CHAIN, W).SerializeToString()
    for wrong in (data[:-3], b"\xff" * 11, b"\x0f", b""):
        assert text(ModelFile, wrong) == damaged
    assert text(ModelFile, tmp_path / "no.onnx") == (
        f'"{tmp_path}/no.onnx" cannot be read: No such file or directory\nhelp: check the path'
    )
    outside = text(array_of, external("../w.bin"), tmp_path)
    assert outside == f'tensor "w" is kept outside of the folder of the model: {tmp_path.parent}/w.bin'
    nothing = Message(TensorProto(name="s", data_type=TensorProto.INT4, dims=[0]).SerializeToString())
    assert text(array_of, nothing, ".") == 'tensor "s" has element type 22, which numpy does not have'
    short = TensorProto(name="w", data_type=FLOAT, dims=[3], raw_data=b"1234")
    assert text(array_of, Message(short.SerializeToString()), ".") == (
        'tensor "w" of float32[3] has 4 bytes of data'
    )
    assert text(tensor_of, "s", np.array([0], "datetime64[s]")) == (
        'array "s" has dtype datetime64[s], which ONNX files do not have here'
    )
    assert text(tensor_of, "s", np.array(["a", 5], object)) == (
        'array "s" of objects holds 5, an object of int; those of ONNX files are strings'
    )


def test_bfloat16_without_its_package(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ml_dtypes", None)
    tensor = TensorProto(name="w", data_type=TensorProto.BFLOAT16, dims=[1], raw_data=b"12")
    with pytest.raises(tilewright.Unsupported) as error:
        array_of(Message(tensor.SerializeToString()), ".")
    assert str(error.value) == (
        'tensor "w" is bfloat16, which numpy does not have\nhelp: pip install ml_dtypes'
    )
