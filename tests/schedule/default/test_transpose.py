"""Transpositions are done by square tiles in registers where the tile divides both extents."""

import ml_dtypes
import numpy as np
import pytest

import tilewright
from tilewright import relax
from tilewright.errors import UserError

DTYPES = ["float32", "int32", "float64", "int64", "float16", "bfloat16", "int16", "int8"]
#: shape and axes: both sides together, apart in what is read, apart in what is written, and odd ones
MOVES = [
    ((64, 96), (1, 0)),
    ((3, 32, 64), (0, 2, 1)),
    ((1, 64, 3, 32), (0, 2, 3, 1)),
    ((2, 5, 32, 64), (0, 3, 1, 2)),
    ((32, 7, 64), (2, 1, 0)),
    ((5, 7), (1, 0)),
    ((127, 65), (1, 0)),
    ((48, 7), (1, 0)),
    ((9, 4, 34), (0, 2, 1)),
    ((5, 16, 67), (0, 2, 1)),
    ((3, 8, 2, 21), (0, 3, 2, 1)),
]


def array_of(shape, dtype):
    values = np.arange(np.prod(shape)) % 251 - 100
    return values.reshape(shape).astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)


def loops_of(shape, axes, dtype, in_order_of="result"):
    """A program of one block that moves the axes of a tensor, with loops in the order of the result or of the operand."""
    letters = "ijkl"[: len(shape)]
    extents = dict(zip(letters, shape, strict=True))
    to = [letters[axis] for axis in axes]
    loops = to if in_order_of == "result" else letters
    return tilewright.script.parse(f"""
@T.prim_func
def main(A: T.Buffer({shape}, "{dtype}"), B: T.Buffer({tuple(extents[letter] for letter in to)}, "{dtype}")):
    for {", ".join(loops)} in T.grid({", ".join(str(extents[letter]) for letter in loops)}):
        with T.block("move"):
            {", ".join("v" + letter for letter in loops)} = T.axis.remap("{"S" * len(shape)}", [{", ".join(loops)}])
            B[{", ".join("v" + letter for letter in to)}] = A[{", ".join("v" + letter for letter in letters)}]
""")


