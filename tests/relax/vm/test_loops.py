"""R.loop, compiled and run by the virtual machine: carried values that grow, captured ones, collected ones, conditions, lists."""

import os
import re
import signal
import threading

import numpy as np
import pytest

import tilewright as tw
from tilewright import relax

HEADER = "from tvm.script import ir as I, relax as R, tir as T\n"
X = np.arange(14, dtype="float32").reshape(2, 7)


def compiled(text: str, **options):
    module = tw.script.parse(HEADER + text)
    tw.ir.assert_structural_equal(tw.script.parse(module.script()), module)
    return relax.VirtualMachine(tw.compile(module, "llvm", **options))["main"]


def arrays(values):
    return [value.numpy() for value in values]


SUMS = """
@I.ir_module
class Module:
    @R.function(private=True)
    def body(i: R.Tensor((), "int64"), c: R.Tensor((), "bool"), s: R.Tensor((2, 7), "float32"), x: R.Tensor((2, 7), "float32")):
        with R.dataflow():
            f = R.astype(i, dtype="float32")
            scaled = R.multiply(x, f)
            next = R.add(s, scaled)
            total = R.sum(next, axis=[1])
            R.output(next, total)
        return (c, next, total)

    @R.function
    def main(x: R.Tensor((2, 7), "float32"), start: R.Tensor((2, 7), "float32"), most: R.Tensor((), "int64")):
        cls = Module
        with R.dataflow():
            out = R.loop(cls.body, MOST, None, (start,), (x,))
            R.output(out)
        return out
"""


def expected_sums(x, start, count):
    state, totals = start, []
    for n in range(count):
        state = state + x * np.float32(n)
        totals.append(state.sum(1))
    return state, np.array(totals, "float32").reshape(count, 2)


@pytest.mark.parametrize("opt_level", [0, 3])
@pytest.mark.parametrize("count", [0, 1, 5, 127])
@pytest.mark.parametrize("most", ["most", "R.prim_value(COUNT)", 'R.const(COUNT, "int64")'])
def test_values_are_carried_and_collected(count, most, opt_level):
    text = SUMS.replace("MOST", most.replace("COUNT", str(count)))
    with tw.transform.PassContext(opt_level=opt_level):
        main = compiled(text)
    state, totals = arrays(main(X, X + 1, np.array(count)))
    wanted = expected_sums(X, X + 1, count)
    assert totals.shape == (count, 2)
    assert np.allclose(state, wanted[0], rtol=1e-5) and np.allclose(totals, wanted[1], rtol=1e-5)


def test_a_negative_number_of_iterations_is_none():
    state, totals = arrays(compiled(SUMS.replace("MOST", "most"))(X, X + 1, np.array(-5)))
    assert np.array_equal(state, X + 1) and totals.shape == (0, 2)


def test_passes_leave_the_loop_and_fuse_its_body():
    module = tw.script.parse(HEADER + SUMS.replace("MOST", "most"))
    text = tw.compile(module, "llvm").lowered.script()
    assert re.search(r"R\.loop\(\s*cls\.body, most, R\.tuple\(\), \(start,\), \(x,\)", text)
    assert "cls.fused_multiply_add(x, f, s, next)" in text


GROWS = """
@I.ir_module
class Module:
    @R.function(private=True)
    def body(i: R.Tensor((), "int64"), c: R.Tensor((), "bool"), s: R.Tensor(("n", 7), "float32"), x: R.Tensor(("k", 7), "float32"), most: R.Tensor((), "int64")):
        n = T.int64()
        k = T.int64()
        with R.dataflow():
            next = R.concat((s, x), axis=0)
            done = R.add(i, R.const(2, "int64"))
            goes_on = R.less(done, most)
            R.output(next, goes_on)
        return (goes_on, next)

    @R.function
    def main(x: R.Tensor(("m", 7), "float32"), most: R.Tensor((), "int64"), condition: R.Tensor((), "bool")):
        cls = Module
        out = R.loop(cls.body, None, condition, (x,), (x, most))
        y = out[0]
        return y
"""


