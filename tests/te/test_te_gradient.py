"""te.gradient: against torch on odd shapes, and against finite differences."""

import numpy
import pytest
import torch

import tilewright
from tilewright import te, tir


def numbers(*shape, seed=0):
    return numpy.random.default_rng(seed).standard_normal(shape)


def evaluated(outputs, inputs: dict):
    """The values of `outputs`; inputs are {placeholder: array}."""
    results = [tilewright.empty([int(e) for e in each.shape], each.dtype) for each in outputs]
    func = te.create_prim_func([*inputs, *outputs])
    lib = tilewright.compile(func, target="llvm")
    lib["main"](*map(tilewright.tensor, inputs.values()), *results)
    return [each.numpy() for each in results]


def close_to_torch(output, arrays: dict, in_torch, tolerance=1e-8):
    """Gradients of `output` by all of `arrays`, {placeholder: array}, are those that torch has of `in_torch`."""
    head = te.placeholder(output.shape, output.dtype, name="head")
    found = te.gradient(output, list(arrays), head)
    given = numbers(*[int(e) for e in output.shape], seed=1).astype(output.dtype)
    results = evaluated(found, {**arrays, head: given})
    tensors = [torch.tensor(array, requires_grad=True) for array in arrays.values()]
    in_torch(*tensors).backward(torch.tensor(given))
    for result, tensor in zip(results, tensors, strict=True):
        numpy.testing.assert_allclose(result, tensor.grad.numpy(), rtol=tolerance, atol=tolerance)
    return found


A = te.placeholder((5, 7), "float64", name="A")
B = te.placeholder((7, 3), "float64", name="B")
V = te.placeholder((7,), "float64", name="V")

