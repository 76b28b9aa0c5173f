"""Kernels of devices, from a schedule to numbers: OpenCL where there is a device (PoCL), CUDA in test_cuda.py."""

import ctypes
import re

import numpy as np
import pytest

import tilewright as tw
from tilewright.script import ir as I
from tilewright.script import relax as R
from tilewright.script import tir as T


def on_device(kind: str, device):
    return pytest.param(
        kind, marks=pytest.mark.skipif(not device.exist, reason=f"there is no device of {kind} here")
    )


#: test_cuda.py runs those of cuda in a process that has the emulation's driver
TARGETS = [on_device("opencl", tw.opencl(0)), on_device("cuda", tw.cuda(0))]


def numbers(*shape):
    return np.random.default_rng(0).integers(-4, 5, shape).astype("float32")


@T.prim_func
def window_sum(A: T.Buffer((1026,), "float32"), B: T.Buffer((1024,), "float32")):
    for i in range(1024):
        with T.block("B"):
            vi = T.axis.spatial(1024, i)
            B[vi] = A[vi] + A[vi + 1] + A[vi + 2]


def scheduled_window_sum():
    sch = tw.Schedule(window_sum)
    block, thread = sch.split(sch.get_loops("B")[0], [None, 128])
    sch.bind(block, "blockIdx.x")
    sch.bind(thread, "threadIdx.x")
    copy = sch.cache_read("B", 0, "shared")
    sch.compute_at(copy, thread)
    _, part = sch.split(sch.get_loops(copy)[-1], [None, 128])
    sch.bind(part, "threadIdx.x")
    return sch.mod


@pytest.mark.parametrize("target", TARGETS)
def test_a_scheduled_program_runs(target):
    module = tw.build(scheduled_window_sum(), target)
    a = numbers(1026)
    x, y = tw.tensor(a, target), tw.empty((1024,), "float32", target)
    module["window_sum"](x, y)
    np.testing.assert_array_equal(y.numpy(), a[:-2] + a[1:-1] + a[2:])


def test_source_needs_neither_device_nor_compiler():
    module = tw.build(scheduled_window_sum(), "opencl")
    (kernels,) = module.imports
    assert kernels.kind == "opencl"
    assert kernels.get_source() == module.get_source() == module.get_source("opencl")
    assert "__kernel" in kernels.get_source() and "window_sum_kernel" in kernels.get_source()
    assert "call_packed" in module.get_source("lowered")


@pytest.mark.parametrize("target", TARGETS)
def test_default_schedules_of_several_kernels(target):
    @T.prim_func
    def softmax(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n, T.int64(37)), "float32")
        Y = T.match_buffer(y, (n, T.int64(37)), "float32")
        M = T.alloc_buffer((n,), "float32")
        E = T.alloc_buffer((n, T.int64(37)), "float32")
        S = T.alloc_buffer((n,), "float32")
        for i, k in T.grid(n, T.int64(37)):
            with T.block("M"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    M[vi] = T.min_value("float32")
                M[vi] = T.max(M[vi], X[vi, vk])
        for i, k in T.grid(n, T.int64(37)):
            with T.block("E"):
                vi, vk = T.axis.remap("SS", [i, k])
                E[vi, vk] = T.exp(X[vi, vk] - M[vi])
        for i, k in T.grid(n, T.int64(37)):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0)
                S[vi] = S[vi] + E[vi, vk]
        for i, k in T.grid(n, T.int64(37)):
            with T.block("Y"):
                vi, vk = T.axis.remap("SS", [i, k])
                Y[vi, vk] = E[vi, vk] / S[vi]

    module = tw.build(softmax, target)
    for rows in (0, 1, 5, 127):
        x = numbers(rows, 37)
        y = tw.empty((rows, 37), "float32", target)
        module["softmax"](tw.tensor(x, target), y)
        e = np.exp(x - x.max(1, keepdims=True)) if rows else x
        np.testing.assert_allclose(y.numpy(), e / e.sum(1, keepdims=True), rtol=1e-5)


@I.ir_module
class TwoLayers:
    @R.function
    def main(
        x: R.Tensor(("n", 7), "float32"), w: R.Tensor((7, 16), "float32"), v: R.Tensor((16, 5), "float32")
    ) -> R.Tensor(("n", 5), "float32"):
        with R.dataflow():
            h = R.nn.relu(R.matmul(x, w))
            y = R.sort(R.nn.softmax(R.matmul(h, v)))
            R.output(y)
        return y


@pytest.mark.parametrize("target", TARGETS)
def test_graphs_run(target):
    """Sorting is a function of the host: what it reads and writes is copied."""
    ex = tw.compile(TwoLayers, target=target)
    vm, cpu = tw.VirtualMachine(ex), tw.VirtualMachine(tw.compile(TwoLayers))
    for rows in (1, 5, 127):
        args = numbers(rows, 7), numbers(7, 16), numbers(16, 5)
        y = vm["main"](*args)
        assert str(y.device) == f"{target}:0"
        np.testing.assert_allclose(y.numpy(), cpu["main"](*args).numpy(), rtol=1e-5, atol=1e-7)
        again = vm["main"](*[tw.tensor(arg, target) for arg in args])
        np.testing.assert_array_equal(again.numpy(), y.numpy())