@pytest.mark.parametrize("target", ["llvm", "llvm -mcpu=x86-64", "c"])
@pytest.mark.parametrize(("shape", "axes"), MOVES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_move(dtype, shape, axes, target):
    a = array_of(shape, dtype)
    for order in ("result", "operand"):
        b = tilewright.tensor(np.zeros_like(np.transpose(a, axes)))
        program = loops_of(shape, axes, dtype, order)
        tilewright.build(program, target=target)["main"](tilewright.tensor(a), b)
        np.testing.assert_array_equal(b.numpy(), np.transpose(a, axes))


@pytest.mark.parametrize(
    ("shape", "axes", "intrinsic"),
    [
        ((64, 96), (1, 0), "transpose_4_float32_0_0"),
        ((1, 64, 3, 32), (0, 2, 3, 1), "transpose_4_float32_1_0"),
        ((2, 5, 32, 64), (0, 3, 1, 2), "transpose_4_float32_0_1"),
        ((32, 7, 64), (2, 1, 0), "transpose_4_float32_1_1"),
        ((127, 65), (1, 0), None),
    ],
)
def test_the_rule_takes_tiles_that_fit(shape, axes, intrinsic):
    for order, suffix in (("result", ""), ("operand", "_columns_first")):
        program = loops_of(shape, axes, "float32", order)
        text = str(tilewright.schedule.by_rules(program, target="llvm -mcpu=x86-64").trace)
        assert "sch.reorder(" in text
        if intrinsic:
            assert f'tensor_intrin="{intrinsic}{suffix}"' in text
        else:
            assert "tensorize" not in text


@pytest.mark.parametrize(
    ("shape", "dtype", "parts", "intrinsic"),
    [
        ((9, 4, 34), "float32", "[32, None]", "transpose_4_float32_0_0"),
        ((5, 16, 67), "float32", "[64, None]", "transpose_16_float32_0_0"),
        ((5, 8, 21), "float64", "[16, None]", "transpose_8_float64_0_0"),
        ((9, 4, 36), "float32", None, "transpose_4_float32_0_0"),  # tiles divide both
        ((9, 4, 7), "float32", None, None),  # one tile only
        ((9, 5, 34), "float32", None, None),  # the other side is not divided
        ((9, 16, 67), "int8", None, None),  # no tiles of bytes
    ],
)
def test_rows_that_tiles_do_not_divide_are_two_parts(shape, dtype, parts, intrinsic):
    program = loops_of(shape, (0, 2, 1), dtype)
    text = str(tilewright.schedule.by_rules(program, target="llvm -mcpu=skylake-avx512").trace)
    assert ("loop_partition" in text) == (parts is not None)
    assert ("tensorize" in text) == (intrinsic is not None)
    if parts:
        assert f"factors={parts}" in text
    if intrinsic:
        assert f'tensor_intrin="{intrinsic}"' in text


def test_a_last_dimension_of_unknown_size():
    # there was a loop without end in the rule: no vector is as narrow as nothing
    program = tilewright.script.parse("""
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (9, n, 34), "float32")
    B = T.match_buffer(b, (9, 34, n), "float32")
    for i, j, k in T.grid(9, 34, n):
        with T.block("move"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            B[vi, vj, vk] = A[vi, vk, vj]
""")
    a = array_of((9, 5, 34), "float32")
    b = tilewright.tensor(np.zeros((9, 34, 5), "float32"))
    tilewright.build(program)["main"](tilewright.tensor(a), b)
    np.testing.assert_array_equal(b.numpy(), np.transpose(a, (0, 2, 1)))


def test_large_parts_run_on_all_threads():
    shape = (777, 16, 35)
    program = loops_of(shape, (0, 2, 1), "float32")
    a = array_of(shape, "float32")
    b = tilewright.tensor(np.zeros((777, 35, 16), "float32"))
    assert "sch.parallel" in str(tilewright.schedule.by_rules(program, target="llvm -num-cores=2").trace)
    tilewright.build(program, target="llvm -num-cores=2")["main"](tilewright.tensor(a), b)
    np.testing.assert_array_equal(b.numpy(), np.transpose(a, (0, 2, 1)))


def transposed_by(name, dtype="float32"):
    order = "operand" if name.endswith("_columns_first") else "result"
    schedule = tilewright.Schedule(loops_of((16, 32), (1, 0), dtype, order))
    size = int(name.split("_")[1])
    loops = schedule.get_loops(schedule.get_block("move"))
    rows, columns = loops if order == "result" else reversed(loops)
    (io, ii), (jo, ji) = schedule.split(rows, [None, size]), schedule.split(columns, [None, size])
    schedule.reorder(io, jo, ii, ji)
    schedule.tensorize(ii, name)
    return schedule


@pytest.mark.parametrize("suffix", ["", "_columns_first"])
@pytest.mark.parametrize("size", [4, 8, 16])
def test_a_tile_on_the_interpreter(size, suffix):
    schedule = transposed_by(f"transpose_{size}_float32_0_0{suffix}")
    a = array_of((16, 32), "float32")
    b = tilewright.tensor(np.zeros((32, 16), "float32"))
    tilewright.tir.interpret(schedule.mod["main"], tilewright.tensor(a), b, name="main")
    np.testing.assert_array_equal(b.numpy(), a.T)


@pytest.mark.parametrize(
    "name",
    [
        "transpose_3_float32_0_0",
        "transpose_2_float32_0_0",
        "transpose_32_float32_0_0",
        "transpose_8_int8_0_0",
        "transpose_8_float32_0_5",
        "transpose_8_float32_-1_0",
        "transpose_08_float32_0_0",
        "transpose_8_float32_0",
        "transpose_8_float32_0_0_0",
        "transpose_8_float32_0_0_columns",
    ],
)
def test_other_names_are_no_intrinsics(name):
    with pytest.raises(UserError) as refused:
        tilewright.tir.TensorIntrin.get(name)
    assert str(refused.value).splitlines()[0] == f'error: there is no tensor intrinsic "{name}"'


def test_what_is_more_than_a_move_is_refused():
    with pytest.raises(UserError) as refused:
        transposed_by("transpose_8_float32_0_0", dtype="int32")
    assert "does not fit parameter" in str(refused.value)


def test_a_graph_of_open_extents():
    builder = relax.BlockBuilder()
    n = tilewright.tir.Var("n", "int64")
    x = relax.Var("x", relax.TensorType((n, 64), "float32"))
    with builder.function("main", [x]):
        builder.emit_func_output(builder.emit(relax.op.permute_dims(x)))
    main = tilewright.VirtualMachine(tilewright.compile(builder.get()))["main"]
    for rows in (5, 16, 127):
        a = array_of((rows, 64), "float32")
        np.testing.assert_array_equal(main(tilewright.tensor(a)).numpy(), a.T)
