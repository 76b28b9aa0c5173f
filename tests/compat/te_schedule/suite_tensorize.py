"""s[C].tensorize: functions in C, calls and statements take the place of tiles; what does not fit is refused."""

from pathlib import Path

import numpy as np
import pytest
import tvm
from checking import refusal
from tvm import te

ROW = 16

C_CODE = """
extern "C" int %(name)s_update(float* sums, float* vector, float* matrix, int rows, int terms, int stride) {
  for (int i = 0; i < rows; ++i)
    for (int k = 0; k < terms; ++k) sums[i] += vector[k] * matrix[i * stride + k];
  return 0;
}
extern "C" int %(name)s_reset(float* sums, int rows) {
  for (int i = 0; i < rows; ++i) sums[i] = 0.0f;
  return 0;
}
"""


def c_code(name: str) -> str:
    return (C_CODE % {"name": name}).replace('extern "C" ', "")


def numbers(*shape):
    return np.random.default_rng(1).uniform(-1, 1, shape).astype("float32")


def product(n: int, m: int, terms: int):
    """C[i, j] = sum over k of A[i, k] * B[j, k]."""
    a, b = te.placeholder((n, terms), name="A"), te.placeholder((m, terms), name="B")
    k = te.reduce_axis((0, terms), "k")
    return a, b, te.compute((n, m), lambda i, j: te.sum(a[i, k] * b[j, k], axis=k), name="C")


def statement(*calls):
    builder = tvm.tir.ir_builder.create()
    for call in calls:
        builder.emit(call)
    return builder.get()


def matrix_times_vector(
    rows: int, terms: int, name: str = "gemv", parts: str = "body reset update", strides=None
):
    a, b = te.placeholder((terms,), name="a"), te.placeholder((rows, terms), name="b")
    k = te.reduce_axis((0, terms), "k")
    c = te.compute((rows,), lambda i: te.sum(a[k] * b[i, k], axis=k), name="c")
    buffers = {
        a: tvm.tir.decl_buffer(a.shape, a.dtype, name="A", offset_factor=1, strides=[1]),
        b: tvm.tir.decl_buffer(
            b.shape, b.dtype, name="B", offset_factor=1, strides=strides or [te.var("stride"), 1]
        ),
        c: tvm.tir.decl_buffer(c.shape, c.dtype, name="C", offset_factor=1, strides=[1]),
    }

    def implemented(ins, outs):
        vector, matrix = ins
        (sums,) = outs
        stride = matrix.strides[0]
        reset = tvm.tir.call_extern("int32", f"{name}_reset", sums.access_ptr("w"), rows)
        update = tvm.tir.call_extern(
            "int32", f"{name}_update", sums.access_ptr("rw"), vector.access_ptr("r"), matrix.access_ptr("r"),
            rows, terms, stride,
        )  # fmt: skip
        made = {
            "body": statement(reset, update),
            "reset": statement(reset),
            "update": statement(update),
        }
        chosen = tuple(made[part] if part in parts else None for part in ("body", "reset", "update"))
        return chosen if len(parts.split()) > 1 else chosen[0]

    return te.decl_tensor_intrin(c.op, implemented, name=name, binds=buffers)


def check_product(s, args, n, m, terms, target="llvm") -> str:
    func = tvm.build(s, args, target, name="product")
    a, b = numbers(n, terms), numbers(m, terms)
    c = tvm.nd.array(np.full((n, m), 7, "float32"))
    func(tvm.nd.array(a), tvm.nd.array(b), c)
    np.testing.assert_allclose(c.numpy(), a @ b.T, rtol=1e-4, atol=1e-4)
    return str(tvm.lower(s, args, simple_mode=True))


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_a_row_of_tiles_by_a_c_function(target):
    """All terms are in the tile: one call of the body."""
    n, m, terms = 7, 48, 20
    a, b, c = product(n, m, terms)
    s = te.create_schedule(c.op)
    i, j = s[c].op.axis
    jo, ji = s[c].split(j, factor=ROW)
    s[c].reorder(i, jo, ji, c.op.reduce_axis[0])
    s[c].tensorize(ji, matrix_times_vector(ROW, terms, parts="body"))
    s[c].pragma(i, "import_c", c_code("gemv"))
    text = check_product(s, [a, b, c], n, m, terms, target)
    assert text.count('"gemv_update"') == 1 and "for j_outer in range(3)" in text, text


