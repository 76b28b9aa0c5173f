"""call_tir_rewrite: outputs are allocated, and calls write into them."""

import numpy as np
from graph_testing import check, random
from memory_testing import (
    DOUBLE,
    EXP,
    OUT,
    X,
    main_text,
    module,
    run,
)

import tilewright
from tilewright.ir import assert_structural_equal
from tilewright.relax import transform


def rewritten(before, after, *inputs):
    check([transform.call_tir_rewrite()], before, after, *inputs)


def test_an_output_is_allocated_and_written():
    rewritten(
        module(f"y = R.call_tir(cls.exp, (x,), out_sinfo={OUT})\nreturn y", EXP),
        module(
            """
y = R.builtin.alloc_tensor(R.shape([5, 7]), R.dtype("float32"), R.prim_value(0), R.str("global"))
cls.exp(x, y)
return y
""",
            EXP,
        ),
        X,
    )


def test_outputs_of_symbolic_size():
    params = 'x: R.Tensor(("n", 7), "float32")'
    rewritten(
        module(
            'y = R.call_tir(cls.double, (x,), out_sinfo=R.Tensor((n, 7), "float32"))\nreturn y',
            DOUBLE,
            params=params,
            dims="n",
        ),
        module(
            'y = R.builtin.alloc_tensor(R.shape([n, 7]), dtype="float32", runtime_device_index=0, storage_scope="global")\n'
            "cls.double(x, y)\nreturn y",
            DOUBLE,
            params=params,
            dims="n",
        ),
        random(127, 7),
    )


PAIR = """
    @T.prim_func
    def pair(x: T.Buffer((5, 7), "float32"), a: T.Buffer((5, 7), "float32"), b: T.Buffer((7,), "int32")):
        for i, j in T.grid(5, 7):
            with T.block("a"):
                vi, vj = T.axis.remap("SS", [i, j])
                a[vi, vj] = x[vi, vj] + T.float32(1)
        for i in range(7):
            with T.block("b"):
                vi = T.axis.spatial(7, i)
                b[vi] = T.Cast("int32", vi)
"""


def test_several_outputs_are_a_tuple():
    before = module(
        f'y = R.call_tir(cls.pair, (x,), out_sinfo=[{OUT}, R.Tensor((7,), "int32")])\nz = y[1]\nreturn (y[0], z)',
        PAIR,
    )
    after = module(
        """
y_0 = R.builtin.alloc_tensor(R.shape([5, 7]), R.dtype("float32"), R.prim_value(0), R.str("global"))
y_1 = R.builtin.alloc_tensor(R.shape([7]), R.dtype("int32"), R.prim_value(0), R.str("global"))
cls.pair(x, y_0, y_1)
y = (y_0, y_1)
z = y[1]
return (y[0], z)
""",
        PAIR,
    )
    assert_structural_equal(transform.call_tir_rewrite()(before), after)
    first, second = run(after, X)
    np.testing.assert_array_equal(first, X + 1)
    np.testing.assert_array_equal(second, np.arange(7))


INCREMENT = """
    @T.prim_func
    def increment(x: T.Buffer((5, 7), "float32")):
        for i, j in T.grid(5, 7):
            with T.block("increment"):
                vi, vj = T.axis.remap("SS", [i, j])
                x[vi, vj] = x[vi, vj] + T.float32(1)
"""


def test_an_output_that_an_argument_becomes_is_that_argument():
    rewritten(
        module(
            f"y = R.call_tir(cls.exp, (x,), out_sinfo={OUT})\n"
            f"z = R.call_tir_inplace(cls.increment, (y,), inplace_indices=[0], out_sinfo={OUT})\nreturn z",
            EXP,
            INCREMENT,
        ),
        module(
            """
y = R.builtin.alloc_tensor(R.shape([5, 7]), R.dtype("float32"), R.prim_value(0), R.str("global"))
cls.exp(x, y)
cls.increment(y)
z = y
return z
""",
            EXP,
            INCREMENT,
        ),
        X,
    )


SCALE = """
    @T.prim_func
    def scale(x: T.Buffer((5, 7), "float32"), y: T.Buffer((5, 7), "float32"), k: T.int64):
        for i, j in T.grid(5, 7):
            with T.block("scale"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = x[vi, vj] * T.Cast("float32", k)
"""


def test_tir_vars_are_the_last_arguments():
    params = 'x: R.Tensor((5, 7), "float32"), s: R.Tensor(("k",), "int32")'
    rewritten(
        module(
            f"y = R.call_tir(cls.scale, (x,), out_sinfo={OUT}, tir_vars=R.shape([k * 2]))\nreturn y",
            SCALE,
            params=params,
            dims="k",
        ),
        module(
            """
y = R.builtin.alloc_tensor(R.shape([5, 7]), R.dtype("float32"), R.prim_value(0), R.str("global"))
cls.scale(x, y, R.prim_value(k * 2))
return y
""",
            SCALE,
            params=params,
            dims="k",
        ),
        X,
        np.zeros(3, "int32"),
    )


def test_registered_functions_and_branches():
    tilewright.register_func("test.memory.add_one", lambda x, y: y.copy_from(x.numpy() + 1), override=True)
    params = 'c: R.Tensor((), "bool"), x: R.Tensor((5, 7), "float32")'
    before = module(
        f"""
if c:
    y = R.call_dps_packed("test.memory.add_one", (x,), out_sinfo={OUT})
else:
    y = R.call_tir(cls.exp, (x,), out_sinfo={OUT})
return y
""",
        EXP,
        params=params,
    )
    after = module(
        """
if c:
    a = R.builtin.alloc_tensor(R.shape([5, 7]), R.dtype("float32"), R.prim_value(0), R.str("global"))
    R.call_packed("test.memory.add_one", x, a, sinfo_args=(R.Tuple(),))
    y = a
else:
    b = R.builtin.alloc_tensor(R.shape([5, 7]), R.dtype("float32"), R.prim_value(0), R.str("global"))
    cls.exp(x, b)
    y = b
return y
""",
        EXP,
        params=params,
    )
    for flag in (True, False):
        rewritten(before, after, np.array(flag), X)


def test_functions_that_are_changed_have_no_dataflow_blocks():
    before = module(
        f"with R.dataflow():\n    lv = R.call_tir(cls.exp, (x,), out_sinfo={OUT})\n"
        f"    y = R.call_tir(cls.exp, (lv,), out_sinfo={OUT})\n    R.output(y)\nreturn y",
        EXP,
    )
    after = transform.call_tir_rewrite()(before)
    assert "R.dataflow" not in after.script()
    assert main_text(after).count("R.builtin.alloc_tensor") == 2
    np.testing.assert_array_equal(run(after, X), run(before, X))


def test_a_tuple_of_arguments_is_taken_apart():
    before = module(
        f"t = (x, x)\ny = R.call_tir(cls.add, t, out_sinfo={OUT})\nreturn y",
        EXP.replace("def exp(", "def add(z: T.Buffer((5, 7), 'float32'), ").replace(
            "T.exp(", "z[vi, vj] + ("
        ),
    )
    after = transform.call_tir_rewrite()(before)
    assert "= t[1]" in main_text(after)
    assert "add(arg, arg_1, y)" in main_text(after)
    np.testing.assert_allclose(run(after, X), X + X)


def test_graphs_without_such_calls_are_left_alone():
    mod = module("with R.dataflow():\n    y = R.exp(x)\n    R.output(y)\nreturn y")
    assert transform.call_tir_rewrite()(mod) is mod
