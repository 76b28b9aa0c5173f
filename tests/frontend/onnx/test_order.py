"""Nodes of a graph may stand in any order."""

import time

import numpy as np
import pytest

import tilewright
from tilewright.frontend.onnx import from_onnx

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402


def chain(count, order):
    """x + 1 + 1 ...; the nodes stand as order(list) says."""
    nodes = [helper.make_node("Add", [f"v{n}", "one"], [f"v{n + 1}"], name=f"n{n}") for n in range(count)]
    graph = helper.make_graph(
        order(nodes),
        "g",
        [helper.make_tensor_value_info("v0", TensorProto.FLOAT, [3])],
        [helper.make_tensor_value_info(f"v{count}", TensorProto.FLOAT, [3])],
        [onnx.numpy_helper.from_array(np.ones(3, "float32"), "one")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


ORDERS = {
    "reverse": lambda nodes: nodes[::-1],
    "shuffled": lambda nodes: [nodes[n] for n in np.random.default_rng(3).permutation(len(nodes))],
}


@pytest.mark.parametrize("order", ORDERS)
def test_any_order_is_the_same_graph(order):
    in_order, other = from_onnx(chain(7, list)), from_onnx(chain(7, ORDERS[order]))
    assert other.script() == in_order.script()
    result = tilewright.VirtualMachine(tilewright.compile(other))["main"](np.zeros(3, "float32"))
    np.testing.assert_array_equal(result.numpy(), [7, 7, 7])


def seconds(model):
    start = time.perf_counter()
    from_onnx(model)
    return time.perf_counter() - start


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
def test_any_order_takes_the_same_time(order):
    models = [chain(10_000, each) for each in (list, ORDERS[order])]
    in_order, other = (min(seconds(model) for _ in range(2)) for model in models)
    assert other < 2 * in_order + 0.5
