"""Open extents that contradict what nodes of ONNX need are refused when the model runs, with the node's name and the values."""

import numpy as np
import pytest

import tilewright
from tilewright.errors import UserError
from tilewright.frontend.onnx import from_onnx

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

KINDS = {"float32": TensorProto.FLOAT, "int64": TensorProto.INT64, "uint8": TensorProto.UINT8}


def compiled(tmp_path, op, inputs, weights=None, **attrs):
    """The model of one node called "mine"; inputs: name -> (dtype, extents)."""
    names = [*inputs, *(weights or {})]
    graph = helper.make_graph(
        [helper.make_node(op, names, ["y"], name="mine", **attrs)],
        "g",
        [helper.make_tensor_value_info(name, KINDS[dtype], shape) for name, (dtype, shape) in inputs.items()],
        [onnx.ValueInfoProto(name="y")],
        [numpy_helper.from_array(value, name) for name, value in (weights or {}).items()],
    )
    path = tmp_path / "model.onnx"
    path.write_bytes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()
    )
    return tilewright.VirtualMachine(tilewright.compile(from_onnx(str(path))))["main"]


def first_line(call, *arrays):
    with pytest.raises(UserError) as error:
        call(*arrays)
    return str(error.value).split("\n")[0]


def some(*shape):
    return np.random.default_rng(len(shape)).standard_normal(shape).astype("float32")


def test_the_node_is_named(tmp_path):
    main = compiled(tmp_path, "MatMul", {"x": ("float32", ["n", "k"])}, {"w": some(7, 3)})
    assert main(some(5, 7)).shape == (5, 3)
    assert first_line(main, some(5, 9)) == (
        'error: main: MatMul node "mine": matmul: x1 is [n = 5, k = 9], x2 is [7, 3]: contracted lengths k = 9 and 7 differ'
    )


def test_braces_in_names(tmp_path):
    main = compiled(tmp_path, "Add", {"x": ("float32", ["{n}"]), "z": ("float32", ["m{}"])})
    assert main(some(5), some(5)).shape == (5,)
    assert first_line(main, some(5), some(7)) == (
        'error: main: Add node "mine": add: the shapes [{n} = 5] and [m{} = 7] do not broadcast: '
        "{n} = 5 against m{} = 7 in dimension 1 from the end"
    )


def test_a_bias_has_a_number_for_each_channel(tmp_path):
    inputs = {"x": ("float32", [1, 2, 5, 5]), "w": ("float32", [3, 2, 1, 1]), "b": ("float32", ["c"])}
    main = compiled(tmp_path, "Conv", inputs)
    assert main(some(1, 2, 5, 5), some(3, 2, 1, 1), some(3)).shape == (1, 3, 5, 5)
    assert first_line(main, some(1, 2, 5, 5), some(3, 2, 1, 1), some(1)) == (
        'error: main: Conv node "mine": the bias is [c = 1], expected one number for each of 3 channels'
    )


def test_c_of_gemm_does_not_make_the_result_larger(tmp_path):
    inputs = {"a": ("float32", ["n", 7]), "b": ("float32", [7, 3]), "c": ("float32", ["m", 1])}
    main = compiled(tmp_path, "Gemm", inputs)
    assert main(some(5, 7), some(7, 3), some(1, 1)).shape == (5, 3)
    assert first_line(main, some(1, 7), some(7, 3), some(5, 1)) == (
        'error: main: Gemm node "mine": C is [m = 5, 1], which does not broadcast to [n = 1, 3]'
    )


@pytest.mark.parametrize("op", ["QuantizeLinear", "DequantizeLinear"])
def test_a_zero_point_for_each_scale(tmp_path, op):
    dtype = "float32" if op == "QuantizeLinear" else "uint8"
    inputs = {"x": (dtype, [2, "c"]), "s": ("float32", ["d"]), "z": ("uint8", ["e"])}
    main = compiled(tmp_path, op, inputs, axis=1)
    x = np.ones((2, 5), dtype)
    assert main(x, np.ones(5, "float32"), np.zeros(5, "uint8")).shape == (2, 5)
    assert main(x, np.ones(1, "float32"), np.zeros(1, "uint8")).shape == (2, 5)
    assert first_line(main, x, np.ones(5, "float32"), np.zeros(1, "uint8")) == (
        f'error: main: {op} node "mine": the zero point is [e = 1], but the scale is [d = 5]'
    )
    kind = "quantize" if op == "QuantizeLinear" else "dequantize"
    assert first_line(main, x, np.ones(7, "float32"), np.zeros(7, "uint8")) == (
        f'error: main: {op} node "mine": {kind}: scale is [d = 7], but dimension 1 of data [2, c = 5] has extent c = 5'
    )


@pytest.mark.parametrize("extents", [["t", "b"], [5, 3]])
def test_lengths_of_sequences_are_those_of_the_data(tmp_path, extents):
    inputs = {"x": ("float32", extents), "n": ("int64", [extents[1]])}
    main = compiled(tmp_path, "ReverseSequence", inputs)
    x = np.arange(15, dtype="float32").reshape(5, 3)
    np.testing.assert_array_equal(
        main(x, np.array([5, 0, 2])).numpy()[:, [0, 1]], np.stack([x[::-1, 0], x[:, 1]], 1)
    )
    for length in (6, -1):
        assert first_line(main, x, np.array([1, length, 3])) == (
            f'error: ReverseSequence node "mine": sequence_lens: element 1 is {length}, expected 0 to 5'
        )


