"""Graphs on their way to the virtual machine's code: allocations, places in storages, ends."""

import numpy as np
import pytest
from graph_testing import check, random
from memory_testing import (
    CHAIN,
    DOUBLE,
    EXP,
    OUT,
    SMALL,
    STORAGE,
    X,
    bounded,
    compiled,
    main_text,
    module,
    placed,
    run,
)

import tilewright
from tilewright.ir import assert_structural_equal
from tilewright.relax import transform

# ---------------------------------------------------------------- call_tir_rewrite


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


# ---------------------------------------------------------------- static_plan_block_memory


def test_tensors_that_do_not_outlive_the_call_share_a_storage():
    before = transform.call_tir_rewrite()(CHAIN)
    after = module(
        """
storage = R.memory.alloc_storage(R.shape([384]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
a = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([5, 7]), R.dtype("float32"))
cls.exp(x, a)
b = R.memory.alloc_tensor(storage, R.prim_value(192), R.shape([5, 7]), R.dtype("float32"))
cls.exp(a, b)
c = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([5, 7]), R.dtype("float32"))
cls.exp(b, c)
d = R.builtin.alloc_tensor(R.shape([5, 7]), R.dtype("float32"), R.prim_value(0), R.str("global"))
cls.exp(c, d)
return d
""",
        EXP,
    )
    check([transform.static_plan_block_memory()], before, after, SMALL)
    np.testing.assert_array_equal(run(after, SMALL), run(CHAIN, SMALL))


def test_the_plan_of_the_lowered_form_is_printed():
    executable = compiled(transform.static_plan_block_memory()(transform.call_tir_rewrite()(CHAIN)))
    assert executable.plans == {
        "main": "a                               140 bytes at          0, steps 2 to 5\n"
        "b                               140 bytes at        192, steps 4 to 7\n"
        "c                               140 bytes at          0, steps 6 to 9\n"
        "peak 384 bytes, lower bound 384 bytes, gap 0.0 %"
    }
    assert executable.plans == compiled(CHAIN).plans


def test_symbolic_sizes_have_places_when_a_bound_is_known():
    mod = bounded({"n": 127})
    planned = transform.static_plan_block_memory()(transform.call_tir_rewrite()(mod))
    assert "R.memory.alloc_storage(R.shape([7168])" in main_text(planned)
    assert "R.memory.alloc_tensor(storage, R.prim_value(3584), R.shape([n, 7])" in main_text(planned)
    for n in (1, 5, 127):
        x = random(n, 7)
        np.testing.assert_array_equal(run(planned, x), x * 8)
    assert compiled(mod).plans["main"].splitlines()[-1] == (
        "peak 7168 bytes, lower bound 7168 bytes, gap 0.0 %"
    )


def test_symbolic_sizes_without_a_bound_are_left_alone():
    mod = transform.call_tir_rewrite()(bounded({"m": 127}))
    assert transform.static_plan_block_memory()(mod) is mod
    np.testing.assert_array_equal(run(mod, X), X * 8)


def test_a_dimension_beyond_its_bound_is_refused_when_it_is_met():
    with pytest.raises(tilewright.UserError) as error:
        run(bounded({"n": 127}), random(128, 7))
    assert str(error.value) == (
        "error: main: the larger of n and its tir_var_upper_bound is 128, expected 127\n"
        "help: the function is main(x: float32[n, 7]) -> output: float32[n, 7]"
    )


def test_what_is_returned_or_seen_by_others_is_left_alone():
    tilewright.register_func("test.memory.look", lambda x: None, override=True)
    mod = module(
        """
a = R.builtin.alloc_tensor(R.shape([5, 7]), dtype="float32", runtime_device_index=0)
cls.exp(x, a)
R.call_packed("test.memory.look", a)
b = R.builtin.alloc_tensor(R.shape([5, 7]), dtype="float32", runtime_device_index=0)
cls.exp(x, b)
t = (b, x)
return t
""",
        EXP,
    )
    assert transform.static_plan_block_memory()(mod) is mod


def test_branches_share_memory():
    params = 'c: R.Tensor((), "bool"), x: R.Tensor((5, 7), "float32")'
    before = module(
        f"""
if c:
    a = R.call_tir(cls.exp, (x,), out_sinfo={OUT})
    y = R.call_tir(cls.exp, (a,), out_sinfo={OUT})
else:
    b = R.call_tir(cls.exp, (x,), out_sinfo={OUT})
    e = R.call_tir(cls.exp, (b,), out_sinfo={OUT})
    y = R.call_tir(cls.exp, (e,), out_sinfo={OUT})
z = R.call_tir(cls.exp, (y,), out_sinfo={OUT})
return z
""",
        EXP,
        params=params,
    )
    planned = transform.static_plan_block_memory()(transform.call_tir_rewrite()(before))
    assert main_text(planned).count("R.memory.alloc_storage") == 1
    assert compiled(before).plans["main"].splitlines()[-1] == (
        "peak 576 bytes, lower bound 576 bytes, gap 0.0 %"
    )
    for flag, times in ((True, 3), (False, 4)):
        want = SMALL
        for _ in range(times):
            want = np.exp(want)
        np.testing.assert_allclose(run(planned, np.array(flag), SMALL), want, rtol=1e-5)


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        ("[3]", "tir_var_upper_bound: expected a dict from names of dimensions to numbers"),
        ('{"n": 0}', "tir_var_upper_bound: the bound of n is not an integer above 0"),
    ],
)
def test_bounds_that_are_none_are_refused(bounds, text):
    mod = transform.call_tir_rewrite()(bounded(bounds))
    with pytest.raises(tilewright.UserError) as error:
        transform.static_plan_block_memory()(mod)
    assert str(error.value).splitlines()[0] == "error: static_plan_block_memory: " + text


