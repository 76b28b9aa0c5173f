"""Loops: written out or run by the virtual machine; values that grow, lists, values from outside, conditions."""

import numpy as np
import onnx
import pytest
from onnx_testing import as_arrays, check_model, compare, parsed, refused

import tilewright
from tilewright.frontend.onnx import from_onnx

X = np.arange(14, dtype="float32").reshape(2, 7) / 9
TRUE, FALSE = np.array(True), np.array(False)


def checked(text, *runs, rtol=1e-6):
    """Compares with onnxruntime: ONNX's ReferenceEvaluator leaves out inputs and directions."""
    check_model(text, *runs, rtol=rtol, by_runtime=True)


def count(value):
    return np.array(value, "int64")


def main_of(text):
    return tilewright.VirtualMachine(tilewright.compile(parsed(text)))["main"]


SUMS = """
g (int64 most, float[2, 7] x) => (float[2, 7] y, float[k, 2, 7] all) {
  zero = Constant<value = float {0}>()
  y, all = Loop(most, , x) <body = b (int64 i, bool c, float[2, 7] s) => (bool d, float[2, 7] t, float[2, 7] u) {
    d = Identity(c)
    f = Cast<to = 1>(i)
    p = Mul(x, f)
    t = Add(s, p)
    u = Sub(t, zero)
  }>
}"""


@pytest.mark.parametrize("most", [1, 2, 5, 127])
def test_values_are_carried_and_collected(most):
    checked(SUMS, (count(most), X), rtol=1e-5)


def test_no_iterations():
    for most in (0, -5):
        y, collected = as_arrays(main_of(SUMS)(count(most), X))
        compare([y, collected], [X, np.zeros((0, 2, 7), "float32")])


@pytest.mark.parametrize("most", [1, 3, 127])
def test_a_constant_number_of_iterations(most):
    text = SUMS.replace("int64 most, ", "").replace(
        "zero =", f"most = Constant<value = int64 {{{most}}}>()  zero ="
    )
    assert ("R.loop" in from_onnx(parsed(text)).script()) == (most == 127)
    checked(text, (X,), rtol=1e-5)


def test_a_number_of_iterations_of_one_element():
    checked(SUMS.replace("int64 most", "int64[1] most"), (count([3]), X), rtol=1e-5)


def test_open_extents():
    text = SUMS.replace("float[2, 7]", "float[n, m]").replace("[k, 2, 7]", "[k, n, m]")
    checked(text, (count(5), X), (count(1), X[:, :5]), (count(3), X[:1]), rtol=1e-5)


def test_the_number_of_iterations_is_an_extent():
    text = SUMS.replace("int64 most, float[2, 7] x", "float[n, 7] x").replace("float[2, 7]", "float[n, 7]")
    text = text.replace("[k, 2, 7]", "[n, n, 7]").replace(
        "zero =", "s = Shape<start = 0, end = 1>(x)  most = Squeeze(s)  zero ="
    )
    checked(text, (X,), (X[:1],), rtol=1e-5)


WHILE = """
g (int64 most, bool c, float[2, 7] x, float limit) => (float[2, 7] y, int64 n) {
  zero = Constant<value = int64 {0}>()
  one = Constant<value = int64 {1}>()
  y, n = Loop(MOST, c, x, zero) <body = b (int64 i, bool c1, float[2, 7] s, int64 k) => (bool d, float[2, 7] t, int64 l) {
    t = Add(s, x)
    l = Add(k, one)
    r = ReduceMax<keepdims = 0>(t)
    d = Less(r, limit)
  }>
}"""


@pytest.mark.parametrize("most", ["", "most"])
def test_conditions(most):
    text = WHILE.replace("MOST", most)
    if not most:
        text = text.replace("int64 most, ", "")
    for limit in (0, 3, 9):
        for first in (TRUE, FALSE):
            inputs = (first, X, np.array(limit, "float32"))
            checked(text, (count(4), *inputs) if most else inputs)


def test_a_carried_value_grows():
    text = """
g (int64 most, float[n, 7] x) => (float[m, 7] y, float[p] z) {
  y = Loop(most, , x) <body = b (int64 i, bool c, float[k, 7] s) => (bool d, float[l, 7] t) {
    d = Identity(c)
    t = Concat<axis = 0>(s, x)
  }>
  one = Constant<value = int64[1] {1}>()
  z = ReduceSum<keepdims = 0>(y, one)
}"""
    checked(text, (count(3), X), (count(5), X[:1]), rtol=1e-5)
    compare(as_arrays(main_of(text)(count(0), X))[0], X)


