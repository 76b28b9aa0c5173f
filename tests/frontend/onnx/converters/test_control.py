"""Branches: constant conditions, conditions on extents and run-time ones; values from outside; extents and types that differ."""

import re

import numpy as np
import pytest
from onnx_testing import check_model, compare, parsed, refused, run_model

import tilewright
from tilewright.frontend.onnx import from_onnx, register_converter

X = np.arange(35, dtype="float32").reshape(5, 7) - 17
TRUE, FALSE = np.array(True), np.array(False)

BRANCH = """
g (bool c, float[5, 7] x) => (float[5, 7] y) {
  t = Mul(x, x)
  s = If(c) <then_branch = a () => (float[5, 7] p) { q = Add(t, x)  p = Relu(q) },
             else_branch = b () => (float[5, 7] p) { p = Sub(t, x) }>
  y = Add(s, t)
}"""


def test_the_condition_chooses():
    check_model(BRANCH, (TRUE, X), (FALSE, X))


def test_conditions_of_one_element():
    check_model(BRANCH.replace("bool c", "bool[1] c"), (np.array([True]), X), (np.array([False]), X))


def test_a_condition_of_unknown_extent_has_one_element():
    text = BRANCH.replace("bool c", "bool[k] c")
    main = tilewright.VirtualMachine(tilewright.compile(parsed(text)))["main"]
    check_model(text, (np.array([True]), X))
    with pytest.raises(
        tilewright.UserError, match=re.escape("the condition is [k = 2], expected one element")
    ):
        main(np.array([True, True]), X)


def test_open_extents():
    text = BRANCH.replace("[5, 7]", "[n, m]")
    check_model(text, (TRUE, X), (FALSE, X[:3, :2]), (TRUE, X[:0]), (FALSE, X[:1]))


def test_half_precision():
    text = BRANCH.replace("float[", "float16[")
    check_model(text, (TRUE, X.astype("float16")), (FALSE, X.astype("float16")), rtol=1e-2)


def test_a_constant_condition_leaves_one_branch():
    text = BRANCH.replace("bool c, ", "").replace("t = Mul", "c = Constant<value = bool {1}>()  t = Mul")
    assert "R.subtract" not in from_onnx(parsed(text)).script()
    check_model(text, (X,))
    check_model(text.replace("{1}", "{0}"), (X,))


def test_a_branch_that_is_never_taken_may_hold_anything():
    text = BRANCH.replace("bool c, ", "").replace("t = Mul", "c = Constant<value = bool {1}>()  t = Mul")
    text = text.replace("p = Sub(t, x)", "p = NoSuchOperator(t, x)")
    np.testing.assert_allclose(run_model(parsed(text), [X])[0], np.maximum(X * X + X, 0) + X * X, rtol=1e-6)


CONDITION_ON_EXTENT = """
g (float[n, 7] x) => (float[k, 7] y) {
  s = Shape<start = 0, end = 1>(x)
  five = Constant<value = int64[1] {5}>()
  c = Less(s, five)
  y = If(c) <then_branch = a () => (float[k, 7] p) { p = Concat<axis = 0>(x, x) },
             else_branch = b () => (float[k, 7] p) { p = Neg(x) }>
}"""


def test_a_condition_on_extents():
    check_model(CONDITION_ON_EXTENT, (X,), (X[:4],), (X[:0],))


def test_a_condition_on_extents_that_are_fixed_leaves_one_branch():
    text = CONDITION_ON_EXTENT.replace("[n, 7]", "[5, 7]")
    assert "if " not in from_onnx(parsed(text)).script()
    check_model(text, (X,))


DIFFERENT_EXTENTS = """
g (bool c, float[5, 7] x) => (float[r] total, float[p, q] y) {
  two = Constant<value = int64[1] {2}>()
  zero = Constant<value = int64[1] {0}>()
  s, w = If(c) <then_branch = a () => (float[p, q] p1, float[p, q] p2) { p1 = Slice(x, zero, two)  p2 = Neg(x) },
                else_branch = b () => (float[p, q] p1, float[p, q] p2) { p1 = Relu(x)  p2 = Transpose(x) }>
  one = Constant<value = int64[1] {1}>()
  total = ReduceSum<keepdims = 0>(s, one)
  y = Exp(w)
}"""


def test_extents_that_differ_become_dimensions():
    check_model(DIFFERENT_EXTENTS, (TRUE, X / 20), (FALSE, X / 20))
    assert re.search(r"R.Tensor\(\(size\d*, 7\)", from_onnx(parsed(DIFFERENT_EXTENTS)).script())


