"""The models that the package `onnx` brings as files: simple, pytorch-converted, pytorch-operator (most of opset 6) and light.

Each computes what its data sets say, or is refused with the reason that stands here.
"""

import pathlib

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnx.backend import test as onnx_tests

import tilewright
from tilewright.frontend.onnx import from_onnx

DATA = pathlib.Path(onnx_tests.__file__).parent / "data"
FOLDERS = ["simple", "pytorch-converted", "pytorch-operator"]
# a part of the error
REFUSED: dict[str, str] = {}
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
            assert (got.numpy().dtype, got.shape) == (right.dtype, right.shape)
            np.testing.assert_allclose(got.numpy(), right, rtol=rtol, atol=1e-5)


@pytest.mark.parametrize("path", CASES)
def test_case(path):
    model = str(path / "model.onnx")
    if path.name in REFUSED:
        with pytest.raises(tilewright.Unsupported) as refused:
            from_onnx(model)
        assert REFUSED[path.name] in str(refused.value)
        return
    check(model, sorted(path.glob("test_data_set_*")), 1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted((DATA / "light").glob("*.onnx")), ids=lambda path: path.stem)
def test_light_model(path):
    """A known network whose weights are made by ConstantOfShape; the input is what onnx's runner of these tests gives."""
    declared = onnx.load(path).graph.input[0].type.tensor_type.shape.dim
    shape = [dim.dim_value or 1 for dim in declared]
    count = int(np.prod(shape))
    main = tilewright.VirtualMachine(tilewright.compile(str(path)))["main"]
    found = main((np.arange(count).reshape(shape) / count).astype("float32")).numpy()
    right = onnx.TensorProto()
    right.ParseFromString(path.with_name(f"{path.stem}_output_0.pb").read_bytes())
    np.testing.assert_allclose(found, numpy_helper.to_array(right), rtol=1e-3, atol=1e-5)
