"""Programs that schedule rules leave alone have a reason with its numbers; similar programs that fit are scheduled."""

import numpy as np
import pytest

import tilewright
from tilewright.script import tir as T

TARGET = "llvm -mcpu=haswell -num-cores=2"


@T.prim_func
def softmax_and_top(
    X: T.Buffer((256, 1024), "float32"), V: T.Buffer((256, 5), "float32"), I: T.Buffer((256, 5), "int32")
):
    M = T.alloc_buffer((256,))
    E = T.alloc_buffer((256, 1024))
    S = T.alloc_buffer((256,))
    P = T.alloc_buffer((256, 1024))
    for i, k in T.grid(256, 1024):
        with T.block("M"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                M[vi] = T.min_value("float32")
            M[vi] = T.max(M[vi], X[vi, vk])
    for i, k in T.grid(256, 1024):
        with T.block("E"):
            vi, vk = T.axis.remap("SS", [i, k])
            E[vi, vk] = T.exp(X[vi, vk] - M[vi])
    for i, k in T.grid(256, 1024):
        with T.block("S"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + E[vi, vk]
    for i, k in T.grid(256, 1024):
        with T.block("P"):
            vi, vk = T.axis.remap("SS", [i, k])
            P[vi, vk] = E[vi, vk] / S[vi]
    for i in range(256):
        with T.block("top"):
            vi = T.axis.spatial(256, i)
            for t in range(5):
                V[vi, t] = T.float32(-1)
                I[vi, t] = 0
                for j in range(1024):
                    if P[vi, j] > V[vi, t] and (
                        t == 0
                        or P[vi, j] < V[vi, T.max(t - 1, 0)]
                        or (P[vi, j] == V[vi, T.max(t - 1, 0)] and j > I[vi, T.max(t - 1, 0)])
                    ):
                        V[vi, t] = P[vi, j]
                        I[vi, t] = j


def test_a_block_of_another_kind_leaves_the_others_their_vectors():
    sch = tilewright.schedule.by_rules(softmax_and_top, TARGET)
    assert sch.rejections == [
        ("E", "inline", "2 blocks read E, and each would call its functions again"),
        ("top", "vectorize", "its body is not one store, but has 4 stores and 2 loops"),
    ]
    text = sch.trace.text()
    assert "sch.rfactor(" in text and "sch.vectorize(" in text
    loops = sch.get_loops(sch.get_block("top"))
    assert sch.get(loops[0]).for_kind == "parallel"


def test_it_computes_the_same():
    x = np.random.default_rng(0).standard_normal((256, 1024)).astype("float32")
    v, i = np.zeros((256, 5), "float32"), np.zeros((256, 5), "int32")
    tilewright.build(softmax_and_top)["softmax_and_top"](x, v, i)
    order = np.argsort(-x, axis=1, kind="stable")[:, :5]
    np.testing.assert_array_equal(i, order)
    exact = np.exp(x - x.max(1, keepdims=True))
    exact /= exact.sum(1, keepdims=True)
    np.testing.assert_allclose(v, np.take_along_axis(exact, order, 1), rtol=1e-5)


def rejections(program):
    return tilewright.schedule.by_rules(program, TARGET).rejections


def parse(text):
    return tilewright.script.parse("from tilewright.script import tir as T\n" + text)


def sum_of(extent, index="vi, vk"):
    shape = "(5, 100000)" if index == "vi, vk" else "(100000, 5)" if index == "vk, vi" else "(500000,)"
    return parse(f"""
@T.prim_func
def main(A: T.Buffer({shape}, "float32"), Y: T.Buffer((5,), "float32")):
    for i, k in T.grid(5, {extent}):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + A[{index}]
""")


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (
            sum_of(7),
            [
                ("Y", "tile_sum", "a copy of A for its vectors pays from 4 uses on, and would have 1"),
                ("Y", "reduce_rows", "axis vk of block Y has 7 terms, fewer than two vectors of 4"),
                ("Y", "parallel", "it runs about 35 statements, fewer than the 196608 for which threads pay"),
            ],
        ),
    ],
)
def test_sums_say_what_they_lack(program, expected):
    assert rejections(program) == expected


def test_an_open_extent():
    program = parse("""
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 3, n))
    B = T.match_buffer(b, (3, n))
    for i, j in T.grid(3, n):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vj, vi, 0] * T.float32(2)
""")
    assert rejections(program) == [
        (
            "B",
            "vectorize",
            "neighbours along axis vj lie at no fixed distance in A, and no other axis has vectors of 4 or more in all that it reads",
        )
    ]
    flat = parse("""
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,))
    B = T.match_buffer(b, (n,))
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi] * T.float32(2)
""")
    assert rejections(flat) == [("B", "vectorize", "the extent of loop i, n, is known only at run time")]


def test_few_elements():
    program = parse("""
@T.prim_func
def main(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
    for i in range(3):
        with T.block("B"):
            vi = T.axis.spatial(3, i)
            B[vi] = A[vi] * T.float32(2)
""")
    assert rejections(program) == [
        ("B", "vectorize", "loop i has 3 iterations, fewer than the 4 of a vector that pays")
    ]


def test_what_somebody_has_scheduled():
    @T.prim_func
    def main(A: T.Buffer((127,), "float32"), B: T.Buffer((127,), "float32")):
        for i in range(127):
            with T.block("B"):
                vi = T.axis.spatial(127, i)
                B[vi] = A[vi] * T.float32(2)

    sch = tilewright.Schedule(main)
    sch.parallel(sch.get_loops("B")[0])
    again = tilewright.schedule.by_rules(sch.mod, TARGET)
    assert again.rejections == [("main", "any", "loop i is not a plain serial loop")]
    assert tilewright.ir.structural_equal(again.mod, sch.mod)