@pytest.mark.parametrize("target", TARGETS)
def test_exported_models_run(target, tmp_path):
    args = numbers(5, 7), numbers(7, 16), numbers(16, 5)
    ex = tw.compile(TwoLayers, target=target)
    ex.export_library(tmp_path / "model.so")
    loaded = tw.VirtualMachine(tw.load_module(tmp_path / "model.so"), target)
    np.testing.assert_array_equal(loaded["main"](*args).numpy(), tw.VirtualMachine(ex)["main"](*args).numpy())


@pytest.mark.parametrize("target", TARGETS)
def test_arguments_on_the_host_are_refused(target):
    module = tw.build(scheduled_window_sum(), target)
    number = tw.Device(target).device_type
    with pytest.raises(tw.UserError) as error:
        module["window_sum"](np.zeros(1026, "float32"), np.zeros(1024, "float32"))
    assert str(error.value).splitlines()[0] == (
        f"error: window_sum: argument A is on device type 1, expected {number} ({target}); tensor.to(device) copies it"
    )


@pytest.mark.parametrize("target", TARGETS)
def test_programs_of_a_device_do_not_run_elsewhere(target):
    ex = tw.compile(TwoLayers, target=target)
    with pytest.raises(tw.Unsupported) as error:
        tw.VirtualMachine(ex, tw.cpu())
    assert str(error.value) == (
        f"unsupported: VirtualMachine: this program is code of {target}, it cannot run on cpu:0\n"
        f"help: leave the device out, or pass tilewright.{target}()"
    )


class Shifted:
    """A part of a tensor on a device, as another framework may give it: `count` elements from the one at `first` on."""

    def __init__(self, tensor, first, count):
        self.tensor, self.first, self.count = tensor, first, count

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, **options):
        capsule = self.tensor.__dlpack__()
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        # DLTensor: data, device, ndim, dtype, shape, strides, byte_offset
        begin = pointer(capsule, b"dltensor")
        shape = ctypes.c_void_p.from_address(begin + 24).value
        ctypes.c_int64.from_address(shape).value = self.count
        ctypes.c_uint64.from_address(begin + 40).value += 4 * self.first
        return capsule


@pytest.mark.parametrize("target", TARGETS[1:])  # others have no tensors of other frameworks
def test_vectors_begin_at_addresses_that_they_may_have(target):
    """The entry of a kernel with vectors of 16 bytes checks its arguments, the kernel does not."""

    @T.prim_func
    def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        for i in range(64):
            with T.block("B"):
                vi = T.axis.spatial(64, i)
                B[vi] = A[vi] * T.float32(2)

    module = tw.build(main, target)
    assert "4" in re.search("float[0-9]", module.get_source())[0]
    numbers = np.arange(128, dtype="float32")
    out = tw.tensor(np.zeros(64, "float32"), target)
    module["main"](tw.from_dlpack(Shifted(tw.tensor(numbers, target), 32, 64)), out)
    np.testing.assert_array_equal(out.numpy(), numbers[32:96] * 2)
    with pytest.raises(ValueError) as error:
        module["main"](tw.from_dlpack(Shifted(tw.tensor(numbers, target), 1, 64)), out)
    assert str(error.value) == (
        "error: main: the data of argument A is not aligned to 16 bytes\n"
        "help: the function is main(A: float32[64], B: float32[64] (written))"
    )


def test_loops_that_are_bound_to_nothing():
    with pytest.raises(tw.UserError) as error:
        tw.build(window_sum, "opencl", schedule=False)
    text = str(error.value)
    assert text.startswith(
        "error: window_sum: B is written outside of a kernel: no loop around this statement is bound to blocks or threads\n"
    )
    assert (
        'bind its loops, for example sch.bind(loop, "threadIdx.x"), or leave the schedule to the compiler'
        in text
    )


def test_memory_that_kernels_cannot_share():
    @T.prim_func
    def main(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        S = T.alloc_buffer((32,), scope="shared")
        for i in T.thread_binding(32, "threadIdx.x"):
            S[i] = A[i]
        for i in T.thread_binding(32, "threadIdx.x"):
            B[i] = S[31 - i]

    with pytest.raises(tw.UserError) as error:
        tw.build(main, "opencl", schedule=False)
    assert str(error.value).startswith(
        "error: main: kernels 0 of loop i and 1 of loop i use buffer S, which is in scope shared and ends with a kernel\n"
    )
    assert str(error.value).endswith(
        'help: put it into memory that outlives kernels, sch.set_scope(block, 0, "global"), or make one kernel of them'
    )


def test_memory_outside_of_its_kernel():
    @T.prim_func
    def main(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        S = T.alloc_buffer((32,), scope="shared")
        for i in T.thread_binding(32, "threadIdx.x"):
            S[i] = A[i]
            B[i] = S[31 - i]

    with pytest.raises(tw.UserError) as error:
        tw.build(main, "opencl", schedule=False)
    assert str(error.value).startswith(
        "error: main: buffer S in scope shared is allocated outside of a kernel\n"
    )
    assert str(error.value).endswith(
        "help: allocate it in the loops of its kernel, or put it into scope global"
    )
