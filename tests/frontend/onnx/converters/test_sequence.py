"""Sequences: of a known number of elements, and lists whose number is known only when the graph runs."""

import numpy as np
import pytest
from onnx_testing import as_arrays, check_model, compare, parsed, refused, run_model

import tilewright
from tilewright.frontend.onnx import from_onnx

X = np.arange(35, dtype="float32").reshape(5, 7) - 17
A, B, C = X[:2], X[:3] * 2, X[1:2]


def position(value):
    return np.array(value, "int64")


# ---- the number of elements is known


CONSTRUCTED = """
g (float[2, 7] a, float[3, 7] b, float[1, 7] c) => (float[k, 7] y, int64 n) {
  none = SequenceEmpty()
  s = SequenceConstruct(a, b)
  first = Constant<value = int64 {0}>()
  last = Constant<value = int64 {-1}>()
  t = SequenceInsert(s, c, first)
  u = SequenceInsert(t, a)
  v = SequenceErase(u, last)
  w = SequenceErase(v, first)
  n = SequenceLength(w)
  y = SequenceAt(w, last)
}"""


def test_a_known_number_of_elements_costs_nothing():
    check_model(CONSTRUCTED, (A, B, C))
    assert "list_" not in from_onnx(parsed(CONSTRUCTED)).script()


def test_elements_are_joined():
    text = """
g (float[2, 7] a, float[3, 7] b) => (float[5, 7] y, float[2, 2, 7] z) {
  s = SequenceConstruct(a, b)
  y = ConcatFromSequence<axis = 0>(s)
  t = SequenceConstruct(a, a)
  z = ConcatFromSequence<axis = -2, new_axis = 1>(t)
}"""
    check_model(text, (A, B))


@pytest.mark.parametrize(
    "split",
    ["", "int64[3] {2, 0, 3}", "int64 {2}", "int64 {5}", "int32 {7}"],
)
@pytest.mark.parametrize("keepdims", [0, 1])
def test_tensors_are_split(split, keepdims):
    text = f"""
g (float[5, 7] x) => (seq(float[p, 7]) s) {{
  {"n = Constant<value = " + split + ">()" if split else ""}
  s = SplitToSequence<axis = 0, keepdims = {keepdims}>(x{", n" if split else ""})
}}"""
    found = run_model(parsed(text), [X])[0]
    sizes = {"": None, "int64[3] {2, 0, 3}": [2, 0, 3], "int64 {2}": [2, 2, 1]}.get(split, [5])
    expected = list(X) if sizes is None else np.split(X, np.cumsum(sizes)[:-1])
    if sizes is None and keepdims:
        expected = [each[None] for each in expected]
    compare(found, expected)


def test_the_last_axis_is_split():
    text = "g (float[5, 3] x) => (seq(float[5, 1]) s) { s = SplitToSequence<axis = -1>(x) }"
    compare(run_model(parsed(text), [X[:, :3]])[0], [X[:, :1], X[:, 1:2], X[:, 2:3]])


def test_sequences_of_a_branch():
    text = """
g (bool c, float[2, 7] a, float[3, 7] b) => (seq(float[k, 7]) s, float[k, 7] y) {
  s = If(c) <then_branch = t () => (seq(float[k, 7]) p) { p = SequenceConstruct(a, b) },
             else_branch = e () => (seq(float[k, 7]) p) { p = SequenceConstruct(b, b) }>
  last = Constant<value = int64 {0}>()
  e = SequenceAt(s, last)
  y = Neg(e)
}"""
    check_model(text, (np.array(True), A, B), (np.array(False), A, B))


def test_sequences_of_branches_may_differ_in_length():
    text = """
g (bool c, float[2, 7] a, float[3, 7] b) => (seq(float[k, 7]) s, int64 n, float[k, 7] y) {
  s = If(c) <then_branch = t () => (seq(float[k, 7]) p) { p = SequenceConstruct(a, b) },
             else_branch = e () => (seq(float[k, 7]) p) { p = SequenceConstruct(a, b, a) }>
  n = SequenceLength(s)
  last = Constant<value = int64 {-1}>()
  e = SequenceAt(s, last)
  y = Neg(e)
}"""
    check_model(text, (np.array(True), A, B), (np.array(False), A, B))


