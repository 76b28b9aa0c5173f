"""Schedule.lint: what keeps kernels from running fast on a GPU, with whole texts."""

from pathlib import Path

import pytest
from primitive_testing import check_refused, schedule_of

import tilewright
from tilewright.script import tir as T

TARGET = "cuda -arch=sm_80"


@T.prim_func
def matmul(
    A: T.Buffer((1024, 1024), "float32"),
    B: T.Buffer((1024, 1024), "float32"),
    C: T.Buffer((1024, 1024), "float32"),
):
    for i, j, k in T.grid(1024, 1024, 1024):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]


@T.prim_func
def transpose(A: T.Buffer((512, 512), "float32"), B: T.Buffer((512, 512), "float32")):
    for i, j in T.grid(512, 512):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vj, vi]


@T.prim_func
def double(A: T.Buffer((4096,), "float32"), B: T.Buffer((4096,), "float32")):
    for i in range(4096):
        with T.block("B"):
            vi = T.axis.spatial(4096, i)
            B[vi] = A[vi] * T.float32(2)


def one_element_each(program, block, rows, columns):
    """Each thread computes one element; `rows` and `columns` are the extents and axes of threads."""
    sch = schedule_of(program)
    i, j = sch.get_loops(block)[:2]
    i0, i1 = sch.split(i, [None, rows[0]])
    j0, j1 = sch.split(j, [None, columns[0]])
    sch.reorder(i0, j0, i1, j1)
    sch.bind(i0, "blockIdx.y")
    sch.bind(j0, "blockIdx.x")
    sch.bind(i1, rows[1])
    sch.bind(j1, columns[1])
    return sch


def texts(findings):
    """The findings without the path of this file, whose line numbers stay."""
    return [
        "\n".join(line for line in str(finding).splitlines() if not line.startswith("  /"))
        for finding in findings
    ]


def line_of(text):
    """The first line of this file that has the text, and its number."""
    for number, line in enumerate(Path(__file__).read_text().splitlines(), 1):
        if text in line:
            return number, line
    raise AssertionError(text)


def excerpt(statement, part):
    number, line = line_of(statement)
    column = line.index(statement) + statement.index(part)
    return f"{number:>4} | {line}\n     | {' ' * column}{'^' * len(part)}"


def test_the_naive_matmul_is_coalesced():
    """B and C side by side, A the same for a warp."""
    sch = one_element_each(matmul, "C", (8, "threadIdx.y"), (32, "threadIdx.x"))
    assert sch.lint(TARGET) == []


def test_rows_on_neighbouring_threads():
    sch = one_element_each(matmul, "C", (32, "threadIdx.x"), (8, "threadIdx.y"))
    update = "C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]"
    number, line = line_of(update)
    findings = sch.lint(TARGET)
    assert [(each.kind, each.kernel, each.figure) for each in findings] == [
        ("coalescing", "main_kernel", 8)
    ] * 3
    assert texts(findings) == [
        "coalescing: a warp writes C in 32 sectors of 32 bytes where 4 would do: 1024 bytes move for 128, neighbouring "
        "threads are 4096 bytes apart\n"
        + excerpt("C[vi, vj] = T.float32(0)", "C[vi, vj] = T.float32(0)")
        + "\nhelp: bind the loop along the last dimension of C to threadIdx.x, or collect a tile in shared memory first "
        "(cache_write)",
        "coalescing: a warp reads C in 32 sectors of 32 bytes where 4 would do: 1024 bytes move for 128, neighbouring "
        "threads are 4096 bytes apart\n"
        + f"{number:>4} | {line}\n     | {' ' * 24}{'^' * 9}"
        + "\nhelp: bind the loop along the last dimension of C to threadIdx.x, or copy a tile of it to shared memory in the "
        "order of its rows (cache_read)",
        "coalescing: a warp reads A in 32 sectors of 32 bytes where 4 would do: 1024 bytes move for 128, neighbouring "
        "threads are 4096 bytes apart\n"
        + excerpt(update, "A[vi, vk]")
        + "\nhelp: bind the loop along the last dimension of A to threadIdx.x, or copy a tile of it to shared memory in the "
        "order of its rows (cache_read)",
    ]


