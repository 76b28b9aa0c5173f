"""Products of bytes and bfloat16: the numbers are numpy's on every target, the instructions those of the processor."""

import re

import ml_dtypes
import numpy as np
import pytest

import tilewright
from tilewright import te
from tilewright.errors import UserError
from tilewright.script import parse
from tilewright.script import tir as T  # noqa: N812

SIZES = [(1, 64, 64), (5, 48, 20), (31, 36, 508), (127, 1000, 12), (64, 64, 128), (13, 17, 9)]
DTYPES = [
    ("uint8", "int8", "int32"),
    ("int8", "int8", "int32"),
    ("uint8", "uint8", "int32"),
    ("bfloat16",) * 2 + ("float32",),
]


def product(rows, columns, terms, a, b, out, transposed=False):
    x = te.placeholder((rows, terms), a, name="x")
    w = te.placeholder((columns, terms) if transposed else (terms, columns), b, name="w")
    k = te.reduce_axis((0, terms))
    element = (lambda j: w[j, k]) if transposed else (lambda j: w[k, j])
    y = te.compute((rows, columns), lambda i, j: te.sum(x[i, k].astype(out) * element(j).astype(out), axis=k))
    return te.create_prim_func([x, w, y])


def random(shape, dtype):
    rng = np.random.default_rng(sum(shape))
    if dtype == "bfloat16":
        return rng.integers(-4, 5, shape).astype(ml_dtypes.bfloat16)  # sums are exact in any order
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max + 1, shape).astype(dtype)


@pytest.mark.parametrize("target", ["llvm", "llvm -mcpu=x86-64-v3", "c"])
@pytest.mark.parametrize("dtypes", DTYPES, ids="-".join)
@pytest.mark.parametrize("transposed", [False, True])
def test_numbers(dtypes, transposed, target):
    for rows, columns, terms in SIZES if target == "llvm" else SIZES[1:2]:
        a, b = random((rows, terms), dtypes[0]), random((terms, columns), dtypes[1])
        w = np.ascontiguousarray(b.T) if transposed else b
        out = tilewright.runtime.tensor(np.zeros((rows, columns), dtypes[2]))
        program = product(rows, columns, terms, *dtypes, transposed=transposed)
        try:
            library = tilewright.build(program, target=target)
        except tilewright.Unsupported as refused:
            pytest.skip(str(refused).splitlines()[0])
        library["main"](tilewright.runtime.tensor(a), tilewright.runtime.tensor(w), out)
        np.testing.assert_array_equal(out.numpy(), a.astype("float64") @ b.astype("float64"))


@pytest.mark.parametrize(
    ("target", "dtypes", "instruction"),
    [
        ("llvm -mcpu=cascadelake", DTYPES[0], "vpdpbusd"),
        ("llvm -mcpu=cascadelake", DTYPES[1], "vpdpbusd"),
        ("llvm -mcpu=alderlake", DTYPES[0], "vpdpbusd"),
        ("llvm -mcpu=cooperlake", DTYPES[3], "vdpbf16ps"),
        ("llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1", DTYPES[1], "sdot"),
        ("llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1", DTYPES[2], "udot"),
    ],
)
def test_instructions(target, dtypes, instruction):
    assembly = tilewright.build(product(64, 64, 64, *dtypes), target=target).get_source("asm")
    assert instruction in assembly
    other = tilewright.build(product(64, 64, 64, *dtypes), target="llvm -mcpu=x86-64-v3").get_source("asm")
    assert instruction not in other


@pytest.mark.parametrize("columns", [64, 512])
def test_sums_stay_in_registers(columns):
    """Found late: what had an element for each result was kept in memory, tile by tile, as large as the result."""
    func = tilewright.build(product(64, columns, 64, *DTYPES[3]), target="llvm -mcpu=cooperlake")
    assembly = func.get_source("asm")
    last = assembly.rindex("vdpbf16ps")
    stores = re.findall(r"vmov[au]ps\s+%zmm\d+, ", assembly[last:])
    # as many as the largest tile has vectors, each stored once: as its results
    assert 8 <= len(stores) <= 28


@pytest.mark.parametrize("dtypes", DTYPES[1:], ids="-".join)
@pytest.mark.parametrize("transposed", [False, True])
def test_a_matrix_by_itself(dtypes, transposed):
    """One buffer has one layout: no groups, but tiles or vectors all the same."""
    x = te.placeholder((64, 64), dtypes[0], name="x")
    k = te.reduce_axis((0, 64))
    other = (lambda j: x[j, k]) if transposed else (lambda j: x[k, j])
    y = te.compute(
        (64, 64), lambda i, j: te.sum(x[i, k].astype(dtypes[2]) * other(j).astype(dtypes[2]), axis=k)
    )
    program = te.create_prim_func([x, y])
    assert {rule for _, rule, _ in tilewright.schedule.by_rules(program).rejections} <= {"dot_products"}
    a, out = random((64, 64), dtypes[0]), tilewright.runtime.tensor(np.zeros((64, 64), dtypes[2]))
    tilewright.build(program)["main"](tilewright.runtime.tensor(a), out)
    wide = a.astype("float64")
    np.testing.assert_array_equal(out.numpy(), wide @ (wide.T if transposed else wide))