def test_nested_branches_read_all_values_around_them():
    text = """
g (bool c, bool d, float[5, 7] x) => (float[5, 7] y) {
  t = Mul(x, x)
  y = If(c) <then_branch = a () => (float[5, 7] p) {
               u = Add(t, x)
               p = If(d) <then_branch = aa () => (float[5, 7] q) { v = Mul(u, t)  q = Add(v, x) },
                          else_branch = ab () => (float[5, 7] q) { q = Sub(u, x) }> },
             else_branch = b () => (float[5, 7] p) { p = Identity(t) }>
}"""
    check_model(text, *[(c, d, X) for c in (TRUE, FALSE) for d in (TRUE, FALSE)])


def test_inner_names_hide_outer_ones():
    text = """
g (bool c, float[5, 7] x) => (float[5, 7] y, float[5, 7] t) {
  t = Mul(x, x)
  y = If(c) <then_branch = a () => (float[5, 7] p) { t = Neg(x)  p = Exp(t) },
             else_branch = b () => (float[5, 7] p) { p = Relu(t) }>
}"""
    for c in (TRUE, FALSE):
        y, t = run_model(parsed(text), [c, X / 9])
        np.testing.assert_allclose(y, np.exp(-X / 9) if c else X * X / 81, rtol=1e-5)
        np.testing.assert_allclose(t, X * X / 81, rtol=1e-6)


def test_branches_without_nodes_return_outer_values():
    text = """
g (bool c, float[5, 7] x, float[5, 7] z) => (float[5, 7] y) {
  y = If(c) <then_branch = a () => (float[5, 7] x) { }, else_branch = b () => (float[5, 7] z) { }>
}"""
    for c in (TRUE, FALSE):
        np.testing.assert_array_equal(run_model(parsed(text), [c, X, X + 1])[0], X if c else X + 1)


def test_branches_return_constants():
    text = """
g (bool c) => (float[k] y) {
  y = If(c) <then_branch = a () => (float[2] p) { p = Constant<value = float[2] {1, 2}>() },
             else_branch = b () => (float[3] p) { p = Constant<value = float[3] {3, 4, 5}>() }>
}"""
    check_model(text, (TRUE,), (FALSE,))


def test_shapes_computed_in_branches():
    text = """
g (bool c, float[n, m] x) => (float[p, q] y) {
  s = Shape(x)
  minus = Constant<value = int64[1] {-1}>()
  one = Constant<value = int64[1] {1}>()
  t = If(c) <then_branch = a () => (int64[2] r) { r = Concat<axis = 0>(minus, one) },
             else_branch = b () => (int64[2] r) { r = Identity(s) }>
  y = Reshape(x, t)
}"""
    check_model(text, (TRUE, X), (FALSE, X), (TRUE, X[:, :3]))


RANKS = """
g (bool c, float[1, 7] x) => (float y) {
  axes = Constant<value = int64[1] {0}>()
  y = If(c) <then_branch = a () => (float[7] p) { p = Squeeze(x, axes) },
             else_branch = b () => (float[1, 7] p) { p = Neg(x) }>
}"""


def test_outputs_of_different_numbers_of_dimensions():
    for c, expected in ((TRUE, X[0]), (FALSE, -X[:1])):
        compare(run_model(parsed(RANKS), [c, X[:1]]), [expected])


def test_outputs_of_different_dtypes():
    text = RANKS.replace("p = Squeeze(x, axes)", "p = Cast<to = 7>(x)").replace("float[7] p", "int64[7] p")
    for c, expected in ((TRUE, X[:1].astype("int64")), (FALSE, -X[:1])):
        compare(run_model(parsed(text), [c, X[:1]]), [expected])


def test_nodes_that_broadcast_values_of_different_numbers_of_dimensions():
    """A scalar in one branch, a list of one in the other: beside a list it counts for nothing."""
    text = """
g (bool c, float[n] x, float[1] z) => (float[n] y, int64[n] k) {
  axes = Constant<value = int64[1] {0}>()
  t = If(c) <then_branch = a () => (float[1] p) { p = Neg(z) },
             else_branch = b () => (float p) { p = Squeeze(z, axes) }>
  w = Identity(t)
  u = Mul(x, w)
  y = Sub(u, t)
  i = Cast<to = 7>(x)
  v = CastLike(i, t)
  k = Cast<to = 7>(v)
}"""
    check_model(text, (TRUE, X[0], X[0, :1]), (FALSE, X[1], X[0, :1]))


