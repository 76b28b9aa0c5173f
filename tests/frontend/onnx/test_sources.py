"""from_onnx and compile take a path, a ModelProto or bytes, and refuse anything else."""

import os
import pathlib

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tilewright
from tilewright.frontend.onnx import from_onnx


def doubling():
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [5]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "doubling", [x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def test_sources(tmp_path):
    file = tmp_path / "doubling.onnx"
    onnx.save(doubling(), file)
    for source in (file, str(file), doubling(), doubling().SerializeToString()):
        tilewright.ir.assert_structural_equal(from_onnx(source), from_onnx(file))
        main = tilewright.VirtualMachine(tilewright.compile(source))["main"]
        np.testing.assert_array_equal(
            main(tilewright.tensor(np.arange(5, dtype="float32"))).numpy(), np.arange(5) * 2
        )


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            7,
            "cannot read an ONNX model from a Python int\nhelp: give a path, a ModelProto or its bytes",
        ),
        (pathlib.Path("nowhere.onnx"), 'error: there is no file "nowhere.onnx"\nhelp: check the path'),
    ],
)
def test_others(source, message):
    with pytest.raises(tilewright.UserError) as refused:
        from_onnx(source)
    assert str(refused.value) == message


# files that even root cannot read
UNREADABLE = sorted(pathlib.Path("/sys/bus").glob("*/drivers_probe"))[:1]


@pytest.mark.parametrize("path", UNREADABLE)
def test_a_file_that_cannot_be_read(path):
    with pytest.raises(tilewright.UserError) as refused:
        from_onnx(path)
    assert str(refused.value) == f'error: cannot read "{path}"\nhelp: check its permissions'


def test_damaged_bytes():
    with pytest.raises(tilewright.UserError) as refused:
        from_onnx(b"no model")
    assert "the model" in str(refused.value)


class BytesPath:
    """os.PathLike allows bytes as well."""

    def __init__(self, path):
        self.path = os.fsencode(path)

    def __fspath__(self):
        return self.path


def test_a_path_of_bytes_is_a_path(tmp_path):
    file = tmp_path / "doubling.onnx"
    onnx.save(doubling(), file)
    x = np.arange(5, dtype="float32")
    np.testing.assert_array_equal(
        tilewright.VirtualMachine(tilewright.compile(BytesPath(file)))["main"](x).numpy(), x * 2
    )