def test_a_carried_value_grows_until_the_condition_is_false():
    main = compiled(GROWS)
    for most, times in ((5, 5), (1, 2), (0, 2)):
        assert np.array_equal(main(X, np.array(most), np.array(True)).numpy(), np.concatenate([X] * times))
    assert np.array_equal(main(X, np.array(9), np.array(False)).numpy(), X)
    empty = np.zeros((0, 7), "float32")
    assert main(empty, np.array(5), np.array(True)).shape == (0, 7)


COLLECTS_GROWING = """
@I.ir_module
class Module:
    @R.function(private=True)
    def body(i: R.Tensor((), "int64"), c: R.Tensor((), "bool"), s: R.Tensor(("n",), "float32"), x: R.Tensor((1,), "float32")):
        n = T.int64()
        with R.dataflow():
            next = R.concat((s, x), axis=0)
            R.output(next)
        return (c, next, s)

    @R.function
    def main(x: R.Tensor((1,), "float32"), most: R.Tensor((), "int64")):
        cls = Module
        out = R.loop(cls.body, most, None, (x,), (x,))
        return out
"""


def test_collected_tensors_must_have_one_shape():
    main = compiled(COLLECTS_GROWING)
    x = np.ones(1, "float32")
    assert [value.shape for value in main(x, np.array(1))] == [(2,), (1, 1)]
    assert [value.shape for value in main(x, np.array(0))] == [(1,), (0, 0)]
    with pytest.raises(tw.UserError) as error:
        main(x, np.array(3))
    assert str(error.value) == (
        "error: main: output 1 of a loop is float32[2] in iteration 1, but was float32[1] before"
    )


NO_DTYPE = """
@I.ir_module
class Module:
    @R.function(private=True)
    def body(i: R.Tensor((), "int64"), c: R.Tensor((), "bool"), x: R.Tensor):
        return (c, x)

    @R.function
    def main(x: R.Tensor, most: R.Tensor((), "int64")):
        cls = Module
        out = R.loop(cls.body, most, None, (), (x,))
        y = out[0]
        return y
"""


def test_nothing_to_collect_of_unknown_type_is_refused():
    main = compiled(NO_DTYPE)
    for dtype in ("float32", "int8", "bool", "float64"):
        assert np.array_equal(main(X.astype(dtype), np.array(3)).numpy(), [X.astype(dtype)] * 3)
    with pytest.raises(tw.UserError) as error:
        main(X, np.array(0))
    assert str(error.value) == (
        "error: main: output 0 of a loop has no iterations, and the type of its elements is not known\n"
        "help: give the body's result a dtype"
    )


def test_a_body_of_unknown_type_is_refused():
    text = """
@I.ir_module
class Module:
    @R.function
    def main(f: R.Object, x: R.Tensor((7,), "float32")):
        out = R.loop(f, R.prim_value(2), None, (x,), ())
        return out
"""
    with pytest.raises(tw.Unsupported) as error:
        compiled(text)
    assert "loop: the body is a function of unknown type" in str(error.value)
    assert str(error.value).endswith("help: name a function of the module")


LOCAL = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 7), "float32"), w: R.Tensor((7, 7), "float32")):
        n = T.int64()
        @R.function
        def step(i: R.Tensor((), "int64"), c: R.Tensor((), "bool"), h: R.Tensor((n, 7), "float32")) -> R.Tuple(R.Tensor((), "bool"), R.Tensor((n, 7), "float32"), R.Tensor((), "int64")):
            p: R.Tensor((n, 7), "float32") = R.matmul(h, w)
            q: R.Tensor((n, 7), "float32") = R.tanh(p)
            return (c, q, i)
        out = R.loop(step, R.prim_value(5), None, (x,), ())
        return out
