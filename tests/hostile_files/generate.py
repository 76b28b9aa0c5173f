"""The file of a seed: a kind of harm, and bytes; `must_fail` where no reading of them is a model."""

import dataclasses
import functools
import random
from collections.abc import Callable

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT
HUGE = [2**31 - 1, 2**31, 2**40, 2**62, 2**63 - 1, -1, -(2**62)]


@dataclasses.dataclass
class Hostile:
    """data: the file; kind: of the harm; must_fail: an error is the only right answer."""

    seed: int
    kind: str
    data: bytes
    must_fail: bool


@functools.cache
def models() -> list[bytes]:
    """Models of ONNX's node cases, of every operator, as bytes."""
    from onnx_cases import cases

    small = [case.model.SerializeToString() for case in cases() if case.kind == "node"]
    return [data for data in small if len(data) < 20_000]


def simple(nodes, shape=(2, 3), weights=(), **inputs) -> onnx.ModelProto:
    values = [
        helper.make_tensor_value_info(name, FLOAT, dims) for name, dims in ({"x": shape} | inputs).items()
    ]
    graph = helper.make_graph(
        nodes, "g", values, [helper.make_tensor_value_info("y", FLOAT, None)], list(weights)
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


KINDS: dict[str, tuple[Callable, bool]] = {}


def kind(must_fail: bool):
    def add(function):
        KINDS[function.__name__] = (function, must_fail)
        return function

    return add


def generate(seed: int) -> Hostile:
    pick = random.Random(seed)
    name = pick.choice(sorted(KINDS))
    make, must_fail = KINDS[name]
    made = make(pick)
    return Hostile(seed, name, made if isinstance(made, bytes) else made.SerializeToString(), must_fail)


# ---- damage


@kind(must_fail=False)  # what is cut off may be a whole field
def truncated(pick):
    data = pick.choice(models())
    return data[: pick.randrange(len(data))]


@kind(must_fail=False)
def flipped(pick):
    data = bytearray(pick.choice(models()))
    for _ in range(pick.randrange(1, 9)):
        data[pick.randrange(len(data))] ^= 1 << pick.randrange(8)
    return bytes(data)


@kind(must_fail=False)
def spliced(pick):
    """The beginning of one model and the end of another."""
    first, second = pick.choice(models()), pick.choice(models())
    return first[: pick.randrange(len(first))] + second[pick.randrange(len(second)) :]


@kind(must_fail=True)
def noise(pick):
    return b"\x0f" + pick.randbytes(pick.randrange(1, 4000))


@kind(must_fail=True)
def nested_without_end(pick):
    """Messages in messages, thousands deep: graphs in attributes of nodes of graphs."""
    data = b""
    for _ in range(pick.randrange(200, 3000)):
        data = field(6, data)  # the graph of an attribute
        data = field(1, b"g") + data + b"\xa0\x01\x05"
        data = field(5, data) + field(4, b"If") + field(1, b"c") + field(2, b"y")
        data = field(1, data)  # the node of a graph
    return b"\x08\x08" + field(7, data) + field(8, b"\x10\x11")


def field(number: int, value: bytes) -> bytes:
    size, parts = len(value), bytearray([number << 3 | 2])
    while size > 127:
        parts.append(size & 127 | 128)
        size >>= 7
    return bytes(parts) + bytes([size]) + value


# ---- graphs


@kind(must_fail=True)
def cyclic(pick):
    count = pick.randrange(1, 40)
    names = [f"v{n}" for n in range(count)]
    nodes = [helper.make_node("Neg", [names[n - 1]], [name]) for n, name in enumerate(names)]
    nodes.append(helper.make_node("Add", ["x", names[0]], ["y"]))
    pick.shuffle(nodes)
    return simple(nodes)


@kind(must_fail=True)
def cyclic_subgraph(pick):
    """A branch with a cycle, or one that reads what the node with the branch makes."""
    value = helper.make_tensor_value_info("b", FLOAT, None)
    if pick.random() < 0.5:
        inner = [helper.make_node("Neg", ["b"], ["a"]), helper.make_node("Neg", ["a"], ["b"])]
    else:
        inner = [helper.make_node("Neg", ["y"], ["b"])]
    graph = helper.make_graph(inner, "branch", [], [value])
    constant = numpy_helper.from_array(np.array(True), "c")
    return simple(
        [helper.make_node("If", ["c"], ["y"], then_branch=graph, else_branch=graph)], weights=[constant]
    )


@kind(must_fail=True)
def recursive_function(pick):
    """Functions of the model that call each other without end."""
    count = pick.randrange(1, 4)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)]
    functions = [
        helper.make_function(
            "mine",
            f"F{n}",
            ["a"],
            ["b"],
            [helper.make_node(f"F{(n + 1) % count}", ["a"], ["b"], domain="mine")],
            opsets,
        )
        for n in range(count)
    ]
    model = simple([helper.make_node("F0", ["x"], ["y"], domain="mine")])
    del model.opset_import[:]
    model.opset_import.extend(opsets)
    model.functions.extend(functions)
    return model


@kind(must_fail=True)
def undefined_value(pick):
    nodes = [helper.make_node("Add", ["x", f"v{pick.randrange(9)}"], ["y"])]
    return simple(nodes)


@kind(must_fail=False)
def doubled_names(pick):
    model = onnx.load_from_string(pick.choice(models()))
    graph = model.graph
    part = pick.choice([graph.node, graph.input, graph.output, graph.initializer or graph.node])
    part.add().CopyFrom(pick.choice(part))
    return model


