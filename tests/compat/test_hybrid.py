"""te.hybrid.script: numbers against numpy, as operation and as Python, and every error text with its line."""

import linecache

import numpy
import pytest

import tilewright
from tilewright import te
from tilewright.compat import hybrid


def made(text: str):
    """The function `f` of `text`, whose file is called test.py."""
    lines = [f"{line}\n" for line in text.strip("\n").split("\n")]
    linecache.cache["test.py"] = (sum(map(len, lines)), None, lines, "test.py")
    names: dict = {}
    exec(compile("".join(lines), "test.py", "exec"), names)
    return hybrid.script(names["f"])


def numbers(*shape, dtype="float32"):
    return numpy.random.default_rng(0).standard_normal(shape).astype(dtype)


def run(function, *arrays):
    """The results of the operation, and of the Python function."""
    inputs = [te.placeholder(array.shape, str(array.dtype), name=f"x{n}") for n, array in enumerate(arrays)]
    outputs = function(*inputs)
    outputs = outputs if isinstance(outputs, list) else [outputs]
    results = [tilewright.empty([int(e) for e in each.shape], each.dtype) for each in outputs]
    func = te.create_prim_func([*inputs, *outputs])
    tilewright.compile(func, target="llvm")["main"](*map(tilewright.tensor, arrays), *results)
    plain = function(*arrays)
    return [each.numpy() for each in results], list(plain) if isinstance(plain, tuple) else [plain]


CUMULATIVE = """
def f(a):
    b = output_tensor(a.shape, a.dtype)
    for j in range(a.shape[1]):
        b[0, j] = a[0, j]
    for i in range(1, a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = b[i - 1, j] + a[i, j]
    return b
"""
PIECES = """
def f(a):
    b = output_tensor(a.shape, a.dtype)
    largest = output_tensor((a.shape[0],), a.dtype)
    for i in parallel(a.shape[0]):
        total = 0.0
        row = allocate((a.shape[1],), a.dtype, "local")
        for j in serial(a.shape[1]):
            if a[i, j] > 0.0 and not (j == 2 or j == 4):
                row[j] = sqrt(abs(a[i, j])) + exp(a[i, j] * -1.0)
            elif 0 <= j < 1:
                row[j] = tanh(a[i, j]) ** 2.0
            else:
                row[j] = 0.5 if j % 2 == 0 else 0.25
            total += row[j]
        for j in unroll(a.shape[1]):
            b[i, j] = row[j] / max(total, 1.0)
        best = a[i, 0]
        for j in const_range(1, 7):
            best = max(best, a[i, j])
        largest[i] = best
    return b, largest
"""


@pytest.mark.parametrize("text", [CUMULATIVE, PIECES])
def test_an_operation_computes_what_the_python_function_does(text):
    results, plain = run(made(text), numbers(5, 7))
    for result, expected in zip(results, plain, strict=True):
        numpy.testing.assert_allclose(result, expected, rtol=1e-5)


def test_cumulative_sums_are_those_of_numpy():
    a = numbers(127, 5)
    results, _ = run(made(CUMULATIVE), a)
    numpy.testing.assert_allclose(results[0], numpy.cumsum(a, axis=0), rtol=1e-4, atol=1e-5)


def test_open_extents():
    n = te.var("n")
    a = te.placeholder((n, 7), name="a")
    lib = tilewright.compile(te.create_prim_func([a, made(CUMULATIVE)(a)]), target="llvm")
    for rows in (1, 5):
        x = numbers(rows, 7)
        result = tilewright.empty([rows, 7], "float32")
        lib["main"](tilewright.tensor(x), result)
        numpy.testing.assert_allclose(result.numpy(), numpy.cumsum(x, axis=0), rtol=1e-4, atol=1e-5)


def test_names_from_around_and_arguments_that_are_no_tensors():
    function = made("""
def f(a, times):
    b = output_tensor(a.shape, a.dtype)
    assert times > 1, "once is not enough"
    for i in range(len(a)):
        b[i] = a[i] * times + int32(popcount(6)) + ceil_div(7, 2)
    return b
""")
    a = te.placeholder((5,), name="a")
    func = te.create_prim_func([a, function(a, 3)])
    x, result = numbers(5), tilewright.empty([5], "float32")
    tilewright.compile(func, target="llvm")["main"](tilewright.tensor(x), result)
    numpy.testing.assert_allclose(result.numpy(), x * 3 + 2 + 4, rtol=1e-6)


