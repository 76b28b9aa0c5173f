"""Models of one selection say what their text says, and compute it."""

import numpy as np
import onnx
import pytest
import selection_models

import tilewright


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("TopK 5x127 k=3", lambda x: np.argsort(-x, axis=-1, kind="stable")[:, :3]),
        ("TopK 5x127 k=3 axis=0 largest=0", lambda x: np.argsort(x, axis=0, kind="stable")[:3]),
        ("ArgMax 5x127 axis=1 open", lambda x: x.argmax(1)[:, None]),
        ("ArgMin 5x127 axis=0 keepdims=0 int64", lambda x: x.argmin(0)),
    ],
)
def test_numbers(text, expected):
    model = selection_models.selection_model(text)
    onnx.checker.check_model(model)
    x = np.random.default_rng(0).permutation(5 * 127).reshape(5, 127)
    x = x.astype("int64" if text.endswith("int64") else "float32")
    found = tilewright.VirtualMachine(tilewright.compile(model))["main"](x)
    places = found[1] if isinstance(found, list | tuple) or text.startswith("TopK") else found
    np.testing.assert_array_equal(places.numpy(), expected(x))


def test_a_file_is_made_once():
    path = selection_models.selection_file("ArgMax 5x7 axis=1")
    assert selection_models.selection_file("ArgMax 5x7 axis=1") == path
    assert path.name == "ArgMax_5x7_axis1.onnx"
