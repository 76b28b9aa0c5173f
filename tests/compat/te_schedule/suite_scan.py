"""te.scan: steps one after the other give the right numbers on the CPU, as C, and on devices; what cannot be is refused."""

import numpy as np
import pytest
import scan_programs
import tvm
from checking import check, check_lowered, refusal
from tvm import te

from tilewright.compat import te_schedule


@pytest.mark.parametrize("program", scan_programs.ON_CPU, ids=lambda program: program.__name__)
@pytest.mark.parametrize("target", ["llvm", "c"])
def test_numbers(program, target):
    check(program, target, tvm.cpu(0))


@pytest.mark.parametrize("program", scan_programs.ON_CPU, ids=lambda program: program.__name__)
def test_lowered_program_builds(program):
    check_lowered(program)


@pytest.mark.parametrize("program", scan_programs.ON_DEVICES, ids=lambda program: program.__name__)
@pytest.mark.skipif(not tvm.opencl(0).exist, reason="there is no device of OpenCL here")
def test_numbers_on_opencl(program):
    check(program, "opencl", tvm.opencl(0))


def kernels(program) -> list:
    """The parameter lists of the CUDA kernels of a program."""
    s, args, _, _ = program()
    text = tvm.build(s, args, "cuda", name=program.__name__).imported_modules[0].get_source()
    return [line for line in text.splitlines() if "__global__" in line], text


@pytest.mark.parametrize("program", scan_programs.ON_DEVICES, ids=lambda program: program.__name__)
def test_kernels_of_cuda(program):
    heads, _ = kernels(program)
    assert len(heads) == (3 if program is scan_programs.stages_by_threads else 2), heads


def test_steps_are_launches_or_a_loop_in_the_kernel():
    """Without env_threads the step is an argument; with it the kernel has the loop, and threads wait where rows are shared."""
    heads, text = kernels(scan_programs.sums_by_threads)
    assert "for (" not in text, text
    _, text = kernels(scan_programs.sums_in_one_launch)
    assert text.count("for (") == 1, text
    _, text = kernels(scan_programs.powers_in_one_block)
    assert "__syncthreads" in text, text


def test_barriers_of_opencl_cover_global_memory():
    s, args, _, _ = scan_programs.powers_in_one_block()
    text = tvm.build(s, args, "opencl", name="powers").imported_modules[0].get_source()
    assert "CLK_GLOBAL_MEM_FENCE" in text, text


def test_program_reads_like_a_loop():
    s, x, _, _, sums = scan_programs.running_sums()
    text = str(te_schedule.scheduled(s, [x, sums], binds={x: compact("X", x), sums: compact("sums", sums)}))
    loop = text[text.index("for sums_idx") :].splitlines()
    assert [line.strip() for line in loop] == [
        "for sums_idx, i in T.grid(m - 1, n):",
        'with T.block("following"):',
        "v_t = T.axis.scan((1, m), 1 + sums_idx)",
        "v_i = T.axis.spatial(n, i)",
        "T.reads(sums[v_t - 1, v_i], X[v_t, v_i])",
        "T.writes(sums[v_t, v_i])",
        "sums[v_t, v_i] = sums[v_t - 1, v_i] + X[v_t, v_i]",
    ]


def compact(name: str, tensor):
    return tvm.tir.decl_buffer(tensor.shape, tensor.dtype, name)


def test_scan_says_what_it_is():
    s, x, first, following, sums = scan_programs.running_sums()
    op = sums.op
    assert isinstance(op, te.ScanOp) and (op.name, op.num_outputs) == ("sums", 1)
    assert [axis.var.name for axis in (op.scan_axis, *op.spatial_axis_)] == ["sums.idx", "sums.out0.i1"]
    assert op.input_tensors == [first, following] and list(op.inputs) == [x]
    assert list(op.init) == [first] and list(op.update) == [following]
    assert op.state_placeholder == list(op.state) and op.output(0) == sums
    assert [stage.op.name for stage in s.stages] == ["X", "first", "state", "following", "sums"]
    assert s[sums].leaf_iter_vars == [op.scan_axis]


def test_steps_in_parts_stay_in_order():
    s, x, _, following, sums = scan_programs.running_sums()
    outer, inner = s[sums].split(sums.op.scan_axis, factor=4)
    s[sums].unroll(inner)
    s[following].reorder(*reversed(following.op.axis))
    func = tvm.build(s, [x, sums], "llvm")
    arrays, expected = scan_programs.sums_arrays()
    tensors = [tvm.nd.array(array) for array in arrays]
    func(*tensors)
    np.testing.assert_allclose(tensors[1].numpy(), expected[0], rtol=1e-5, atol=1e-5)
    assert outer in s[sums].leaf_iter_vars


