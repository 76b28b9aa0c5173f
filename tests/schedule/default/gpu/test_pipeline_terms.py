"""Products copy tiles of the next steps while they compute, where the GPU has asynchronous copies and room for the tiles."""

import re

import numpy as np
import pytest
from devices.schedules import integers
from gpu_checking import check, operator
from lowered_kernels import kernel_of

import tilewright as tw
from tilewright import relax
from tilewright.script import tir as T

SIZES = [(64, 96, 64), (37, 45, 127)]


def product(n, m, k, dtype="float32"):
    @T.prim_func
    def main(A: T.Buffer((n, k), dtype), B: T.Buffer((k, m), dtype), C: T.Buffer((n, m), dtype)):
        for i, j, kk in T.grid(n, m, k):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, kk])
                with T.init():
                    C[vi, vj] = T.Cast(dtype, 0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    return main


def stages(target, n=1024, m=1024, k=1024, dtype="float32"):
    trace = str(tw.schedule.by_rules(product(n, m, k, dtype), target).trace)
    found = re.findall(r"\"software_pipeline_stage\", (?:ann_val=)?\[0, 0, (\d)\]", trace)
    assert len(found) <= 1 and bool(found) == ("software_pipeline_async_stages" in trace)
    return int(found[0]) + 1 if found else 1


def test_as_many_stages_as_cost_no_blocks():
    assert stages("nvidia/nvidia-a100") in (2, 3, 4)
    assert stages("nvidia/nvidia-h100") in (2, 3, 4)


@pytest.mark.parametrize("target", ["cuda -arch=sm_75", "opencl", "metal"])
def test_none_where_copies_are_not_asynchronous(target):
    assert stages(target) == 1


def test_none_for_elements_of_two_bytes():
    assert stages("nvidia/nvidia-a100", dtype="float16") == 1


def test_none_for_one_step():
    assert stages("nvidia/nvidia-a100", k=8) == 1


@pytest.mark.parametrize("n, m, k", SIZES)
def test_the_numbers_stay(n, m, k):
    check(
        operator(relax.op.matmul, (n, k), (k, m)),
        "cuda -arch=sm_80",
    )


@pytest.mark.parametrize("n, m, k", [*SIZES, (9, 17, 127), (127, 21, 40)])
def test_lowered_kernels_wait_for_what_they_read(n, m, k):
    """Thread by thread: a read before its wait, and a race, are errors."""
    kernel = kernel_of(tw.schedule.by_rules(product(n, m, k), "cuda -arch=sm_80").mod["main"], "cuda")
    a, b, c = integers(n, k), integers(k, m), np.full((n, m), 7, "float32")
    tw.tir.interpret(kernel, a, b, c)
    np.testing.assert_array_equal(c, a @ b)


@pytest.mark.skipif(not tw.cuda(0).exist, reason="there is no device of cuda here")
@pytest.mark.parametrize("shape", [(1, 3, 9, 9), (2, 8, 7, 5)])
def test_convolutions_on_a_device(shape):
    builder = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorType(list(shape), "float32"))
    w = relax.Var("w", relax.TensorType([17, shape[1], 3, 3], "float32"))
    with builder.function("main", [x, w]):
        with builder.dataflow():
            out = builder.emit_output(relax.op.nn.conv2d(x, w, padding=1))
        builder.emit_func_output(out)
    arguments = integers(*shape), integers(17, shape[1], 3, 3)
    expected = tw.VirtualMachine(tw.compile(builder.get()))["main"](*arguments).numpy()
    found = tw.VirtualMachine(tw.compile(builder.get(), target="cuda -arch=sm_80"), tw.cuda(0))["main"](
        *arguments
    )
    np.testing.assert_array_equal(found.numpy(), expected)