# (body after `b = output_tensor(a.shape, a.dtype)`, what is wrong, the line in test.py, what the carets are below of, help)
WRONG = [
    ("b[0] = c", "missing", "c is not defined here", "c", ""),
    (
        "a[0] = 1.0",
        "",
        "this is no tensor that can be written",
        "a[0]",
        "output_tensor and allocate give such",
    ),
    ("b[0, 1] = 1.0", "", "b has 1 dimensions, but 2 indices are given", "b[0, 1]", ""),
    ("b = 1.0", "", "b is a tensor; assign to its elements", "b", ""),
    ("b[0] = a", "", "a Python Array is assigned, expected a number", "b[0]", ""),
    ("1 + 1", "", "a value that is not used", "1 + 1", ""),
    ("assert 1 > 2, 'no'", "", "no", "assert 1 > 2, 'no'", ""),
    (
        "c = output_tensor((1,), 'int32')",
        "",
        "this output_tensor is not returned",
        "output_tensor((1,), 'int32')",
        "",
    ),
    ("c = allocate()", "", "allocate needs a shape", "allocate()", 'as allocate((4, 8), "float32")'),
    ("b[0] = a.ndim", "", "tensors have no ndim here", "a.ndim", "there are shape and dtype"),
    ("b[0] = a.shape[a[0]]", "", "the index is not a constant", "a.shape[a[0]]", ""),
    (
        "for i in bind(3): b[0] = 1.0",
        "",
        "bind needs a thread axis and an extent",
        "bind(3)",
        'as bind("threadIdx.x", 64)',
    ),
    ("for i in range(): b[0] = 1.0", "", "range takes an end, or a begin and an end", "range()", ""),
    ("for i in const_range(a[0]): b[0] = 1.0", "", "const_range needs constants", "const_range(a[0])", ""),
    (
        "for i in range(3): c = output_tensor((1,))",
        "",
        "output_tensor inside of a loop or branch",
        "output_tensor((1,))",
        "",
    ),
    ("for i in range(3): return b", "", "return inside of a loop or branch", "return b", ""),
    ("return a", "", "only what output_tensor gave can be returned", "a", ""),
]
BEYOND = [
    (
        "while True: b[0] = 1.0",
        "a hybrid script has no While statement",
        "while True: b[0] = 1.0",
        "for, if, assignments, return and assert of constants are read",
    ),
    ("assert a[0] > 0.0", "only constants can be asserted", "assert a[0] > 0.0", ""),
    ("c = d = 1.0", "an assignment has one target", "c = d = 1.0", ""),
    ("b.x = 1.0", "only elements and scalars can be assigned", "b.x", ""),
    ("for i in a: b[0] = 1.0", "a loop runs over range(...) or one of its kinds", "a", ""),
    (
        "for i in zip(3): b[0] = 1.0",
        "a loop cannot run over zip",
        "zip(3)",
        "loops are range, serial, parallel, vectorized, vectorize, unroll, const_range, bind",
    ),
    ("b[0] = lambda: 1", "a hybrid script has no Lambda expression", "lambda: 1", ""),
    ("b[0] = a[0] @ a[0]", "a hybrid script has no operator MatMult", "a[0] @ a[0]", ""),
    ("b[0] = a[0] in a", "a hybrid script has no comparison In", "a[0] in a", ""),
]


def text_of(kind: str, body: str, message: str, marked: str, help_text: str) -> str:
    line = f"    {body}"
    # the place of an error is the last text that is marked
    start = line.rindex(marked)
    text = (
        f"{kind}: {message}\n  test.py:3:{start + 1}\n   3 | {line}\n     | {' ' * start}{'^' * len(marked)}"
    )
    return text + (f"\nhelp: {help_text}" if help_text else "")


def raised(body: str, error) -> str:
    function = made(f"def f(a):\n    b = output_tensor(a.shape, a.dtype)\n    {body}\n    return b")
    with pytest.raises(error) as caught:
        function(te.placeholder((5,), name="a"))
    return str(caught.value)


@pytest.mark.parametrize("body, _, message, marked, help_text", WRONG, ids=[each[0] for each in WRONG])
def test_what_is_wrong_stands_above_its_line(body, _, message, marked, help_text):
    expected = text_of("error", body, message, marked, help_text)
    if body.startswith(("a[0] =", "b[0, 1]", "b =", "b[0] = a")) and marked.split("[")[0] in ("a", "b"):
        start = 4 + body.index(marked)
        expected = expected.replace(f"test.py:3:{4 + body.rindex(marked) + 1}", f"test.py:3:{start + 1}")
        caret = f"     | {' ' * start}{'^' * len(marked)}"
        expected = "\n".join(
            caret if set(line[6:].strip()) == {"^"} and line.startswith("     |") else line
            for line in expected.split("\n")
        )
    assert raised(body, tilewright.UserError) == expected


@pytest.mark.parametrize("body, message, marked, help_text", BEYOND, ids=[each[0] for each in BEYOND])
def test_what_a_script_cannot_say_is_refused(body, message, marked, help_text):
    assert raised(body, tilewright.Unsupported) == text_of("unsupported", body, message, marked, help_text)


def test_calls_of_other_functions():
    expected = text_of(
        "error", "b[0] = gamma(1.0)", "gamma is no function of hybrid scripts", "gamma(1.0)", "there are "
    )
    assert raised("b[0] = gamma(1.0)", tilewright.UserError).startswith(expected)


def test_a_script_returns_a_tensor():
    function = made("def f(a):\n    c = 1")
    with pytest.raises(tilewright.UserError) as caught:
        function(te.placeholder((5,), name="a"))
    assert "error: f returns no tensor" in str(caught.value)
    assert str(caught.value).endswith("help: return what output_tensor gave")


def test_arguments_are_counted():
    with pytest.raises(tilewright.UserError) as caught:
        made(CUMULATIVE)(te.placeholder((5, 7)), 1)
    assert str(caught.value) == "te.hybrid.script: f takes 1 arguments, but 2 are given"


def test_the_source_is_needed():
    names: dict = {}
    exec("def f(a):\n    return a", names)
    with pytest.raises(tilewright.UserError) as caught:
        hybrid.script(names["f"])(te.placeholder((5,)))
    assert str(caught.value) == (
        "te.hybrid.script: the source of f cannot be found\nhelp: define it in a file or a notebook cell"
    )