@pytest.mark.parametrize("verb", ["parallel", "vectorize"])
def test_refused_order_of_steps(verb):
    s, w, _, _, _, result = scan_programs.powers()
    getattr(s[result], verb)(result.op.scan_axis)
    text = refusal(lambda: tvm.lower(s, [w, result]))
    assert text.startswith(
        f"error: {verb}: loop t cannot be {verb.replace('vectorize', 'vectorized')}: block "
    ), text
    assert "in another iteration of loop t\n" in text or "another iteration of loop t has written" in text, (
        text
    )
    assert f"note: this is {verb}(powers.idx) of stage powers" in text, text


def test_refused_step_axis_of_a_part():
    s, x, _, following, sums = scan_programs.running_sums()
    s[following].split(following.op.axis[0], factor=4)
    assert refusal(lambda: tvm.lower(s, [x, sums])) == (
        "unsupported: axis t of stage following has one iteration: that of a step of scan sums\n"
        "help: the loop of the steps is s[sums].op.scan_axis"
    )


def test_refused_places():
    s, x, first, following, sums = scan_programs.running_sums()
    assert refusal(lambda: s[sums].compute_at(s[first], first.op.axis[0])) == (
        "unsupported: compute_at: sums is a scan, all steps of which are computed in a loop of their own\n"
        "help: what a step computes has stages, which can be moved inside of each other"
    )
    assert (
        refusal(lambda: s[sums].compute_inline())
        == "error: compute_inline: sums is a scan, expected a te.compute"
    )
    assert refusal(lambda: tvm.lower(s, [x, following, sums])) == (
        "error: create_prim_func: argument following exists only inside of the steps of sums\nhelp: give the result of te.scan"
    )


def test_refused_env_threads():
    thread, block = te.thread_axis("threadIdx.x"), te.thread_axis("blockIdx.x")
    s, x, _, following, sums = scan_programs.running_sums()
    assert refusal(lambda: s[following].env_threads([thread])) == (
        "env_threads: following is no scan, and has the threads that its loops are bound to\n"
        "help: split an axis and bind its parts"
    )
    assert refusal(lambda: s[sums].env_threads([following.op.axis[0]])) == (
        'env_threads: an axis is none of threads\nhelp: as te.thread_axis("threadIdx.x")'
    )
    s[sums].env_threads([thread])
    assert refusal(lambda: tvm.lower(s, [x, sums])) == (
        "error: env_threads: no loop in the steps of scan sums is bound to threadIdx.x\n"
        "help: bind axes of its update to them"
    )
    scan_programs.bound(s[following], following.op.axis[1])
    assert refusal(lambda: tvm.lower(s, [x, sums])) == (
        "error: env_threads: stage following binds blockIdx.x in the steps of scan sums, which env_threads does not name\n"
        "help: name it, or leave env_threads out: then each step is a launch"
    )
    s, x, _, doubled, following, result = scan_programs.two_stages()
    s[result].env_threads([block, thread])
    for each in (doubled, following):
        scan_programs.bound(s[each], each.op.axis[1])
    assert refusal(lambda: tvm.lower(s, [x, result])) == (
        "unsupported: env_threads: a step of scan result computes doubled, following one after the other, and blocks of "
        "threads cannot wait for each other\n"
        "help: compute one inside of the other's loops, or name axes of threads alone"
    )


def test_refused_sum_of_all_threads():
    x, state = te.placeholder((4, 7), name="x"), te.placeholder((4, 7), name="state")
    first = te.compute((1, 7), lambda t, i: x[t, i], name="first")
    between = te.compute((4, 7), lambda t, i: state[t - 1, 6 - i] * 2, name="between")
    k = te.reduce_axis((0, 7), name="k")
    following = te.compute((4, 7), lambda t, i: te.sum(between[t, k], axis=k), name="following")
    result = te.scan(first, following, state, name="result")
    s, thread = te.create_schedule(result.op), te.thread_axis("threadIdx.x")
    s[result].env_threads([thread])
    s[first].bind(first.op.axis[1], thread)
    s[between].bind(between.op.axis[1], thread)
    assert refusal(lambda: tvm.lower(s, [x, result])) == (
        "unsupported: env_threads: no loop of stage following in the steps of scan result is bound to threads, so all of "
        "them would add up its sum\nhelp: bind an axis of it, or compute it inside of a stage that is bound"
    )
    assert refusal(lambda: tvm.lower(te.create_schedule(result.op), [x, result, between])) == (
        "error: create_prim_func: argument between exists only inside of the steps of result\nhelp: give the result of te.scan"
    )


def test_refused_rows_that_blocks_exchange():
    s, w, _, _, following, result = scan_programs.powers()
    block = te.thread_axis("blockIdx.x")
    s[result].env_threads([block])
    s[following].bind(following.op.axis[1], te.thread_axis("threadIdx.x"))
    s[following].reorder(following.op.axis[2], following.op.axis[1])
    s[following].bind(following.op.axis[2], block)
    text = refusal(lambda: tvm.lower(s, [w, result]))
    assert text.startswith("error: reorder: "), text
    assert "note: this is env_threads(blockIdx.x) of stage powers" in text, text
