"""Small valid models with one field changed: imported or refused with our words; never a crash, hang or other error."""

import random
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import tilewright
from tilewright.frontend.onnx import from_onnx

onnx = pytest.importorskip("onnx")
from onnx import AttributeProto, TensorProto, helper, numpy_helper  # noqa: E402

BUILT = Path(__file__).resolve().parents[2] / "build" / "bin" / "tilewright"
PROGRAM = shutil.which("tilewright") or (str(BUILT) if BUILT.exists() else None)
NUMBERS = [-(2**63), -(2**31), -2, -1, 0, 1, 2, 3, 17, 2**20, 2**31 - 1, 2**31, 2**40, 2**63 - 1]
FLOATS = [-1.0, 0.0, 0.5, 2.0, 1e30, float("inf"), float("nan")]
TEXTS = ["", "SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET", "same", "\0", "x" * 300]
VALUE_KINDS = [
    lambda pick: pick.choice(NUMBERS),
    lambda pick: [pick.choice(NUMBERS) for _ in range(pick.randrange(6))],
    lambda pick: pick.choice(FLOATS),
    lambda pick: [pick.choice(FLOATS) for _ in range(pick.randrange(1, 4))],
    lambda pick: pick.choice(TEXTS),
    lambda pick: [pick.choice(TEXTS) for _ in range(pick.randrange(1, 4))],
    lambda pick: numpy_helper.from_array(np.arange(pick.randrange(4))),
    lambda pick: helper.make_graph([], "inner", [], []),
]


def layers():
    """Convolution, pooling, normalisation, product."""
    nodes = [
        helper.make_node(
            "Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1], strides=[1, 1], group=1, dilations=[1, 1]
        ),
        helper.make_node("BatchNormalization", ["c", "b", "b", "b", "b"], ["n"], epsilon=1e-3),
        helper.make_node("MaxPool", ["n"], ["p"], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
        helper.make_node("AveragePool", ["p"], ["a"], kernel_shape=[3, 3], auto_pad="SAME_UPPER"),
        helper.make_node("Dropout", ["a"], ["d"], seed=1),
        helper.make_node("Flatten", ["d"], ["f"], axis=1),
        helper.make_node("Gemm", ["f", "m"], ["g"], alpha=0.5, transB=0),
        helper.make_node("Softmax", ["g"], ["y"], axis=-1),
    ]
    return nodes, {"w": (3, 2, 3, 3), "b": (3,), "m": (27, 5)}, {}


def moves():
    """Moves of elements and arithmetic of shapes."""
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"], perm=[0, 2, 3, 1]),
        helper.make_node("Slice", ["t", "zero", "two", "axes"], ["s"]),
        helper.make_node("Shape", ["s"], ["e"], start=0),
        helper.make_node("Gather", ["e", "zero"], ["g"], axis=0),
        helper.make_node("Mul", ["g", "two"], ["h"]),
        helper.make_node("Concat", ["h", "minus"], ["i"], axis=0),
        helper.make_node("Reshape", ["s", "i"], ["r"], allowzero=0),
        helper.make_node("Unsqueeze", ["r", "zero"], ["u"]),
        helper.make_node("Squeeze", ["u", "zero"], ["q"]),
        helper.make_node("Sub", ["q", "q"], ["z"]),
        helper.make_node("Erf", ["z"], ["y"]),
    ]
    return nodes, {}, {"zero": [0], "two": [2], "axes": [1], "minus": [-1]}


def model_of(parts):
    nodes, weights, integers = parts()
    data = {name: np.full(shape, 0.5, "float32") for name, shape in weights.items()}
    data |= {name: np.array(values, "int64") for name, values in integers.items()}
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 2, 5, 5))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(value, name) for name, value in data.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def change_attribute(model, pick):
    node = pick.choice([node for node in model.graph.node if node.attribute])
    attribute = pick.choice(node.attribute)
    value = pick.choice(VALUE_KINDS)(pick)
    made = AttributeProto(name=attribute.name, type=AttributeProto.INTS)
    attribute.CopyFrom(made if value == [] else helper.make_attribute(attribute.name, value))


