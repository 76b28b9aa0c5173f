"""Weights that come from far are read by few rows of tiles, each as tall as registers allow."""

import re

import ml_dtypes
import numpy as np
import pytest
from graph_testing import compile_graph, random, run_graph
from schedule_checking import check

import tilewright
from tilewright import relax, te

# what tiles are chosen for, whatever this machine has
CACHES = "-l1_cache_size_bytes=49152 -l2_cache_size_bytes=2097152"


def convolution(height, width, channels, filters, kernel):
    x = te.placeholder((height + kernel - 1, width + kernel - 1, channels), "float32", name="X")
    w = te.placeholder((kernel, kernel, channels, filters), "float32", name="W")
    rh, rw = te.reduce_axis((0, kernel), "rh"), te.reduce_axis((0, kernel), "rw")
    rc = te.reduce_axis((0, channels), "rc")
    y = te.compute(
        (height, width, filters),
        lambda i, j, f: te.sum(x[i + rh, j + rw, rc] * w[rh, rw, rc, f], axis=[rh, rw, rc]),
        name="Y",
    )

    def reference(image, weight):
        windows = np.lib.stride_tricks.sliding_window_view(image, (kernel, kernel), axis=(0, 1))
        return np.einsum("hwckl,klcf->hwf", windows, weight, optimize=True)

    return [x, w, y], reference


def rows_of_tiles(tensors):
    """The factors of the first splits of rows: those of the axis before, if a tile has several of its rows."""
    module = tilewright.IRModule({"main": te.create_prim_func(tensors)})
    trace = str(tilewright.schedule.by_rules(module, "llvm -mcpu=skylake-avx512").trace)
    return re.findall(r"sch\.split\(.*factors=(\[None, \d+\])", trace)[:2]


@pytest.mark.parametrize(
    ("sizes", "rows"),
    [
        (
            (7, 7, 512, 512, 3),
            ["[None, 2]", "[None, 7]"],
        ),  # 14 rows: panels of 590 kB are read four times, not seven
        ((7, 5, 512, 512, 3), ["[None, 2]", "[None, 5]"]),
        ((7, 7, 512, 32, 1), ["[None, 7]", "[None, 16]"]),  # 64 kB stay in L2
        (
            (7, 7, 1024, 512, 1),
            ["[None, 7]", "[None, 16]"],
        ),  # rows 4,096 bytes apart: 14 would push each other out
        ((28, 28, 512, 512, 3), ["[None, 14]", "[None, 16]"]),  # L1 keeps so many rows, but no panels
    ],
)
def test_rows_of_tiles(sizes, rows):
    assert rows_of_tiles(convolution(*sizes)[0]) == rows


@pytest.mark.parametrize(("height", "width"), [(7, 7), (5, 5), (3, 7), (1, 6), (7, 4)])
def test_rows_of_two_axes(height, width):
    """One, two or three rows of images in a tile, and what is left of them."""
    check(*convolution(height, width, 130, 531, 3), targets=["llvm", "llvm -mcpu=core-avx2"], threads=(1, 2))


@pytest.mark.parametrize(
    ("size", "tile"),
    [
        (
            128,
            ["[None, 2, 16]", "[None, 13]", "[None, 16]"],
        ),  # rows 512 bytes apart: L1 keeps 64 of 128
        (
            96,
            ["[None, 3, 16]", "[None, 8]", "[None, 16]"],
        ),  # rows 384 bytes apart: all of them, so the tile with fewest loads
    ],
)
def test_tiles_of_rows_that_push_each_other_out(size, tile):
    """Panels come from L2 then: taller tiles read them less often (found: 128^3 took 18 to 25 us)."""
    a, b = (te.placeholder((size, size), "float32", name=name) for name in "AB")
    k = te.reduce_axis((0, size))
    c = te.compute((size, size), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k))
    module = tilewright.IRModule({"main": te.create_prim_func([a, b, c])})
    trace = str(
        tilewright.schedule.by_rules(module, f"llvm -mcpu=skylake-avx512 {CACHES} -num-cores 1").trace
    )
    assert re.findall(r"sch\.split\(.*factors=(\[None, [\d, ]+\])", trace)[:3] == tile


def multiplied(rows, terms, columns, target="llvm"):
    """The executable of x @ W, for a constant W."""
    w = random(terms, columns)
    build = lambda x: relax.op.matmul(x, relax.const(w))  # noqa: E731
    return compile_graph(build, target=target, x=(rows, terms)), w


