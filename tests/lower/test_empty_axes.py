"""Extents that are 0 when the program runs: sums over nothing are 0, maxima -inf, and nothing is written beyond."""

import numpy as np
import pytest

import tilewright
from tilewright import relax, te, tir
from tilewright.script import parse

LEAST = {"float32": -np.inf, "int32": -(2**31), "int8": -128, "uint8": 0}
MOST = {"float32": np.inf, "int32": 2**31 - 1, "int8": 127, "uint8": 255}


def reduced(reduce, dtype, columns):
    """main(A[n, columns], B[columns]): B is A reduced over n; without columns over all of A[n]."""
    n = te.var("n", "int64")
    k = te.reduce_axis((0, n), "k")
    if columns:
        a = te.placeholder((n, columns), dtype, name="A")
        b = te.compute((columns,), lambda i: reduce(a[k, i], axis=k), name="B")
    else:
        a = te.placeholder((n,), dtype, name="A")
        b = te.compute((1,), lambda i: reduce(a[k], axis=k), name="B")
    return te.create_prim_func([a, b])


@pytest.mark.parametrize("schedule", [False, True])
@pytest.mark.parametrize("target", ["llvm", "c"])
@pytest.mark.parametrize("columns", [0, 4, 37])
@pytest.mark.parametrize(
    ("reduce", "dtype", "expected"),
    [
        (te.sum, "float32", 0),
        (te.sum, "int8", 0),
        (te.prod, "float32", 1),
        (te.max, "float32", LEAST["float32"]),
        (te.max, "int32", LEAST["int32"]),
        (te.max, "uint8", LEAST["uint8"]),
        (te.min, "float32", MOST["float32"]),
        (te.min, "int8", MOST["int8"]),
    ],
)
def test_a_reduction_over_nothing_gives_its_init(reduce, dtype, expected, columns, target, schedule):
    main = tilewright.build(reduced(reduce, dtype, columns), target=target, schedule=schedule)["main"]
    b = np.full(columns or 1, 77, dtype)
    main(np.zeros((0, columns) if columns else 0, dtype), b)
    np.testing.assert_array_equal(b, np.full(columns or 1, expected, dtype))
    a = np.ones((5, columns) if columns else 5, dtype)
    main(a, b)
    np.testing.assert_array_equal(b, np.full(columns or 1, 5 if reduce is te.sum else 1, dtype))


