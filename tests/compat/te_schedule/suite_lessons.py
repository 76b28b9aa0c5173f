"""Lessons of 2018-2023 in words of our own: a matrix product in seven steps, maths, results in pairs, libraries on disk."""

import time

import numpy as np
import pytest
import stage_programs
import tvm
from tvm import te, topi

SIZE, TILE, STEP = 256, 32, 4


def product(packed: bool = False):
    a, b = te.placeholder((SIZE, SIZE), name="A"), te.placeholder((SIZE, SIZE), name="B")
    k = te.reduce_axis((0, SIZE), "k")
    if not packed:
        c = te.compute((SIZE, SIZE), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
        return a, b, None, c
    panels = te.compute((SIZE // TILE, SIZE, TILE), lambda x, y, z: b[y, x * TILE + z], name="panels")
    c = te.compute(
        (SIZE, SIZE), lambda i, j: te.sum(a[i, k] * panels[j // TILE, k, j % TILE], axis=k), name="C"
    )
    return a, b, panels, c


def seven_steps() -> dict:
    """{name: (schedule, arguments)}: each step keeps what those before it decided."""

    def tiled(
        order: str, is_vector: bool, packed: bool = False, cached: bool = False, parallel: bool = False
    ):
        a, b, panels, c = product(packed)
        s = te.create_schedule(c.op)
        cache = s.cache_write(c, "global") if cached else c
        xo, yo, xi, yi = s[c].tile(*c.op.axis, TILE, TILE)
        if cached:
            s[cache].compute_at(s[c], yo)
            xi, yi = s[cache].op.axis
        ko, ki = s[cache].split(s[cache].op.reduce_axis[0], factor=STEP)
        axes = {"xo": xo, "yo": yo, "xi": xi, "yi": yi, "ko": ko, "ki": ki}
        s[cache].reorder(*[axes[name] for name in order.split() if not cached or name not in ("xo", "yo")])
        if is_vector:
            s[cache].vectorize(yi)
        if cached:
            s[cache].unroll(ki)
        if parallel:
            s[c].parallel(xo)
        if packed:
            x, _, z = panels.op.axis
            s[panels].vectorize(z)
            s[panels].parallel(x)
        return s, [a, b, c]

    a, b, _, c = product()
    blocked, permuted = "xo yo ko ki xi yi", "xo yo ko xi ki yi"
    return {
        "as written": (te.create_schedule(c.op), [a, b, c]),
        "blocked": tiled(blocked, is_vector=False),
        "vectors": tiled(blocked, is_vector=True),
        "permuted": tiled(permuted, is_vector=True),
        "packed": tiled(permuted, is_vector=True, packed=True),
        "cached": tiled(permuted, is_vector=True, packed=True, cached=True),
        "parallel": tiled(permuted, is_vector=True, packed=True, cached=True, parallel=True),
    }


def best_time(func, tensors, repeat: int = 5) -> float:
    def once() -> float:
        begin = time.perf_counter()
        func(*tensors)
        return time.perf_counter() - begin

    return min(once() for _ in range(repeat))


def test_a_product_in_seven_steps():
    """The numbers stay, and the last step is several times faster than the first."""
    x, y = stage_programs.numbers(SIZE, SIZE), stage_programs.numbers(SIZE, SIZE).T.copy()
    times = {}
    for name, (s, args) in seven_steps().items():
        func = tvm.build(s, args, "llvm", name="mmult")
        tensors = [tvm.nd.array(x), tvm.nd.array(y), tvm.nd.array(np.full((SIZE, SIZE), 7, "float32"))]
        func(*tensors)
        np.testing.assert_allclose(tensors[2].numpy(), x @ y, rtol=1e-4, atol=1e-4, err_msg=name)
        times[name] = best_time(func, tensors)
    assert len(times) == 7
    assert times["parallel"] * 4 < times["as written"], times


def test_each_step_says_what_it_does():
    texts = {name: str(tvm.lower(s, args, simple_mode=True)) for name, (s, args) in seven_steps().items()}
    assert "i_outer" not in texts["as written"] and "i_outer" in texts["blocked"]
    assert "T.Broadcast(" in texts["vectors"] and "T.Broadcast(" not in texts["blocked"]
    assert "panels" in texts["packed"] and "C_global" in texts["cached"]
    assert "T.parallel" in texts["parallel"] and "T.parallel(8)" not in texts["vectors"]


# ---------------------------------------------------------------- maths


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_maths(target):
    """Functions of te, and of the C library by their names."""
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    by_name = te.compute((n,), lambda i: tvm.tir.call_pure_extern("float32", "expf", a[i]), name="by_name")
    both = te.compute(
        (n,), lambda i: by_name[i] - te.exp(a[i]) + te.sqrt(te.abs(a[i])) * te.power(a[i], 2.0), name="both"
    )
    s = te.create_schedule(both.op)
    s[by_name].compute_inline()
    x, result = stage_programs.numbers(127), tvm.nd.array(np.zeros(127, "float32"))
    tvm.build(s, [a, both], target, name="maths")(tvm.nd.array(x), result)
    np.testing.assert_allclose(result.numpy(), np.sqrt(abs(x)) * x**2, rtol=1e-4, atol=1e-5)


def test_exp_on_a_gpu_is_a_function_of_its_own():
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: te.exp(a[i]), name="B")
    s = te.create_schedule(b.op)
    block, thread = s[b].split(b.op.axis[0], factor=64)
    s[b].bind(block, te.thread_axis("blockIdx.x"))
    s[b].bind(thread, te.thread_axis("threadIdx.x"))
    assert "expf(" in tvm.build(s, [a, b], "cuda", name="exp").imported_modules[0].get_source()
    assert "exp(" in tvm.build(s, [a, b], "opencl", name="exp").imported_modules[0].get_source()


# ---------------------------------------------------------------- several results


def test_two_inputs_two_results():
    n, m = te.var("n"), te.var("m")
    a, b = te.placeholder((n, m), name="A"), te.placeholder((n, m), name="B")
    more, times = te.compute((n, m), lambda i, j: (a[i, j] + 2.0, b[i, j] * 3.0), name="pair")
    s = te.create_schedule(more.op)
    outer, _ = s[more].split(more.op.axis[0], factor=4)
    s[more].parallel(outer)
    x, y = stage_programs.numbers(7, 5), stage_programs.numbers(7, 5)
    results = [tvm.nd.array(np.zeros((7, 5), "float32")) for _ in range(2)]
    tvm.build(s, [a, b, more, times], "llvm")(tvm.nd.array(x), tvm.nd.array(y), *results)
    np.testing.assert_array_equal(results[0].numpy(), x + 2)
    np.testing.assert_array_equal(results[1].numpy(), y * np.float32(3))


def test_a_pair_inside_of_its_reader():
    a = te.placeholder((13, 5), name="A")
    low, high = te.compute((13, 5), lambda i, j: (a[i, j] - 10.0, a[i, j] + 10.0), name="pair")
    c = te.compute((13, 5), lambda i, j: low[i, j] * high[i, j], name="C")
    s = te.create_schedule(c.op)
    s[low].compute_at(s[c], c.op.axis[0])
    x, result = stage_programs.numbers(13, 5), tvm.nd.array(np.zeros((13, 5), "float32"))
    tvm.build(s, [a, c], "llvm")(tvm.nd.array(x), result)
    np.testing.assert_allclose(result.numpy(), (x - 10) * (x + 10), rtol=1e-5)
    bounds = te.schedule.InferBound(s)
    assert [int(bounds[axis].extent) for axis in low.op.axis] == [1, 5]


def pairs(rows: int, columns: int):
    """The largest of each row and its place."""

    def larger(x, y):
        is_left = tvm.tir.any(x[1] > y[1], tvm.tir.all(x[1] == y[1], x[0] < y[0]))
        return tvm.tir.Select(is_left, x[0], y[0]), tvm.tir.Select(is_left, x[1], y[1])

    def identity(place, value):
        return tvm.tir.const(2**31 - 1, place), te.min_value(value)

    argmax = te.comm_reducer(larger, identity, name="argmax")
    value = te.placeholder((rows, columns), name="value")
    k = te.reduce_axis((0, columns), "k")
    where, most = te.compute((rows,), lambda i: argmax((k.var, value[i, k]), axis=k), name="largest")
    return value, where, most


def test_largest_in_parts():
    value, where, most = pairs(7, 65)
    s = te.create_schedule(where.op)
    _, inner = s[where].split(where.op.reduce_axis[0], factor=8)
    parts, _ = s.rfactor(where, inner)
    s[parts].compute_at(s[where], s[where].op.axis[0])
    x = np.random.default_rng(3).integers(-9, 9, (7, 65)).astype("float32")
    places, values = tvm.nd.array(np.zeros(7, "int32")), tvm.nd.array(np.zeros(7, "float32"))
    tvm.build(s, [value, where, most], "llvm")(tvm.nd.array(x), places, values)
    np.testing.assert_array_equal(places.numpy(), x.argmax(1))
    np.testing.assert_array_equal(values.numpy(), x.max(1))


def test_pairs_are_as_fast_as_argmax():
    """Both as default schedules make them: a reduction of pairs of one's own is no slower kind."""
    rows, columns = 64, 4096
    value, where, most = pairs(rows, columns)
    x = stage_programs.numbers(rows, columns)
    own = tvm.compile(te.create_prim_func([value, where, most]), target="llvm")
    a = te.placeholder((rows, columns), name="value")
    given = tvm.compile(te.create_prim_func([a, topi.argmax(a, axis=1)]), target="llvm")
    places, values = tvm.nd.array(np.zeros(rows, "int32")), tvm.nd.array(np.zeros(rows, "float32"))
    found = tvm.nd.array(np.zeros(rows, "int32"))
    own["main"](tvm.nd.array(x), places, values)
    given["main"](tvm.nd.array(x), found)
    np.testing.assert_array_equal(places.numpy(), x.argmax(1))
    np.testing.assert_array_equal(found.numpy(), x.argmax(1))
    own_time = best_time(own["main"], [tvm.nd.array(x), places, values])
    given_time = best_time(given["main"], [tvm.nd.array(x), found])
    assert own_time < given_time * 4, (own_time, given_time)


# ---------------------------------------------------------------- libraries on disk


def test_a_library_on_disk(tmp_path):
    s, args, arrays, (expected,) = stage_programs.vector_add()
    func = tvm.build(s, args, tvm.target.Target("llvm", host="llvm"), name="myadd")
    path = str(tmp_path / "add.so")
    func.export_library(path)
    loaded = tvm.runtime.load_module(path)
    tensors = [tvm.nd.array(each, tvm.cpu(0)) for each in arrays]
    loaded["myadd"](*tensors)
    np.testing.assert_array_equal(tensors[2].numpy(), expected)
    timer = loaded.time_evaluator("myadd", tvm.cpu(0), number=3)
    assert timer(*tensors).mean > 0
    assert "myadd" in func.get_source() and "myadd" in func.get_source("asm")


def test_code_for_another_processor():
    """Only its text: there is no such machine here."""
    s, args, _, _ = stage_programs.vector_add()
    text = tvm.build(s, args, "llvm -mtriple=aarch64-linux-gnu", name="myadd").get_source("asm")
    assert "fadd\tv" in text or "fadd v" in text, text[:2000]


# ---------------------------------------------------------------- what each primitive says


def shown(change) -> str:
    a = te.placeholder((32, 20), name="A")
    b = te.compute((32, 20), lambda i, j: a[i, j] * 2, name="B")
    s = te.create_schedule(b.op)
    change(s[b], *b.op.axis)
    return str(tvm.lower(s, [a, b], simple_mode=True))


@pytest.mark.parametrize(
    ("change", "loops"),
    [
        (lambda b, i, j: b.split(i, factor=8), "for i_outer, i_inner, j in T.grid(4, 8, 20):"),
        (lambda b, i, j: b.split(i, nparts=8), "for i_outer, i_inner, j in T.grid(8, 4, 20):"),
        (lambda b, i, j: b.tile(i, j, 8, 5), "for i_outer, j_outer, i_inner, j_inner in T.grid(4, 4, 8, 5):"),
        (lambda b, i, j: b.fuse(i, j), "for i_j_fused in range(640):"),
        (lambda b, i, j: b.reorder(j, i), "for j, i in T.grid(20, 32):"),
        (lambda b, i, j: b.parallel(i), "for i in T.parallel(32):"),
        (lambda b, i, j: b.unroll(b.split(j, factor=2)[1]), "for i, j_outer in T.grid(32, 10):"),
        (lambda b, i, j: b.bind(i, te.thread_axis("blockIdx.x")), 'T.launch_thread("blockIdx.x", 32)'),
        (lambda b, i, j: b.pragma(i, "unroll_explicit", True), '"pragma_unroll_explicit": True'),
    ],
)
def test_primitives(change, loops):
    assert loops in shown(change), shown(change)