def lines_fetched(*sizes, threads=1):
    """How many instructions of the kernel fetch a line of another panel: not the ones 8 KiB ahead of a load."""
    executable, _ = multiplied(*sizes, target=f"llvm -mcpu=skylake-avx512 {CACHES} -num-cores {threads}")
    text = executable.kernels.get_source("ll")
    near = set(re.findall(r"(%\d+) = getelementptr(?: inbounds)? i8, ptr %\d+, i64 8192\n", text))
    fetched = re.findall(r"@llvm.prefetch.p0\(ptr (%\d+), i32 0, i32 2, i32 1\)", text)
    return sum(address not in near for address in fetched)


@pytest.mark.parametrize("threads", [1, 2])
def test_next_panel_is_fetched(threads):
    """By one instruction in each iteration of the innermost loop of whole tiles."""
    assert lines_fetched(49, 512, 2048, threads=threads) == 1
    # one whole tile of 14 rows, which fetches all of a row, and one of six
    assert lines_fetched(20, 512, 2048) == 2
    assert lines_fetched(49, 64, 512, threads=threads) == 0  # stays near
    assert lines_fetched(49, 32768, 64, threads=threads) == 0  # two panels do not fit into L2
    assert lines_fetched(4096, 512, 2048, threads=threads) == 0  # arithmetic hides what the first tile takes


@pytest.mark.parametrize("sizes", [(196, 1024, 256), (3136, 64, 256), (128, 3072, 768), (127, 257, 531)])
def test_panels_of_weights_are_as_wide_as_tiles(sizes):
    """Found: whether rows of the matrix push each other out counted before it was packed, but not after."""
    executable, _ = multiplied(*sizes, target=f"llvm -mcpu=skylake-avx512 {CACHES} -num-cores 1")
    (trace,) = map(str, executable.schedules.values())
    vectors = re.search(r"sch\.split\(.*factors=\[None, (\d+), 16\]", trace).group(1)
    stored = re.search(r"B: T\.Buffer\(\(.*T\.int64\((\d+)\)\), \"float32\"\)", str(executable.lowered))
    assert int(stored.group(1)) == 16 * int(vectors)


@pytest.mark.parametrize("sizes", [(35, 400, 1700), (126, 258, 2100), (127, 257, 2300)])
@pytest.mark.parametrize("threads", [1, 2])
def test_numbers_with_the_next_panel_fetched(sizes, threads):
    """Also of the last panel, after which there is none."""
    assert lines_fetched(*sizes, threads=threads) > 0
    executable, w = multiplied(*sizes, target=f"llvm -num-cores {threads}")
    x = random(*sizes[:2])
    found = run_graph(executable, x)
    np.testing.assert_allclose(found, x.astype("float64") @ w, atol=1e-3)


def test_iterations_fetch_the_whole_panel():
    """Each of the iterations fetches a part, a step for each row, and together they fetch all."""
    program = tilewright.script.parse(HINTS.format(iterations=4, panel=640, row=64))
    text = tilewright.build(program, "llvm -mcpu=x86-64-v4", schedule=False).get_source("ll")
    offsets = dict(re.findall(r"(%\d+) = getelementptr(?: inbounds)? i8, ptr %A, i64 (\d+)", text))
    found = [
        int(offsets[name])
        for name in re.findall(r"@llvm.prefetch.p0\(ptr (%\d+), i32 0, i32 2, i32 1\)", text)
    ]
    assert len(found) == 40
    # here each iteration t has a panel of its own of 640 bytes, so that its part of the next begins that much further
    parts = [sorted(offset - 640 * (t + 1) for offset in found[10 * t : 10 * t + 10]) for t in range(4)]
    assert parts == [[160 * t + 16 * k for k in range(10)] for t in range(4)]


HINTS = """
@T.prim_func
def main(A: T.Buffer((640,), "float32"), B: T.Buffer((4, 16), "float32")):
    for i in T.serial(4, annotations={{"panel_iterations": {iterations}}}):
        for v in T.vectorized(16):
            with T.block("Z"):
                vi, vv = T.axis.remap("SS", [i, v])
                B[vi, vv] = T.float32(0)
        for k in T.serial(10, annotations={{"prefetch_panel": {panel}, "panel_row": {row}}}):
            for v in T.vectorized(16):
                with T.block("B"):
                    vi, vv, vk = T.axis.remap("SSR", [i, v, k])
                    B[vi, vv] = B[vi, vv] + A[vi * 160 + vk * 16 + vv]
"""


@pytest.mark.parametrize("iterations", [4, 1, 0, -3, 2**62])
@pytest.mark.parametrize("panel", [2560, -1, 2**40])
@pytest.mark.parametrize("row", [64, 0, 2**62])
def test_hints_of_any_number(iterations, panel, row):
    """Hints say nothing of the numbers, whatever they say."""
    program = tilewright.script.parse(HINTS.format(iterations=iterations, panel=panel, row=row))
    library = tilewright.build(program, schedule=False)
    assert ("prefetcht1" in library.get_source("asm")) == (
        iterations in (4, 1) and panel == 2560 and row == 64
    )
    a = np.random.default_rng(0).random(640, "float32")
    out = tilewright.tensor(np.zeros((4, 16), "float32"))
    library["main"](tilewright.tensor(a), out)
    np.testing.assert_allclose(out.numpy(), a.reshape(4, 10, 16).sum(1), rtol=1e-6)


