"""Lessons for GPUs: their text for CUDA, and their numbers where a device of OpenCL is."""

import numpy as np
import pytest
import stage_programs
import tvm
from tvm import te

BATCH, SIZE, INPUTS, OUTPUTS, KERNEL = 16, 6, 8, 64, 3


def convolution():
    """Height, width, channels, batch: a tile of outputs for each block, its inputs in shared memory."""
    data = te.placeholder((SIZE, SIZE, INPUTS, BATCH), name="data")
    kernel = te.placeholder((KERNEL, KERNEL, INPUTS, OUTPUTS), name="kernel")
    wide = SIZE + 2
    padded = te.compute(
        (wide, wide, INPUTS, BATCH),
        lambda y, x, c, n: tvm.tir.if_then_else(
            tvm.tir.all(y >= 1, y <= SIZE, x >= 1, x <= SIZE),
            data[y - 1, x - 1, c, n],
            tvm.tir.const(0.0, "float32"),
        ),
        name="padded",
    )
    c = te.reduce_axis((0, INPUTS), "c")
    p, q = te.reduce_axis((0, KERNEL), "p"), te.reduce_axis((0, KERNEL), "q")
    out = te.compute(
        (SIZE, SIZE, OUTPUTS, BATCH),
        lambda y, x, f, n: te.sum(padded[y + p, x + q, c, n] * kernel[p, q, c, f], axis=[p, q, c]),
        name="out",
    )
    return data, kernel, padded, out


def scheduled_convolution(num_virtual: int = 2, num_threads: int = 4, tile: int = 2):
    data, kernel, padded, out = convolution()
    s = te.create_schedule(out.op)
    s[padded].compute_inline()
    shared = [s.cache_read(each, "shared", [out]) for each in (padded, kernel)]
    local_inputs = [s.cache_read(each, "local", [out]) for each in shared]
    local = s.cache_write(out, "local")
    thread_x, thread_y = te.thread_axis("threadIdx.x"), te.thread_axis("threadIdx.y")
    y, x, f, n = s[out].op.axis
    step = num_virtual * num_threads * tile
    pixel = s[out].fuse(y, x)
    fo, fi = s[out].split(f, factor=step)
    no, ni = s[out].split(n, factor=step)
    fv, fi = s[out].split(fi, nparts=num_virtual)
    nv, ni = s[out].split(ni, nparts=num_virtual)
    ft, fi = s[out].split(fi, nparts=num_threads)
    nt, ni = s[out].split(ni, nparts=num_threads)
    s[out].reorder(pixel, fo, no, fv, nv, ft, nt, fi, ni)
    s[out].bind(pixel, te.thread_axis("blockIdx.z"))
    s[out].bind(fo, te.thread_axis("blockIdx.y"))
    s[out].bind(no, te.thread_axis("blockIdx.x"))
    s[out].bind(fv, te.thread_axis("vthread", name="vy"))
    s[out].bind(nv, te.thread_axis("vthread", name="vx"))
    s[out].bind(ft, thread_y)
    s[out].bind(nt, thread_x)
    s[local].compute_at(s[out], nt)
    yl, xl, fl, nl = s[local].op.axis
    p, q, c = s[local].op.reduce_axis
    co, ci = s[local].split(c, factor=4)
    s[local].reorder(co, p, q, ci, yl, xl, fl, nl)
    for cache, tensor in zip(local_inputs, shared, strict=True):
        s[cache].compute_at(s[local], ci)
        s[tensor].compute_at(s[local], q)
        _, _, channel, last = s[tensor].op.axis
        ty, channel = s[tensor].split(channel, nparts=num_threads)
        tx, last = s[tensor].split(last, nparts=num_threads)
        s[tensor].reorder(ty, tx, channel, last)
        s[tensor].bind(ty, thread_y)
        s[tensor].bind(tx, thread_x)
        s[tensor].vectorize(s[tensor].split(last, factor=4)[1])
    return s, [data, kernel, out]


def expected_convolution(image, weights):
    wide = np.pad(image, ((1, 1), (1, 1), (0, 0), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(wide, (KERNEL, KERNEL), axis=(0, 1))
    return np.einsum("yxcnpq,pqcf->yxfn", windows, weights)


def test_convolution_on_cuda_as_text():
    s, args = scheduled_convolution()
    text = tvm.build(s, args, "cuda", name="conv").imported_modules[0].get_source()
    assert text.count("__shared__ ") == 2 and text.count("__syncthreads()") >= 2, text
    assert "float4" in text and "blockIdx.z" in text and "threadIdx.y" in text, text
    assert "vthread" not in text


@pytest.mark.skipif(not tvm.opencl(0).exist, reason="there is no device of OpenCL here")
def test_convolution_on_opencl():
    s, args = scheduled_convolution()
    func = tvm.build(s, args, "opencl", name="conv")
    image = stage_programs.numbers(SIZE, SIZE, INPUTS, BATCH)
    weights = stage_programs.numbers(KERNEL, KERNEL, INPUTS, OUTPUTS)
    result = np.zeros((SIZE, SIZE, OUTPUTS, BATCH), "float32")
    tensors = [tvm.nd.array(each, tvm.opencl(0)) for each in (image, weights, result)]
    func(*tensors)
    np.testing.assert_allclose(tensors[2].numpy(), expected_convolution(image, weights), rtol=1e-4, atol=1e-4)


def test_bounds_of_the_convolution():
    s, args = scheduled_convolution()
    out = args[-1]
    bounds = te.schedule.InferBound(s)
    assert [int(bounds[axis].extent) for axis in s[out].leaf_iter_vars] == [36, 4, 1, 2, 2, 4, 4, 2, 2]


@pytest.mark.parametrize("program", stage_programs.ON_DEVICES, ids=lambda program: program.__name__)
def test_lessons_on_cuda_as_text(program):
    s, args, _, _ = program()
    text = tvm.build(s, args, "cuda", name=program.__name__).imported_modules[0].get_source()
    assert "__launch_bounds__" in text and f"{program.__name__}_kernel(" in text, text
    if program is stage_programs.sum_by_threads:
        assert "__shfl" in text or "__shared__" in text, text
    if program is stage_programs.product_in_shared_memory:
        assert text.count("__shared__ float") == 2, text
