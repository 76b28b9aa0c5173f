"""Random graphs that compute small tensors from the shape of x, float32[n, 4, m], against onnx's own reference."""

import numpy as np
import pytest

import tilewright

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

NUM_GRAPHS = 60
SIZES = [(5, 7), (1, 2), (40, 3)]


class Chain:
    """Adds nodes of random operators; keeps each value as the reference gives it for the first of SIZES."""

    def __init__(self, seed: int):
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights, self.values = [], {}, {"s": np.array([SIZES[0][0], 4, SIZES[0][1]])}
        self.node("Shape", ["x"], ["s"])

    def node(self, op, inputs, outputs, **attributes):
        self.nodes.append(helper.make_node(op, inputs, outputs, **attributes))

    def constant(self, value, dtype="int64"):
        name = f"w{len(self.weights)}"
        self.weights[name] = np.asarray(value, dtype)
        return name

    def add(self, op, inputs, **attributes):
        """The value that one more node makes; None where the reference refuses it."""
        given = {name: self.values.get(name, self.weights.get(name)) for name in inputs}
        graph = helper.make_graph(
            [helper.make_node(op, inputs, ["y"], **attributes)],
            "g",
            [onnx.ValueInfoProto(name=name) for name in given],
            [onnx.ValueInfoProto(name="y")],
        )
        try:
            (value,) = ReferenceEvaluator(
                helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
            ).run(None, given)
        except Exception:
            return None
        value = np.asarray(value)
        if value.size > 64 or value.ndim > 4 or value.size == 0:
            return None
        name = f"v{len(self.values)}"
        self.values[name] = value
        self.node(op, inputs, [name], **attributes)
        return name

    def pick(self, dtype="int64"):
        """A value of the dtype, more often a late one."""
        names = [name for name, value in self.values.items() if value.dtype == dtype]
        return names[-1 - min(int(self.random.exponential(1.5)), len(names) - 1)] if names else None

    def number(self, low=-3, high=6):
        return self.constant(self.random.integers(low, high))

    def grow(self):
        x, random = self.pick(), self.random
        value = self.values[x]
        axis = int(random.integers(0, max(value.ndim, 1)))
        other = self.pick() if random.random() < 0.6 else self.number()
        positive = self.constant(random.integers(1, 5))
        condition = self.pick("bool")
        some = self.constant(
            random.integers(0, max(value.shape[axis] if value.ndim else 1, 1), random.integers(1, 4))
        )
        choices = [
            lambda: self.add(str(random.choice(["Add", "Sub", "Mul", "Max", "Min"])), [x, other]),
            lambda: self.add(str(random.choice(["Div", "Mod"])), [x, positive]),
            lambda: self.add(str(random.choice(["Neg", "Abs"])), [x]),
            lambda: self.add(str(random.choice(["Equal", "Less", "Greater", "LessOrEqual"])), [x, other]),
            lambda: condition and self.add("Where", [condition, x, other]),
            lambda: condition and self.add("Not", [condition]),
            lambda: condition and self.add("Cast", [condition], to=TensorProto.INT64),
            lambda: self.halved(x),
            lambda: value.ndim and self.add("Gather", [x, some], axis=axis),
            lambda: self.add("Slice", [x, self.number(-2, 2), self.number(-1, 5), self.constant([axis])]),
            lambda: self.add("Concat", [x, self.pick(), x], axis=axis),
            lambda: self.add("Unsqueeze", [x, self.constant([axis])]),
            lambda: self.add("Squeeze", [x, self.constant([axis])]),
            lambda: self.add("Reshape", [x, self.constant([-1])]),
            lambda: self.add("Transpose", [x]),
            lambda: self.add("Tile", [x, self.constant(random.integers(1, 3, value.ndim))]),
            lambda: self.add("Expand", [x, self.constant([2, *value.shape])]),
            lambda: self.add(str(random.choice(["ReduceProd", "ReduceMax", "ReduceMin"])), [x], axes=[axis], keepdims=int(random.integers(2))),
            lambda: value.ndim == 1 and self.add("ScatterElements", [x, some, self.constant(random.integers(0, 9, self.weights[some].shape))]),
        ]  # fmt: skip
        choices[random.integers(len(choices))]()

    def halved(self, x):
        """Through floats and back."""
        as_float = self.add("Cast", [x], to=TensorProto.FLOAT)
        scaled = self.add(
            "Mul", [as_float, self.constant(self.random.choice([0.5, 2, 0.25, 1.5, 0.3]), "float32")]
        )
        rounded = scaled and self.add(str(self.random.choice(["Floor", "Ceil"])), [scaled])
        return rounded and self.add("Cast", [rounded], to=TensorProto.INT64)

    def model(self):
        last = next(name for name in reversed(self.values) if self.values[name].dtype != "float32")
        graph = helper.make_graph(
            self.nodes,
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ("n", 4, "m"))],
            [onnx.ValueInfoProto(name=last)],
            [onnx.numpy_helper.from_array(value, name) for name, value in self.weights.items()],
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


def chain_of(seed: int):
    chain = Chain(seed)
    for _ in range(12):
        chain.grow()
    return chain.model()


@pytest.mark.parametrize("seed", range(NUM_GRAPHS))
def test_random_chain(seed):
    model = chain_of(seed)
    main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
    for n, m in SIZES:
        x = np.zeros((n, 4, m), "float32")
        (expected,) = ReferenceEvaluator(model).run(None, {"x": x})
        result = main(x).numpy()
        assert (result.shape, result.dtype) == (np.shape(expected), np.asarray(expected).dtype)
        np.testing.assert_array_equal(result, expected)