def in_tiles(rows, terms, columns, threads=1, precision="bf16"):
    """The executable of x @ W in bfloat16, for a processor with tile registers."""
    w = relax.const(random(terms, columns))
    target = f"llvm -mcpu=sapphirerapids {CACHES} -num-cores {threads}"
    return compile_graph(lambda x: relax.op.matmul(x, w), target=target, precision=precision, x=(rows, terms))


@pytest.mark.parametrize(
    ("sizes", "lines", "distance"),
    [
        (
            (128, 768, 3072),
            8,
            24576,
        ),  # panels of 48 kB in two parts, each by four tiles of rows: 32 lines of a step
        ((128, 3072, 768), 8, 32768),  # in six
        ((64, 512, 2048), 16, 32768),  # whole panels, by two
        ((128, 64, 512), 0, None),  # 64 kB stay near
    ],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_matrix_tiles_fetch_what_comes_next(sizes, lines, distance, threads):
    executable = in_tiles(*sizes, threads=threads)
    found = executable.kernels.get_source("asm").count("prefetcht1")
    assert found % lines == 0 and found > 0 if lines else found == 0  # LLVM copies bodies of short loops
    traces = "".join(map(str, executable.schedules.values()))
    assert re.findall(r'ann_key="prefetch_panel", ann_val=(\d+)', traces) == (
        [str(distance)] if distance else []
    )


@pytest.mark.parametrize(("precision", "parts"), [("bf16x3", 2), ("bf16x6", 3), ("bf16x9", 3)])
def test_each_part_of_next_columns_is_fetched_once(precision, parts):
    """Found: whenever a part came back to registers what follows it was fetched again, 40 lines, not 24."""
    executable = in_tiles(128, 768, 3072, precision=precision)
    rows_of_tiles, lines = 4, 32
    fetches = [
        line.split()[1] for line in executable.kernels.get_source("asm").splitlines() if "prefetcht1" in line
    ]
    assert len(fetches) % (parts * lines // rows_of_tiles) == 0
    assert len(set(fetches)) == len(fetches)
    # whole panels: parts of numbers lie between the terms of this step and of the next
    traces = "".join(map(str, executable.schedules.values()))
    assert f'ann_key="prefetch_panel", ann_val={768 * 32 * 2 * parts})' in traces


def steps_of(executable):
    (trace,) = executable.schedules.values()
    return str(trace)


@pytest.mark.parametrize(
    ("rows", "terms", "columns", "is_copied"),
    [
        (1024, 1024, 1024, True),  # 2 MB of rows, in parts that L2 keeps
        (1024, 1024, 96, False),  # three panels do not pay for a copy
        (128, 768, 3072, False),  # rows that stay near as they are
    ],
)
def test_rows_that_many_panels_read_are_copied_to_tiles(rows, terms, columns, is_copied):
    x = relax.Var("x", relax.TensorType((rows, terms), "bfloat16"))
    w = relax.const(random(terms, columns).astype(ml_dtypes.bfloat16))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            y = builder.emit_output(relax.op.matmul(x, w, out_dtype="float32"))
        builder.emit_func_output(y)
    trace = steps_of(
        tilewright.compile(builder.get(), target=f"llvm -mcpu=sapphirerapids {CACHES} -num-cores 1")
    )
    assert "matrix_tiles" in trace
    assert ("sch.cache_read" in trace) == is_copied
    assert (
        "index_map=lambda i0, i1: (i0 // T.int64(32), i1 // T.int64(32), i0 % T.int64(32)" in trace
    ) == is_copied


@pytest.mark.parametrize("threads", [1, 2])
def test_parts_are_made_where_they_are_multiplied(threads):
    """Found: a kernel of its own wrote 6 MB of parts, which came back from the L3."""
    executable = in_tiles(1024, 1024, 1024, threads, precision="bf16x6")
    trace = steps_of(executable)
    place = re.search(r"sch.compute_at\(block=b1, loop=(l\d+)", trace)[1]  # 128 rows
    assert re.search(rf"{place}, l\d+ = sch.split\(loop=l\d+, factors=\[8, None\]", trace)
    assert (f"sch.parallel(loop={place})" in trace) == (threads == 2)
    # [rows // 32, terms // 32, part, ..]
    assert "(i1 // T.int64(32), i2 // T.int64(32), i0, i1 % T.int64(32), i2 % T.int64(32))" in trace
    assert "vcvtne2ps2bf16" in executable.kernels.get_source("asm")
