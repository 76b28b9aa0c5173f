"""Models with strings, and what onnxruntime makes of them."""

import numpy as np
import onnx
import onnxruntime

import tilewright

#: empty, long, of one to four bytes a character, with spaces, digits and a zero inside
TEXTS = ["", "a", "Tilewright", "äöü", "日本語", "😀 x", "two  words ", "3.5", "x" * 300, "a\0b"]


def parsed(text: str, opset: int = 21):
    """The model of the text of a graph."""
    return onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": {opset}, "ai.onnx.ml": 4]>\n{text}')


def texts(*values, shape=None):
    """An array of str."""
    array = np.empty(len(values), object)
    array[:] = values
    return array.reshape(shape) if shape is not None else array


def compiled(model):
    return tilewright.VirtualMachine(tilewright.compile(model))["main"]


def arrays(result) -> list:
    result = result if isinstance(result, tuple) else (result,)
    return [each.numpy() if hasattr(each, "numpy") else each for each in result]


def found(model, *inputs) -> list:
    """The outputs of a model, as arrays."""
    return arrays(compiled(model)(*inputs))


def right(model, *inputs) -> list:
    """The same by onnxruntime."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    names = [value.name for value in model.graph.input]
    return session.run(None, dict(zip(names, inputs, strict=True)))


def require_same(ours: list, theirs: list) -> None:
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        other = np.asarray(other)
        kind = "O" if other.dtype.kind in "OU" else other.dtype.kind
        assert (mine.shape, mine.dtype.kind) == (other.shape, kind)
        if kind == "f":
            np.testing.assert_allclose(mine, other, rtol=1e-6)
        else:
            np.testing.assert_array_equal(mine, other)


def check(model, *inputs) -> list:
    """The outputs of a model, which are those of onnxruntime."""
    ours = found(model, *inputs)
    require_same(ours, right(model, *inputs))
    return ours
