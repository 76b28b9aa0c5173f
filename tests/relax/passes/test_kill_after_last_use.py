"""kill_after_last_use: tensors and storages end after their last use."""

import numpy as np
from graph_testing import check, random
from memory_testing import (
    CHAIN,
    DOUBLE,
    EXP,
    SMALL,
    STORAGE,
    compiled,
    module,
    placed,
)

import tilewright
from tilewright.relax import transform


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
