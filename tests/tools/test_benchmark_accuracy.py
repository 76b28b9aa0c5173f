"""benchmarks/accuracy.py: results of the cases beside those of float64."""

import math

import accuracy
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tilewright

RNG = np.random.default_rng(7)


def product_model(tmp_path) -> str:
    """y = float32(x * whole numbers) + [0.1, 0.2, 0.3], with a constant and a cast."""
    nodes = [
        helper.make_node("Mul", ["x", "factor"], ["scaled"]),
        helper.make_node("Cast", ["scaled"], ["again"], to=TensorProto.FLOAT),
        helper.make_node(
            "Constant", [], ["bias"], value=numpy_helper.from_array(np.float32([0.1, 0.2, 0.3]), "bias")
        ),
        helper.make_node("Add", ["again", "bias"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "product",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [5, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [5, 3])],
        [numpy_helper.from_array(np.float32([1, 2, 3]), "factor")],
    )
    path = tmp_path / "product.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)
    return str(path)


def test_models_are_computed_in_float64(tmp_path):
    x = RNG.standard_normal((5, 3)).astype("float32")
    (y,) = accuracy.model_in_float64(product_model(tmp_path), {"x": x})
    exact = x.astype("float64") * [1, 2, 3] + np.float32([0.1, 0.2, 0.3]).astype("float64")
    assert y.dtype == np.float64
    np.testing.assert_array_equal(y, exact)


def test_the_last_softmax_is_left_out(tmp_path):
    model = onnx.load(product_model(tmp_path))
    assert accuracy.without_softmax(model) is None
    model.graph.node.append(helper.make_node("Softmax", ["y"], ["probability"]))
    model.graph.output[0].name = "probability"
    cut = accuracy.without_softmax(model)
    assert [value.name for value in cut.graph.output] == ["y"]
    assert [node.op_type for node in cut.graph.node] == ["Mul", "Cast", "Constant", "Add"]
    onnx.checker.check_model(cut)


@pytest.mark.parametrize("name", accuracy.FUNCTIONS)
def test_functions_are_what_torch_computes(name):
    torch = pytest.importorskip("torch")
    functional = torch.nn.functional
    shapes = {"layer_norm": [(7, 5), (5,)], "attention": [(2, 7, 5)] * 3}.get(name, [(7, 5), (5, 3)])
    arrays = [RNG.standard_normal(shape) for shape in shapes][
        : 1 if name in ("softmax", "gelu", "transpose") else 3
    ]
    a, *others = map(torch.from_numpy, arrays)
    expected = {
        "mm": lambda: a @ others[0],
        "mm_relu": lambda: (a @ others[0]).relu(),
        "softmax": lambda: torch.softmax(a, -1),
        "layer_norm": lambda: functional.layer_norm(a, (5,), others[0]),
        "gelu": lambda: functional.gelu(a),
        "transpose": lambda: a.t(),
        "attention": lambda: functional.scaled_dot_product_attention(a, *others, scale=1.0),
    }[name]()
    (found,) = accuracy.function_in_float64(name, arrays)
    np.testing.assert_allclose(found, expected.numpy(), rtol=1e-12, atol=1e-12)


def test_results_of_any_library():
    torch = pytest.importorskip("torch")
    x = np.float32([1.5, -2])
    for result in (
        x,
        tilewright.tensor(x),
        torch.tensor(x).bfloat16(),
        [x],
        (tilewright.tensor(x),),
        {"y": x},
    ):
        (array,) = accuracy.arrays_of(result)
        assert array.dtype == np.float64
        np.testing.assert_array_equal(array, x)


def test_errors_are_beside_the_largest_number():
    exact = [np.array([[100.0, 1.0]]), np.array([4.0])]
    assert accuracy.error_of(exact, exact) == 0
    assert accuracy.error_of([np.array([[100.0, 1.5]]), np.array([4.0])], exact) == 0.005
    assert accuracy.error_of([np.array([[100.0, 1.0]]), np.array([3.0])], exact) == 0.25
    assert accuracy.error_of([np.array([[100.0, math.nan]]), np.array([4.0])], exact) == math.inf
    assert accuracy.error_of([np.array([100.0, 1.0]), np.array([4.0])], exact) == math.inf
    assert accuracy.error_of([exact[0]], exact) == math.inf
