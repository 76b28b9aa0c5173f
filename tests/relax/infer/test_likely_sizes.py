"""Sizes that schedules are chosen for, where they are known only when a graph runs."""

import re

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import tilewright
from tilewright import UserError, tir


def network(batch, height, width, seed=0):
    """Convolutions of several windows and strides, by groups, a residual sum, pools."""
    random = np.random.default_rng(seed)
    nodes, weights = [], []

    def conv(x, inputs, outputs, window, stride=1, groups=1):
        values = random.standard_normal((outputs, inputs // groups, window, window)) / (window * inputs**0.5)
        weights.append(numpy_helper.from_array(values.astype("float32"), f"w{len(weights)}"))
        name = f"c{len(nodes)}"
        nodes.append(
            helper.make_node(
                "Conv",
                [x, weights[-1].name],
                [name],
                strides=[stride] * 2,
                pads=[window // 2] * 4,
                group=groups,
            )
        )
        nodes.append(helper.make_node("Relu", [name], [f"r{len(nodes)}"]))
        return nodes[-1].output[0]

    x = conv("x", 3, 32, 7, 2)
    nodes.append(helper.make_node("MaxPool", [x], ["p"], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4))
    a = conv("p", 32, 64, 1)
    b = conv(a, 64, 64, 3)  # Winograd's
    b = conv(b, 64, 64, 3, groups=64)
    nodes.append(helper.make_node("Add", [a, b], ["s"]))
    c = conv("s", 64, 40, 3, 2)
    nodes.append(helper.make_node("GlobalAveragePool", [c], ["y"]))
    values = [
        helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, (batch, 3, height, width)),
        helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None),
    ]
    graph = helper.make_graph(nodes, "network", values[:1], values[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def run(model, x, **options):
    return tilewright.VirtualMachine(tilewright.compile(model, **options))["main"](x).numpy()


def test_an_open_batch_gives_the_bits_of_a_fixed_one():
    main = tilewright.VirtualMachine(tilewright.compile(network("n", 37, 51)))["main"]
    random = np.random.default_rng(1)
    for batch in (1, 2, 5, 8):
        x = random.standard_normal((batch, 3, 37, 51)).astype("float32")
        result = main(x).numpy()
        np.testing.assert_array_equal(result, run(network(batch, 37, 51), x))
        for n in range(batch):  # an image alone and in a batch
            np.testing.assert_array_equal(result[n : n + 1], main(x[n : n + 1]).numpy())
    assert main(np.zeros((0, 3, 37, 51), "float32")).numpy().shape == (0, 40, 1, 1)


@pytest.mark.parametrize("best_at", [None, {"h": 31}, {"h": 64, "w": 96, "n": 2}])
def test_open_images_are_right_at_all_sizes(best_at):
    """Whole tiles, tiles at the edge, and images smaller than a tile."""
    main = tilewright.VirtualMachine(tilewright.compile(network("n", "h", "w"), best_at=best_at))["main"]
    random = np.random.default_rng(2)
    for shape in [(1, 32, 32), (2, 31, 64), (1, 7, 5), (3, 1, 1), (1, 127, 65), (1, 64, 96), (1, 8, 200)]:
        x = random.standard_normal((shape[0], 3, *shape[1:])).astype("float32")
        expected = run(network(shape[0], *shape[1:]), x)
        # Winograd's tiles are chosen by the size, and round otherwise
        np.testing.assert_allclose(main(x).numpy(), expected, rtol=1e-4, atol=1e-5)


PLANS = "llvm -num-cores=2"  # whose plans differ by extents: small ones leave less to share out


@pytest.mark.parametrize("values", [[1, 8], (8, 1), [5, 127], [1, 2, 6, 7]])
def test_several_batches_are_right_on_both_sides_of_each_boundary(values):
    executable = tilewright.compile(network("n", 37, 51), PLANS, best_at={"n": values})
    assert any("(n from 1)" in name for name in executable.schedules)
    main = tilewright.VirtualMachine(executable)["main"]
    random = np.random.default_rng(3)
    for batch in {1, 5, 7, 127} | {value + step for value in values for step in (0, 1)}:
        x = random.standard_normal((batch, 3, 37, 51)).astype("float32")
        expected = run(network(batch, 37, 51), x)
        np.testing.assert_allclose(main(x).numpy(), expected, rtol=1e-5, atol=1e-6)
    assert main(np.zeros((0, 3, 37, 51), "float32")).numpy().shape == (0, 40, 1, 1)


def test_several_batches_give_the_bits_of_fixed_ones():
    main = tilewright.VirtualMachine(
        tilewright.compile(network("n", 37, 51), "llvm -num-cores=2", best_at={"n": [1, 8]})
    )["main"]
    random = np.random.default_rng(1)
    for batch in (1, 2, 5, 7, 8, 9):
        x = random.standard_normal((batch, 3, 37, 51)).astype("float32")
        np.testing.assert_array_equal(
            main(x).numpy(), run(network(batch, 37, 51), x, target="llvm -num-cores=2")
        )


def test_several_sizes_of_images():
    executable = tilewright.compile(network("n", "h", 51), PLANS, best_at={"n": [1, 8], "h": [31, 224]})
    main = tilewright.VirtualMachine(executable)["main"]
    random = np.random.default_rng(4)
    for batch, height in [(1, 31), (1, 32), (2, 31), (8, 32), (5, 7), (1, 127), (9, 1)]:
        x = random.standard_normal((batch, 3, height, 51)).astype("float32")
        expected = run(network(batch, height, 51), x)
        np.testing.assert_allclose(main(x).numpy(), expected, rtol=1e-4, atol=1e-5)


def test_an_open_sequence_has_plans_of_its_lengths():
    module = tilewright.script.parse("""
@R.function
def main(x: R.Tensor(("s", 129), "float32"), w: R.Tensor((129, 200), "float32")):
    with R.dataflow():
        y = R.nn.softmax(R.nn.relu(R.matmul(x, w)))
        R.output(y)
    return y
""")
    main = tilewright.VirtualMachine(tilewright.compile(module, PLANS, best_at={"s": [1, 127]}))["main"]
    random = np.random.default_rng(5)
    w = random.standard_normal((129, 200)).astype("float32") / 8
    for length in (1, 2, 5, 7, 127, 128):
        x = random.standard_normal((length, 129)).astype("float32")
        y = np.exp(np.maximum(x @ w, 0))
        np.testing.assert_allclose(main(x, w).numpy(), y / y.sum(1, keepdims=True), rtol=1e-4, atol=1e-6)


def test_one_number_in_a_list_is_that_number():
    def text(best_at):
        return tilewright.compile(network("n", "h", 48), best_at=best_at).legalized.script()

    assert text({"n": [4], "h": (96,)}) == text({"n": 4, "h": 96})


def test_kernels_have_the_sizes_of_their_images():
    executable = tilewright.compile(network("n", "h", 48), best_at={"h": 96})
    found = {
        tuple(sorted((name, int(size)) for name, size in func.attrs["likely_sizes"].items()))
        for func in executable.legalized.functions.values()
        if isinstance(func, tir.PrimFunc)
    }
    assert found == {(("h", 96), ("n", 8))}
    fixed = tilewright.compile(network(1, 32, 48))
    assert "likely_sizes" not in fixed.legalized.script()


def test_decoders_have_smaller_images():
    weights = [numpy_helper.from_array(np.zeros((5, 7, 3, 3), "float32"), "w")]
    values = [
        helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ("n", 5, "h", "w")),
        helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None),
    ]
    node = helper.make_node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2])
    graph = helper.make_graph([node], "decoder", values[:1], values[1:], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    found = {
        tuple(sorted((name, int(size)) for name, size in func.attrs["likely_sizes"].items()))
        for func in tilewright.compile(model).legalized.functions.values()
        if isinstance(func, tir.PrimFunc)
    }
    assert found == {(("h", 64), ("n", 8), ("w", 64))}


def refused(**options):
    with pytest.raises(UserError) as error:
        tilewright.compile(network("n", "h", 48), **options)
    return str(error.value)


@pytest.mark.parametrize("value", [1.5, True, "8", [1, 2.5], [[1]], None, 2**63, {1, 8}])
def test_no_numbers(value):
    assert re.sub("^error: ", "", refused(best_at={"n": value})) == (
        f"best_at has 'n': {value!r}, expected a name and a whole number or a list of them\n"
        'help: e.g. {"batch": 8} or {"batch": [1, 8]}'
    )


def test_no_names():
    for best_at, text in (([1], "best_at is a Python list, expected a dict"), ({3: 1}, None)):
        assert re.sub("^error: ", "", refused(best_at=best_at)) == (
            (text or "best_at has 3: 1, expected a name and a whole number or a list of them")
            + '\nhelp: e.g. {"batch": 8} or {"batch": [1, 8]}'
        )


def test_names_and_numbers_that_there_are_not():
    assert refused(best_at={"batch": 1}) == (
        'error: best_at has "batch", which is no open dimension of the inputs\nhelp: open are h, n'
    )
    assert refused(best_at={"n": 0}) == 'error: best_at has 0 for "n", expected at least 1'
    assert refused(best_at={"n": [8, -1]}) == 'error: best_at has -1 for "n", expected at least 1'
    assert refused(best_at={"n": []}) == 'error: best_at has no extent for "n", expected at least one'
    assert refused(best_at={"n": [1, 8, 1]}) == 'error: best_at has 1 for "n" twice'
    assert refused(best_at={"n": [1, 8, 64], "h": (32, 64)}) == (
        'error: best_at has 2 extents for "h" and 3 extents for "n", for which a kernel would have 6 plans, more than 4\n'
        "help: name those extents alone that most calls have"
    )
    with pytest.raises(UserError) as error:
        tilewright.compile(network(1, 32, 48), best_at={"n": 1})
    assert (
        str(error.value)
        == 'error: best_at has "n", which is no open dimension of the inputs\nhelp: all are fixed'
    )
    loop_program = tilewright.script.parse("""
@T.prim_func
def main(A: T.Buffer((7,), "float32")):
    A[0] = T.float32(0)
""")
    with pytest.raises(UserError) as error:
        tilewright.compile(loop_program, best_at={"n": 1})
    assert str(error.value) == "best_at= applies to graph functions; this module has only loop programs"