UNARY = {
    "exp": torch.exp, "exp2": torch.exp2, "log": lambda x: torch.log(x), "log2": torch.log2, "log10": torch.log10,
    "log1p": torch.log1p, "sqrt": torch.sqrt, "rsqrt": torch.rsqrt, "sin": torch.sin, "cos": torch.cos,
    "tan": torch.tan, "asin": torch.asin, "acos": torch.acos, "atan": torch.atan, "sinh": torch.sinh,
    "cosh": torch.cosh, "tanh": torch.tanh, "asinh": torch.asinh, "atanh": torch.atanh,
    "sigmoid": torch.sigmoid, "erf": torch.erf, "abs": torch.abs, "floor": torch.floor,
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_value(name):
    x = numpy.random.default_rng(0).uniform(0.1, 0.9, (5, 7))
    C = te.compute((5, 7), lambda i, j: getattr(tir, name)(A[i, j]), name="C")
    close_to_torch(C, {A: x}, UNARY[name], 1e-6)


def test_acosh():
    C = te.compute((5, 7), lambda i, j: tir.acosh(A[i, j]), name="C")
    close_to_torch(C, {A: numbers(5, 7) ** 2 + 1.5}, torch.acosh, 1e-6)


def test_arithmetic():
    C = te.compute((5, 7), lambda i, j: (A[i, j] * V[j] - V[j]) / (A[i, j] * A[i, j] + 1.0), name="C")
    close_to_torch(C, {A: numbers(5, 7), V: numbers(7)}, lambda a, v: (a * v - v) / (a * a + 1))


def test_powers():
    C = te.compute((5, 7), lambda i, j: tir.pow(A[i, j], V[j]), name="C")
    close_to_torch(C, {A: numbers(5, 7) ** 2 + 0.1, V: numbers(7)}, lambda a, v: a**v, 1e-6)


def test_choices():
    C = te.compute(
        (5, 7),
        lambda i, j: te.max(A[i, j], V[j]) + tir.if_then_else(j > 2, te.min(A[i, j], 0.5), V[j]),
        name="C",
    )

    def in_torch(a, v):
        right = torch.arange(7) > 2
        return torch.maximum(a, v) + torch.where(right, torch.clamp(a, max=0.5), v)

    close_to_torch(C, {A: numbers(5, 7), V: numbers(7, seed=1)}, in_torch)


def test_matmul_has_no_condition_left():
    k = te.reduce_axis((0, 7), "k")
    C = te.compute((5, 3), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    found = close_to_torch(C, {A: numbers(5, 7), B: numbers(7, 3)}, torch.matmul)
    for tensor in found:
        assert tensor.op.body[0].condition is None
        assert len(tensor.op.reduce_axis) == 1


@pytest.mark.parametrize("stride", [1, 2, 3])
def test_convolutions(stride):
    size = (11 + 2 - 3) // stride + 1
    X = te.placeholder((2, 3, 11, 11), "float64", name="X")
    W = te.placeholder((5, 3, 3, 3), "float64", name="W")
    padded = te.compute(
        (2, 3, 13, 13),
        lambda n, c, y, x: tir.if_then_else(
            tir.all(y >= 1, y < 12, x >= 1, x < 12), X[n, c, y - 1, x - 1], tir.const(0.0, "float64")
        ),
        name="padded",
    )
    c, ky, kx = te.reduce_axis((0, 3), "c"), te.reduce_axis((0, 3), "ky"), te.reduce_axis((0, 3), "kx")
    Y = te.compute(
        (2, 5, size, size),
        lambda n, o, y, x: te.sum(
            padded[n, c, y * stride + ky, x * stride + kx] * W[o, c, ky, kx], axis=[c, ky, kx]
        ),
        name="Y",
    )
    found = close_to_torch(
        Y,
        {X: numbers(2, 3, 11, 11), W: numbers(5, 3, 3, 3)},
        lambda x, w: torch.nn.functional.conv2d(x, w, stride=stride, padding=1),
    )
    assert len(found[1].op.reduce_axis) == 3  # n, y, x


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
def test_reductions(name):
    k = te.reduce_axis((0, 7), "k")
    C = te.compute((5,), lambda i: getattr(te, name)(A[i, k] * V[k], axis=k), name="C")
    in_torch = {
        "sum": lambda a, v: (a * v).sum(1),
        "prod": lambda a, v: (a * v).prod(1),
        "max": lambda a, v: (a * v).amax(1),
        "min": lambda a, v: (a * v).amin(1),
    }[name]
    close_to_torch(C, {A: numbers(5, 7), V: numbers(7)}, in_torch)


def test_equal_largest_terms_share_and_products_may_hold_zeros():
    k = te.reduce_axis((0, 7), "k")
    largest = te.compute((5,), lambda i: te.max(A[i, k], axis=k), name="largest")
    product = te.compute((5,), lambda i: te.prod(A[i, k], axis=k), name="product")
    a = numpy.round(numbers(5, 7))
    assert (a == 0).any()
    close_to_torch(largest, {A: a}, lambda x: x.amax(1))
    close_to_torch(product, {A: a}, lambda x: x.prod(1))


def test_reductions_with_a_condition():
    k = te.reduce_axis((0, 7), "k")
    C = te.compute((5,), lambda i: te.sum(A[i, k] * A[i, k], axis=k, where=k < i), name="C")
    close_to_torch(C, {A: numbers(5, 7)}, lambda a: (torch.tril(a, -1) ** 2).sum(1))


def test_indices():
    C = te.compute((35,), lambda i: A[i // 7, i % 7] * A[i // 7, i % 7], name="C")
    close_to_torch(C, {A: numbers(5, 7)}, lambda a: (a * a).reshape(35))
    D = te.compute((7, 5), lambda i, j: A[4 - j, i] + A[j, 0], name="D")
    close_to_torch(D, {A: numbers(5, 7)}, lambda a: a.flip(0).T + a[:, 0])
    E = te.compute((5, 4), lambda i, j: A[i, 2 * j] * V[j], name="E")
    close_to_torch(E, {A: numbers(5, 7), V: numbers(7)}, lambda a, v: a[:, ::2] * v[:4])
    F = te.compute((5,), lambda i: A[i, i // 2] + V[3], name="F")
    rows = torch.arange(5)
    close_to_torch(F, {A: numbers(5, 7), V: numbers(7)}, lambda a, v: a[rows, rows // 2] + v[3])


def test_several_computations_and_uses():
    k = te.reduce_axis((0, 7), "k")
    product = te.compute((5, 3), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="product")
    active = te.compute((5, 3), lambda i, j: tir.tanh(product[i, j]), name="active")
    C = te.compute((5, 3), lambda i, j: active[i, j] * product[i, j] + active[i, 0], name="C")

    def in_torch(a, b):
        active = torch.tanh(a @ b)
        return active * (a @ b) + active[:, :1]

    close_to_torch(C, {A: numbers(5, 7), B: numbers(7, 3)}, in_torch)


def test_all_derivatives_without_a_head():
    k = te.reduce_axis((0, 7), "k")
    C = te.compute((5,), lambda i: te.sum(A[i, k] * A[i, k] * V[k], axis=k), name="C")
    a, v = numbers(5, 7), numbers(7)
    results = evaluated(te.gradient(C, [A, V, C]), {A: a, V: v})
    expected = torch.autograd.functional.jacobian(
        lambda x, y: (x * x * y).sum(1), (torch.tensor(a), torch.tensor(v))
    )
    for result, each in zip(results, [*expected, torch.eye(5)], strict=True):
        numpy.testing.assert_allclose(result, each.numpy(), atol=1e-9)


def test_heads_with_more_dimensions():
    C = te.compute((7,), lambda i: V[i] * V[i], name="C")
    head = te.placeholder((3, 7), "float64", name="head")
    v, h = numbers(7), numbers(3, 7)
    (result,) = evaluated(te.gradient(C, V, head), {V: v, head: h})
    numpy.testing.assert_allclose(result, h * 2 * v)


def test_finite_differences_in_float32():
    x = te.placeholder((7,), name="x")
    C = te.compute((7,), lambda i: tir.sin(x[i]) * x[6 - i], name="C")
    head = te.placeholder((7,), name="head")
    given = numbers(7).astype("float32")
    (result,) = evaluated(te.gradient(C, [x], head), {x: given, head: numpy.ones(7, "float32")})
    step = 1e-5
    wide = given.astype("float64")
    value = lambda v: (numpy.sin(v) * v[::-1]).sum()  # noqa: E731
    expected = [(value(wide + step * unit) - value(wide - step * unit)) / (2 * step) for unit in numpy.eye(7)]
    numpy.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


def test_open_extents():
    n = te.var("n")
    X = te.placeholder((n, 7), "float64", name="X")
    k = te.reduce_axis((0, n), "k")
    C = te.compute((7,), lambda j: te.sum(X[k, j] * X[k, j], axis=k), name="C")
    head = te.placeholder((7,), "float64", name="head")
    lib = tilewright.compile(te.create_prim_func([X, head, *te.gradient(C, [X], head)]), target="llvm")
    for rows in (1, 5):
        x, h = numbers(rows, 7), numbers(7, seed=1)
        result = tilewright.empty([rows, 7], "float64")
        lib["main"](tilewright.tensor(x), tilewright.tensor(h), result)
        numpy.testing.assert_allclose(result.numpy(), 2 * x * h)


def test_what_it_does_not_depend_on_has_zeros():
    C = te.compute((7,), lambda i: V[i] + 0.0, name="C")
    (result,) = evaluated([te.gradient(C, [A])[0]], {A: numbers(5, 7)})
    assert result.shape == (7, 5, 7) and not result.any()


def refusal(error, *args) -> str:
    with pytest.raises(error) as caught:
        te.gradient(*args)
    return str(caught.value)


def test_errors():
    C = te.compute((7,), lambda i: V[i] * 2.0, name="C")
    number = te.placeholder((7,), "int32", name="number")
    user, beyond = tilewright.UserError, tilewright.Unsupported
    assert refusal(user, C, [number]) == "error: te.gradient: input number is int32, expected floats"
    assert refusal(user, number, [V]) == "error: te.gradient: number is int32, expected floats"
    assert refusal(user, C, [V], te.placeholder((5,), "float64")) == (
        "error: te.gradient: the head is float64 [5], and C is float64 [7]\n"
        "help: the last dimensions of the head are those of the output"
    )
    k = te.reduce_axis((0, 7), "k")
    D = te.compute((1,), lambda i: te.sum(V[k], axis=k, init=V[0]), name="D")
    assert refusal(beyond, D, [V]) == (
        "unsupported: te.gradient: the reduction D has a starting value\nhelp: add it in a te.compute of its own"
    )
    own = te.comm_reducer(lambda x, y: x * y + x + y, lambda dtype: tir.const(0, dtype))
    E = te.compute((1,), lambda i: own(V[k], axis=k), name="E")
    assert refusal(beyond, E, [V]) == (
        "unsupported: te.gradient: E is none of the reductions sum, prod, max and min"
    )
    F = te.extern((7,), [V], lambda ins, outs: tir.call_packed("f", ins[0], outs[0]), name="F")
    assert refusal(beyond, F, [V]) == (
        "unsupported: te.gradient: F is computed by a statement of its own\nhelp: gradients are those of te.compute"
    )
    G = te.compute((7,), lambda i: tir.fmod(V[i], V[0]), name="G")
    assert (
        refusal(beyond, G, [V])
        == "unsupported: te.gradient: T.fmod(<te.Tensor>[i], <te.Tensor>[0]) has no derivative"
    )
