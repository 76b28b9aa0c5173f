"""benchmarks/transposed_models.py: models of one transposed convolution, from short descriptions."""

import tomllib
from pathlib import Path

import pytest
import transposed_models
from onnx import numpy_helper, shape_inference

CASES = tomllib.loads((Path(transposed_models.__file__).parent / "cases.toml").read_text())
TEXTS = [
    case["file"].removeprefix("transposed:")
    for case in CASES.values()
    if str(case.get("file")).startswith("transposed:")
]


def extents(model):
    inferred = shape_inference.infer_shapes(model, strict_mode=True)
    shape = inferred.graph.output[0].type.tensor_type.shape
    return [dim.dim_param or dim.dim_value for dim in shape.dim]


def test_attributes():
    model = transposed_models.transposed_model(
        "1x8x5x7 4 3x3 2x2 pads=1 output_padding=1 group=2 dilations=1"
    )
    attributes = {each.name: list(each.ints) or each.i for each in model.graph.node[0].attribute}
    assert attributes == {
        "strides": [2, 2],
        "group": 2,
        "pads": [1, 1, 1, 1],
        "output_padding": [1, 1],
        "dilations": [1, 1],
    }
    assert numpy_helper.to_array(model.graph.initializer[0]).shape == (8, 2, 3, 3)
    assert extents(model) == [1, 4, 10, 14]


@pytest.mark.parametrize("text", TEXTS)
def test_cases_are_models(text):
    assert len(extents(transposed_models.transposed_model(text))) == text.split()[0].count("x") + 1