def test_refuses_nodes_on_values_of_different_numbers_of_dimensions():
    text = RANKS.replace("(float y)", "(float z)").replace("}>\n}", "}>\n  z = Exp(y)\n}")
    other = text.replace("float[7] p", "float[8] p").replace(
        "p = Squeeze(x, axes)", "q = Squeeze(x, axes)  r = Slice(q, axes, more)  p = Concat<axis = 0>(q, r)"
    )
    refused(
        text,
        tilewright.Unsupported,
        'Exp node that makes "z": '
        'its input "y" has another number of dimensions in each branch; with extents of 1 in front it is '
        'R.Tensor((1, 7), "float32")',
    )
    refused(
        other.replace("axes = Constant", "more = Constant<value = int64[1] {1}>()  axes = Constant"),
        tilewright.Unsupported,
        'If node that makes "y": its output "y" is R.Tensor((8,), "float32") or '
        'R.Tensor((1, 7), "float32"), depending on the condition',
    )


SQUEEZED = """
g (float[n, m] x) => (float[k] y) {
  s = Shape<start = 1, end = 2>(x)
  one = Constant<value = int64[1] {1}>()
  c = Equal(s, one)
  t = If(c) <then_branch = a () => (float t1) { t1 = Squeeze(x, one) },
             else_branch = b () => (float t2) { t2 = Identity(x) }>
  axes = Constant<value = int64[1] {AXIS}>()
  u = Exp(t)
  y = ReduceSum<keepdims = 0>(u, axes)
}"""


def test_the_branch_is_taken_that_the_model_goes_on_with():
    main = tilewright.VirtualMachine(tilewright.compile(parsed(SQUEEZED.replace("AXIS", "1"))))["main"]
    np.testing.assert_allclose(main(X / 9).numpy(), np.exp(X / 9).sum(1), rtol=1e-5)
    message = (
        'If node that makes "t": its output "t" would be R.Tensor((n,), "float32")'
        ', but the nodes that read it take R.Tensor((n, m), "float32")'
    )
    with pytest.raises(tilewright.UserError, match=re.escape(message)):
        main(X[:, :1])
    main = tilewright.VirtualMachine(tilewright.compile(parsed(SQUEEZED.replace("AXIS", "0"))))["main"]
    np.testing.assert_allclose(main(X[:, :1] / 9).numpy(), np.exp(X[:, :1] / 9).sum(), rtol=1e-5)
    with pytest.raises(tilewright.UserError, match="the nodes that read it take R.Tensor"):
        main(X)


def test_the_first_error_is_raised_if_no_branch_fits():
    refused(
        SQUEEZED.replace("AXIS", "3"),
        tilewright.UserError,
        'ReduceSum node that makes "y": sum: axis 3 is outside of a tensor with 1 dimension',
    )


def squeezed_again_and_again(count):
    """Each branch squeezes a dimension if its extent is 1; what follows takes it as it is."""
    lines = [
        f"t{n} = If(c) <then_branch = a () => (float[k] p) {{ p = Squeeze(x{n}, one) }}, "
        f"else_branch = b () => (float[k, l] p) {{ p = Neg(x{n}) }}>  x{n + 1} = Transpose<perm = [1, 0]>(t{n})"
        for n in range(count)
    ]
    return f"""
g (float[n, m] x0) => (float[k, l] y) {{
  sizes = Shape(x0)
  one = Constant<value = int64[1] {{1}}>()
  size = Gather(sizes, one)
  c = Equal(size, one)
  {"  ".join(lines)}
  y = Identity(x{count})
}}"""


def test_many_branches_are_taken_that_the_model_goes_on_with():
    text = squeezed_again_and_again(40)
    main = tilewright.VirtualMachine(tilewright.compile(parsed(text)))["main"]
    compare(main(X).numpy(), X)


@pytest.fixture
def imports():
    """A list that gets an element each time that a node my.domain::Count is imported."""
    found = []

    def count(bb, inputs, attributes):
        found.append(1)
        return inputs[0]

    register_converter("my.domain::Count", count)
    yield found
    register_converter("my.domain::Count", None)


def counted(text):
    model = parsed(text)
    model.opset_import.add(domain="my.domain", version=1)
    return model


def test_an_error_that_no_branch_causes_is_raised_at_once(imports):
    text = squeezed_again_and_again(3).replace("sizes = Shape", "z = my.domain.Count(x0)  sizes = Shape")
    text = text.replace("y = Identity(x3)", "v = Transpose<perm = [0, 1, 2]>(z)  y = Add(x3, v)")
    with pytest.raises(tilewright.UserError, match="Transpose node that makes"):
        from_onnx(counted(text))
    assert len(imports) == 2  # the first of the three branches had to be changed, and the others follow it


def test_refuses_branches_of_different_types_deep_in_each_other():
    body = "r = Squeeze(x0, one)"
    for n in range(16):
        body = (
            f"i{n} = If(c) <then_branch = a{n} () => (float[k] r) {{ {body} }}, "
            f"else_branch = b{n} () => (float[k, l] p) {{ p = Neg(x0) }}>  r = Neg(i{n})"
        )
    text = squeezed_again_and_again(0).replace("y = Identity(x0)", body + "  y = Identity(r)")
    with pytest.raises(tilewright.Unsupported) as caught:
        from_onnx(parsed(text))
    assert (
        str(caught.value)
        .splitlines()[0]
        .endswith(": branches that return different numbers of dimensions lie deep in each other")
    )