@pytest.mark.parametrize("terms", [3, 5, 127])
def test_transposed_floats(terms):
    """A product with the rows of a matrix is packed by tiles; small ones are sums of rows."""
    x, w = random((67, terms), "int8").astype("float32"), random((33, terms), "int8").astype("float32")
    out = tilewright.runtime.tensor(np.zeros((67, 33), "float32"))
    library = tilewright.build(product(67, 33, terms, "float32", "float32", "float32", transposed=True))
    library["main"](tilewright.runtime.tensor(x), tilewright.runtime.tensor(w), out)
    np.testing.assert_array_equal(out.numpy(), x @ w.T)


@T.prim_func
def four_lanes(a: T.Buffer((4,), "int8"), b: T.Buffer((16,), "int8"), c: T.Buffer((4,), "int32")):
    with T.block("root"):
        c[0:4] = T.dot_add(c[0:4], a[0:4], b[0:16])


@T.prim_func
def own_groups(a: T.Buffer((6,), "bfloat16"), b: T.Buffer((6,), "bfloat16"), c: T.Buffer((3,), "float32")):
    with T.block("root"):
        c[0:3] = T.dot_add(c[0:3], a[0:6], b[0:6])


@T.prim_func
def one_lane(a: T.Buffer((4,), "int8"), b: T.Buffer((4,), "uint8"), c: T.Buffer((1,), "int32")):
    with T.block("root"):
        c[0] = T.dot_add(c[0], a[0:4], b[0:4])


@T.prim_func
def groups_of_eight(a: T.Buffer((8,), "int8"), b: T.Buffer((32,), "int8"), c: T.Buffer((4,), "int32")):
    with T.block("root"):
        c[0:4] = T.dot_add(c[0:4], a[0:8], b[0:32])


@pytest.mark.parametrize("target", ["llvm", "c", "interpreter"])
@pytest.mark.parametrize("program", [four_lanes, own_groups, one_lane, groups_of_eight])
def test_dot_add(program, target):
    types = [buffer.dtype for buffer in program.buffers]
    shapes = [tuple(map(int, buffer.shape)) for buffer in program.buffers]
    a, b = (random(shape, dtype) for shape, dtype in zip(shapes[:2], types[:2], strict=True))
    start = np.arange(shapes[2][0]).astype(types[2])
    groups = b.astype("float64").reshape(shapes[2][0], -1)
    wanted = start + (np.resize(a.astype("float64"), groups.shape) * groups).sum(axis=1)
    arrays = [tilewright.runtime.tensor(each) for each in (a, b, start)]
    if target == "interpreter":
        tilewright.tir.interpret(program, *arrays, name=program.attrs["global_symbol"])
    else:
        tilewright.build(program, target=target)[program.attrs["global_symbol"]](*arrays)
    np.testing.assert_array_equal(arrays[2].numpy(), wanted)


def dot_add_of(a, b, out, lanes):
    text = f"""
@T.prim_func
def main(a: T.Buffer((64,), "{a}"), b: T.Buffer((64,), "{b}"), c: T.Buffer((16,), "{out}")):
    with T.block("root"):
        c[0:16] = T.dot_add(c[0:16], a[0:{lanes}], b[0:64])
"""
    return tilewright.script.parse(text)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (
            ("int8", "float32", "int32", 64),
            "dot_add of int8x64 and float32x64 to int32x16\n{}help: products of int8 or uint8 are added to int32, those of bfloat16 to float32",
        ),
        (
            ("int8", "int8", "int32", 8),
            "dot_add of int8x8 and int8x64 to int32x16: the lane counts do not match\n{}"
            "help: b has a group of lanes for each lane of the sum, a has as many or one group",
        ),
    ],
)
def test_dot_add_refuses(program, message):
    with pytest.raises(UserError) as refused:
        tilewright.build(dot_add_of(*program))
    place = str(refused.value).split("\n", 1)[1].split("help:")[0]
    assert str(refused.value) == "error: " + message.format(place)


VIEW = """
@T.prim_func
def main(A: T.Buffer((4, 16), "float32"), B: T.Buffer((4, 16), "float32")):
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            V = T.match_buffer(A[vi, {columns}], (16,), "float32", offset_factor=1)
            B[vi, T.Ramp(0, 1, 16)] = V[T.Ramp({base}, {stride}, 16)]
"""


@pytest.mark.parametrize("target", ["llvm", "c"])
@pytest.mark.parametrize(
    ("columns", "base", "stride"),
    [
        ("0:16", "0", "1"),
        ("0:16", "T.int64(0)", "T.int64(1)"),
        ("T.int64(0):T.int64(16)", "T.int64(0)", "T.int64(1)"),
    ],
)
def test_vectors_of_views(columns, base, stride, target):
    """The indices of a view may be of another dtype than those of its source."""
    program = parse(VIEW.format(columns=columns, base=base, stride=stride))
    a, out = random((4, 16), "int8").astype("float32"), tilewright.tensor(np.zeros((4, 16), "float32"))
    tilewright.build(program, target=target)["main"](tilewright.tensor(a), out)
    np.testing.assert_array_equal(out.numpy(), a)
