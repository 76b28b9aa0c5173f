"""Shapes that models compute: with open and with fixed extents, against onnx's own reference."""

import numpy as np
import pytest

import tilewright
from tilewright.frontend.onnx import from_onnx

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

I = np.array  # noqa: E741
SIZES = [(5, 7), (1, 1), (127, 3)]
CONSTANTS = {
    "zero": I(0), "one": I(1), "two": I(2), "z": I([0]), "o": I([1]), "t": I([2]), "th": I([3]), "minus": I([-1]), "three": I([3]),
    "four": I([4]), "big": I([2**63 - 1]), "half": np.float32(0.5), "third": np.float32(0.7), "float0": np.float32(0), "yes": I([True]),
    "seven": I(7), "thirty_two": I(32), "seven_f": np.float32(7), "ones": I([1, 1, 1]), "lists": I([[0], [2]]), "updates": I([8, 9]),
}  # fmt: skip


def n(text: str, **attributes):
    """n("Add a b -> c", axis=1)"""
    op, *inputs = text.split(" -> ")[0].split()
    return helper.make_node(
        op, ["" if name == "_" else name for name in inputs], text.split(" -> ")[1].split(), **attributes
    )


def model_of(nodes, inputs, weights=None, outputs=("y",), opset=17):
    """inputs: {name: (element type, shape)}"""
    used = {name for node in nodes for name in node.input}
    constants = {name: value for name, value in (CONSTANTS | (weights or {})).items() if name in used}
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in inputs.items()],
        [onnx.ValueInfoProto(name=name) for name in outputs],
        [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def results(main, arrays):
    result = main(*arrays)
    return [each.numpy() for each in (result if isinstance(result, tuple | list) else [result])]


def check(model, *calls):
    """Each call, arrays in order, gives what the reference gives."""
    main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
    reference = ReferenceEvaluator(model)
    for arrays in calls:
        names = [value.name for value in model.graph.input]
        expected = reference.run(None, dict(zip(names, arrays, strict=True)))
        for got, right in zip(results(main, arrays), expected, strict=True):
            assert (got.shape, got.dtype) == (np.shape(right), right.dtype)
            np.testing.assert_allclose(got, right, rtol=1e-6)


def floats(*shape):
    return np.arange(np.prod(shape), dtype="float32").reshape(shape)


# nodes that make a shape or size of x, float32[n, 4, m], the value that is looked at, and constants
CHAINS = {
    "Slice": [n("Shape x -> s"), n("Slice s z t -> y")],
    "Slice from the end": [n("Shape x -> s"), n("Slice s minus big -> y")],
    "Reshape": [n("Shape x -> s"), n("Reshape s minus -> y")],
    "Reshape to a scalar": [n("Shape x -> s"), n("Gather s z -> e"), n("Reshape e none -> y")],
    "ReduceProd": [n("Shape x -> s"), n("ReduceProd s -> y", keepdims=0)],
    "ReduceMax": [n("Shape x -> s"), n("ReduceMax s -> y")],
    "ReduceSum": [n("Shape x -> s"), n("ReduceSum s z -> y")],
    "Split": [n("Shape x -> s"), n("Split s ones -> a b y", axis=0)],
    "Where": [n("Shape x -> s"), n("Equal wanted minus -> c"), n("Where c s wanted -> y")],
    "Where by extents": [n("Shape x -> s"), n("Greater s four -> c"), n("Where c s four -> y")],
    "Equal as a number": [n("Shape x -> s"), n("Equal s four -> c"), n("Cast c -> y", to=TensorProto.INT64)],
    "Max": [n("Shape x -> s"), n("Max s four three -> y")],
    "Min": [n("Shape x -> s"), n("Min s four -> y")],
    "Mod": [n("Shape x -> s"), n("Mod s three -> y")],
    "Neg": [n("Shape x -> s"), n("Neg s -> y")],
    "a negative remainder": [n("Shape x -> s"), n("Neg s -> g"), n("Mod g three -> y")],
    "a negative quotient": [n("Shape x -> s"), n("Neg s -> g"), n("Div g three -> y")],
    "a difference divided": [n("Shape x -> s"), n("Sub s four -> g"), n("Div g three -> y")],
    "Abs": [n("Shape x -> s"), n("Sub s four -> g"), n("Abs g -> y")],
    "ScatterND": [n("Shape x -> s"), n("ScatterND s lists updates -> y")],
    "ScatterElements": [n("Shape x -> s"), n("ScatterElements s o o -> y")],
    "Cast to int32": [n("Shape x -> s"), n("Cast s -> y", to=TensorProto.INT32)],
    "int32 stays int32": [
        n("Shape x -> s"), n("Cast s -> i", to=TensorProto.INT32), n("Gather i z -> g"), n("Squeeze g -> q"), n("Add q q -> a"),
        n("Unsqueeze a z -> u"), n("Concat u i -> y", axis=0),
    ],
    "Cast to float": [n("Shape x -> s"), n("Cast s -> y", to=TensorProto.FLOAT)],
    "a float passed on": [n("Shape x -> s"), n("Cast s -> f", to=TensorProto.FLOAT), n("Identity f -> i"), n("Dropout i -> y")],
    "a truth passed on": [n("Shape x -> s"), n("Equal s four -> e"), n("Gather e o -> g"), n("Identity e -> i"), n("And i g -> y")],
    "half of it": [
        n("Shape x -> s"), n("Cast s -> f", to=TensorProto.FLOAT), n("Mul f half -> h"), n("Floor h -> r"), n("Cast r -> y", to=TensorProto.INT64),
    ],
    "a multiple": [
        n("Shape x -> s"), n("Cast s -> f", to=TensorProto.FLOAT), n("Div f seven_f -> h"), n("Ceil h -> r"), n("Cast r -> i", to=TensorProto.INT64),
        n("Mul i seven -> y"),
    ],
    "seven tenths": [
        n("Shape x -> s"), n("Cast s -> f", to=TensorProto.FLOAT), n("Mul f third -> h"), n("Floor h -> r"), n("Cast r -> y", to=TensorProto.INT64),
    ],
    "Expand": [n("Shape x -> s"), n("Expand s pair -> y")],
    "Tile": [n("Shape x -> s"), n("Tile s t -> y")],
    "Transpose": [n("Shape x -> s"), n("Unsqueeze s z -> u"), n("Transpose u -> y")],
    "Pad": [n("Shape x -> s"), n("Pad s around -> y")],
    "Size": [n("Size x -> s"), n("Unsqueeze s z -> y")],
    "Not and Or": [n("Shape x -> s"), n("Less s four -> a"), n("Not a -> b"), n("Greater s three -> c"), n("Or b c -> y")],
}  # fmt: skip
MORE = {"none": np.zeros(0, "int64"), "wanted": I([2, -1, -1]), "pair": I([2, 3]), "around": I([1, 2])}


@pytest.mark.parametrize("is_open", [True, False], ids=["open", "fixed"])
@pytest.mark.parametrize("name", CHAINS)
def test_a_value_made_of_a_shape(name, is_open):
    for size in SIZES if is_open else SIZES[:1]:
        shape = ("n", 4, "m") if is_open else (size[0], 4, size[1])
        check(model_of(CHAINS[name], {"x": (TensorProto.FLOAT, shape)}, MORE), [floats(size[0], 4, size[1])])


# Chains that end in a Reshape of x to what they made, so that a wrong number is seen in the shape.
SHAPES = {
    "view(*shape[:-1], -1, 2)": [n("Shape x -> s"), n("Slice s z minus -> f"), n("Concat f minus t -> y", axis=0)],
    "flat": [n("Shape x -> s"), n("ReduceProd s -> y")],
    "halves": [n("Shape x -> s"), n("Gather s o -> a"), n("Div a t -> b"), n("Concat t b minus -> y", axis=0)],
    "expand as torch writes it": [
        n("Shape x -> s"), n("Equal wanted minus -> c"), n("Where c s wanted -> w"), n("Max w ones -> y"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("is_open", [True, False], ids=["open", "fixed"])
@pytest.mark.parametrize("name", SHAPES)
def test_a_reshape_to_what_a_chain_makes(name, is_open):
    nodes = [*SHAPES[name], n("Reshape x y -> r")]
    shape = ("n", 4, 6) if is_open else (5, 4, 6)
    weights = {"wanted": I([-1, -1, -1])}
    check(model_of(nodes, {"x": (TensorProto.FLOAT, shape)}, weights, outputs=("r",)), [floats(5, 4, 6)])


# Parts, copies and sizes given by open extents; l is the length of x, float32[b, n, 4].
LENGTH = [n("Shape x -> s"), n("Gather s one -> l"), n("Unsqueeze l z -> e")]
TABLE = {"table": floats(1, 32, 4), "row": floats(1, 4), "w": I([0, 0, 0]), "list": floats(32)}
PARTS = {
    "position_ids[:, :n]": [*LENGTH, n("Slice table z e o -> y")],
    "table[:, -n:]": [*LENGTH, n("Neg e -> g"), n("Slice table g big o -> y")],
    "table[:, 32 - n : 32]": [*LENGTH, n("Sub thirty_two e -> g"), n("Slice table g big o -> y")],
    "table[:, n::-1]": [*LENGTH, n("Slice table e least o minus -> y")],
    "x[:, : n // 2]": [*LENGTH, n("Div e t -> h"), n("Slice x z h o -> y")],
    "x[:, n // 2 :]": [*LENGTH, n("Div e t -> h"), n("Slice x h big o -> y")],
    "x[:, 1:-1]": [n("Slice x o minus o -> y")],
    "Split into first and rest": [*LENGTH, n("Sub e o -> m"), n("Concat o m -> p", axis=0), n("Split x p -> v y", axis=1)],
    "Split in two": [n("Split x -> a y", axis=1, num_outputs=2)],
    "Tile to the length": [*LENGTH, n("Concat e o -> r", axis=0), n("Tile row r -> y")],
    "Pad to 32": [*LENGTH, n("Sub thirty_two e -> m"), n("Concat w z m z -> p", axis=0), n("Pad x p -> y")],
    "Pad to a multiple of 32": [
        *LENGTH, n("Neg e -> g"), n("Mod g thirty_two -> m"), n("Concat w z m z -> p", axis=0), n("Pad x p -> y"),
    ],
    "Pad by the length before": [*LENGTH, n("Concat z e z w -> p", axis=0), n("Pad x p two_f -> y")],
    "Pad edge": [*LENGTH, n("Concat z e z w -> p", axis=0), n("Pad x p -> y", mode="edge")],
    "Pad reflect": [*LENGTH, n("Sub e o -> m"), n("Concat z m z w -> p", axis=0), n("Pad x p -> y", mode="reflect")],
    "Pad wrap": [*LENGTH, n("Concat z e z w -> p", axis=0), n("Pad x p -> y", mode="wrap")],
    "TopK of half": [*LENGTH, n("Min e t -> k"), n("TopK x k -> v y", axis=1)],
    "Expand to the length": [*LENGTH, n("Concat e minus1 -> r", axis=0), n("Expand row r -> y")],
    "OneHot as deep as long": [*LENGTH, n("Range zero l one -> i"), n("OneHot i l pair -> y")],
    "Range": [*LENGTH, n("Range zero l one -> y")],
    "Range from": [*LENGTH, n("Add l l -> k"), n("Range l k two -> y")],
    "Range down": [*LENGTH, n("Range l zero minus0 -> y")],
    "Range that may be empty": [*LENGTH, n("Range four0 l one -> y")],
    "Range of floats from below 0": [*LENGTH, n("Cast l -> f", to=TensorProto.FLOAT), n("Neg f -> g"), n("Range g f half -> y")],
    "Range of floats by an odd step": [*LENGTH, n("Cast l -> f", to=TensorProto.FLOAT), n("Range float0 f third -> y")],
    "Range of floats": [*LENGTH, n("Cast l -> f", to=TensorProto.FLOAT), n("Range float0 f half -> y")],
    "ConstantOfShape": [*LENGTH, n("Concat e th -> c", axis=0), n("ConstantOfShape c -> y")],
    "causal mask": [
        *LENGTH, n("Concat e e -> c", axis=0), n("ConstantOfShape c -> f"), n("Trilu f -> y", upper=0),
    ],
}  # fmt: skip
PART_WEIGHTS = TABLE | {
    "minus1": I([4]), "pair": I([2.0, 5.0]), "minus0": I(-1), "four0": I(4), "two_f": np.float32(2.5), "least": I([-(2**63)]),
}  # fmt: skip


@pytest.mark.parametrize("is_open", [True, False], ids=["open", "fixed"])
@pytest.mark.parametrize("name", PARTS)
def test_parts_and_sizes_by_extents(name, is_open):
    lengths = (7, 2, 18) if is_open else (7,)
    shape = ("b", "n", 4) if is_open else (2, 7, 4)
    opset = 18 if "in two" in name else 17
    if "wrap" in name:
        opset = 19
    model = model_of(PARTS[name], {"x": (TensorProto.FLOAT, shape)}, PART_WEIGHTS, opset=opset)
    check(model, *[[floats(2, length, 4)] for length in lengths])


# The same by tensors that come with the call: k is int64[1].
RUN_TIME = {
    "Slice": [n("Slice x z k o -> y")],
    "Slice from": [n("Slice x k big o -> y")],
    "Split": [*LENGTH, n("Sub e k -> m"), n("Concat k m -> p", axis=0), n("Split x p -> v y", axis=1)],
    "Tile": [n("Concat k o -> r", axis=0), n("Tile row r -> y")],
    "Pad": [n("Concat w z k z -> p", axis=0), n("Pad x p -> y")],
    "TopK": [n("TopK x k -> v y", axis=1)],
    "Expand": [n("Concat k four -> r", axis=0), n("Expand row r -> y")],
    "OneHot": [n("Squeeze k -> q"), n("Range zero q one -> i"), n("OneHot i k pair -> y")],
    "Range": [n("Squeeze k -> q"), n("Range zero q one -> y")],
    "ConstantOfShape": [n("Concat k th -> c", axis=0), n("ConstantOfShape c -> y")],
    "Reshape": [n("ConstantOfShape k -> f"), n("Concat minus k -> c", axis=0), n("Reshape f c -> y")],
    "twice the same": [n("Slice x z k o -> a"), n("Slice x z k o -> b"), n("Add a b -> y")],
}  # fmt: skip


@pytest.mark.parametrize("name", RUN_TIME)
def test_parts_and_sizes_by_tensors(name):
    inputs = {"x": (TensorProto.FLOAT, ("b", "n", 4)), "k": (TensorProto.INT64, (1,))}
    check(
        model_of(RUN_TIME[name], inputs, PART_WEIGHTS),
        *[[floats(2, 6, 4), I([k])] for k in (2, 1, 5)],
    )


def test_a_slice_by_a_negative_number_that_comes_with_the_call():
    inputs = {"x": (TensorProto.FLOAT, ("n",)), "k": (TensorProto.INT64, (1,))}
    check(model_of([n("Slice x k big -> y")], inputs), *[[floats(7), I([k])] for k in (-2, -9, 0, 3, 8)])


@pytest.mark.parametrize("target", [(2, 3, 4), (-1, 4), (0, -1), (6, -1)], ids=str)
def test_a_reshape_to_a_tensor_that_comes_with_the_call(target):
    inputs = {"x": (TensorProto.FLOAT, ("n", 4)), "to": (TensorProto.INT64, (len(target),))}
    check(model_of([n("Reshape x to -> y")], inputs), [floats(6, 4), I(target)])


@pytest.mark.parametrize(
    ("given", "target", "size"),
    [((3,), ("n",), 1), ((3,), ("n",), 3), (("n",), (3,), 1), (("n",), (3,), 3), (("n", 4), ("m", 4), 1), ((2, 1), ("n",), 5),
     ((2, 5), ("n",), 1), (("n",), ("m", "n"), 3)],
    ids=str,
)  # fmt: skip
def test_expand_to_extents_that_may_be_one(given, target, size):
    sizes = {"n": size, "m": 6}
    inputs = {"x": (TensorProto.FLOAT, given), "like": (TensorProto.FLOAT, target)}
    model = model_of([n("Shape like -> s"), n("Expand x s -> y")], inputs)
    check(model, [floats(*[sizes.get(extent, extent) for extent in each]) for each in (given, target)])


def test_dimensions_called_question_mark_are_different():
    """Exporters write ? and an empty name for all that they know nothing of."""
    inputs = {"x": (TensorProto.FLOAT, ("?", "?")), "z2": (TensorProto.FLOAT, ("", ""))}
    model = model_of([n("Shape x -> a"), n("Shape z2 -> b"), n("Concat a b -> y", axis=0)], inputs)
    check(model, [floats(2, 3), floats(5, 7)])


def test_int32_constants_stay_int32():
    weights = {"a": I([7, -8], "int32"), "b": I([2, 3], "int32")}
    for op, expected in [
        ("Add", [9, -5]),
        ("Sub", [5, -11]),
        ("Mul", [14, -24]),
        ("Div", [3, -2]),
        ("Mod", [1, 1]),
    ]:
        model = model_of([n(f"{op} a b -> y")], {}, weights)
        (got,) = results(tilewright.VirtualMachine(tilewright.compile(model))["main"], [])
        assert (got.dtype, got.tolist()) == (np.int32, expected)


def test_constants_are_computed_when_the_model_is_imported():
    """Also by operators that only the runtime does: the shape of the result is known."""
    nodes = [n("ScatterND base lists updates -> s"), n("TopK s two1 -> v i"), n("Reshape x v -> y")]
    weights = {"base": I([0, 3, 0]), "two1": I([2]), "updates": I([4, 5])}
    module = from_onnx(model_of(nodes, {"x": (TensorProto.FLOAT, (20,))}, weights))
    assert "R.shape([5, 4])" in module.script()


ILLEGAL = {
    "Split": ([n("Concat k th -> p", axis=0), n("Split x p -> v y", axis=1)], {}, 7, "Split node that makes \"v\": pieces of size0 + size1 = 10 elements in total for 2 outputs of an extent of n = 6"),
    "Split below 0": ([*LENGTH, n("Sub e k -> m"), n("Concat k m -> p", axis=0), n("Split x p -> v y", axis=1)], {}, -1, "Split node that makes \"v\": the pieces [size0 = -1, size1 = 7] contain a negative size"),
    "TopK": ([n("TopK x k -> v y", axis=1)], {}, 7, "TopK node that makes \"v\": k is size0 = 7, but the dimension has n = 6 elements"),
    "Expand": ([n("Concat z k four -> r", axis=0), n("Expand x r -> y")], {"z": I([2])}, 4, "Expand node that makes \"y\": the input is [b = 2, n = 6, 4], which does not expand to [size0 = 2, size1 = 4, size2 = 4]: n = 6 against size1 = 4 in dimension 2 from the end"),
}  # fmt: skip


@pytest.mark.parametrize("name", ILLEGAL)
def test_sizes_that_do_not_fit_are_refused_when_it_runs(name):
    nodes, weights, k, error = ILLEGAL[name]
    inputs = {"x": (TensorProto.FLOAT, ("b", "n", 4)), "k": (TensorProto.INT64, (1,))}
    main = tilewright.VirtualMachine(tilewright.compile(model_of(nodes, inputs, weights)))["main"]
    with pytest.raises(tilewright.UserError) as problem:
        main(floats(2, 6, 4), I([k]))
    assert str(problem.value).splitlines()[0] == f"error: main: {error}"


def test_a_squeeze_without_axes_of_an_open_extent():
    """It is there in the result: a call in which it is 1 is refused."""
    model = model_of([n("Squeeze x -> y")], {"x": (TensorProto.FLOAT, ("n", 1, 3))})
    check(model, [floats(5, 1, 3)])
    main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
    with pytest.raises(tilewright.UserError) as problem:
        main(floats(1, 1, 3))
    assert str(problem.value).splitlines()[0] == (
        'error: main: Squeeze node that makes "y": dimension 0 of [n = 1, 1, 3] would be removed, which requires axes'
    )