def test_an_open_position():
    text = """
g (float[2, 7] a, float[3, 7] b, int64 i) => (float[k, 7] y, seq(float[k, 7]) t, seq(float[k, 7]) u) {
  s = SequenceConstruct(a, b, a)
  e = SequenceAt(s, i)
  y = Exp(e)
  t = SequenceInsert(s, b, i)
  u = SequenceErase(t, i)
}"""
    check_model(text, *[(A / 9, B / 9, position(i)) for i in (0, 1, 2, -1, -3)])


def test_a_body_is_mapped():
    text = """
g (float[2, 7] a, float[3, 7] b, float[1, 7] c) => (seq(float[k, 7]) y, seq(float[k, 7]) z) {
  s = SequenceConstruct(a, b)
  y, z = SequenceMap(s, c) <body = m (float[k, 7] e, float[1, 7] f) => (float[k, 7] p, float[k, 7] q) {
    p = Add(e, f)
    q = Mul(p, a1)
  }>
}""".replace("a1", "c")
    y, z = run_model(parsed(text), [A, B, C])
    compare([y, z], [[A + C, B + C], [(A + C) * C, (B + C) * C]])


# ---- the number of elements is open


LIST = """
g (seq(float[k, 7]) s, float[2, 7] a, int64 i) => (seq(float[k, 7]) t, seq(float[k, 7]) u, float[k, 7] y, float[k, 7] z, int64 n) {
  t = SequenceInsert(s, a)
  v = SequenceInsert(t, a, i)
  u = SequenceErase(v)
  n = SequenceLength(u)
  e = SequenceAt(u, i)
  y = Neg(e)
  z = ConcatFromSequence<axis = 0>(v)
}"""


@pytest.mark.parametrize("elements", [[], [B], [B, C, A]])
@pytest.mark.parametrize("place", [0, -1])
def test_lists(elements, place):
    check_model(LIST, (elements, A, position(place)))


def test_stacked_lists():
    text = (
        "g (seq(float[2, 7]) s) => (float[2, k, 7] y) { y = ConcatFromSequence<axis = 1, new_axis = 1>(s) }"
    )
    check_model(text, ([A],), ([A, A + 1, A],))


SPLIT_OPEN = """
g (float[n, 7] x) => (seq(float[p, 7]) s, int64 k, float[r, 7] y) {
  s = SplitToSequence<axis = 0, keepdims = KEEPS>(x SIZE)
  k = SequenceLength(s)
  y = ConcatFromSequence<axis = 0, new_axis = STACKS>(s)
}"""


@pytest.mark.parametrize("keepdims", [0, 1])
def test_open_extents_are_split(keepdims):
    text = SPLIT_OPEN.replace("KEEPS", str(keepdims)).replace("SIZE", "").replace("STACKS", str(1 - keepdims))
    check_model(text.replace("seq(float[p, 7])", "seq(float)"), (X,), (X[:1],))


def test_open_extents_are_split_in_parts_of_one_size():
    text = SPLIT_OPEN.replace("KEEPS", "1").replace("SIZE", ", size").replace("STACKS", "0")
    check_model(
        text.replace("x)", "x, int64 size)", 1), (X, position(2)), (X, position(5)), (X[:1], position(9))
    )


def test_sizes_of_parts_are_read_when_the_graph_runs():
    text = SPLIT_OPEN.replace("KEEPS", "1").replace("SIZE", ", sizes").replace("STACKS", "0")
    check_model(
        text.replace("x)", "x, int64[m] sizes)", 1),
        (X, position([2, 3])),
        (X, position([1, 0, 4])),
        (X, position([5])),
    )


def test_half_precision_lists():
    text = LIST.replace("float[", "float16[")
    check_model(text, ([B.astype("float16")], A.astype("float16"), position(0)))