def test_a_transposed_read():
    sch = one_element_each(transpose, "B", (32, "threadIdx.y"), (32, "threadIdx.x"))
    assert texts(sch.lint(TARGET)) == [
        "coalescing: a warp reads A in 32 sectors of 32 bytes where 4 would do: 1024 bytes move for 128, neighbouring "
        "threads are 2048 bytes apart\n"
        + excerpt("B[vi, vj] = A[vj, vi]", "A[vj, vi]")
        + "\nhelp: bind the loop along the last dimension of A to threadIdx.x, or copy a tile of it to shared memory in the "
        "order of its rows (cache_read)"
    ]


def through_shared_memory(pad=0):
    sch = schedule_of(transpose)
    i, j = sch.get_loops("B")
    i0, i1 = sch.split(i, [None, 32])
    j0, j1 = sch.split(j, [None, 32])
    sch.reorder(i0, j0, i1, j1)
    sch.bind(i0, "blockIdx.y")
    sch.bind(j0, "blockIdx.x")
    copy = sch.cache_read("B", 0, "shared")
    sch.compute_at(copy, j0)
    row, column = sch.get_loops(copy)[-2:]
    for loop, axis in [(row, "y"), (column, "x"), (i1, "y"), (j1, "x")]:
        sch.bind(loop, f"threadIdx.{axis}")
    if pad:
        sch.storage_align(copy, 0, -2, 32, pad)
    return sch


def test_columns_of_shared_memory_lie_in_one_bank():
    findings = through_shared_memory().lint(TARGET)
    assert [(each.kind, each.figure) for each in findings] == [("banks", 32)]
    assert texts(findings) == [
        "banks: a warp reads A_shared with a 32-way conflict: its threads need 32 different words of one bank at once\n"
        + excerpt("B[vi, vj] = A[vj, vi]", "A[vj, vi]")
        + '\nhelp: pad its rows: sch.storage_align("A_shared", 0, axis=-2, factor=32, offset=1)'
    ]


def test_padded_rows_have_no_conflicts():
    assert through_shared_memory(pad=1).lint(TARGET) == []
    # an even distance leaves two rows in each bank
    findings = through_shared_memory(pad=2).lint(TARGET)
    assert [(each.kind, each.figure) for each in findings] == [("banks", 2)]


def test_a_matmul_whose_threads_have_two_columns_each():
    """What the course does: 64 threads, two by two elements, operands in shared memory that all threads fill."""
    sch = schedule_of(matmul)
    local = sch.cache_write("C", 0, "local")
    i, j, k = sch.get_loops("C")
    i0, i1, i2 = sch.split(i, [None, 2, 2])
    j0, j1, j2 = sch.split(j, [None, 32, 2])
    k0, k1 = sch.split(k, [None, 8])
    sch.reorder(i0, j0, i1, j1, k0, k1, i2, j2)
    sch.reverse_compute_at(local, j1)
    sch.bind(i0, "blockIdx.y")
    sch.bind(j0, "blockIdx.x")
    sch.bind(sch.fuse(i1, j1), "threadIdx.x")
    copy = sch.cache_read("C", 1, "shared")
    sch.compute_at(copy, k0)
    _, thread = sch.split(sch.fuse(*sch.get_loops(copy)[-2:]), [None, 64])
    sch.bind(thread, "threadIdx.x")
    sch.decompose_reduction("C", k0)
    update = "C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]"
    assert texts(sch.lint(TARGET)) == [
        "coalescing: a warp writes C in 8 sectors of 32 bytes where 4 would do: 256 bytes move for 128, neighbouring threads "
        "are 8 bytes apart\n"
        + excerpt('with T.block("C"):', 'T.block("C")')
        + "\nhelp: bind the loop along the last dimension of C to threadIdx.x, or collect a tile in shared memory first "
        "(cache_write)",
        "banks: a warp reads B_shared with a 2-way conflict: its threads need 2 different words of one bank at once\n"
        + excerpt(update, "B[vk, vj]")
        + "\nhelp: let neighbouring threads have neighbouring elements of B_shared: now they are 8 bytes apart",
    ]