@pytest.mark.parametrize("parts", ["body reset update", "reset update", "update"])
def test_terms_outside_of_the_tile(parts):
    """The reset runs once for each tile, the update for each part of the terms; without a reset, loops set the results."""
    n, m, terms = 5, 32, 60
    a, b, c = product(n, m, terms)
    s = te.create_schedule(c.op)
    i, j = s[c].op.axis
    jo, ji = s[c].split(j, factor=ROW)
    ko, ki = s[c].split(c.op.reduce_axis[0], factor=12)
    s[c].reorder(i, jo, ko, ji, ki)
    s[c].tensorize(ji, matrix_times_vector(ROW, 12, parts=f"{parts} of a reduction"))
    s[c].pragma(i, "import_c", c_code("gemv"))
    text = check_product(s, [a, b, c], n, m, terms)
    assert ('"gemv_reset"' in text) == ("reset" in parts) and text.count('"gemv_update"') == 1, text


def test_loops_of_the_tile_in_another_order():
    n, m, terms = 5, 32, 12
    a, b, c = product(n, m, terms)
    s = te.create_schedule(c.op)
    i, j = s[c].op.axis
    jo, ji = s[c].split(j, factor=ROW)
    s[c].reorder(i, jo, c.op.reduce_axis[0], ji)
    s[c].tensorize(c.op.reduce_axis[0], matrix_times_vector(ROW, terms, parts="body"))
    s[c].pragma(jo, "import_c", c_code("gemv"))
    check_product(s, [a, b, c], n, m, terms)


def test_llvm_ir_of_clang():
    clang = pytest.importorskip("tvm.contrib.clang")
    n, m, terms = 3, 32, 12
    a, b, c = product(n, m, terms)
    s = te.create_schedule(c.op)
    i, j = s[c].op.axis
    _, ji = s[c].split(j, factor=ROW)
    s[c].tensorize(ji, matrix_times_vector(ROW, terms, parts="body"))
    s[c].pragma(i, "import_llvm", clang.create_llvm(C_CODE % {"name": "gemv"}, options=["-O2"]))
    check_product(s, [a, b, c], n, m, terms)


def test_a_pragma_of_the_tile_itself():
    n, m, terms = 3, 16, 12
    a, b, c = product(n, m, terms)
    s = te.create_schedule(c.op)
    j = s[c].op.axis[1]
    s[c].tensorize(j, matrix_times_vector(ROW, terms, parts="body"))
    s[c].pragma(j, "import_c", c_code("gemv"))
    check_product(s, [a, b, c], n, m, terms)


def test_inputs_through_a_cache():
    """B is repacked first: its rows lie one behind the other, and the stride that the function gets is that of the copy."""
    n, m, terms = 5, 32, 12
    a, b, c = product(n, m, terms)
    s = te.create_schedule(c.op)
    cache = s.cache_read(b, "global", [c])
    i, j = s[c].op.axis
    jo, ji = s[c].split(j, factor=ROW)
    s[c].tensorize(ji, matrix_times_vector(ROW, terms, parts="body"))
    s[c].pragma(jo, "import_c", c_code("gemv"))
    s[cache].vectorize(s[cache].op.axis[1])
    check_product(s, [a, b, c], n, m, terms)


# ---------------------------------------------------------------- statements


def added(width: int, write):
    x, y = te.placeholder((width,), name="x"), te.placeholder((width,), name="y")
    z = te.compute((width,), lambda i: x[i] + y[i], name="z")
    return te.decl_tensor_intrin(z.op, write, name="added")


