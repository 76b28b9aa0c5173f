"""Optional values: known to be there or not, and those of inputs, which are None or a value."""

import numpy as np
import pytest
from onnx_testing import as_arrays, compare, parsed, refused, run_model

import tilewright

X = np.arange(14, dtype="float32").reshape(2, 7) - 5


def main_of(text):
    return tilewright.VirtualMachine(tilewright.compile(parsed(text)))["main"]


def test_a_known_value_is_itself():
    text = """
g (float[2, 7] x) => (float[2, 7] y, bool b) {
  o = Optional(x)
  b = OptionalHasElement(o)
  e = OptionalGetElement(o)
  y = Neg(e)
}"""
    compare(run_model(parsed(text), [X]), [-X, np.array(True)])


def test_an_optional_sequence():
    text = """
g (float[2, 7] x) => (seq(float[2, 7]) y, bool b) {
  s = SequenceConstruct(x, x)
  o = Optional(s)
  b = OptionalHasElement(o)
  y = OptionalGetElement(o)
}"""
    y, b = run_model(parsed(text), [X])
    compare([y, b], [[X, X], np.array(True)])


def test_left_out_inputs_and_tensors():
    assert not run_model(parsed("g () => (bool b) { b = OptionalHasElement() }"), [])[0]
    assert run_model(parsed("g (float[2, 7] x) => (bool b) { b = OptionalHasElement(x) }"), [X])[0]


INPUT = """
g (optional(float[n, 7]) o) => (bool b, float[n, 7] y) {
  b = OptionalHasElement(o)
  y = If(b) <then_branch = t () => (float[n, 7] p) { e = OptionalGetElement(o)  p = Neg(e) },
             else_branch = e () => (float[n, 7] p) { p = Constant<value = float[1, 7] {1, 2, 3, 4, 5, 6, 7}>() }>
}"""


def test_inputs_are_none_or_a_value():
    main = main_of(INPUT)
    compare(as_arrays(main(X)), [np.array(True), -X])
    compare(as_arrays(main(None)), [np.array(False), np.arange(1, 8, dtype="float32")[None]])


def test_inputs_are_none_or_a_sequence():
    text = """
g (optional(seq(float[n, 7])) o) => (bool b, int64 n) {
  b = OptionalHasElement(o)
  n = If(b) <then_branch = t () => (int64 p) { e = OptionalGetElement(o)  p = SequenceLength(e) },
             else_branch = e () => (int64 p) { p = Constant<value = int64 {-5}>() }>
}"""
    main = main_of(text)
    assert [int(each) for each in as_arrays(main([X, X, X]))] == [1, 3]
    assert [int(each) for each in as_arrays(main(None))] == [0, -5]


def test_branches_return_a_value_or_none():
    text = """
g (bool c, float[2, 7] x) => (optional(float[2, 7]) o, bool b) {
  o = If(c) <then_branch = t () => (optional(float[2, 7]) p) { p = Optional(x) },
             else_branch = e () => (optional(float[2, 7]) p) { p = Optional() }>
  b = OptionalHasElement(o)
}"""
    model = parsed(text)
    for node in model.graph.node[0].attribute:
        if node.name == "else_branch":
            attribute = node.g.node[0].attribute.add()
            attribute.name, attribute.type = "type", 13
            attribute.tp.tensor_type.elem_type = 1
    main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
    compare(as_arrays(main(np.array(True), X)), [X, np.array(True)])
    o, b = main(np.array(False), X)
    assert o is None and not b.numpy()


def test_refuses_what_has_no_type_or_value():
    refused(
        "g () => (bool b) { o = Optional()  b = OptionalHasElement(o) }",
        tilewright.UserError,
        'Optional node that makes "o": it has no input, and no attribute "type"',
    )


def test_an_empty_value_has_no_element():
    main = main_of("g (optional(float[n, 7]) o) => (float[n, 7] y) { y = OptionalGetElement(o) }")
    compare(as_arrays(main(X)), X)
    with pytest.raises(tilewright.UserError, match="optional_get: the optional value is empty"):
        main(None)