def with_threads(threads, target=TARGET, **options):
    sch = schedule_of(double)
    outer, inner = sch.split(sch.get_loops("B")[0], [None, threads])
    sch.bind(outer, "blockIdx.x")
    sch.bind(inner, "threadIdx.x")
    return texts(sch.lint(target, **options))


def test_blocks_of_few_threads():
    assert with_threads(16) == [
        "occupancy: a multiprocessor keeps 32 blocks of 16 threads, 512 of the 2048 threads it has room for: 16 threads a "
        "block allow no more\n"
        "help: give a block more threads, up to what a multiprocessor keeps in a whole number of blocks",
        "occupancy: a block has 16 threads: its last warp has 16 of 32\n"
        "help: make the number of threads of a block a multiple of 32",
    ]


def test_few_blocks():
    assert with_threads(1024) == [
        "occupancy: 4 blocks for 108 multiprocessors\n"
        "help: bind more iterations to blockIdx, or let a block do less"
    ]


def test_registers_that_threads_need():
    assert with_threads(32, registers=32) == []
    assert with_threads(32, registers=255) == [
        "occupancy: a multiprocessor keeps 8 blocks of 32 threads, 256 of the 2048 threads it has room for: 255 registers a "
        "thread, of 65536, allow no more\n"
        "help: let a thread compute fewer elements at once"
    ]


SAYS = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'main_kernel' for 'sm_80'
ptxas info    : Function properties for main_kernel
    24 bytes stack frame, 16 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 4132 bytes smem, 380 bytes cmem[0]
