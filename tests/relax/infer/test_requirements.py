"""Needs of operators that open extents may contradict: checked when the graph runs, refused with the operator and the values."""

import itertools

import numpy as np
import pytest

import tilewright as tw
from tilewright.errors import Unsupported, UserError
from tilewright.script import parse


def compiled(params, body):
    """The function of a graph with `params`, e.g. 'x: R.Tensor(("n", 7), "float32")', that gives y."""
    return tw.VirtualMachine(
        tw.compile(
            parse(f"""
@R.function
def main({params}):
    with R.dataflow():
        y = {body}
        R.output(y)
    return y
""")
        )
    )["main"]


def module_of(text):
    return tw.ir.IRModule({"main": parse(text)})


def tensor(name, *extents, dtype="float32"):
    return f'{name}: R.Tensor(({", ".join(map(repr, extents))},), "{dtype}")'


def some(*shape, dtype="float32"):
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(dtype)


def first_line(call, *arrays):
    with pytest.raises(UserError) as error:
        call(*arrays)
    return str(error.value).split("\n")[0]


# params, body, legal arrays, what numpy gives, illegal arrays, the error
CASES = {
    "matmul": (
        [tensor("a", "n", "k"), tensor("b", 7, 3)],
        "R.matmul(a, b)",
        [some(5, 7), some(7, 3)],
        np.matmul,
        [some(5, 9), some(7, 3)],
        "matmul: x1 is [n = 5, k = 9], x2 is [7, 3]: contracted lengths k = 9 and 7 differ",
    ),
    "matmul of batches": (
        [tensor("a", "b", 5, "k"), tensor("c", "d", "j", 3)],
        "R.matmul(a, c)",
        [some(2, 5, 7), some(2, 7, 3)],
        np.matmul,
        [some(2, 5, 7), some(4, 7, 3)],
        "matmul: the shapes [b = 2] and [d = 4] do not broadcast: b = 2 against d = 4 in dimension 1 from the end",
    ),
    "add": (
        [tensor("a", "n"), tensor("b", "m")],
        "R.add(a, b)",
        [some(5), some(5)],
        np.add,
        [some(5), some(7)],
        "add: the shapes [n = 5] and [m = 7] do not broadcast: n = 5 against m = 7 in dimension 1 from the end",
    ),
    "where": (
        [tensor("a", "n", dtype="bool"), tensor("b", "m"), tensor("c", "k")],
        "R.where(a, b, c)",
        [some(5) > 0, some(1), some(5)],
        np.where,
        [some(5) > 0, some(5), some(7)],
        "where: the shapes [T.Select(n == 1, m, n) = 5] and [k = 7] do not broadcast: "
        "T.Select(n == 1, m, n) = 5 against k = 7 in dimension 1 from the end",
    ),
    "concat": (
        [tensor("a", "n", "k"), tensor("b", "m", "j")],
        "R.concat((a, b), axis=0)",
        [some(5, 3), some(2, 3)],
        lambda a, b: np.concatenate([a, b]),
        [some(5, 3), some(2, 4)],
        "concat: tensor 0 is [n = 5, k = 3], but tensor 1 is [m = 2, j = 4]: they differ in dimension 1",
    ),
    "stack": (
        [tensor("a", "n"), tensor("b", "m")],
        "R.stack((a, b), axis=0)",
        [some(5), some(5)],
        lambda a, b: np.stack([a, b]),
        [some(5), some(7)],
        "stack: tensor 0 is [n = 5], but tensor 1 is [m = 7]",
    ),
    "einsum": (
        [tensor("a", "n", "k"), tensor("b", "m", "j")],
        'R.einsum((a, b), subscripts="nk,mk->nm")',
        [some(5, 7), some(3, 7)],
        lambda a, b: np.einsum("nk,mk->nm", a, b),
        [some(5, 7), some(3, 9)],
        "einsum: dimension k has extent k = 7, but is j = 9 in operand 1 [m = 3, j = 9]",
    ),
    "einsum of a diagonal": (
        [tensor("a", "n", "m")],
        'R.einsum((a,), subscripts="ii->i")',
        [some(5, 5)],
        np.diag,
        [some(5, 1)],
        "einsum: the diagonal of operand 0 [n = 5, m = 1] has extents n = 5 and m = 1",
    ),
    "conv2d_transpose": (
        [tensor("a", 1, 1, "h", 1), tensor("b", 1, 1, 1, 1)],
        "R.nn.conv2d_transpose(a, b)",
        [some(1, 1, 5, 1), np.ones((1, 1, 1, 1), "float32")],
        lambda a, b: a,
        [some(1, 1, 0, 1), np.ones((1, 1, 1, 1), "float32")],
        "nn.conv2d_transpose: data [1, 1, h = 0, 1] by weight [1, 1, 1, 1] with padding 0 leaves h = 0 elements of dimension 2",
    ),
    "linear": (
        [tensor("a", "n", "k"), tensor("b", 3, 7)],
        "R.linear(a, b)",
        [some(5, 7), some(3, 7)],
        lambda a, b: a @ b.T,
        [some(5, 6), some(3, 7)],
        "linear: data is [n = 5, k = 6], weight is [3, 7]: contracted lengths k = 6 and 7 differ",
    ),
    "layer_norm": (
        [tensor("a", "n", "k"), tensor("b", 7), tensor("c", 7)],
        "R.nn.layer_norm(a, b, c, axes=[-1])",
        [some(5, 7), some(7), some(7)],
        lambda a, b, c: (a - a.mean(-1, keepdims=True)) / np.sqrt(a.var(-1, keepdims=True) + 1e-5) * b + c,
        [some(5, 9), some(7), some(7)],
        "nn.layer_norm: gamma is [7], expected [k = 9] as data is [n = 5, k = 9]",
    ),
    "conv2d": (
        [tensor("a", "n", "c", 5, 5), tensor("b", 2, 3, 1, 1)],
        "R.nn.conv2d(a, b)",
        [some(2, 3, 5, 5), some(2, 3, 1, 1)],
        lambda a, b: np.einsum("nchw,oc->nohw", a, b[:, :, 0, 0]),
        [some(2, 4, 5, 5), some(2, 3, 1, 1)],
        "nn.conv2d: data is [n = 2, c = 4, 5, 5] with c = 4 channels, weight is [2, 3, 1, 1] for 3 channels in 1 group",
    ),
    "conv2d of small pictures": (
        [tensor("a", 1, 1, "h", "w"), tensor("b", 1, 1, 3, 3)],
        "R.nn.conv2d(a, b)",
        [some(1, 1, 3, 3), some(1, 1, 3, 3)],
        lambda a, b: (a * b).sum().reshape(1, 1, 1, 1),
        [some(1, 1, 5, 2), some(1, 1, 3, 3)],
        "nn.conv2d: the window of weight [1, 1, 3, 3] is larger than data [1, 1, h = 5, w = 2] with padding 0",
    ),
    "max_pool2d": (
        [tensor("a", 1, 1, "h", "w")],
        "R.nn.max_pool2d(a, pool_size=[3, 3])",
        [some(1, 1, 3, 3)],
        lambda a: a.max().reshape(1, 1, 1, 1),
        [some(1, 1, 2, 3)],
        "nn.max_pool2d: the window of 3 is larger than data [1, 1, h = 2, w = 3] with padding 0",
    ),
    "split": (
        [tensor("a", "n", "k")],
        "R.split(a, indices_or_sections=[3], axis=1)[1]",
        [some(5, 7)],
        lambda a: a[:, 3:],
        [some(5, 2)],
        "split: the piece that begins at 3 is outside of 0 to k = 2",
    ),
    "topk": (
        [tensor("a", "n", "k")],
        'R.topk(a, k=5, axis=1, ret_type="values")',
        [some(3, 7)],
        lambda a: -np.sort(-a, axis=1)[:, :5],
        [some(3, 4)],
        "topk: k is 5, but the dimension has k = 4 elements",
    ),
    "pad reflect": (
        [tensor("a", "n")],
        'R.nn.pad(a, pad_width=[3, 3], pad_mode="reflect")',
        [some(7)],
        lambda a: np.pad(a, 3, mode="reflect"),
        [some(3)],
        "nn.pad: dimension 0 of n = 3 elements cannot be mirrored by 3",
    ),
    "pad edge": (
        [tensor("a", "n")],
        'R.nn.pad(a, pad_width=[3, 3], pad_mode="replicate")',
        [some(7)],
        lambda a: np.pad(a, 3, mode="edge"),
        [some(0)],
        "nn.pad: dimension 0 of data [n = 0] has no elements to repeat",
    ),
    "pad negative": (
        [tensor("a", "n")],
        "R.nn.pad(a, pad_width=[-3, -3])",
        [some(7)],
        lambda a: a[3:4],
        [some(5)],
        "nn.pad: pad_width leaves n - 6 = -1 elements of dimension 0",
    ),
    "broadcast_to": (
        [tensor("a", "n", "k")],
        "R.broadcast_to(a, R.shape([5, 7]))",
        [some(1, 7)],
        lambda a: np.broadcast_to(a, (5, 7)),
        [some(3, 7)],
        "broadcast_to: x is [n = 3, k = 7], which does not broadcast to [5, 7]",
    ),
    "reshape": (
        [tensor("a", "n", "k")],
        "R.reshape(a, R.shape([-1, 4]))",
        [some(2, 6)],
        lambda a: a.reshape(-1, 4),
        [some(2, 7)],
        "reshape: x is [n = 2, k = 7] with n * k = 14 elements, which do not divide into shape [-1, 4]",
    ),
    "squeeze": (
        [tensor("a", "n", "k")],
        "R.squeeze(a, axis=[1])",
        [some(5, 1)],
        lambda a: a[:, 0],
        [some(5, 7)],
        "squeeze: dimension 1 of x [n = 5, k = 7] has extent k = 7, expected 1",
    ),
    "gather_elements": (
        [tensor("a", "n", "k"), tensor("b", "m", "j", dtype="int64")],
        "R.gather_elements(a, b, axis=1)",
        [some(5, 7), np.array([[6, 0], [1, 1]])],
        lambda a, b: np.take_along_axis(a[:2], b, 1),
        [some(2, 7), np.zeros((3, 2), "int64")],
        "gather_elements: indices is [m = 3, j = 2], which is larger than data [n = 2, k = 7] in dimension 0",
    ),
    "take": (
        [tensor("a", "n"), tensor("b", "m", dtype="int64")],
        'R.take(a, b, axis=0, mode="clip")',
        [some(5), np.array([1, 2, 3])],
        lambda a, b: a[b],
        [some(0), np.array([1, 2, 3])],
        "take: dimension 0 of x [n = 0] has no elements for indices [m = 3]",
    ),
    "prelu": (
        [tensor("a", "n", "c", 3), tensor("b", "d")],
        "R.nn.prelu(a, b, axis=1)",
        [some(2, 5, 3), some(5)],
        lambda a, b: np.where(a > 0, a, a * b[:, None]),
        [some(2, 5, 3), some(4)],
        "nn.prelu: alpha is [d = 4], which does not broadcast to dimension 1 of data [n = 2, c = 5, 3]",
    ),
    "strided_slice": (
        [tensor("a", "n")],
        "R.strided_slice(a, axes=[0], begin=[2], end=[5], assume_inbound=True)",
        [some(7)],
        lambda a: a[2:5],
        [some(4)],
        "strided_slice: elements 2 to 4 of dimension 0 are asked for, but x is [n = 4]",
    ),
    "nll_loss": (
        [tensor("p", "n", "c"), tensor("t", "n", dtype="int64"), tensor("w", "k")],
        'R.nn.nll_loss(p, t, w, reduction="sum")',
        [some(3, 4), np.array([0, 1, 3]), np.ones(4, "float32")],
        lambda p, t, w: -p[np.arange(3), t].sum(),
        [some(3, 4), np.array([0, 1, 3]), np.ones(2, "float32")],
        "nn.nll_loss: weights is [k = 2], expected one number for each class of predictions [n = 3, c = 4]",
    ),
    "multinomial_from_uniform": (
        [tensor("p", "n", 3), tensor("u", "m", 1), tensor("i", "j", 1, dtype="int64")],
        'R.multinomial_from_uniform(p, u, i, dtype="int64")',
        [np.eye(3, dtype="float32"), np.full((2, 1), 0.5, "float32"), np.array([[2], [0]])],
        lambda p, u, i: i,
        [np.eye(3, dtype="float32"), np.full((2, 1), 0.5, "float32"), np.zeros((5, 1), "int64")],
        "multinomial_from_uniform: uniform_sample is [m = 2, 1], but sample_indices is [j = 5, 1]",
    ),
    "attention": (
        [tensor("q", 1, "s", 2, 4), tensor("k", 1, "t", 2, 4), tensor("v", 1, "u", 2, 4)],
        "R.nn.attention(q, k, v)",
        [some(1, 5, 2, 4), some(1, 1, 2, 4), some(1, 1, 2, 4)],
        lambda q, k, v: np.broadcast_to(v, q.shape),
        [some(1, 5, 2, 4), some(1, 7, 2, 4), some(1, 6, 2, 4)],
        "nn.attention: key is [1, t = 7, 2, 4], but value is [1, u = 6, 2, 4]: they differ in dimension 1",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_legal_call_computes(name):
    params, body, arrays, expected, _, _ = CASES[name]
    result = compiled(", ".join(params), body)(*arrays).numpy()
    np.testing.assert_allclose(result, expected(*arrays), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_an_illegal_call_is_refused(name):
    params, body, _, _, arrays, text = CASES[name]
    assert first_line(compiled(", ".join(params), body), *arrays) == f"error: main: {text}"


def test_a_slice_to_an_open_end():
    run = tw.VirtualMachine(
        tw.compile(
            parse("""
@R.function
def main(a: R.Tensor(("n",), "float32"), b: R.Tensor(("k",), "float32")):
    k = T.int64()
    y = R.strided_slice(a, axes=[0], begin=[2], end=[k], assume_inbound=True)
    return y
""")
        )
    )["main"]
    np.testing.assert_array_equal(run(some(7), some(5)).numpy(), some(7)[2:5])
    assert first_line(run, some(7), some(1)) == (
        "error: main: strided_slice: the slice of dimension 0 of x [n = 7] has k - 2 = -1 elements"
    )


def refused(params, body):
    with pytest.raises((UserError, Unsupported)) as error:
        compiled(", ".join(params), body)
    return str(error.value).split("\n")[0]


def test_boxes_of_unknown_number_are_not_suppressed():
    text = refused(
        [tensor("x", 1, 5, 6), 'c: R.Tensor(ndim=1, dtype="int32")', tensor("i", 1, 5, dtype="int32")],
        "R.vision.non_max_suppression(x, c, i)[0]",
    )
    assert text == (
        "unsupported: vision.non_max_suppression: the shapes of valid_count and indices are known only at run time"
    )


def test_a_requirement_is_about_extents():
    text = refused(['x: R.Tensor(("n",), "float32")', 'c: R.Tensor((), "bool")'], 'R.require(c, R.str("no"))')
    assert text == "error: require: the condition is no expression of extents, or the format no string"


@pytest.mark.parametrize("extents", list(itertools.product((1, 5), repeat=3)))
def test_extents_of_one_broadcast_when_the_graph_runs(extents):
    """Any of the three extents may be 1 when the graph runs."""
    run = compiled(", ".join([tensor("a", "n"), tensor("b", "m"), tensor("c", "k")]), "R.add(R.add(a, b), c)")
    a, b, c = (some(extent) for extent in extents)
    np.testing.assert_array_equal(run(a, b, c).numpy(), a + b + c)


def test_an_extent_of_none_broadcasts():
    run = compiled(", ".join([tensor("a", "n"), tensor("b", "m")]), "R.add(a, b)")
    assert run(some(0), some(1)).shape == (0,)


def test_what_is_stated_is_not_stated_again():
    module = module_of("""
@R.function
def main(x: R.Tensor(("n", "k"), "float32"), w: R.Tensor((7, 7), "float32")):
    with R.dataflow():
        a = R.matmul(x, w)
        b = R.matmul(x, w)
        y = R.add(a, b)
        R.output(y)
    return y
""")
    stated = tw.relax.transform.RequireExtents()(module)
    assert stated.script().count("R.require(") == 1
    assert tw.relax.transform.RequireExtents()(stated) is stated
    tw.ir.assert_structural_equal(parse(stated.script()), stated)


def test_fixed_extents_state_nothing():
    module = module_of("""
@R.function
def main(x: R.Tensor(("n", 7), "float32"), w: R.Tensor((7, 3), "float32")):
    with R.dataflow():
        y = R.matmul(x, w)
        R.output(y)
    return y
""")
    assert tw.relax.transform.RequireExtents()(module) is module


def test_extents_of_a_cast_are_asked_for_behind_it():
    run = tw.VirtualMachine(
        tw.compile(
            parse("""
@R.function
def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(ndim=1, dtype="float32")):
    z = R.match_cast(y, R.Tensor(("m",), "float32"))
    w = R.add(x, z)
    return w
""")
        )
    )["main"]
    np.testing.assert_array_equal(run(some(5), some(5)).numpy(), some(5) * 2)
    assert first_line(run, some(5), some(7)) == (
        "error: main: add: the shapes [n = 5] and [m = 7] do not broadcast: n = 5 against m = 7 in dimension 1 from the end"
    )


def test_a_branch_asks_for_what_it_computes():
    run = tw.VirtualMachine(
        tw.compile(
            parse("""
@R.function
def main(c: R.Tensor((), "bool"), x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")):
    if c:
        a = R.matmul(x, y)
        r = R.reshape(a, R.shape([1]))
    else:
        b = R.sum(y)
        r = R.reshape(b, R.shape([1]))
    return r
""")
        )
    )["main"]
    no, yes = np.array(False), np.array(True)
    np.testing.assert_allclose(run(no, some(5), some(7)).numpy(), [some(7).sum()], rtol=1e-6)
    assert first_line(run, yes, some(5), some(7)) == (
        "error: main: matmul: x1 is [n = 5], x2 is [m = 7]: contracted lengths n = 5 and m = 7 differ"
    )


@pytest.mark.parametrize("extent", [0, '"n"'])
def test_the_largest_of_nothing_has_no_position(extent):
    with pytest.raises(UserError) as error:
        run = compiled(f'x: R.Tensor((5, {extent}), "float32")', "R.argmax(x, axis=1)")
        run(some(5, 0))
    assert (
        str(error.value)
        .split("\n")[0]
        .endswith(
            f"dimension 1 of x [5, {'0' if extent == 0 else 'n = 0'}] has no elements: there is no largest or smallest one"
        )
    )


def test_the_largest_of_each_of_no_rows():
    run = compiled('x: R.Tensor(("n", 5), "float32")', "R.argmax(x, axis=1)")
    assert run(some(0, 5)).shape == (0,)


@pytest.mark.parametrize("declared", [("n", 4), ("n", "n")])
def test_a_declared_result_is_asked_for(declared):
    run = tw.VirtualMachine(
        tw.compile(
            parse(f"""
@R.function
def main(x: R.Tensor(("n", "m"), "float32")) -> R.Tensor({declared}, "float32"):
    y = R.add(x, x)
    return y
""")
        )
    )["main"]
    assert run(some(4, 4)).shape == (4, 4)
    text = {4: "4", "n": "n = 5"}[declared[1]]
    assert first_line(run, some(5, 3)) == (
        f"error: main: result is [n = 5, m = 3], but [n = 5, {text}] is declared"
    )


def test_extents_that_grow_without_end_are_refused():
    count = 24
    params = ", ".join(tensor(f"x{n}", f"n{n}") for n in range(count))
    steps = "\n".join(
        f"        s{n} = R.add({'x0' if n == 1 else f's{n - 1}'}, x{n})" for n in range(1, count)
    )
    with pytest.raises(Unsupported) as error:
        parse(
            f"@R.function\ndef main({params}):\n    with R.dataflow():\n{steps}\n        R.output(s{count - 1})\n    return s{count - 1}\n"
        )
    assert str(error.value).split("\n")[0] == (
        "unsupported: the extents of the broadcast shape have more than 2000 nodes"
    )


def collapsed(x, shape):
    """x, of float64, summed where a tensor of `shape` is repeated to become like it."""
    x = x.astype("float64").sum(tuple(range(x.ndim - len(shape))))
    ones = tuple(axis for axis, extent in enumerate(shape) if extent == 1)
    return x.sum(ones, keepdims=True) if ones else x


COLLAPSED = [
    (("a", "b"), ("m", "n"), [((5, 7), shape) for shape in [(5, 7), (1, 7), (5, 1), (1, 1)]]),
    (("a", "b"), ("m", "n"), [((1, 7), (1, 1)), ((1, 1), (1, 1)), ((0, 7), (1, 7)), ((0, 7), (0, 7))]),
    (("a", "b", "c"), ("n", "c"), [((2, 5, 7), (5, 7)), ((2, 5, 7), (1, 7))]),
    ((3, "b"), ("m", "b"), [((3, 7), (3, 7)), ((3, 7), (1, 7))]),
    (("a", 7), (3, "n"), [((3, 7), (3, 7)), ((3, 7), (3, 1))]),
    (("n",), (), [((5,), ())]),
]


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
@pytest.mark.parametrize(("given", "target", "calls"), COLLAPSED, ids=str)
def test_collapse_sum_to_extents_that_are_one_when_the_graph_runs(given, target, calls, dtype):
    wanted = f'R.Tensor(({", ".join(map(repr, target))}{"," * (len(target) == 1)}), "{dtype}")'
    run = compiled(f"{tensor('x', *given, dtype=dtype)}, t: {wanted}", "R.collapse_sum_like(x, t)")
    for shape, to in calls:
        x = (4 * some(*shape)).astype(dtype)
        near = 2e-3 if dtype == "float16" else 1e-6
        np.testing.assert_allclose(
            run(x, np.zeros(to, dtype)).numpy(), collapsed(x, to), rtol=near, atol=10 * near
        )


def test_collapse_sum_to_extents_that_are_neither_one_nor_those_of_the_data():
    params = f"{tensor('x', 'a', 7)}, {tensor('t', 3, 'n')}"
    run = compiled(params, "R.collapse_sum_like(x, t)")
    assert first_line(run, some(3, 7), some(3, 2)) == (
        "error: main: collapse_sum_like: data is [a = 3, 7], which [3, n = 2] does not broadcast to"
    )


@pytest.mark.hand_made
def test_collapse_sum_to_a_shape_made_in_python_shows_plain_numbers():
    builder, n = tw.relax.BlockBuilder(), tw.tir.Var("n", "int64")
    x = tw.relax.Var("x", tw.relax.TensorType((n,), "float32"))
    with builder.function("main", [x]):
        builder.emit_func_output(builder.emit(tw.relax.op.collapse_sum_to(x, tw.relax.ShapeExpr([4]))))
    run = tw.VirtualMachine(tw.compile(builder.get()))["main"]
    assert first_line(run, some(3)) == (
        "error: main: collapse_sum_to: data is [n = 3], which [4] does not broadcast to"
    )