"""


def test_a_local_function_captures_a_weight():
    rng = np.random.default_rng(1)
    w = rng.standard_normal((7, 7)).astype("float32")
    main = compiled(LOCAL)
    for rows in (5, 1, 0):
        x = rng.standard_normal((rows, 7)).astype("float32")
        state, numbers = arrays(main(x, w))
        wanted = x
        for _ in range(5):
            wanted = np.tanh(wanted @ w)
        assert np.allclose(state, wanted, atol=1e-5)
        assert np.array_equal(numbers, np.arange(5))


LISTS = """
@I.ir_module
class Module:
    @R.function(private=True)
    def body(i: R.Tensor((), "int64"), c: R.Tensor((), "bool"), list: R.Object, x: R.Tensor((7,), "float32")):
        f = R.astype(i, dtype="float32")
        y = R.add(x, f)
        longer: R.Object = R.call_pure_packed("tests.loops.append", list, y, sinfo_args=R.Object)
        return (c, longer)

    @R.function
    def main(x: R.Tensor((7,), "float32"), most: R.Tensor((), "int64")):
        cls = Module
        list: R.Object = R.call_pure_packed("tests.loops.append", sinfo_args=R.Object)
        out = R.loop(cls.body, most, None, (list,), (x,))
        y = out[0]
        return y
"""


def test_a_list_is_carried():
    @tw.register_func("tests.loops.append", override=True)
    def append(*values):
        return (*values[0], values[1]) if values else ()

    main = compiled(LISTS)
    x = np.arange(7, dtype="float32")
    assert [value.numpy()[0] for value in main(x, np.array(3))] == [0, 1, 2]
    assert len(main(x, np.array(0))) == 0


NESTED = """
@I.ir_module
class Module:
    @R.function(private=True)
    def inner(i: R.Tensor((), "int64"), c: R.Tensor((), "bool"), s: R.Tensor((), "int64"), outer: R.Tensor((), "int64")):
        p = R.multiply(i, outer)
        next = R.add(s, p)
        return (c, next, next)

    @R.function(private=True)
    def outer(i: R.Tensor((), "int64"), c: R.Tensor((), "bool"), s: R.Tensor((), "int64"), most: R.Tensor((), "int64")):
        cls = Module
        out = R.loop(cls.inner, most, None, (s,), (i,))
        next = out[0]
        trace = out[1]
        return (c, next, trace)

    @R.function
    def main(start: R.Tensor((), "int64"), most: R.Tensor((), "int64")):
        cls = Module
        out = R.loop(cls.outer, R.prim_value(4), None, (start,), (most,))
        return out
"""


def test_loops_inside_of_loops():
    state, trace = arrays(compiled(NESTED)(np.array(100), np.array(5)))
    value, wanted = 100, []
    for outer in range(4):
        for inner in range(5):
            value += inner * outer
            wanted.append(value)
    assert state == value and np.array_equal(trace, np.array(wanted).reshape(4, 5))


ENDLESS = """
@I.ir_module
class Module:
    @R.function(private=True)
    def body(i: R.Tensor((), "int64"), c: R.Tensor((), "bool"), s: R.Tensor((), "int64")):
        return (c, i)

    @R.function
    def main(start: R.Tensor((), "int64")):
        cls = Module
        out = R.loop(cls.body, None, None, (start,), ())
        return out
"""


def test_an_endless_loop_is_interrupted():
    main = compiled(ENDLESS)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    try:
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            main(np.array(0))
    finally:
        signal.signal(signal.SIGINT, before)


def test_written_in_python():
    bb = relax.BlockBuilder()
    scalar, truth = relax.TensorType((), "int64"), relax.TensorType((), "bool")
    i, c, s = relax.Var("i", scalar), relax.Var("c", truth), relax.Var("s", scalar)
    with bb.function("body", [i, c, s], private=True):
        total = bb.emit(relax.op.add(s, i))
        bb.emit_func_output(relax.Tuple([c, total]))
    start = relax.Var("start", scalar)
    with bb.function("main", [start]):
        out = bb.emit(relax.op.loop(bb.get().get_global_var("body"), 5, None, [start]))
        bb.emit_func_output(out)
    module = bb.get()
    (result,) = relax.VirtualMachine(tw.compile(module, "llvm"))["main"](np.array(7))
    assert int(result.numpy()) == 17