def vectors(ins, outs):
    return outs[0].vstore([0], ins[0].vload([0], "float32x8") + ins[1].vload([0], "float32x8"))


def loop(ins, outs):
    ib = tvm.tir.ir_builder.create()
    x, y, z = (ib.buffer_ptr(buffer) for buffer in (*ins, *outs))
    with ib.for_range(0, 8, "n") as n:
        with ib.if_scope(n % 2 == 0):
            z[n] = x[n] + y[n]
        with ib.else_scope():
            total = ib.allocate("float32", (1,), "total")
            total[0] = y[n]
            total[0] = total[0] + x[n]
            z[n] = total[0]
    return ib.get()


@pytest.mark.parametrize("write", [vectors, loop])
def test_statements(write):
    a, b = te.placeholder((5, 24), name="A"), te.placeholder((5, 24), name="B")
    c = te.compute((5, 24), lambda i, j: a[i, j] + b[i, j], name="C")
    s = te.create_schedule(c.op)
    jo, ji = s[c].split(c.op.axis[1], factor=8)
    s[c].parallel(c.op.axis[0])
    s[c].tensorize(ji, added(8, write))
    x, y, z = numbers(5, 24), numbers(5, 24), tvm.nd.array(np.zeros((5, 24), "float32"))
    tvm.build(s, [a, b, c], "llvm")(tvm.nd.array(x), tvm.nd.array(y), z)
    np.testing.assert_array_equal(z.numpy(), x + y)


