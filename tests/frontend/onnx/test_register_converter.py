"""Operators of other domains by converters that users register."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import tilewright
from tilewright import relax, te
from tilewright.frontend.onnx import from_onnx, register_converter

X = np.random.default_rng(0).standard_normal((5, 7)).astype("float32")


@pytest.fixture
def converter():
    """register_converter, undone after the test."""
    names = []

    def register(op, fn):
        names.append(op)
        register_converter(op, fn)

    yield register
    for name in names:
        register_converter(name, None)


def model(inputs=("x",), outputs=("y",), extent=5, op="Op", **attrs):
    node = helper.make_node(op, inputs, outputs, domain="my.domain", name="n", **attrs)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [extent, 7])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs if name],
        [numpy_helper.from_array(np.arange(7, dtype="float32"), "w")],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("my.domain", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def run(made):
    found = tilewright.VirtualMachine(tilewright.compile(made))["main"](X)
    return [each.numpy() for each in found] if isinstance(found, tuple) else found.numpy()


def refusal(made, kind=tilewright.UserError):
    with pytest.raises(kind) as refused:
        from_onnx(made)
    return str(refused.value)


def test_a_value_of_the_inputs(converter):
    converter("my.domain::Op", lambda bb, inputs, attributes: relax.op.multiply(inputs[0], inputs[1]))
    np.testing.assert_array_equal(run(model(["x", "w"], extent="n")), X * np.arange(7, dtype="float32"))


def test_several_values_and_one_that_nobody_reads(converter):
    def split(bb, inputs, attributes):
        low = bb.emit(relax.op.minimum(inputs[0], relax.const(0.0)))
        return [low, low, relax.op.subtract(inputs[0], low)]

    converter("my.domain::Op", split)
    low, high = run(model(outputs=["y", "", "z"]))
    np.testing.assert_array_equal(low, np.minimum(X, 0))
    np.testing.assert_array_equal(high, X - np.minimum(X, 0))


def test_a_tensor_expression(converter):
    def plus(bb, inputs, attributes):
        return bb.emit_te(lambda a: te.compute(a.shape, lambda i, j: a[i, j] + attributes["by"]), inputs[0])

    converter("my.domain::Op", plus)
    np.testing.assert_allclose(run(model(by=0.5)), X + np.float32(0.5), rtol=1e-6)


def test_what_it_gets(converter):
    seen = []

    def see(bb, inputs, attributes):
        seen.append((inputs[1], attributes))
        return inputs[0]

    converter("my.domain::Op", see)
    tensor = numpy_helper.from_array(np.arange(3, dtype="int64"), "t")
    made = model(["x", "", "w"], f=0.5, i=-3, s="text", fs=[0.5, 2.0], iis=[1, 2], ss=["a", "b"], t=tensor)
    made.graph.node[0].attribute.append(helper.make_attribute("raw", b"\xff"))
    np.testing.assert_array_equal(run(made), X)
    left_out, attributes = seen[0]
    assert left_out is None
    np.testing.assert_array_equal(attributes.pop("t").numpy(), [0, 1, 2])
    assert attributes == {
        "f": 0.5, "i": -3, "s": "text", "fs": [0.5, 2.0], "iis": [1, 2], "ss": ["a", "b"], "raw": b"\xff",
    }  # fmt: skip


def test_without_a_converter_the_error_says_how_to_register_one():
    assert refusal(model(), tilewright.Unsupported) == (
        "unsupported: the model uses operators that cannot be imported: my.domain::Op (n)\n"
        "help: express them with other operators where the model is exported, or say what one is: "
        'tilewright.frontend.onnx.register_converter("my.domain::Op", fn)'
    )


def test_none_takes_it_away(converter):
    converter("my.domain::Op", lambda bb, inputs, attributes: inputs[0])
    from_onnx(model())
    register_converter("my.domain::Op", None)
    assert "my.domain::Op (n)" in refusal(model(), tilewright.Unsupported)


def test_results_that_do_not_fit(converter):
    converter("my.domain::Op", lambda bb, inputs, attributes: [inputs[0], inputs[0]])
    assert refusal(model()) == 'error: Op node "n": its converter returned 2 values, the node has 1 output'
    converter("my.domain::Op", lambda bb, inputs, attributes: 3)
    assert refusal(model()) == (
        'Op node "n": its converter returned a Python int, expected graph values\nhelp: return what operators of relax.op, or bb.emit, give'
    )
    converter("my.domain::Op", lambda bb, inputs, attributes: relax.Tuple([inputs[0]]))
    assert refusal(model()).startswith('error: Op node "n": its converter returned ')
    assert refusal(model()).endswith(" for output 0, expected a tensor")


def test_an_error_of_the_converter_says_for_which_node(converter):
    converter("my.domain::Op", lambda bb, inputs, attributes: attributes["none"])
    with pytest.raises(KeyError) as failed:
        from_onnx(model())
    assert failed.value.__notes__ == ['in the converter of my.domain::Op, for the Op node "n"']


def test_the_builder_is_for_values_of_this_node(converter):
    kept = []

    def keep(bb, inputs, attributes):
        kept.append(bb)
        bb.dataflow()

    converter("my.domain::Op", keep)
    assert refusal(model()) == (
        "a converter of ONNX nodes is inside of the model's function\n"
        "help: use emit, emit_te and call_te of its builder"
    )
    with pytest.raises(tilewright.UserError) as refused:
        kept[0].emit(relax.const(1.0))
    assert str(refused.value) == (
        "the builder of an ONNX converter is used after it returned\nhelp: emit all values before"
    )


@pytest.mark.parametrize("op", ["Op", "ai.onnx::Relu", "::Op", "my.domain::", 3])
def test_names_without_a_domain(op):
    with pytest.raises(tilewright.UserError) as refused:
        register_converter(op, lambda bb, inputs, attributes: inputs[0])
    assert str(refused.value) == (
        f'cannot register a converter of {op!r}, expected an operator of another domain than ai.onnx\nhelp: e.g. "my.domain::Op"'
    )


def test_a_converter_that_is_no_function():
    with pytest.raises(tilewright.UserError) as refused:
        register_converter("my.domain::Op", "fn")
    assert str(refused.value) == (
        "the converter of my.domain::Op is a Python str, expected a function\n"
        "help: give a function of (bb, inputs, attributes)"
    )