def test_a_body_is_mapped_over_an_open_number_of_elements():
    text = """
g (seq(float[k, 7]) s, float[1, 7] c) => (seq(float[k, 7]) y, seq(int64[2]) z, float[p, 7] all) {
  t = SequenceConstruct(c, c, c)
  y, z = SequenceMap(s, c, t) <body = m (float[k, 7] e, float[1, 7] f, float[1, 7] g) => (float[k, 7] p, int64[2] q) {
    r = Add(e, f)
    p = Mul(r, g)
    q = Shape(p)
  }>
  all = ConcatFromSequence<axis = 0>(y)
}"""
    main = main_of(text)
    for elements in ([A], [A, B], [B, C, A]):
        y, z, joined = as_arrays(main(elements, C))
        expected = [(each + C) * C for each in elements]
        compare(
            [y, z, joined], [expected, [np.array(each.shape) for each in expected], np.concatenate(expected)]
        )


# ---- refusals


def test_refuses_positions():
    for old in ("first = Constant<value = int64 {0}>", "last = Constant<value = int64 {-1}>"):
        node, name = ("SequenceInsert", "t") if "first" in old else ("SequenceErase", "v")
        count = 2 if "first" in old else 4
        refused(
            CONSTRUCTED.replace(old, old.split("{")[0] + "{9}>"),
            tilewright.UserError,
            f'{node} node that makes "{name}": position 9 is outside of a sequence of {count} elements',
        )


def test_refuses_values_that_are_no_sequence():
    refused(
        "g (float[2, 7] a) => (int64 n) { n = SequenceLength(a) }",
        tilewright.UserError,
        'SequenceLength node that makes "n": input "a" is R.Tensor((2, 7), "float32"), expected a sequence',
    )
    refused(
        "g (optional(seq(float[2, 7])) a) => (int64 n) { n = SequenceLength(a) }",
        tilewright.UserError,
        'SequenceLength node that makes "n": input "a" is optional, expected a sequence',
    )
    refused(
        "g () => (float y) { s = SequenceEmpty()  y = ConcatFromSequence<axis = 0>(s) }",
        tilewright.UserError,
        'ConcatFromSequence node that makes "y": the sequence has no element',
    )


@pytest.mark.parametrize(
    ("split", "message"),
    [
        ("int64[2] {-1, 6}", "a part of the split has a size below 0"),
        ("int64 {0}", "a part of the split has a size below 1"),
        ("int64[2] {2, 2}", "the parts of the split have 4 elements, the dimension has 5"),
    ],
)
def test_refuses_splits(split, message):
    refused(
        f"g (float[5, 7] x) => (seq(float[p, 7]) s) {{ n = Constant<value = {split}>()  s = SplitToSequence(x, n) }}",
        tilewright.UserError,
        f'SplitToSequence node that makes "s": {message}',
    )


MAP = """
g (float[2, 7] a, seq(float[2, 7]) b) => (seq(float[2, 7]) y) {
  s = SequenceConstruct(a, a)
  y = SequenceMap(s) <body = m (float[2, 7] e) => (float[2, 7] p) { p = Neg(e) }>
}"""


def test_refuses_maps():
    refused(
        MAP.replace("SequenceMap(s)", "SequenceMap(s, a)"),
        tilewright.UserError,
        'SequenceMap node that makes "y": the body has 1 input and 1 output, the node 2 and 1',
    )
    refused(
        MAP.replace("y = SequenceMap(s)", "t = SequenceConstruct(a)  y = SequenceMap(s, t)").replace(
            "(float[2, 7] e)", "(float[2, 7] e, float[2, 7] f)"
        ),
        tilewright.UserError,
        'SequenceMap node that makes "y": input "t" has 1 element, input "s" more',
    )


def main_of(text):
    return tilewright.VirtualMachine(tilewright.compile(parsed(text)))["main"]


def test_refuses_inputs_that_hold_no_tensors():
    model = parsed("g (seq(float) s) => (int64 n) { n = SequenceLength(s) }")
    element = model.graph.input[0].type.sequence_type.elem_type
    element.tensor_type.elem_type = 14
    refused(
        model,
        tilewright.Unsupported,
        'value "s" has element type COMPLEX64',
    )
    element.map_type.key_type = 7
    refused(
        model,
        tilewright.Unsupported,
        'graph input "s" holds values that are not tensors, or have no dtype',
    )