def test_a_sequence_is_the_accumulator():
    text = """
g (int64 most, float[2, 7] x) => (seq(float[k, 7]) y, int64 n, float[p, 7] z) {
  none = SequenceEmpty()
  y = Loop(most, , none) <body = b (int64 i, bool c, seq(float[k, 7]) s) => (bool d, seq(float[k, 7]) t) {
    d = Identity(c)
    f = Cast<to = 1>(i)
    e = Mul(x, f)
    t = SequenceInsert(s, e)
  }>
  n = SequenceLength(y)
  z = ConcatFromSequence<axis = 0>(y)
}"""
    checked(text, (count(1), X), (count(5), X))


def test_elements_of_a_sequence_that_grow():
    text = """
g (int64 most, float[2, 7] x) => (seq(float[k, 7]) y) {
  s = SequenceConstruct(x)
  zero = Constant<value = int64 {-1}>()
  y = Loop(most, , s) <body = b (int64 i, bool c, seq(float[k, 7]) s1) => (bool d, seq(float[k, 7]) t) {
    d = Identity(c)
    last = SequenceAt(s1, zero)
    e = Concat<axis = 0>(last, x)
    t = SequenceInsert(s1, e)
  }>
}"""
    checked(text, (count(0), X), (count(4), X))


def test_nested_loops_and_branches():
    text = """
g (int64 most, bool c, float[2, 7] x) => (float[2, 7] y) {
  half = Constant<value = float {0.5}>()
  y = Loop(most, , x) <body = b (int64 i, bool c0, float[2, 7] s) => (bool d, float[2, 7] t) {
    d = Identity(c0)
    u = Mul(x, half)
    v = Loop(most, , s) <body = bb (int64 j, bool c1, float[2, 7] p) => (bool d1, float[2, 7] q) {
      d1 = Identity(c1)
      f = Cast<to = 1>(i)
      w = Mul(u, f)
      q = Sub(w, p)
    }>
    t = If(c) <then_branch = a () => (float[2, 7] r) { r = Add(v, u) },
               else_branch = e () => (float[2, 7] r) { r = Sin(v) }>
  }>
}"""
    checked(text, (count(3), TRUE, X), (count(5), FALSE, X), rtol=1e-5)


def test_the_iteration_is_an_index():
    text = """
g (float[n, 7] x) => (float[n, 7] y, float[n, 7] z) {
  s = Shape<start = 0, end = 1>(x)
  most = Squeeze(s)
  y, z = Loop(most, , x) <body = b (int64 i, bool c, float[n, 7] s1) => (bool d, float[n, 7] t, float[7] r) {
    d = Identity(c)
    r = Gather(x, i)
    t = Sub(s1, r)
  }>
}"""
    checked(text, (X,), (X[:1],), rtol=1e-5)


def test_half_precision():
    checked(
        SUMS.replace("float[", "float16[").replace("to = 1>", "to = 10>").replace("float {0}", "float16 {0}"),
        (count(5), X.astype("float16")),
        rtol=1e-2,
    )


def test_a_loop_can_be_interrupted():
    # tests/runtime/test_interrupt.py shows the same for models; here it is the loop that asks
    text = """
g (float[2, 7] x) => (float[2, 7] y) {
  yes = Constant<value = bool {1}>()
  y = Loop(, yes, x) <body = b (int64 i, bool c, float[2, 7] s) => (bool d, float[2, 7] t) {
    d = Identity(c)
    t = Add(s, x)
  }>
}"""
    import signal
    import threading
    import time

    main = main_of(text)
    thread = threading.Thread(
        target=lambda: (time.sleep(0.2), signal.raise_signal(signal.SIGINT)), daemon=True
    )
    with pytest.raises(KeyboardInterrupt):
        thread.start()
        main(X)


LOOP = 'Loop node that makes "y": '