def test_refuses_conditions():
    refused(
        BRANCH.replace("bool c", "float c"),
        tilewright.UserError,
        'If node that makes "s": the condition is float32, expected bool',
    )
    refused(
        BRANCH.replace("bool c", "bool[2] c"),
        tilewright.UserError,
        'If node that makes "s": the condition is [2], expected one element',
    )


def test_refuses_branches():
    refused(
        BRANCH.replace("a () =>", "a (float[5, 7] extra) =>"),
        tilewright.UserError,
        'If node that makes "s": then_branch has 1 input, a branch has none',
    )
    refused(
        BRANCH.replace("s = If", "s, s1 = If"),
        tilewright.UserError,
        'If node that makes "s": then_branch has 1 output, the node 2',
    )


def test_errors_name_the_nodes_around():
    text = BRANCH.replace("q = Add(t, x)", "q = MatMul(t, x)")
    refused(
        text,
        tilewright.UserError,
        'If node that makes "s": MatMul node that makes "q": matmul: '
        "x1 is [5, 7], x2 is [5, 7]: contracted lengths 7 and 5 differ",
    )


def test_requirements_of_a_branch_hold_only_if_it_runs():
    text = """
g (bool c, float[n, 7] x, float[m, 7] z) => (float[k, 7] y) {
  y = If(c) <then_branch = a () => (float[k, 7] p) { p = Add(x, z) },
             else_branch = b () => (float[k, 7] p) { p = Neg(x) }>
}"""
    main = tilewright.VirtualMachine(tilewright.compile(parsed(text)))["main"]
    np.testing.assert_array_equal(main(FALSE, X, X[:3]).numpy(), -X)
    np.testing.assert_array_equal(main(TRUE, X, X).numpy(), X + X)
    with pytest.raises(tilewright.UserError, match='Add node that makes "p": add: '):
        main(TRUE, X, X[:3])


def test_unknown_operators_of_branches_are_listed_beside_others():
    text = BRANCH.replace("p = Sub(t, x)", "p = Nothing(t, x)")
    message = "the model uses operators that cannot be imported: Nothing (p)"
    refused(text, tilewright.Unsupported, f'If node that makes "s": {message}')
    refused(
        text.replace("y = Add(s, t)", "y = Neither(s, t)"),
        tilewright.Unsupported,
        "the model uses operators that cannot be imported: Neither (y); Nothing (p)",
    )


@pytest.mark.parametrize("seed", range(20))
def test_random_branches(seed):
    check_model(*random_branches(seed), rtol=1e-4)


def random_branches(seed):
    """A model of nested branches on x [n, 7] with values that cross them, and inputs for it."""
    rng = np.random.default_rng(seed)
    names = iter(range(1000))

    def block(known, depth, indent):
        lines, known = [], list(known)
        for _ in range(rng.integers(1, 4)):
            name = f"v{next(names)}"
            choice = rng.integers(5 if depth else 3)
            one, other = rng.choice(known), rng.choice(known)
            if choice == 0:
                lines.append(f"{indent}{name} = {rng.choice(['Neg', 'Tanh', 'Sigmoid', 'Relu'])}({one})")
            elif choice < 3:
                lines.append(f"{indent}{name} = {rng.choice(['Add', 'Sub', 'Mul', 'Max'])}({one}, {other})")
            else:
                branches = []
                for branch in ("then_branch", "else_branch"):
                    inner, seen = block(known, depth - 1, indent + "  ")
                    body = "\n".join(inner)
                    branches.append(f"{branch} = b () => (float[n, 7] {seen[-1]}) {{\n{body}\n{indent}}}")
                lines.append(f"{indent}{name} = If({rng.choice(['c', 'd'])}) <{', '.join(branches)}>")
            known.append(name)
        return lines, known

    lines, known = block(["x", "z"], 2, "  ")
    body = "\n".join(lines)
    text = f"g (bool c, bool d, float[n, 7] x, float[n, 7] z) => (float[n, 7] {known[-1]}, float[n, 7] {known[-2]}) {{\n{body}\n}}"
    if known[-2] == "z":
        text = text.replace(", float[n, 7] z) {", ") {")
    x, z = rng.standard_normal((2, 5, 7)).astype("float32")
    return text, *[
        (np.array(c), np.array(d), x[:n], z[:n])
        for c in (0 == 0, 0 == 1)
        for d in (0 == 0, 0 == 1)
        for n in (5, 1)
    ]
