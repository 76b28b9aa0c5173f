"""Functions that a model brings (ModelProto.functions) are replaced by their nodes."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import tilewright
from tilewright.frontend.onnx import from_onnx

X = np.random.default_rng(0).standard_normal((5, 7)).astype("float32")
OPSETS = [helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)]


def node(op, inputs, outputs, domain="", refs=(), **attrs):
    """The node; refs: {attribute: that of the caller}."""
    made = helper.make_node(op, inputs, outputs, domain=domain, **attrs)
    for name, (caller, kind) in dict(refs).items():
        made.attribute.append(onnx.AttributeProto(name=name, ref_attr_name=caller, type=kind))
    return made


def function(name, inputs, outputs, nodes, attributes=(), defaults=(), opsets=OPSETS):
    return helper.make_function(
        "mine", name, inputs, outputs, nodes, opsets, attributes=attributes, attribute_protos=list(defaults)
    )


def model(nodes, functions, outputs=("y",), opset=17):
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 7])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
    )
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("mine", 1)]
    return helper.make_model(graph, functions=functions, opset_imports=opsets, ir_version=9)


def run(made):
    found = tilewright.VirtualMachine(tilewright.compile(made))["main"](X)
    return [each.numpy() for each in found] if isinstance(found, tuple) else [found.numpy()]


def check(made):
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    for found, right in zip(run(made), session.run(None, {"x": X}), strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-6)


FLOAT, INT = onnx.AttributeProto.FLOAT, onnx.AttributeProto.INT
LEAKY = function(
    "Leaky",
    ["a"],
    ["b"],
    [node("LeakyRelu", ["a"], ["t"], refs={"alpha": ("slope", FLOAT)}), node("Neg", ["t"], ["b"])],
    attributes=["slope"],
)


def test_attributes_of_the_call_are_bound():
    check(model([node("Leaky", ["x"], ["y"], "mine", slope=0.5)], [LEAKY]))


def test_an_attribute_that_the_call_leaves_out_has_its_own_default():
    found = run(model([node("Leaky", ["x"], ["y"], "mine")], [LEAKY]))[0]
    np.testing.assert_allclose(found, -np.where(X < 0, np.float32(0.01) * X, X), rtol=1e-6)


def test_an_attribute_with_a_default():
    default = helper.make_attribute("slope", 0.25)
    body = [node("LeakyRelu", ["a"], ["b"], refs={"alpha": ("slope", FLOAT)})]
    made = function("Leaky", ["a"], ["b"], body, defaults=[default])
    check(
        model([node("Leaky", ["x"], ["m"], "mine"), node("Leaky", ["m"], ["y"], "mine", slope=3.0)], [made])
    )


def test_functions_call_functions():
    outer = function(
        "Twice",
        ["a"],
        ["b"],
        [
            node("Leaky", ["a"], ["t"], "mine", refs={"slope": ("s", FLOAT)}),
            node("Leaky", ["t"], ["b"], "mine", slope=0.5),
        ],
        attributes=["s"],
    )
    check(
        model(
            [node("Twice", ["x"], ["m"], "mine", s=2.0), node("Twice", ["m"], ["y"], "mine", s=3.0)],
            [outer, LEAKY],
        )
    )


def test_an_output_that_is_an_input():
    made = function("Both", ["a"], ["a", "b", "b"], [node("Exp", ["a"], ["b"])])
    y, z, w = run(model([node("Both", ["x"], ["y", "z", "w"], "mine")], [made], outputs=["y", "z", "w"]))
    np.testing.assert_array_equal(y, X)
    np.testing.assert_allclose(z, np.exp(X), rtol=1e-6)
    np.testing.assert_array_equal(w, z)


def test_an_input_that_is_left_out():
    made = function("Clipped", ["a", "low", "high"], ["b"], [node("Clip", ["a", "low", "high"], ["b"])])
    half = helper.make_node("Constant", [], ["half"], value_float=0.5)
    found = run(model([half, node("Clipped", ["x", "", "half"], ["y"], "mine")], [made]))[0]
    np.testing.assert_array_equal(found, np.minimum(X, np.float32(0.5)))


def test_a_function_has_opsets_of_its_own():
    # Softmax before opset 13: all dimensions from 1 on count as one
    old = [helper.make_opsetid("", 11)]
    made = function("Old", ["a"], ["b"], [node("Softmax", ["a"], ["b"])], opsets=old)
    shape = helper.make_node("Constant", [], ["s"], value_ints=[1, 5, 7])
    nodes = [shape, node("Reshape", ["x", "s"], ["r"]), node("Old", ["r"], ["y"], "mine")]
    found = run(model(nodes, [made]))[0]
    whole = np.exp(X - X.max())
    np.testing.assert_allclose(found[0], whole / whole.sum(), rtol=1e-5)


def test_nodes_are_named_after_their_callers():
    wrong = function("Bad", ["a"], ["b"], [node("Elu", ["a"], ["b"], alpha="much", name="inner")])
    with pytest.raises(tilewright.UserError) as refused:
        from_onnx(model([node("Bad", ["x"], ["y"], "mine", name="outer")], [wrong]))
    assert str(refused.value) == (
        'error: Elu node "outer/inner": attribute "alpha" is a string, expected a float'
    )


def refusal(nodes, functions):
    with pytest.raises(tilewright.UserError) as refused:
        from_onnx(model(nodes, functions))
    return str(refused.value)


CALL = node("F", ["x"], ["y"], "mine", name="call")


def test_a_cycle():
    f = function("F", ["a"], ["b"], [node("G", ["a"], ["b"], "mine", name="g")])
    g = function("G", ["a"], ["b"], [node("F", ["a"], ["b"], "mine", name="f")])
    assert refusal([CALL], [f, g]) == (
        'error: F node "call/g/f": function mine::F, which calls mine::G calls mine::F\n'
        "help: functions of ONNX cannot call themselves"
    )


def test_calls_that_are_nested_too_deep():
    chain = [function(f"F{n}", ["a"], ["b"], [node(f"F{n + 1}", ["a"], ["b"], "mine")]) for n in range(101)]
    chain.append(function("F101", ["a"], ["b"], [node("Exp", ["a"], ["b"])]))
    text = refusal([node("F0", ["x"], ["y"], "mine", name="call")], chain)
    assert text.endswith("functions call each other more than 100 deep\nhelp: export it without functions")


def test_calls_that_make_too_many_nodes():
    body = [node("F{}", ["a"], ["t"], "mine"), node("F{}", ["t"], ["b"], "mine")]
    chain = []
    for n in range(40):
        inner = [onnx.NodeProto(), onnx.NodeProto()]
        for own, each in zip(inner, body, strict=True):
            own.CopyFrom(each)
            own.op_type = f"F{n + 1}"
        chain.append(function(f"F{n}", ["a"], ["b"], inner))
    chain.append(function("F40", ["a"], ["b"], [node("Exp", ["a"], ["b"])]))
    text = refusal([node("F0", ["x"], ["y"], "mine")], chain)
    assert text == "error: its functions make more than 65536 nodes\nhelp: export it without functions"


def test_inputs_and_outputs_too_many():
    f = function("F", ["a"], ["b"], [node("Exp", ["a"], ["b"])])
    assert refusal([node("F", ["x", "x"], ["y"], "mine", name="c")], [f]) == (
        'error: F node "c": 2 inputs, expected at most 1'
    )
    assert refusal([node("F", ["x"], ["y", "z"], "mine", name="c")], [f]) == (
        'error: F node "c": 2 outputs, expected at most 1'
    )


def test_an_attribute_that_the_function_has_not():
    assert refusal([node("Leaky", ["x"], ["y"], "mine", name="c", slop=1.0)], [LEAKY]) == (
        'error: Leaky node "c": there is no attribute "slop"\nhelp: did you mean slope?'
    )


def test_functions_that_are_damaged():
    f = function("F", ["a"], ["b"], [node("Exp", ["a"], ["c"])])
    assert refusal([CALL], [f]) == 'error: output "b" of function mine::F is not made by any node'
    f = function("F", ["a"], ["b"], [node("Exp", ["q"], ["b"], name="e")])
    assert refusal([CALL], [f]).startswith(
        'error: function mine::F: Exp node "e" reads "q", which no node, input or initializer defines'
    )
    f = function("F", ["a"], ["b"], [node("Exp", ["a"], ["b"])])
    assert refusal([CALL], [f, f]) == "error: the model has two functions mine::F"