def test_refuses_loops():
    refused(
        SUMS.replace("int64 most", "float most"),
        tilewright.UserError,
        LOOP + 'input "most" is R.Tensor((), "float32"), expected int64',
    )
    refused(
        SUMS.replace("(bool d, float[2, 7] t, float[2, 7] u)", "(bool d, float[2, 7] t)"),
        tilewright.UserError,
        LOOP + "the body has 3 inputs and 2 outputs, expected 3 and 3",
    )
    refused(
        SUMS.replace("y, all = Loop(most, , x)", "y = Loop(most, , x, x)").replace(
            ", float[k, 2, 7] all)", ")"
        ),
        tilewright.UserError,
        LOOP + "2 carried values and 1 output",
    )
    refused(
        WHILE.replace("MOST", "").replace("d = Less(r, limit)", "d = Sub(r, limit)"),
        tilewright.UserError,
        LOOP + 'the condition that the body returns is R.Tensor((), "float32"), expected bool',
    )


def test_refuses_carried_values_of_changing_types():
    text = SUMS.replace("t = Add(s, p)", "q = Add(s, p)  t = Cast<to = 11>(q)").replace(
        "u = Sub(t, zero)", "u = Sub(q, zero)"
    )
    refused(
        text,
        tilewright.Unsupported,
        LOOP + 'the carried value "s" is R.Tensor((2, 7), "float32") in one iteration and '
        'R.Tensor((2, 7), "float64") in the next',
    )


def test_refuses_to_collect_values_of_unknown_shape():
    text = """
g (int64 most, bool c, float[1, 7] x) => (float y) {
  axes = Constant<value = int64[1] {0}>()
  y = Loop(most, ) <body = b (int64 i, bool c1) => (bool d, float t) {
    d = Identity(c1)
    t = If(c) <then_branch = a () => (float p) { p = Squeeze(x, axes) },
               else_branch = e () => (float p) { p = Neg(x) }>
  }>
}"""
    refused(
        text,
        tilewright.Unsupported,
        LOOP + 'the body collects R.Tensor("float32"), expected a tensor of known shape',
    )


def test_errors_name_the_nodes_around():
    refused(
        SUMS.replace("p = Mul(x, f)", "p = MatMul(x, x)"),
        tilewright.UserError,
        LOOP
        + 'MatMul node that makes "p": matmul: x1 is [2, 7], x2 is [2, 7]: contracted lengths 7 and 2 differ',
    )


@pytest.mark.parametrize("seed", range(25))
def test_random_loops(seed):
    checked(*random_loops(seed), rtol=1e-4)


def test_loops_in_loops_are_written_out_only_if_they_are_few_nodes():
    inner = "v = Add(t, x)"
    for n in range(3):
        inner = f"v = Loop(most, , t) <body = b{n} (int64 i{n}, bool c{n}, float[2, 7] t) => (bool c{n}, float[2, 7] v) {{ {inner} }}>"
    text = "g (float[2, 7] x) => (float[2, 7] v) { most = Constant<value = int64 {MOST}>()  t = Identity(x)  INNER }"
    text = text.replace("INNER", inner)
    assert "R.loop" not in from_onnx(parsed(text.replace("MOST", "3"))).script()
    assert "R.loop" in from_onnx(parsed(text.replace("MOST", "100"))).script()
    checked(text.replace("MOST", "3"), (X,), rtol=1e-5)
    checked(text.replace("MOST", "9"), (X,), rtol=1e-4)


@pytest.mark.parametrize("most", [3, 2**62, 2**63 - 1])
def test_refuses_carried_values_that_are_left_out(most):
    text = SUMS.replace("int64 most, ", "").replace(
        "zero =", f"most = Constant<value = int64 {{{most}}}>()  zero ="
    )
    model = parsed(text)
    loop = next(node for node in model.graph.node if node.op_type == "Loop")
    loop.input[2] = ""
    refused(
        model,
        tilewright.UserError,
        'Loop node that makes "y": input 2 is left out, but is required',
    )


@pytest.mark.parametrize("maker", ["Identity", "Constant"])
def test_refuses_bodies_whose_condition_is_made_of_nothing(maker):
    yes = "yes = Constant<value = bool {1}>()  three = Constant<value = int64 {3}>()  zero ="
    model = parsed(
        SUMS.replace("int64 most, ", "")
        .replace("zero =", yes)
        .replace("Loop(most, , x)", "Loop(three, yes, x)")
    )
    body = next(node for node in model.graph.node if node.op_type == "Loop").attribute[0].g
    condition = next(node for node in body.node if node.output[0] == "d")
    condition.op_type = maker
    del condition.input[:]
    if maker == "Constant":
        condition.attribute.add(name="value", type=onnx.AttributeProto.STRING, s=b"yes")
    text = {
        "Identity": 'Identity node that makes "d": 0 inputs, expected 1',
        "Constant": 'Constant node that makes "d": attribute "value" is a string, expected a tensor',
    }
    refused(model, tilewright.UserError, 'Loop node that makes "y": ' + text[maker])