def change_number(model, pick):
    lists = [item for node in model.graph.node for item in node.attribute if item.ints]
    if lists:
        values = pick.choice(lists).ints
        values[pick.randrange(len(values))] = pick.choice(NUMBERS)


def add_attribute(model, pick):
    every = [item for node in model.graph.node for item in node.attribute]
    pick.choice(model.graph.node).attribute.append(pick.choice(every))


def drop_attribute(model, pick):
    node = pick.choice([node for node in model.graph.node if node.attribute])
    del node.attribute[pick.randrange(len(node.attribute))]


def names_of(model):
    return [
        "x",
        "",
        *(tensor.name for tensor in model.graph.initializer),
        *(n.output[0] for n in model.graph.node),
    ]


def change_input(model, pick):
    node = pick.choice(model.graph.node)
    node.input[pick.randrange(len(node.input))] = pick.choice(names_of(model))


def add_input(model, pick):
    pick.choice(model.graph.node).input.append(pick.choice(names_of(model)))


def drop_input(model, pick):
    node = pick.choice(model.graph.node)
    del node.input[pick.randrange(len(node.input))]


def add_output(model, pick):
    pick.choice(model.graph.node).output.append(pick.choice(["", "extra", "y"]))


def change_operator(model, pick):
    pick.choice(model.graph.node).op_type = pick.choice([node.op_type for node in model.graph.node])


def change_weight(model, pick):
    tensor = pick.choice(model.graph.initializer)
    dims = [pick.choice([0, 1, 2, 3, 7]) for _ in range(pick.randrange(5))]
    dtype = pick.choice(["float32", "int64", "int32", "float64", "bool"])
    tensor.CopyFrom(numpy_helper.from_array(np.ones(dims, dtype), tensor.name))


def change_integers(model, pick):
    tensor = pick.choice(model.graph.initializer)
    values = [pick.choice(NUMBERS) for _ in range(pick.randrange(4))]
    tensor.CopyFrom(numpy_helper.from_array(np.array(values, "int64"), tensor.name))


def change_shape(model, pick):
    dims = model.graph.input[0].type.tensor_type.shape.dim
    dim = pick.choice(dims)
    if pick.random() < 0.3:
        dim.dim_param = "n"
    else:
        dim.dim_value = pick.choice([-1, 0, 1, 2, 2**31, 2**40, 2**62])


def change_opset(model, pick):
    model.opset_import[0].version = pick.choice([*range(1, 30), *NUMBERS])


CHANGES = [
    change_attribute,
    change_number,
    add_attribute,
    drop_attribute,
    change_input,
    add_input,
    drop_input,
    add_output,
    change_operator,
    change_weight,
    change_integers,
    change_shape,
    change_opset,
]


def changed(parts, change, seed: int) -> bytes:
    model, pick = model_of(parts), random.Random(f"{parts.__name__} {change.__name__} {seed}")
    change(model, pick)
    return model.SerializeToString()


@pytest.mark.parametrize("parts", [layers, moves])
def test_the_models_themselves_compile(parts, tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(model_of(parts).SerializeToString())
    tilewright.compile(str(path))


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("parts", [layers, moves])
def test_a_changed_model_is_imported_or_refused(parts, change, tmp_path):
    path = tmp_path / "model.onnx"
    for seed in range(60):
        path.write_bytes(changed(parts, change, seed))
        try:
            from_onnx(str(path))
        except (tilewright.UserError, tilewright.Unsupported):
            pass
        except Exception as error:
            raise AssertionError(f"{parts.__name__}, {change.__name__}, seed {seed}: {error}") from error


@pytest.mark.slow
@pytest.mark.skipif(PROGRAM is None, reason="tilewright is not built")
@pytest.mark.parametrize("change", CHANGES)
def test_the_program_ends_with_2_for_what_is_refused(change, tmp_path):
    for seed in range(4):
        for parts in (layers, moves):
            path = tmp_path / "model.onnx"
            path.write_bytes(changed(parts, change, seed))
            words = [PROGRAM, "inspect", str(path), "--stage", "relax"]
            done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
            where = (parts.__name__, change.__name__, seed, done.stderr)
            assert done.returncode in (0, 2), where
            if done.returncode:
                assert done.stderr.startswith(("error: ", "unsupported: ")), where
                assert done.stdout == "", where
