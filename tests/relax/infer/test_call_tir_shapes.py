"""R.call_tir with shapes that contradict the loop program is refused when it runs, alone and fused with others."""

import numpy as np
import pytest

import tilewright
from tilewright.script import parse

FIXED = ("A: T.Buffer(({n},), {dtype!r}), B: T.Buffer(({n},), {dtype!r})", "pass")
OPEN = (
    "a: T.handle, b: T.handle",
    "n = T.int64()\n        A = T.match_buffer(a, (n,))\n        B = T.match_buffer(b, (n,))",
)
X = np.arange(8, dtype="float32")


def program(name, extent, dtype="float32"):
    """B = A + 1 of an extent: a number, or "n"."""
    params, head = OPEN if extent == "n" else FIXED
    return f"""
    @T.prim_func(private=True)
    def {name}({params.format(n=extent, dtype=dtype)}):
        {head}
        for i in range({extent}):
            with T.block("{name}"):
                vi = T.axis.spatial({extent}, i)
                B[vi] = A[vi] + T.{dtype}(1)
"""


def refusal(programs, x, results, argument=X, dtype="float32") -> str:
    """Returns the error that a chain of calls raises; results: the extents that the graph says they have."""
    calls, name = "", "x"
    for n, extent in enumerate(results):
        calls += f'            y{n} = R.call_tir(cls.f{n}, ({name},), out_sinfo=R.Tensor(({extent},), "{dtype}"))\n'
        name = f"y{n}"
    functions = "".join(program(f"f{n}", extent, dtype) for n, extent in enumerate(programs))
    module = parse(f"""
@I.ir_module
class Module:
{functions}
    @R.function
    def main(x: R.Tensor(({x!r},), "float32")):
        k = T.int64()
        cls = Module
        with R.dataflow():
{calls}
            R.output({name})
        return {name}
""")
    main = tilewright.VirtualMachine(tilewright.compile(module))["main"]
    with pytest.raises(tilewright.UserError) as caught:
        main(argument)
    return str(caught.value)


@pytest.mark.parametrize(
    ("extent", "x", "result", "text"),
    [
        (8, 5, 8, "argument A has shape [5], expected [8]"),
        (8, 8, 5, "argument B has shape [5], expected [8]"),
        (8, "k", 8, "argument A has shape [5], expected [8]"),
        ("n", "k", 9, "argument B has shape [9], expected [5]"),
        ("n", "k", "k + 1", "argument B has shape [6], expected [5]"),
    ],
)
def test_one_call(extent, x, result, text):
    argument = X if x == 8 else X[:5]
    assert refusal([extent], x, [result], argument).startswith(
        f"error: f0: {text}\nhelp: the function is f0("
    )


@pytest.mark.parametrize(
    ("programs", "x", "results", "text"),
    [
        ([8, 5], 8, [5, 5], "f0: argument B has shape [5], expected [8]"),
        ([8, 5], 8, [8, 5], "f1: argument A has shape [8], expected [5]"),
        ([5, 8], 5, [8, 8], "f0: argument B has shape [8], expected [5]"),
        ([5, 8], 5, [5, 8], "f1: argument A has shape [5], expected [8]"),
        (["n", 8], "k", ["k", 8], "f1: argument A has shape [5], expected [8]"),
        ([8, "n"], "k", ["k", "k"], "f0: argument A has shape [5], expected [8]"),
        (["n", "n"], "k", ["k", "k + 1"], "f1: argument B has shape [6], expected [5]"),
        (["n", "n"], "k", ["k + 1", "k + 1"], "f0: argument B has shape [6], expected [5]"),
    ],
    ids=str,
)
def test_calls_that_would_be_fused(programs, x, results, text):
    argument = X if x == 8 else X[:5]
    assert refusal(programs, x, results, argument).startswith(f"error: {text}\n")


def test_another_dtype():
    assert refusal([8, 8], 8, [8, 8], dtype="int32").startswith(
        "error: f0: argument A has dtype float32, expected int32\n"
    )


def test_calls_that_fit_are_fused():
    module = parse(f"""
@I.ir_module
class Module:
{program("f0", "n")}{program("f1", "n")}
    @R.function
    def main(x: R.Tensor(("k",), "float32")):
        k = T.int64()
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.f0, (x,), out_sinfo=R.Tensor((k,), "float32"))
            z = R.call_tir(cls.f1, (y,), out_sinfo=R.Tensor((k,), "float32"))
            R.output(z)
        return z
""")
    executable = tilewright.compile(module)
    assert [each.name_hint for each in executable.legalized.functions] == ["main", "fused_f0_f1"]
    np.testing.assert_array_equal(tilewright.VirtualMachine(executable)["main"](X).numpy(), X + 2)