@pytest.mark.parametrize("pads", [(0, 3, 0, 2), (0, -1, 0, 2), (0, 2, 0, -1), (0, -2, 0, -2)])
@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_pads_that_come_with_the_call_are_those_of_a_constant(tmp_path, mode, pads):
    pads = np.array(pads)
    x = some(2, 5)
    inputs = {"x": ("float32", ["n", "c"])}
    fixed = compiled(tmp_path, "Pad", inputs, {"p": pads}, mode=mode)
    open_pads = compiled(tmp_path, "Pad", inputs | {"p": ("int64", [4])}, mode=mode)
    np.testing.assert_array_equal(open_pads(x, pads).numpy(), fixed(x).numpy())


@pytest.mark.parametrize(
    ("mode", "pads", "text"),
    [
        ("reflect", (0, 5, 0, 0), "dimension 1 of 5 elements cannot be mirrored by 5"),
        ("edge", (0, -5, 0, 6), "dimension 1 has no elements to repeat"),
        ("constant", (0, -3, 0, -3), "pads leave size1 + size3 + 5 = -1 elements of dimension 1"),
    ],
)
def test_pads_that_do_not_fit(tmp_path, mode, pads, text):
    main = compiled(tmp_path, "Pad", {"x": ("float32", [2, 5]), "p": ("int64", [4])}, mode=mode)
    assert first_line(main, some(2, 5), np.array(pads)) == f'error: main: Pad node "mine": {text}'


def test_zero_points_of_products_of_integers(tmp_path):
    inputs = {
        "a": ("uint8", ["m", 5]),
        "b": ("uint8", [5, "n"]),
        "p": ("uint8", ["r"]),
        "q": ("uint8", ["s"]),
    }
    main = compiled(tmp_path, "MatMulInteger", inputs)
    a, b = np.ones((1, 5), "uint8"), np.ones((5, 2), "uint8")
    one, two, three = (np.zeros(n, "uint8") for n in (1, 2, 3))
    assert main(a, b, one, two).shape == (1, 2)
    text = "{} is [{} = 3], expected one number, or one for each of {}"
    node = 'error: main: MatMulInteger node "mine": '
    assert first_line(main, a, b, three, one) == node + text.format("a_zero_point", "r", "m = 1 rows")
    assert first_line(main, a, b, one, three) == node + text.format("b_zero_point", "s", "n = 2 columns")


def test_sizes_that_come_with_the_call_are_not_negative(tmp_path):
    main = compiled(tmp_path, "ConstantOfShape", {"s": ("int64", [2])})
    assert main(np.array([2, 0])).shape == (2, 0)
    assert first_line(main, np.array([2, -3])) == (
        'error: main: ConstantOfShape node "mine": '
        "the result would be [size0 = 2, size1 = -3], with a negative extent"
    )


def test_before_opset_18_pieces_are_equal(tmp_path):
    graph = helper.make_graph(
        [helper.make_node("Split", ["x"], ["y", "z"], name="mine")],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])],
        [onnx.ValueInfoProto(name="y"), onnx.ValueInfoProto(name="z")],
    )
    path = tmp_path / "model.onnx"
    path.write_bytes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]).SerializeToString()
    )
    main = tilewright.VirtualMachine(tilewright.compile(from_onnx(str(path))))["main"]
    assert [each.shape for each in main(some(4))] == [(2,), (2,)]
    assert first_line(main, some(5)) == (
        'error: main: Split node "mine": an extent of n = 5 cannot be split into 2 equal pieces'
    )


def test_many_sums_of_open_extents_compile_in_linear_time(tmp_path):
    """Each choice between two open extents names one twice: 2^12 names took 25 s."""
    count = 24
    names = [f"x{n}" for n in range(count)]
    graph = helper.make_graph(
        [helper.make_node("Sum", names, ["y"])],
        "g",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [f"n_{name}"]) for name in names],
        [onnx.ValueInfoProto(name="y")],
    )
    path = tmp_path / "model.onnx"
    path.write_bytes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()
    )
    main = tilewright.VirtualMachine(tilewright.compile(from_onnx(str(path))))["main"]
    arrays = [some(5 if n % 3 else 1) for n in range(count)]
    np.testing.assert_allclose(main(*arrays).numpy(), sum(arrays), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("constants", ["", "c", "ab"])
def test_a_range_by_a_step_of_zero_is_refused(tmp_path, dtype, constants):
    given = {name: np.array(number, dtype) for name, number in {"a": 1, "b": 5, "c": 2}.items()}
    names = [name for name in given if name not in constants]
    values = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), []) for n in names
    ]
    still = {**given, "c": np.array(0, dtype)}

    def main_of(numbers):
        graph = helper.make_graph(
            [helper.make_node("Range", ["a", "b", "c"], ["y"], name="mine")],
            "g",
            values,
            [onnx.ValueInfoProto(name="y")],
            [numpy_helper.from_array(numbers[name], name) for name in constants],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        return tilewright.VirtualMachine(tilewright.compile(from_onnx(model)))["main"]

    np.testing.assert_array_equal(main_of(given)(*(given[name] for name in names)).numpy(), [1, 3])
    text = first_line(lambda: main_of(still)(*(still[name] for name in names)))
    assert text.replace("main: ", "") == 'error: Range node "mine": the step is 0'
    if dtype.startswith("float") and not constants:
        for number in (np.inf, np.nan):
            arrays = {**given, "b": np.array(number, dtype)}
            assert first_line(main_of(given), *arrays.values()) == (
                'error: main: Range node "mine": start, limit or step is not finite'
            )
