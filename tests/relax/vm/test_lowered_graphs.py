"""Graphs in the lowered form: what compiling makes of others, and programs written so."""

import numpy as np
import pytest
from graph_testing import random
from memory_testing import (
    CHAIN,
    DOUBLE,
    EXP,
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
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812
from tilewright.script import tir as T  # noqa: N812

# ---------------------------------------------------------------- the whole way


def test_what_compiling_runs_is_the_passes_one_by_one():
    executable = compiled(CHAIN)
    mod = executable.legalized
    for name in (
        "to_non_dataflow",
        "call_tir_rewrite",
        "static_plan_block_memory",
        "kill_after_last_use",
        "lower_runtime_builtin",
    ):
        mod = getattr(transform, name)()(mod)
    assert_structural_equal(mod, executable.lowered)
    assert compiled(mod).as_text() == executable.as_text()


def test_the_code_of_planned_memory_has_no_ends():
    assert compiled(CHAIN).as_text() == (
        "main(x: float32[5, 7]) -> output: float32[5, 7]\n"
        '   0: check_tensor(r0, "x", float32, 2, 5, 7)\n'
        "   1: arena(384)\n"
        "   2: r1 = arena_tensor(0, float32, 5, 7)\n"
        "   3: call_kernel(exp, r0, r1)\n"
        "   4: r2 = arena_tensor(192, float32, 5, 7)\n"
        "   5: call_kernel(exp, r1, r2)\n"
        "   6: r3 = arena_tensor(0, float32, 5, 7)\n"
        "   7: call_kernel(exp, r2, r3)\n"
        "   8: r4 = new_tensor(float32, 5, 7)\n"
        "   9: call_kernel(exp, r3, r4)\n"
        "  10: return(r4)\n"
    )


def test_tensors_of_symbolic_size_are_given_back_early():
    text = compiled(bounded({"m": 1})).as_text()
    assert text.splitlines()[2:] == [
        "   1: r1 = new_tensor(float32, n, 7)",
        "   2: call_kernel(double, r0, r1)",
        "   3: r2 = new_tensor(float32, n, 7)",
        "   4: call_kernel(double, r1, r2)",
        "   5: kill(r1)",
        "   6: r3 = new_tensor(float32, n, 7)",
        "   7: call_kernel(double, r2, r3)",
        "   8: kill(r2)",
        "   9: return(r3)",
    ]


def test_without_planning_every_tensor_has_memory_of_its_own():
    executable = compiled(CHAIN, disabled_pass=["static_plan_block_memory"])
    assert executable.plans == {"main": "peak 0 bytes, lower bound 0 bytes, gap 0.0 %"}
    assert executable.as_text().count("new_tensor") == 4
    np.testing.assert_array_equal(
        tilewright.VirtualMachine(executable)["main"](tilewright.tensor(SMALL)).numpy(), run(CHAIN, SMALL)
    )


# ---------------------------------------------------------------- programs written in the lowered form


def test_several_storages_and_ends():
    mod = module(
        f"""
s = {STORAGE.format(140)}
t = {STORAGE.format(300)}
a = {placed("s", 0)}
cls.exp(x, a)
b = {placed("t", 128)}
cls.exp(a, b)
R.memory.kill_tensor(a)
R.memory.kill_storage(s)
c = {placed("t", 0, "[5]")}
u = {STORAGE.format(140)}
d = {placed("u", 0)}
cls.exp(b, d)
return (d, R.shape_of(c))
""",
        EXP,
    )
    got, shape = tilewright.VirtualMachine(tilewright.compile(mod))["main"](tilewright.tensor(SMALL))
    np.testing.assert_allclose(got.numpy(), np.exp(np.exp(np.exp(SMALL))), rtol=1e-5)
    assert list(shape) == [5]


def test_storages_of_symbolic_size():
    params = 'x: R.Tensor(("n", 7), "float32")'
    mod = module(
        f"""
s = {STORAGE.format("n * 28")}
t = {STORAGE.format(512)}
u = {STORAGE.format("n * 28 + 64")}
a = {placed("s", 0, "[n, 7]")}
cls.double(x, a)
b = {placed("u", 64, "[n, 7]")}
cls.double(a, b)
c = {placed("t", 0, "[n, 7]")}
cls.double(b, c)
return c
""",
        DOUBLE,
        params=params,
        dims="n",
    )
    main = tilewright.VirtualMachine(tilewright.compile(mod))["main"]
    for n in (5, 1, 18):
        x = random(n, 7)
        np.testing.assert_array_equal(main(tilewright.tensor(x)).numpy(), x * 8)
    with pytest.raises(tilewright.UserError) as error:
        main(tilewright.tensor(random(19, 7)))
    assert str(error.value) == (
        "error: main: the larger of the end of tensor c and the size of storage t is 532, expected 512\n"
        "help: the function is main(x: float32[n, 7]) -> output: float32[n, 7]"
    )


def test_offsets_of_symbolic_size():
    params = 'x: R.Tensor((5, 7), "float32"), k: R.Tensor(("k",), "int32")'
    mod = module(
        f"""
s = {STORAGE.format(512)}
a = {placed("s", "k * 8 - 64")}
cls.exp(x, a)
return a
""",
        EXP,
        params=params,
        dims="k",
    )
    main = tilewright.VirtualMachine(tilewright.compile(mod))["main"]

    def at(k):
        return main(tilewright.tensor(SMALL), tilewright.tensor(np.zeros(k, "int32"))).numpy()

    for k in (8, 16, 48):
        np.testing.assert_allclose(at(k), np.exp(SMALL), rtol=1e-5)
    for k, text in (
        (0, "the larger of 0 and the offset of tensor a is 0, expected -64"),
        (9, "the offset of tensor a is 8, which is not a multiple of 64"),
        (64, "the larger of the end of tensor a and the size of storage s is 588, expected 512"),
    ):
        with pytest.raises(tilewright.UserError) as error:
            at(k)
        assert str(error.value).splitlines()[0] == "error: main: " + text


def test_results_in_storages_are_copies():
    mod = module(f"s = {STORAGE.format(140)}\na = {placed('s', 0)}\ncls.exp(x, a)\nreturn a", EXP)
    main = tilewright.VirtualMachine(tilewright.compile(mod))["main"]
    first = main(tilewright.tensor(SMALL))
    main(tilewright.tensor(X))
    np.testing.assert_allclose(first.numpy(), np.exp(SMALL), rtol=1e-5)


def test_other_names_of_storages_and_tensors():
    mod = module(
        f"s = {STORAGE.format(140)}\nr = s\na = {placed('r', 0)}\nb = a\ncls.exp(x, b)\n"
        "R.vm.kill_object(r)\ny = R.builtin.alloc_tensor(R.shape([5, 7]), 'float32', 0)\ncls.exp(a, y)\nz = y\n"
        "R.vm.kill_object(y)\nreturn z",
        EXP,
    )
    np.testing.assert_allclose(run(mod, SMALL), np.exp(np.exp(SMALL)), rtol=1e-5)


def test_what_is_read_before_and_after_a_write_is_computed_twice():
    mod = module(
        """
a = R.builtin.alloc_tensor(R.shape([5, 7]), "float32", 0)
cls.exp(x, a)
y = R.negative(a)
cls.exp(y, a)
z = R.negative(a)
return (y, z)
""",
        EXP,
    )
    main = tilewright.VirtualMachine(tilewright.compile(mod))["main"]
    y, z = main(tilewright.tensor(SMALL))
    np.testing.assert_allclose(y.numpy(), -np.exp(SMALL), rtol=1e-5)
    np.testing.assert_allclose(z.numpy(), -np.exp(-np.exp(SMALL)), rtol=1e-5)


def test_a_result_that_is_nothing_may_be_returned():
    mod = module(
        "y = R.builtin.alloc_tensor(R.shape([5, 7]), 'float32', 0)\nr = cls.exp(x, y)\nreturn (r, y)", EXP
    )
    nothing, y = tilewright.VirtualMachine(tilewright.compile(mod))["main"](tilewright.tensor(X))
    assert len(nothing) == 0
    np.testing.assert_allclose(y.numpy(), np.exp(X), rtol=1e-5)


@pytest.mark.parametrize("name", ["call_tir_rewrite", "kill_after_last_use"])
def test_dead_code_elimination_keeps_what_is_written(name):
    mod = getattr(transform, name)()(transform.call_tir_rewrite()(CHAIN))
    for step in ("dead_code_elimination", "eliminate_common_subexpr", "to_dataflow", "canonicalize_bindings"):
        mod = getattr(transform, step)()(mod)
    np.testing.assert_array_equal(run(mod, SMALL), run(CHAIN, SMALL))


@I.ir_module
class _Spelled:
    """The names resolve in a decorated class as well."""

    @T.prim_func
    def exp(x: T.Buffer((5,), "float32"), y: T.Buffer((5,), "float32")):
        for i in range(5):
            with T.block("exp"):
                vi = T.axis.spatial(5, i)
                y[vi] = T.exp(x[vi])

    @R.function(pure=False)
    def main(x: R.Tensor((5,), "float32")):
        cls = _Spelled
        s = R.memory.alloc_storage(R.shape([20]), 0, "global", "float32")
        y = R.memory.alloc_tensor(s, 0, R.shape([5]), "float32")
        _ = cls.exp(x, y)
        z = R.builtin.alloc_tensor(R.shape([5]), dtype="float32", runtime_device_index=0)
        _ = cls.exp(y, z)
        _ = R.memory.kill_tensor(y)
        _ = R.memory.kill_storage(s)
        return z


def test_the_printed_form_parses_to_the_same():
    text = main_text(_Spelled)
    assert (
        'R.memory.alloc_storage(R.shape([20]), R.prim_value(0), R.str("global"), R.dtype("float32"))' in text
    )
    assert_structural_equal(tilewright.script.parse(_Spelled.script()), _Spelled)
    x = np.linspace(-1, 0, 5, dtype="float32")
    np.testing.assert_allclose(run(_Spelled, x), np.exp(np.exp(x)), rtol=1e-5)
    lowered = compiled(CHAIN).lowered
    assert_structural_equal(tilewright.script.parse(lowered.script()), lowered)


ALIGNED = """
@R.function
def main(x: R.Tensor({shape}, "{dtype}")):
    return R.astype(x, "float32")
"""


@pytest.mark.parametrize(
    ("dtype", "shape", "is_aligned"),
    [
        ("bfloat16", (127, 258), False),  # 65,532 bytes
        ("bfloat16", (127, 259), True),
        ("float16", (1024, 2048), True),  # 4 MiB
        ("int8", (1024, 4097), False),
        ("int8", '("n", 7)', True),  # known when it is called
        ("float32", (1024, 127), False),
        ("float32", '("n", 7)', False),
    ],
)
def test_arguments_that_kernels_read_in_narrow_tiles_are_aligned(dtype, shape, is_aligned):
    text = compiled(tilewright.script.parse(ALIGNED.format(shape=shape, dtype=dtype))).as_text()
    assert ("   1: align_tensor(r0, 65536, 4194304)" in text.splitlines()) == is_aligned