def test_statements_outside_of_blocks():
    program = parse("""
@T.prim_func
def main(A: T.Buffer((127,), "float32"), B: T.Buffer((127,), "float32")):
    for i in range(127):
        B[i] = A[i] * T.float32(2)
""")
    assert rejections(program) == [("main", "any", "it has no root block")]


@pytest.mark.parametrize("target", [TARGET, "llvm -mcpu=x86-64 -num-cores=1"])
@pytest.mark.parametrize("shape", [(5, 7), (64, 127), (1, 1), ("n", 3), (3, "n"), ("n", "n")])
def test_no_kernel_of_a_graph_is_left_without_a_reason(shape, target):
    relax, op = tilewright.relax, tilewright.relax.op
    n = tilewright.tir.Var("n", "int64")
    x = relax.Var("x", relax.TensorType([n if each == "n" else each for each in shape], "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        for value in (
            op.exp(x),
            op.sum(x, axis=-1),
            op.max(x, axis=0),
            op.nn.softmax(x, axis=-1),
            op.nn.softmax(x, axis=0),
            op.argmax(x, axis=-1),
            op.cumsum(x, axis=0),
            op.flip(x, axis=0),
            op.permute_dims(x, [1, 0]),
            op.matmul(x, op.permute_dims(x, [1, 0])),
            op.sort(x),
            op.tril(x),
        ):
            result = builder.emit(value)
        builder.emit_func_output(result)
    module = relax.transform.LegalizeOps()(builder.finalize())
    kernels = [each for each in module.functions.values() if isinstance(each, tilewright.tir.PrimFunc)]
    assert len(kernels) >= 11
    for kernel in kernels:
        sch = tilewright.schedule.by_rules(kernel, target)
        is_left = tilewright.ir.structural_equal(sch.mod["main"], kernel)
        assert sch.rejections or not is_left, kernel.script()
        assert not any("another form" in reason for _, _, reason in sch.rejections)


def test_a_sum_of_open_extent():
    program = parse("""
@T.prim_func
def main(a: T.handle, Y: T.Buffer((5,), "float32")):
    n = T.int32()
    A = T.match_buffer(a, (5, n))
    for i, k in T.grid(5, n):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + A[vi, vk]
""")
    assert rejections(program)[-2:] == [
        ("Y", "reduce_rows", "the extent of axis vk of block Y, n, is known only at run time"),
        ("Y", "parallel", "it runs about 320 statements, fewer than the 196608 for which threads pay"),
    ]


@T.prim_func
def transposed_twice(X: T.Buffer((64, 1024), "float32"), Y: T.Buffer((1023, 64), "float32")):
    R = T.alloc_buffer((1024, 64))
    for i, c in T.grid(1024, 64):
        with T.block("R"):
            vi, vc = T.axis.remap("SS", [i, c])
            R[vi, vc] = X[vc, vi]
    for i, c in T.grid(1023, 64):
        with T.block("Y"):
            vi, vc = T.axis.remap("SS", [i, c])
            Y[vi, vc] = R[vi, vc] + R[vi + 1, vc]


def test_what_is_read_side_by_side_twice_is_not_collected_twice():
    sch = tilewright.schedule.by_rules(transposed_twice, TARGET)
    assert (
        "R",
        "inline",
        "block Y would collect about 130944 elements that lie apart, and R has about 65536 side by side",
    ) in sch.rejections
    x = np.random.default_rng(0).standard_normal((64, 1024)).astype("float32")
    y = np.zeros((1023, 64), "float32")
    tilewright.build(sch.mod, TARGET)["transposed_twice"](tilewright.tensor(x), out := tilewright.tensor(y))
    np.testing.assert_array_equal(out.numpy(), x.T[:-1] + x.T[1:])


@T.prim_func
def groups(X: T.Buffer((8, 6, 127), "float32"), Y: T.Buffer((8, 6, 127), "float32")):
    S = T.alloc_buffer((8, 3))
    for i, g, k, w in T.grid(8, 3, 2, 127):
        with T.block("S"):
            vi, vg, vk, vw = T.axis.remap("SSRR", [i, g, k, w])
            with T.init():
                S[vi, vg] = T.float32(0)
            S[vi, vg] = S[vi, vg] + X[vi, vg * 2 + vk, vw]
    for i, c, w in T.grid(8, 6, 127):
        with T.block("Y"):
            vi, vc, vw = T.axis.remap("SSS", [i, c, w])
            Y[vi, vc, vw] = X[vi, vc, vw] - S[vi, vc // 2]


def test_a_sum_whose_reader_has_other_rows_is_reduced_alone():
    sch = tilewright.schedule.by_rules(groups, TARGET)
    assert [rule for block, rule, _ in sch.rejections if block == "S"] == ["tile_sum"]
    assert "rfactor" in str(sch.trace)
    x = np.random.default_rng(0).standard_normal((8, 6, 127)).astype("float32")
    out = tilewright.tensor(np.zeros_like(x))
    tilewright.build(sch.mod, TARGET)["groups"](tilewright.tensor(x), out)
    wanted = x - x.reshape(8, 3, 2, 127).sum((2, 3)).repeat(2, 1)[..., None]
    np.testing.assert_allclose(out.numpy(), wanted, rtol=1e-4, atol=1e-4)