class Writer:
    """Writes a random graph of loops and branches on float[n, 7] values, bool conditions c, d and counts k, l."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.count = 0

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def one_of(self, values):
        return values[self.rng.integers(len(values))]

    def simple(self, known):
        if self.rng.random() < 0.3:
            return f"{self.one_of(['Neg', 'Tanh', 'Sigmoid', 'Relu'])}({self.one_of(known)})"
        return f"{self.one_of(['Add', 'Sub', 'Max', 'Min'])}({self.one_of(known)}, {self.one_of(known)})"

    def branch(self, known, depth):
        bodies = []
        for _ in range(2):
            lines, inner = self.block(known, depth)
            bodies.append(f"b () => (float[n, 7] {inner[-1]}) {{ {lines} }}")
        return f"If({self.one_of('cd')}) <then_branch = {bodies[0]}, else_branch = {bodies[1]}>"

    def loop(self, known, depth, results):
        """Carries a value and collects another, of which the sum is taken.

        Without a condition to begin with, what the body returns for it counts nothing; onnxruntime stops where it is false.
        """
        start, state, index, condition = self.one_of(known), self.name(), self.name(), self.name()
        lines, inner = self.block([*known, state], depth)
        collected, goes_on, following, total = self.name(), self.name(), self.name(), self.name()
        most = self.one_of(["k", "l", "three", ""])
        first = self.one_of(["", "yes"]) if most else "yes"
        ending = f"Less({index}, two)"
        rules = (
            [f"Identity({condition})", "Not(no)", ending] if first else [f"Identity({condition})", "Not(no)"]
        )
        rule = f"{goes_on} = {self.one_of(rules) if most else ending}"
        next_value = self.one_of(inner)
        body = (
            f"b (int64 {index}, bool {condition}, float[n, 7] {state}) => "
            f"(bool {goes_on}, float[n, 7] {following}, float[n, 7] {collected}) {{ {lines} {rule} "
            f"{following} = Tanh({next_value}) {collected} = Add({state}, {inner[-1]}) }}"
        )
        result, everything = results[0], self.name()
        return (
            f"{result}, {everything} = Loop({most}, {first}, {start}) <body = {body}> "
            f"{total} = ReduceSum<keepdims = 0>({everything}, zero) ",
            total,
        )

    def block(self, known, depth):
        lines, known = [], list(known)
        for _ in range(self.rng.integers(1, 4)):
            name = self.name()
            choice = self.rng.random()
            if depth and choice < 0.3:
                text, total = self.loop(known, depth - 1, [name])
                lines.append(text)
                known.append(total)
            elif depth and choice < 0.5:
                lines.append(f"{name} = {self.branch(known, depth - 1)}")
            else:
                lines.append(f"{name} = {self.simple(known)}")
            known.append(name)
        return " ".join(lines), known


def random_loops(seed):
    """A model of nested loops and branches, and inputs for it."""
    writer = Writer(seed)
    lines, known = writer.block(["x", "z"], 2)
    text, total = writer.loop(known, 1, ["last"])
    model = f"""
g (bool c, bool d, int64 k, int64 l, float[n, 7] x, float[n, 7] z) => (float[n, 7] last, float[n, 7] {total}) {{
  two = Constant<value = int64 {{2}}>()
  three = Constant<value = int64 {{3}}>()
  zero = Constant<value = int64[1] {{0}}>()
  yes = Constant<value = bool {{1}}>()
  no = Constant<value = bool {{0}}>()
  {lines}
  {text}
}}"""
    x, z = writer.rng.standard_normal((2, 5, 7)).astype("float32")
    flags = [(TRUE, FALSE), (FALSE, TRUE), (TRUE, TRUE)]
    return model, *[
        (*flag, count(most), count(2), x[:n], z[:n])
        for flag, most, n in zip(flags, (3, 1, 5), (5, 1, 2), strict=True)
    ]