# ---------------------------------------------------------------- kill_after_last_use


def test_tensors_and_storages_end_after_their_last_use():
    before = transform.static_plan_block_memory()(transform.call_tir_rewrite()(CHAIN))
    after = module(
        f"""
storage = {STORAGE.format(384)}
a = {placed("storage", 0)}
cls.exp(x, a)
b = {placed("storage", 192)}
cls.exp(a, b)
R.memory.kill_tensor(a)
c = {placed("storage", 0)}
cls.exp(b, c)
R.memory.kill_tensor(b)
d = R.builtin.alloc_tensor(R.shape([5, 7]), R.dtype("float32"), R.prim_value(0), R.str("global"))
cls.exp(c, d)
R.memory.kill_tensor(c)
R.memory.kill_storage(storage)
return d
""",
        EXP,
    )
    check([transform.kill_after_last_use()], before, after, SMALL)


def test_a_tensor_lives_as_long_as_views_and_tuples_of_it():
    params = 'x: R.Tensor(("n", 7), "float32")'
    body = """
a = R.builtin.alloc_tensor(R.shape([n, 7]), R.dtype("float32"), R.prim_value(0), R.str("global"))
cls.double(x, a)
t = (a, x)
v = R.reshape(a, R.shape([n * 7]))
w = R.reshape(v, R.shape([n, 7]))
b = R.builtin.alloc_tensor(R.shape([n, 7]), R.dtype("float32"), R.prim_value(0), R.str("global"))
cls.double(w, b){}
return b
"""
    after = module(body.format("\nR.memory.kill_tensor(a)"), DOUBLE, params=params, dims="n")
    check(
        [transform.kill_after_last_use()],
        module(body.format(""), DOUBLE, params=params, dims="n"),
        after,
        random(5, 7),
    )
    # the machine drops them all
    assert compiled(after).as_text().splitlines()[-5:] == [
        "  10: kill(r1)",
        "  11: kill(r2)",
        "  12: kill(r3)",
        "  13: kill(r4)",
        "  14: return(r5)",
    ]


def test_results_of_calls_end_and_branches_end_what_is_theirs():
    tilewright.register_func("test.memory.plus", lambda x: tilewright.tensor(x.numpy() + 1), override=True)
    params = 'c: R.Tensor((), "bool"), x: R.Tensor((5, 7), "float32")'
    before = """
p = R.call_packed("test.memory.plus", x, sinfo_args=(R.Tensor((5, 7), "float32"),))
if c:
    q = R.call_packed("test.memory.plus", p, sinfo_args=(R.Tensor((5, 7), "float32"),))
    a = R.builtin.alloc_tensor(R.shape([5, 7]), R.dtype("float32"), R.prim_value(0), R.str("global"))
    cls.exp(q, a){}
    y = a
else:
    b = R.builtin.alloc_tensor(R.shape([5, 7]), R.dtype("float32"), R.prim_value(0), R.str("global"))
    cls.exp(x, b)
    y = b{}
z = R.builtin.alloc_tensor(R.shape([5, 7]), R.dtype("float32"), R.prim_value(0), R.str("global"))
cls.exp(y, z){}
return z
"""
    for flag in (True, False):
        check(
            [transform.kill_after_last_use()],
            module(before.format("", "", ""), EXP, params=params),
            module(
                before.format("\n    R.vm.kill_object(q)", "\nR.vm.kill_object(p)", "\nR.vm.kill_object(y)"),
                EXP,
                params=params,
            ),
            np.array(flag),
            SMALL,
        )


def test_what_owns_nothing_is_left_alone():
    mod = module("t = (x, x)\ny = t[0]\ns = R.shape_of(x)\nreturn (y, s)")
    assert transform.kill_after_last_use()(mod) is mod


# ---------------------------------------------------------------- lower_alloc_tensor, lower_runtime_builtin


def test_a_tensor_of_its_own_lies_in_a_storage_of_its_own():
    params = 'x: R.Tensor(("n", 7), "float32")'
    check(
        [transform.lower_alloc_tensor()],
        module(
            'y = R.builtin.alloc_tensor(R.shape([n, 7]), dtype="float32", runtime_device_index=0)\n'
            "cls.double(x, y)\nreturn y",
            DOUBLE,
            params=params,
            dims="n",
        ),
        module(
            """
storage = R.memory.alloc_storage(R.shape([n * 28]), R.prim_value(0), R.str("global"), R.dtype("float32"))
y = R.memory.alloc_tensor(storage, R.prim_value(0), R.shape([n, 7]), R.dtype("float32"))
cls.double(x, y)
return y
""",
            DOUBLE,
            params=params,
            dims="n",
        ),
        random(5, 7),
    )


def test_memory_as_the_machine_is_told():
    check(
        [transform.lower_runtime_builtin()],
        module(
            f"""
storage = {STORAGE.format(192)}
a = {placed("storage", 0)}
cls.exp(x, a)
R.memory.kill_tensor(a)
R.memory.kill_storage(storage)
return x
""",
            EXP,
        ),
        module(
            """
storage = R.vm.alloc_storage(R.shape([192]), R.prim_value(0), R.dtype("uint8"), R.str("global"))
a = R.vm.alloc_tensor(storage, R.prim_value(0), R.shape([5, 7]), R.dtype("float32"))
cls.exp(x, a)
R.vm.kill_object(a)
R.vm.kill_object(storage)
return x
""",
            EXP,
        ),
        X,
    )


def test_graphs_without_memory_are_left_alone():
    for step in (transform.lower_alloc_tensor(), transform.lower_runtime_builtin()):
        assert step(CHAIN) is CHAIN