def test_a_registered_intrinsic_by_name():
    """Intrinsics of schedules of blocks serve stages, too: dot products of four bytes for 16 sums."""
    from tvm.tir.tensor_intrin.x86 import VNNI_DOT_16x4_INTRIN

    a, b = te.placeholder((5, 8), "uint8", name="A"), te.placeholder((2, 16, 4), "int8", name="B")
    k = te.reduce_axis((0, 8), "k")
    c = te.compute(
        (5, 16),
        lambda i, j: te.sum(a[i, k].astype("int32") * b[k // 4, j, k % 4].astype("int32"), axis=k),
        name="C",
    )
    s = te.create_schedule(c.op)
    i, j = c.op.axis
    ko, ki = s[c].split(c.op.reduce_axis[0], factor=4)
    s[c].reorder(i, ko, j, ki)
    s[c].tensorize(j, VNNI_DOT_16x4_INTRIN)
    text = str(tvm.lower(s, [a, b, c]))
    assert "vpdpbusd" in text, text
    if not tvm.testing.requires_x86_vnni.run_time_check():
        pytest.skip("this processor has no VNNI")
    x = np.random.default_rng(0).integers(0, 100, (5, 8)).astype("uint8")
    y = np.random.default_rng(1).integers(-60, 60, (2, 16, 4)).astype("int8")
    z = tvm.nd.array(np.zeros((5, 16), "int32"))
    tvm.build(s, [a, b, c], "llvm -mcpu=native")(tvm.nd.array(x), tvm.nd.array(y), z)
    expected = np.einsum("ipk,pjk->ij", x.reshape(5, 2, 4).astype("int32"), y.astype("int32"))
    np.testing.assert_array_equal(z.numpy(), expected)


LANES = 8


def dots_of_bytes():
    """Eight sums of four products of bytes: two instructions of AVX2."""
    a, b = te.placeholder((4,), "uint8", name="a"), te.placeholder((LANES, 4), "int8", name="b")
    k = te.reduce_axis((0, 4), "k")
    c = te.compute(
        (LANES,), lambda i: te.sum(a[k].astype("int32") * b[i, k].astype("int32"), axis=k), name="c"
    )

    def part(ins, outs, index: int):
        ib = tvm.tir.ir_builder.create()
        if index == 1:
            ib.emit(outs[0].vstore(0, tvm.tir.const(0, f"int32x{LANES}")))
            return ib.get()
        four = tvm.tir.call_intrin("int32", "tir.reinterpret", ins[0].vload([0], "uint8x4"))
        left = tvm.tir.call_intrin("int8x32", "tir.reinterpret", four.astype(f"int32x{LANES}"))
        right = ins[1].vload([0, 0], "int8x32")
        pairs = tvm.tir.call_llvm_pure_intrin(
            "int16x16", "llvm.x86.avx2.pmadd.ub.sw", tvm.tir.const(2, "uint32"), left, right
        )
        ones = tvm.tir.const(1, "int16x16")
        sums = tvm.tir.call_llvm_pure_intrin(
            "int32x8", "llvm.x86.avx2.pmadd.wd", tvm.tir.const(2, "uint32"), pairs, ones
        )
        ib.emit(outs[0].vstore(0, sums if index == 0 else sums + outs[0].vload([0], "int32x8")))
        return ib.get()

    def implemented(ins, outs):
        return tuple(part(ins, outs, index) for index in range(3))

    return te.decl_tensor_intrin(
        c.op, implemented, "dots_of_bytes", default_buffer_params={"offset_factor": 1}
    )


def has_avx2() -> bool:
    return "avx2" in Path("/proc/cpuinfo").read_text().split()


@pytest.mark.skipif(not has_avx2(), reason="this processor has no AVX2")
def test_dot_products_of_bytes_by_an_instruction():
    rows, terms = 5, 12
    a, b = te.placeholder((rows, terms), "uint8", name="A"), te.placeholder((LANES, terms), "int8", name="B")
    packed = te.compute((terms // 4, LANES, 4), lambda p, i, k: b[i, p * 4 + k], name="packed")
    k = te.reduce_axis((0, terms), "k")
    c = te.compute(
        (rows, LANES),
        lambda i, j: te.sum(a[i, k].astype("int32") * packed[k // 4, j, k % 4].astype("int32"), axis=k),
        name="C",
    )
    s = te.create_schedule(c.op)
    i, j = c.op.axis
    ko, ki = s[c].split(c.op.reduce_axis[0], factor=4)
    s[c].reorder(i, ko, j, ki)
    s[c].tensorize(j, dots_of_bytes())
    func = tvm.build(s, [a, b, c], "llvm -mcpu=core-avx2", name="dots")
    x = np.random.default_rng(0).integers(0, 100, (rows, terms)).astype("uint8")
    y = np.random.default_rng(1).integers(-60, 60, (LANES, terms)).astype("int8")
    result = tvm.nd.array(np.full((rows, LANES), 7, "int32"))
    func(tvm.nd.array(x), tvm.nd.array(y), result)
    np.testing.assert_array_equal(result.numpy(), x.astype("int32") @ y.astype("int32").T)
    assert "vpmaddubsw" in func.get_source("asm") and "vpmaddwd" in func.get_source("asm")


# ---------------------------------------------------------------- what does not fit


def lowered(intrinsic, factor=ROW, terms=12, m=32, change=lambda s, c: None) -> str:
    a, b, c = product(3, m, terms)
    s = te.create_schedule(c.op)
    _, inner = s[c].split(c.op.axis[1], factor=factor)
    s[c].tensorize(inner, intrinsic)
    change(s, c)
    return refusal(lambda: tvm.lower(s, [a, b, c]))


NEST = """
  <main as scheduled>:5:17
   4 |     # with T.block("root"):
   5 |     for i, j_0, j_1, k in T.grid(3, {}, {}, 12):
     |                 ^^^
   6 |         with T.block("C"):
note: this is tensorize(j.inner, {}) of stage C"""


def test_a_tile_of_another_shape():
    assert lowered(matrix_times_vector(ROW, 12, "wider", "body"), factor=8) == (
        "error: tensorize: C[v_i_o, v_j_o * 8:v_j_o * 8 + 8] of the program does not fit parameter c of intrinsic wider, "
        "a buffer [16] of float32" + NEST.format(4, 8, "wider")
    )


def test_a_tile_behind_the_end():
    assert lowered(matrix_times_vector(ROW, 12, "uneven", "body"), m=30) == (
        "error: tensorize: the axes of block C cannot be divided at loop j_1: the predicate mixes loops of the tile with others"
        """
  <main as scheduled>:6:9
   5 |     for i, j_0, j_1, k in T.grid(3, 2, 16, 12):
   6 |         with T.block("C"):
     |         ^^^^^^^^^^^^^^^^^
   7 |             v_i = T.axis.spatial(3, i)
note: this is tensorize(j.inner, uneven) of stage C"""
    )


def test_strides_that_do_not_fit():
    help = '\nhelp: a variable takes any stride: strides=[te.var("s"), ...]'
    assert lowered(matrix_times_vector(ROW, 12, "sparse", "body", [te.var("s"), 2])) == (
        "error: tensorize: dimension 1 of buffer B of intrinsic sparse has stride 2, that of B has 1"
        + NEST.format(2, 16, "sparse") + help
    )  # fmt: skip
    assert lowered(matrix_times_vector(ROW, 12, "padded", "body", [16, 1])) == (
        "error: tensorize: dimension 0 of buffer B of intrinsic padded has stride 16, that of B has 12"
        + NEST.format(2, 16, "padded") + help
    )  # fmt: skip


def test_memory_of_another_scope():
    x = te.placeholder((8,), name="x")
    y = te.compute((8,), lambda i: x[i] + 1, name="y")
    binds = {y: tvm.tir.decl_buffer((8,), "float32", name="Y", scope="local", offset_factor=1)}
    near = te.decl_tensor_intrin(y.op, lambda ins, outs: outs[0].vstore([0], ins[0][0] + 1), "near", binds)
    s = te.create_schedule(y.op)
    s[y].tensorize(y.op.axis[0], near)
    assert refusal(lambda: tvm.lower(s, [x, y])).startswith(
        'error: tensorize: buffer Y of intrinsic near lies in memory "local", y in "global"\n'
    )


def test_another_computation():
    def largest(ins, outs):
        return tvm.tir.call_extern("int32", "largest", outs[0].access_ptr("w"), ins[0].access_ptr("r"))

    a = te.placeholder((12,), name="a")
    k = te.reduce_axis((0, 12), "k")
    c = te.compute((1,), lambda i: te.max(a[k], axis=k), name="c")
    x = te.placeholder((5, 12), name="A")
    r = te.reduce_axis((0, 12), "r")
    y = te.compute((5,), lambda i: te.sum(x[i, r], axis=r), name="C")
    s = te.create_schedule(y.op)
    s[y].tensorize(r, te.decl_tensor_intrin(c.op, largest, name="largest"))
    assert refusal(lambda: tvm.lower(s, [x, y])) == (
        "error: tensorize: the program does not compute what intrinsic largest does: 0 against -inf"
        """
  <main as scheduled>:5:12
   4 |     # with T.block("root"):
   5 |     for i, r in T.grid(5, 12):
     |            ^
   6 |         with T.block("C"):
note: the program has T.float32(0)
note: the intrinsic has T.float32("-inf")
note: this is tensorize(r, largest) of stage C"""
    )


def test_parts_that_are_missing():
    outside = lambda s, c: s[c].reorder(c.op.reduce_axis[0], *s[c].leaf_iter_vars[:3])  # noqa: E731
    assert lowered(matrix_times_vector(ROW, 12, "whole", "body"), change=outside) == (
        "error: tensorize: loop k of stage C adds terms around the tile, and intrinsic whole has no update\n"
        "note: this is tensorize(j.inner, whole) of stage C\n"
        "help: let fcompute return (body, reset, update)"
    )


def test_two_tiles_of_a_stage():
    a, b, c = product(3, 32, 12)
    s = te.create_schedule(c.op)
    i, j = c.op.axis
    s[c].tensorize(j, matrix_times_vector(32, 12, "long", "body"))
    assert refusal(lambda: s[c].tensorize(i, "other")) == (
        "error: tensorize: axis j of C begins a tile already, that of intrinsic long"
    )
    assert refusal(lambda: s[c].tensorize(j, 3)) == (
        "tensorize: a Python int is no intrinsic of te.decl_tensor_intrin"
    )


def declared(implemented, op=None, **options) -> str:
    x = te.placeholder((8,), name="x")
    y = te.compute((8,), lambda i: x[i] + 1, name="y")
    options = {key: value(x) if callable(value) else value for key, value in options.items()}
    return refusal(lambda: te.decl_tensor_intrin(op or y.op, implemented, name="f", **options))


def test_declarations():
    call = tvm.tir.call_extern("int32", "f")
    assert declared(lambda ins, outs: call, op="y") == (
        "decl_tensor_intrin: f is declared by y, expected the operation of a te.compute"
    )
    assert declared(lambda ins, outs: call, scalar_params=[te.var("n")]) == (
        "decl_tensor_intrin: f has scalar parameters\nhelp: let fcompute take numbers from the scope around it"
    )
    wrong = lambda x: {x: tvm.tir.decl_buffer((9,), "float32", name="X")}  # noqa: E731
    assert declared(lambda ins, outs: call, binds=wrong) == (
        "decl_tensor_intrin: tensor x of f is [8] of float32, but its buffer [9] of float32"
    )
    assert declared(lambda ins, outs: []) == (
        "decl_tensor_intrin: fcompute of f gives 0 statements, expected body, or (body, reset, update)"
    )
    assert declared(lambda ins, outs: "f") == (
        "decl_tensor_intrin: fcompute of f gives a Python str, expected a statement or a call"
    )
    assert declared(lambda ins, outs: (None, call)) == (
        "decl_tensor_intrin: fcompute of f gives neither a body nor an update"
    )
    assert declared(lambda ins, outs: (call, None, call)) == (
        "decl_tensor_intrin: y is no reduction, so it takes a body alone, without reset and update"
    )


def test_an_intrinsic_is_no_function():
    intrinsic = matrix_times_vector(ROW, 12, "called", "body")
    assert refusal(lambda: intrinsic(1)) == (
        "called: a te.compute of calls of an intrinsic is not supported\n"
        "help: write the formula, and s[C].tensorize(axis, intrin)"
    )
    assert repr(intrinsic).startswith("TensorIntrin(called, ")
    again = matrix_times_vector(ROW, 12, "called", "body")
    assert again.parts == intrinsic.parts == {"whole": "called", "reset": "", "update": ""}


def test_what_a_builder_refuses():
    ib = tvm.tir.ir_builder.create()
    buffer = tvm.tir.decl_buffer((4, 8), "float32", name="X")
    x = ib.buffer_ptr(buffer)
    x[11] = 1.0
    x[2, 3] = x[1] * 2.0
    assert str(ib.get()).strip() == "X[1, 3] = T.float32(1)\nX[2, 3] = X[0, 1] * T.float32(2)"
    strided = ib.buffer_ptr(tvm.tir.decl_buffer((4, 8), "float32", name="S", strides=[16, 1]))
    assert refusal(lambda: strided[3]) == (
        "S has strides, so one index does not find its elements\nhelp: give one per dimension"
    )
    assert refusal(lambda: x[1, 2, 3]) == "X has 2 dimensions, but 3 indices are given"
    assert (
        refusal(lambda: x.__setitem__(0, te.const(1, "int32"))) == "X holds float32, but the value is int32"
    )
    assert refusal(lambda: ib.emit("x")) == "emit: a Python str is neither a statement nor an expression"
    assert refusal(lambda: ib.else_scope()) == "else_scope: there is no if_scope before it"
    assert refusal(lambda: ib.pointer("float32")) == (
        "pointer: memory of no known size\nhelp: allocate says its shape, buffer_ptr takes a buffer"
    )
    assert refusal(lambda: ib.buffer_ptr(3)) == "buffer_ptr: a Python int is no buffer"
    assert (
        refusal(lambda: buffer.vload([0, 0], "int8x4"))
        == "vload: X holds float32, which int8x4 is no vector of"
    )