def matmul():
    n = te.var("n", "int64")
    a, b = te.placeholder((5, n), name="A"), te.placeholder((n, 37), name="B")
    k = te.reduce_axis((0, n), "k")
    c = te.compute((5, 37), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    return te.create_prim_func([a, b, te.compute((5, 37), lambda i, j: c[i, j] + 1, name="D")])


@pytest.mark.parametrize("schedule", [False, True])
def test_a_product_of_matrices_without_inner_extent(schedule):
    main = tilewright.build(matmul(), schedule=schedule)["main"]
    for n in (0, 1, 7):
        a, b = np.ones((5, n), "float32"), np.ones((n, 37), "float32")
        d = np.full((5, 37), 77, "float32")
        main(a, b, d)
        np.testing.assert_array_equal(d, a @ b + 1)


def test_the_interpreter_agrees():
    b = np.full(4, 77, "float32")
    tir.interpret(reduced(te.max, "float32", 4), np.zeros((0, 4), "float32"), b)
    np.testing.assert_array_equal(b, np.full(4, -np.inf, "float32"))


STEPS = {
    "split": lambda sch, b: sch.split(sch.get_loops(b)[1], factors=[None, 4]),
    "reorder": lambda sch, b: sch.reorder(sch.get_loops(b)[1], sch.get_loops(b)[0]),
    "split_and_reorder": lambda sch, b: sch.reorder(
        *sch.split(sch.get_loops(b)[1], factors=[None, 4]), sch.get_loops(b)[0]
    ),
    "vectorize_inside": lambda sch, b: (
        sch.reorder(sch.get_loops(b)[1], sch.get_loops(b)[0]),
        sch.vectorize(sch.get_loops(b)[1]),
    ),
    "decompose": lambda sch, b: sch.decompose_reduction(b, sch.get_loops(b)[1]),
    "cache_write": lambda sch, b: sch.reverse_compute_at(sch.cache_write(b, 0, "local"), sch.get_loops(b)[0]),
    "blockize": lambda sch, b: sch.blockize(sch.split(sch.get_loops(b)[0], factors=[None, 4])[1]),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_schedule_keeps_the_init_of_empty_reductions(step):
    sch = tilewright.Schedule(reduced(te.sum, "float32", 8))
    STEPS[step](sch, sch.get_block("B"))
    main = tilewright.build(sch.mod)["main"]
    for n in (0, 1, 3, 4, 9):
        a = np.arange(n * 8, dtype="float32").reshape(n, 8)
        b = np.full(8, 77, "float32")
        main(a, b)
        np.testing.assert_array_equal(b, a.sum(axis=0))


@pytest.mark.parametrize("schedule", [False, True])
def test_an_elementwise_program_of_nothing(schedule):
    n = te.var("n", "int64")
    a = te.placeholder((n, 7), name="A")
    b = te.compute((n, 7), lambda i, j: te.exp(a[i, j]) + 1, name="B")
    main = tilewright.build(te.create_prim_func([a, b]), schedule=schedule)["main"]
    beyond = np.full((3, 7), 77, "float32")
    main(np.zeros((0, 7), "float32"), beyond[:0])
    assert (beyond == 77).all()


def run_graph(op, shapes, *arrays):
    params = [
        relax.Var(f"x{n}", relax.TensorType(shape, str(array.dtype)))
        for n, (shape, array) in enumerate(zip(shapes, arrays, strict=True))
    ]
    bb = relax.BlockBuilder()
    with bb.function("main", params):
        with bb.dataflow():
            out = bb.emit_output(bb.emit(op(*params)))
        bb.emit_func_output(out)
    return tilewright.VirtualMachine(tilewright.compile(bb.get()))["main"](*arrays).numpy()


N = tir.Var("n", "int64")
EMPTY, ROWS = np.zeros(0, "float32"), np.zeros((0, 4), "float32")


@pytest.mark.parametrize(
    ("op", "expected"),
    [(relax.op.sum, 0), (relax.op.prod, 1), (relax.op.max, -np.inf), (relax.op.min, np.inf), (relax.op.mean, np.nan)],
)  # fmt: skip
def test_a_graph_that_reduces_nothing(op, expected):
    np.testing.assert_array_equal(run_graph(op, [(N,)], EMPTY), np.float32(expected))
    down = run_graph(lambda x: op(x, axis=0), [(N, 4)], ROWS)
    np.testing.assert_array_equal(down, np.full(4, expected, "float32"))
    assert run_graph(lambda x: op(x, axis=1), [(N, 4)], ROWS).shape == (0,)


def test_graphs_with_an_extent_of_nothing():
    assert run_graph(lambda x: relax.op.nn.softmax(x, axis=1), [(N, 4)], ROWS).shape == (0, 4)
    assert run_graph(relax.op.exp, [(N, 4)], ROWS).shape == (0, 4)
    product = run_graph(
        relax.op.matmul, [(5, N), (N, 6)], np.zeros((5, 0), "float32"), np.zeros((0, 6), "float32")
    )
    np.testing.assert_array_equal(product, np.zeros((5, 6), "float32"))


def test_the_init_stands_before_the_reduction():
    func = parse("""
@T.prim_func
def main(a: T.handle, B: T.Buffer((4,), "float32")):
    n = T.int64()
    A = T.match_buffer(a, (4, n), "float32")
    for i, k in T.grid(4, n):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]
""")
    source = tilewright.build(func, target="c", schedule=False).get_source()
    body = source[source.index("// main: what it computes") : source.index("// main: checks")]
    assert (
        body
        == """// main: what it computes
static int32_t main_compute(const float* A, float* B, int64_t n) {
  for (int32_t i = 0; i < 4; ++i) {
    if (n < 1) {
      B[i] = 0.0f;
    }
    for (int64_t k = 0; k < n; ++k) {
      if (k == 0) {
        B[i] = 0.0f;
      }
      B[i] += A[k + n * (int64_t)i];
    }
  }
  return 0;
}

"""
    )