@kind(must_fail=False)
def long_chain(pick):
    """Doublings of a size: 2 to the power of their number is asked for."""
    count = pick.randrange(30, 200)
    names = ["x", *(f"v{n}" for n in range(count)), "y"]
    nodes = [
        helper.make_node("Concat", [before, before], [after], axis=0)
        for before, after in zip(names, names[1:], strict=False)
    ]
    return simple(nodes)


# ---- sizes


@kind(must_fail=False)
def huge_extents(pick):
    """Extents of inputs, or shapes that nodes are given."""
    shape = [pick.choice([1, 3, *HUGE]) for _ in range(pick.randrange(1, 5))]
    op = pick.choice(["Relu", "Flatten", "Reshape", "Expand", "ConstantOfShape", "Tile", "Softmax", "MatMul"])
    wanted = numpy_helper.from_array(
        np.array([pick.choice([1, 3, *HUGE]) for _ in range(pick.randrange(1, 5))], "int64"), "s"
    )
    inputs = {
        "ConstantOfShape": ["s"],
        "Relu": ["x"],
        "Flatten": ["x"],
        "Softmax": ["x"],
        "MatMul": ["x", "x"],
    }
    nodes = [helper.make_node(op, inputs.get(op, ["x", "s"]), ["y"])]
    return simple(nodes, pick.choice([shape, (2, 3)]), [wanted])


@kind(must_fail=True)
def huge_initializer(pick):
    """A tensor of many elements and few bytes."""
    tensor = TensorProto(
        name="w", data_type=pick.choice([1, 6, 7, 9, 10, 11, 16]), raw_data=pick.randbytes(64)
    )
    tensor.dims.extend([pick.choice([2**31, 2**40, 2**62]) for _ in range(pick.randrange(1, 4))])
    return simple([helper.make_node("Add", ["x", "w"], ["y"])], weights=[tensor])


@kind(must_fail=True)
def negative_extents(pick):
    tensor = TensorProto(name="w", data_type=1, raw_data=b"\0" * 24)
    tensor.dims.extend([-pick.choice([1, 2, 2**62]), -pick.choice([1, 3, 2**62])])
    return simple([helper.make_node("Add", ["x", "w"], ["y"])], weights=[tensor])


@kind(must_fail=False)
def absurd_attributes(pick):
    """Attributes with very many, very large, or very long values."""
    node = helper.make_node(
        pick.choice(
            [
                "Conv",
                "MaxPool",
                "AveragePool",
                "Transpose",
                "Softmax",
                "Concat",
                "Split",
                "TopK",
                "Gemm",
                "LRN",
            ]
        ),
        ["x", "x"][: pick.randrange(1, 3)],
        ["y"],
    )
    for name in ("kernel_shape", "pads", "strides", "dilations", "perm", "axis", "split", "size", "group"):
        if pick.random() < 0.5:
            continue
        attribute = node.attribute.add(name=name)
        if name in ("axis", "size", "group") or pick.random() < 0.2:
            attribute.type, attribute.i = AttributeProto.INT, pick.choice([0, 1, 2, *HUGE])
        elif pick.random() < 0.2:
            attribute.type, attribute.s = AttributeProto.STRING, b"x" * pick.choice([1, 1 << 20])
        else:
            attribute.type = AttributeProto.INTS
            attribute.ints.extend([pick.choice([0, 1, 2, *HUGE])] * pick.choice([1, 2, 4, 1 << 10, 1 << 17]))
    return simple([node], pick.choice([(1, 2, 5, 5), (2, 3), (1, 4, 7)]))


@kind(must_fail=False)
def changed_numbers(pick):
    """A model with numbers of attributes, shapes and small tensors set to extremes."""
    model = onnx.load_from_string(pick.choice(models()))
    for _ in range(pick.randrange(1, 4)):
        change(model, pick)
    return model


def change(model, pick):
    places = [
        (attribute, "i") for node in model.graph.node for attribute in node.attribute if attribute.type == 2
    ]
    places += [
        (attribute, "ints") for node in model.graph.node for attribute in node.attribute if attribute.ints
    ]
    places += [(dim, "dim_value") for value in model.graph.input for dim in value.type.tensor_type.shape.dim]
    places += [(value.type.tensor_type, "elem_type") for value in model.graph.input]
    places += [(model.opset_import[0], "version")]
    proto, name = pick.choice(places)
    if name == "ints":
        proto.ints[pick.randrange(len(proto.ints))] = pick.choice(HUGE)
    else:
        setattr(proto, name, pick.choice([0, 1, 99, 2**31 - 1] if name == "elem_type" else HUGE))


# ---- other files


@kind(must_fail=True)
def outside_of_the_folder(pick):
    location = pick.choice(
        [
            "/etc/passwd",
            "../secret",
            "a/../../secret",
            "/dev/zero",
            "/proc/self/mem",
            "",
            ".",
            "missing",
            "a\0b",
        ]
    )
    tensor = TensorProto(name="w", data_type=1, dims=[2, 3], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=location)
    for key in ("offset", "length"):
        if pick.random() < 0.5:
            tensor.external_data.add(key=key, value=str(pick.choice([0, 24, *HUGE, "x"])))
    return simple([helper.make_node("Add", ["x", "w"], ["y"])], weights=[tensor])