"""


@pytest.fixture
def assembler(tmp_path, monkeypatch):
    """A program in place of nvcc that says SAYS."""
    program = tmp_path / "nvcc"
    program.write_text(
        f"#!/bin/sh\ncat >&2 <<'END'\n{SAYS}END\nwhile [ $1 != -o ]; do shift; done\necho x > $2\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("TILEWRIGHT_NVCC", str(program))


def test_registers_by_ptxas(assembler):
    assert with_threads(32, registers="ptxas") == [
        "spills: 36 bytes of registers are moved to memory and back: 255 registers a thread (by ptxas) are not enough\n"
        "help: let a thread compute fewer elements at once, or unroll less",
        "occupancy: a multiprocessor keeps 8 blocks of 32 threads, 256 of the 2048 threads it has room for: 255 registers a "
        "thread (by ptxas), of 65536, allow no more\n"
        "help: let a thread compute fewer elements at once",
    ]


def test_shared_memory_by_ptxas(assembler):
    usage = tilewright._core.ptxas_usage("text", "sm_80")
    assert usage == {"main_kernel": (255, 4132, 36)}


def test_arrays_of_a_thread_without_ptxas():
    """An array of 64 elements, and 40 registers besides."""
    sch = schedule_of(double)
    sch.bind(sch.split(sch.get_loops("B")[0], [None, 64])[0], "blockIdx.x")
    copy = sch.cache_write("B", 0, "local")
    sch.reverse_compute_at(copy, sch.get_loops("B")[0])
    assert "about 104 registers a thread (estimated)" in sch.explain(TARGET)


def test_registers_that_are_no_number():
    with pytest.raises(tilewright.UserError) as error:
        schedule_of(double).lint(TARGET, registers="nvcc")
    assert str(error.value) == 'lint: registers = "nvcc", expected a number, "ptxas" or None'
    with pytest.raises(tilewright.UserError) as error:
        with_threads(32, target="opencl", registers="ptxas")
    assert str(error.value) == (
        "error: ptxas knows the registers of target cuda, but the target is opencl\nhelp: leave it out"
    )


def test_shared_memory_of_a_block():
    sch = schedule_of(double)
    outer, inner = sch.split(sch.get_loops("B")[0], [2, None])
    _, inner = sch.split(inner, [None, 32])
    sch.bind(outer, "blockIdx.x")
    sch.bind(inner, "threadIdx.x")
    copy = sch.cache_read("B", 0, "shared")
    sch.compute_at(copy, outer)
    _, loop = sch.split(sch.get_loops(copy)[-1], [None, 32])
    sch.bind(loop, "threadIdx.x")
    assert texts(sch.lint("cuda -arch=sm_75"))[1] == (
        "occupancy: a multiprocessor keeps 8 blocks of 32 threads, 256 of the 1024 threads it has room for: 8192 bytes of "
        "shared memory a block, of 65536, allow no more\n"
        "help: make the tiles in shared memory smaller"
    )


def test_explain_of_a_gpu():
    sch = one_element_each(matmul, "C", (8, "threadIdx.y"), (32, "threadIdx.x"))
    lines = sch.explain(TARGET).splitlines()
    assert lines[2:6] == [
        "main",
        "  work    2147 MFLOP, 12.6 MB; 170.67 FLOP a byte",
        "  limit   arithmetic: 110.2 us at least",
        "  launch  main_kernel: 32 x 128 blocks of 32 x 8 threads, 0 B of shared memory, about 40 registers a thread "
        "(estimated): 6 blocks on a multiprocessor, 75 % of its threads",
    ]
    assert "lint" not in sch.explain(TARGET)
    sch = one_element_each(transpose, "B", (32, "threadIdx.y"), (32, "threadIdx.x"))
    (finding,) = sch.lint(TARGET)
    shown = [
        f"  lint    {line}" if not n else f"          {line}"
        for n, line in enumerate(str(finding).splitlines())
    ]
    lines = sch.explain(TARGET).splitlines()
    assert [line for line in lines if line in shown] == shown
    assert f"  next    {shown[-1].strip().removeprefix('help: ')}" in lines


def test_explain_without_a_schedule():
    """Rules make one."""
    assert "sch.bind(" in schedule_of(double).explain(TARGET)
    with pytest.raises(tilewright.UserError) as error:
        tilewright.Schedule(tilewright.IRModule({"main": tilewright.script.parse(GRAPH)["main"]})).explain(
            TARGET
        )
    assert str(error.value).startswith("error: explain: main is no loop program")


GRAPH = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        return x
"""


def test_without_threads():
    check_refused(
        double,
        lambda sch: sch.lint(TARGET),
        "error: main: B is written outside of a kernel: no loop around this statement is bound to blocks or threads\n"
        'help: bind its loops, for example sch.bind(loop, "threadIdx.x"), or leave the schedule to the compiler',
    )


def test_another_target():
    with pytest.raises(tilewright.UserError) as error:
        schedule_of(double).lint("llvm")
    assert str(error.value) == "error: target llvm is no GPU"


def test_blocks_that_do_not_fit():
    def steps(sch):
        sch.bind(sch.split(sch.get_loops("B")[0], [None, 2048])[1], "threadIdx.x")
        sch.lint(TARGET)

    check_refused(
        double,
        steps,
        "error: main: a block has 2048 threads, but the target's max_threads_per_block is 1024: loop i_1 over threadIdx.x "
        "has 2048\n"
        "help: split the loops so that the product of their extents is at most 1024",
    )


def test_several_functions():
    sch = tilewright.Schedule(
        tilewright.IRModule(
            {"f": double.with_attr("global_symbol", "f"), "g": double.with_attr("global_symbol", "g")}
        )
    )
    with pytest.raises(tilewright.UserError) as error:
        sch.lint(TARGET)
    assert str(error.value) == ("lint: the module has 2 functions\nhelp: choose one by sch.work_on(name)")