def test_positions_are_checked_when_the_graph_runs():
    text = "g (seq(float[k, 7]) s, int64 i) => (float[k, 7] y) { y = SequenceAt(s, i) }"
    main = main_of(text)
    compare(as_arrays(main([A, B], position(-1))), B)
    with pytest.raises(
        tilewright.UserError, match="list_get: position 2 is outside of a sequence of 2 elements"
    ):
        main([A, B], position(2))
    with pytest.raises(tilewright.UserError, match="float64"):
        main([A.astype("float64")], position(0))


def test_lists_are_checked_when_they_are_joined():
    main = main_of("g (seq(float) s) => (float y) { y = ConcatFromSequence<axis = 1>(s) }")
    compare(as_arrays(main([A, A])), np.concatenate([A, A], 1))
    with pytest.raises(tilewright.UserError, match="list_concat: the sequence has no element"):
        main([])
    with pytest.raises(
        tilewright.UserError,
        match=r"list_concat: float32\[3, 7\] does not fit beside float32\[2, 7\] along axis 1",
    ):
        main([A, B])
    with pytest.raises(
        tilewright.UserError, match="list_concat: axis 1 is outside of a tensor with 1 dimension"
    ):
        main([A[0]])


def test_sizes_are_checked_when_the_graph_runs():
    text = "g (float[n, 7] x, int64[k] sizes) => (seq(float[p, 7]) s) { s = SplitToSequence(x, sizes) }"
    main = main_of(text)
    with pytest.raises(tilewright.UserError, match="list_split: a part of the split has a size below 0"):
        main(X, position([6, -1]))
    with pytest.raises(
        tilewright.UserError,
        match="list_split: the parts of the split do not have 5 elements, those of the dimension",
    ):
        main(X, position([2, 2]))
    main = main_of(text.replace("int64[k]", "int64"))
    with pytest.raises(tilewright.UserError, match="list_split: a part of the split has a size below 1"):
        main(X, position(0))
    main = main_of(text.replace("int64[k]", "int64[k, l]"))
    message = r"list_split: the sizes are int64\[0, 3\], expected one number or a list"
    with pytest.raises(tilewright.UserError, match=message):
        main(X, np.zeros((0, 3), "int64"))


def test_parts_of_a_long_dimension_are_a_list():
    for split in [
        "s = SplitToSequence(x)",
        "one = Constant<value = int64 {1}>()  s = SplitToSequence(x, one)",
    ]:
        text = f"g (float[1099511627776] x) => (int64 n) {{ {split}  n = SequenceLength(s) }}"
        assert "list_split" in from_onnx(parsed(text)).script()


def test_parts_that_are_larger_than_the_dimension():
    most = 2**63 - 1
    text = "g (float[5, 7] x) => (seq(float[p, 7]) s) { n = Constant<value = SPLIT>()  s = SplitToSequence(x, n) }"
    check_model(text.replace("SPLIT", f"int64 {{{most}}}"), (X,))
    refused(
        text.replace("SPLIT", f"int64[3] {{{most}, {most}, 7}}"),
        tilewright.UserError,
        'SplitToSequence node that makes "s": the parts of the split have more elements than the dimension, which has 5',
    )


def test_a_map_hides_no_name_of_the_model():
    text = """
g (float[n] x, int64 k) => (float[n] z, int64 count, float[m] last) {
  length = Add(x, x)
  t = SplitToSequence(x, k)
  y = SequenceMap(t) <body = b (float[m] e) => (float[m] r) { r = Neg(e) }>
  count = SequenceLength(y)
  first = Constant<value = int64 {0}>()
  last = SequenceAt(y, first)
  z = Identity(length)
}"""
    model = parsed(text)
    for node in model.graph.node:
        for names in (node.input, node.output):
            for place, name in enumerate(names):
                if name == "length":
                    names[place] = "y.length"
    check_model(model, (X[0], position(2)), (X[1], position(7)))
