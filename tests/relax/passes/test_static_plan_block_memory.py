"""static_plan_block_memory: tensors that do not outlive a call have places in storages."""

import numpy as np
import pytest
from graph_testing import check, random
from memory_testing import (
    CHAIN,
    EXP,
    OUT,
    SMALL,
    X,
    bounded,
    compiled,
    main_text,
    module,
    run,
)

import tilewright
from tilewright.relax import transform


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
