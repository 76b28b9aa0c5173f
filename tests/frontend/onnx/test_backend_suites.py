"""The models that the package `onnx` brings as files: simple, pytorch-converted, pytorch-operator (most of opset 6) and light.

Each computes what its data sets say, or is refused with the reason that stands here for the beginning of its name.
"""

import pathlib

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnx.backend import test as onnx_tests

import tilewright

DATA = pathlib.Path(onnx_tests.__file__).parent / "data"
FOLDERS = ["simple", "pytorch-converted", "pytorch-operator"]
# a part of the error
REFUSED = {
    "test_gradient": "it asks for the gradient of a part of the graph",
    "test_sequence": "Sequence",
}
CASES = [
    pytest.param(path, id=f"{folder}/{path.name}")
    for folder in FOLDERS
    for path in sorted((DATA / folder).iterdir())
    if (path / "model.onnx").exists()
]


def tensors(folder: pathlib.Path, what: str) -> list[np.ndarray]:
    """The arrays in the files input_0.pb, input_1.pb, ... or output_0.pb, ..."""
    found = []
    for n in range(len(list(folder.glob(f"{what}_*.pb")))):
        tensor = onnx.TensorProto()
        tensor.ParseFromString((folder / f"{what}_{n}.pb").read_bytes())
        found.append(numpy_helper.to_array(tensor))
    return found


def check(model: str, folders, rtol: float) -> None:
    """Runs the model on each data set."""
    main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
    for folder in folders:
        found = main(*tensors(folder, "input"))
        found = found if isinstance(found, tuple) else (found,)
        for got, right in zip(found, tensors(folder, "output"), strict=True):
            got = got.numpy() if hasattr(got, "numpy") else got  # strings are arrays
            assert (got.dtype, got.shape) == (right.dtype, right.shape)
            if right.dtype == object:
                np.testing.assert_array_equal(got, right)
            else:
                np.testing.assert_allclose(got, right, rtol=rtol, atol=1e-5)


@pytest.mark.parametrize("path", CASES)
def test_case(path):
    model = str(path / "model.onnx")
    reasons = [reason for name, reason in REFUSED.items() if path.name.startswith(name)]
    try:
        check(model, sorted(path.glob("test_data_set_*")), 1e-3)
    except tilewright.Unsupported as refused:
        assert any(reason in str(refused) for reason in reasons)


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted((DATA / "light").glob("*.onnx")), ids=lambda path: path.stem)
def test_light_model(path):
    """A known network whose weights are made by ConstantOfShape; the input is what onnx's runner of these tests gives."""
    graph = onnx.load(path).graph
    weights = {tensor.name for tensor in graph.initializer}
    (given,) = [value for value in graph.input if value.name not in weights]
    declared = given.type.tensor_type.shape.dim
    shape = [dim.dim_value or 1 for dim in declared]
    count = int(np.prod(shape))
    main = tilewright.VirtualMachine(tilewright.compile(str(path)))["main"]
    found = main((np.arange(count).reshape(shape) / count).astype("float32")).numpy()
    right = onnx.TensorProto()
    right.ParseFromString(path.with_name(f"{path.stem}_output_0.pb").read_bytes())
    np.testing.assert_allclose(found, numpy_helper.to_array(right), rtol=1e-3, atol=1e-5)
