"""Tensors, properties and streams of devices beside the CPU, each on OpenCL (PoCL) and on the emulated CUDA."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import tilewright as tw

IS_EMULATED = os.environ.get("TILEWRIGHT_CUDA_EMULATION") == "1"


@pytest.fixture(params=["opencl", "cuda"])
def dev(request):
    device = tw.device(request.param)
    if not device.exist:
        with pytest.raises(tw.UserError) as error:
            device.sync()
        pytest.skip(str(error.value).splitlines()[0])
    return device


def numbers(*shape, dtype="float32"):
    return np.arange(np.prod(shape, dtype=int)).astype(dtype).reshape(shape)


@pytest.mark.skipif(IS_EMULATED, reason="this is the run on the emulation")
def test_the_same_on_the_emulated_cuda():
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    run = subprocess.run(
        command,
        env=os.environ | {"TILEWRIGHT_CUDA_EMULATION": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "passed" in run.stdout
    assert " failed" not in run.stdout


@pytest.mark.skipif(not IS_EMULATED, reason="runs on the emulation")
def test_the_emulation_is_there():
    assert tw.cuda(0).name == "emulated GPU"


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "bool", "int64", "bfloat16", "int4"])
def test_there_and_back(dev, dtype):
    if dtype in ("bfloat16", "int4"):
        pytest.importorskip("ml_dtypes")
    host = tw.tensor(numbers(5, 7, dtype="int8") % 7).numpy().astype(tw.empty(1, dtype).numpy().dtype)
    there = tw.tensor(host, dev)
    assert (there.device, there.dtype, there.shape) == (dev, dtype, (5, 7))
    back = there.numpy()
    assert back.dtype == host.dtype
    np.testing.assert_array_equal(back, host)


def test_no_dimensions_and_no_elements(dev):
    assert tw.tensor(np.float32(2.5), dev).item() == 2.5
    assert tw.empty((0, 7), device=dev).numpy().shape == (0, 7)
    assert tw.tensor([], dev).tolist() == []


def test_a_tensor_moves(dev):
    there = tw.tensor(numbers(5, 7), dev)
    assert there.to(dev) is not None
    assert there.to(str(dev)).device == dev
    assert there.to("cpu").device == tw.cpu()
    np.testing.assert_array_equal(there.to("cpu").numpy(), numbers(5, 7))
    assert there.reshape((7, 5)).device == dev
    copy = tw.tensor(there, dev)
    copy.copy_from(numbers(5, 7) + 1)
    np.testing.assert_array_equal(there.numpy(), numbers(5, 7))
    np.testing.assert_array_equal(copy.numpy(), numbers(5, 7) + 1)
    host = tw.empty((5, 7))
    assert there.copy_to(host) is host
    np.testing.assert_array_equal(host.numpy(), numbers(5, 7))


def test_a_copy_that_nobody_waits_for(dev):
    there, back = tw.empty((5, 7), device=dev), tw.tensor(np.zeros((5, 7), "float32"))
    there.copy_from(numbers(5, 7), wait=False)
    back.copy_from(there, wait=False)
    if IS_EMULATED and dev.device_type == 2:
        assert not back.numpy().any()
    dev.sync()
    np.testing.assert_array_equal(back.numpy(), numbers(5, 7))


@pytest.mark.skipif(not IS_EMULATED, reason="runs on the emulation")
def test_memory_of_the_host_that_the_driver_fixes():
    fixed = tw.tensor(numbers(5, 7), "cuda_host")
    assert str(fixed.device) == "cuda_host:0"
    np.testing.assert_array_equal(fixed.numpy(), numbers(5, 7))
    np.testing.assert_array_equal(fixed.to("cuda").numpy(), numbers(5, 7))
    fixed.copy_from(fixed.to("cuda"))
    np.testing.assert_array_equal(fixed.numpy(), numbers(5, 7))


def test_what_numpy_does_with_it(dev):
    there = tw.tensor(numbers(2, 3), dev)
    np.testing.assert_array_equal(np.asarray(there), numbers(2, 3))
    assert there[1, 2] == 5
    assert (there == numbers(2, 3)).all()
    assert there.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert repr(there) == (
        f"Tensor(shape=(2, 3), dtype=float32, device={dev})\n"
        "array([[0., 1., 2.],\n       [3., 4., 5.]], dtype=float32)"
    )
    assert str(there) == "[[0. 1. 2.]\n [3. 4. 5.]]"
    with pytest.raises(ValueError) as error:
        np.asarray(there, copy=False)
    assert str(error.value) == f"numpy cannot have a tensor of float32 on {dev} as float32 without a copy"
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(there)).numpy(), numbers(2, 3))


def test_the_host_runs_none_of_its_kernels_on_it(dev):
    @tw.script.tir.prim_func
    def double(A: tw.script.tir.Buffer((7,), "float32"), B: tw.script.tir.Buffer((7,), "float32")):
        for i in range(7):
            with tw.script.tir.block("B"):
                v = tw.script.tir.axis.spatial(7, i)
                B[v] = A[v] * 2.0

    there = tw.tensor(numbers(7), dev)
    with pytest.raises(tw.UserError) as error:
        tw.build(double)["double"](there, there)
    assert str(error.value) == (
        f"error: double: argument A is on device type {dev.device_type}, expected the CPU\n"
        "help: the function is double(A: float32[7], B: float32[7] (written))"
    )
    with pytest.raises(tw.UserError) as error:
        tw.get_global_func("tilewright.sort")(there, there, 0, True)
    assert str(error.value) == (
        f"error: tilewright.sort: argument 1 is on {dev}, and this function runs on the CPU\n"
        'help: copy it there: x.to("cpu")'
    )


def test_properties(dev):
    assert dev.exist
    assert dev.name
    assert dev.driver.startswith("CUDA" if dev.device_type == 2 else "OpenCL")
    assert float(dev.compute_version) > 1
    for count in (
        dev.multi_processor_count,
        dev.max_threads_per_block,
        dev.warp_size,
        dev.max_shared_memory_per_block,
        dev.max_dynamic_shared_memory_per_block,
        dev.total_global_memory,
        dev.memory_alignment,
    ):
        assert count >= 1
    assert len(dev.max_thread_dimensions) == len(dev.max_grid_dimensions) == 3
    assert dev.available_global_memory >= 0


def test_the_cpu_has_none_of_them():
    assert tw.cpu().exist
    assert tw.cpu().name is None
    assert tw.cpu().warp_size is None
    assert tw.cpu().available_global_memory is None
    tw.cpu().sync()
    with pytest.raises(tw.UserError) as error:
        tw.cpu().create_stream()
    assert str(error.value) == "error: create_stream: cpu:0 is not a device beside the CPU"


def test_streams(dev):
    assert dev.current_stream == 0
    stream = dev.create_stream()
    dev.set_stream(stream)
    assert dev.current_stream == stream
    there = tw.tensor(numbers(7), dev)
    dev.sync()
    dev.set_stream(None)
    dev.wait_for_stream(None, stream)
    dev.sync(stream)
    np.testing.assert_array_equal(there.numpy(), numbers(7))
    dev.free_stream(stream)
    with pytest.raises(tw.UserError) as error:
        dev.set_stream("fast")
    assert str(error.value) == (
        "error: set_stream: the stream is a Python str, expected a number or None\n"
        "help: device.create_stream() gives one"
    )


def test_dlpack():
    device = tw.opencl()
    if not device.exist:
        pytest.skip("there is no OpenCL device")
    there = tw.tensor(numbers(5, 7), device)
    assert there.__dlpack_device__() == (4, 0)
    with pytest.raises(BufferError) as error:
        there.__dlpack__()
    assert str(error.value) == (
        'a tensor of OpenCL has no address that other libraries can use: copy it, x.to("cpu")'
    )
    copy = tw.from_dlpack(Lender(there, dl_device=(1, 0)))
    assert copy.device == tw.cpu()
    np.testing.assert_array_equal(copy.numpy(), numbers(5, 7))
    with pytest.raises(BufferError) as error:
        there.__dlpack__(dl_device=(1, 0), copy=False)
    assert str(error.value) == "the tensor is on another device, and copy=False forbids a copy"


class Lender:
    """A tensor of another library, which keeps with what options it was asked."""

    def __init__(self, tensor, **options):
        self.tensor, self.options, self.asked = tensor, options, []

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, **options):
        self.asked.append(options)
        return self.tensor.__dlpack__(**options, **self.options)


@pytest.mark.skipif(not IS_EMULATED, reason="runs on the emulation")
def test_dlpack_waits_for_streams():
    device = tw.cuda()
    lender = Lender(tw.tensor(numbers(5, 7), device))
    shared = tw.from_dlpack(lender)
    assert shared.device == device
    assert lender.asked == [{"max_version": (1, 0)}, {"max_version": (1, 0), "stream": 1}]
    lender.tensor.copy_from(numbers(5, 7) + 1)
    np.testing.assert_array_equal(shared.numpy(), numbers(5, 7) + 1)
    stream = device.create_stream()
    device.set_stream(stream)
    lender.asked.clear()
    tw.from_dlpack(lender)
    assert lender.asked == [{"max_version": (1, 0)}, {"max_version": (1, 0), "stream": stream}]
    device.set_stream(None)
    lender.tensor.__dlpack__(stream=stream)
    lender.tensor.__dlpack__(stream=-1)
    device.free_stream(stream)
    with pytest.raises(tw.UserError) as error:
        lender.tensor.__dlpack__(stream=0)
    assert str(error.value) == (
        "error: __dlpack__: 0 is no stream\nhelp: 1 is the default stream of CUDA, -1 asks for none"
    )


def test_torch_on_the_same_device():
    torch = pytest.importorskip("torch")
    if IS_EMULATED or not torch.cuda.is_available():
        pytest.skip("torch has no CUDA device")
    theirs = torch.arange(35, dtype=torch.float32, device="cuda").reshape(5, 7)
    ours = tw.from_dlpack(theirs)
    theirs += 1
    torch.cuda.synchronize()
    np.testing.assert_array_equal(ours.numpy(), numbers(5, 7) + 1)
    np.testing.assert_array_equal(torch.from_dlpack(ours).cpu().numpy(), numbers(5, 7) + 1)


def without_driver(program: str) -> str:
    """The last lines that a program writes where no driver can be loaded."""
    run = subprocess.run(
        [sys.executable, "-c", "import tilewright as tw\n" + program],
        env=os.environ | {"TILEWRIGHT_LIBCUDA": "/none/libcuda.so.1", "TILEWRIGHT_CUDA_EMULATION": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    return run.stdout + run.stderr


def test_a_machine_without_a_driver():
    assert without_driver("print(tw.cuda(0).exist, tw.cuda(0), tw.metal(0).exist)") == "False cuda:0 False\n"
    reason = (
        "error: there is no device cuda:0: /none/libcuda.so.1 cannot be loaded (/none/libcuda.so.1: cannot open "
        "shared object file: No such file or directory)\n"
        "help: install NVIDIA's driver, or set TILEWRIGHT_CUDA_EMULATION=1, which runs kernels on the CPU\n"
    )
    assert without_driver("tw.empty(3, device=tw.cuda(0))").endswith(reason)
    assert without_driver("tw.cuda(0).name").endswith(reason)
    assert without_driver("tw.cuda(0).sync()").endswith(reason)


def test_metal_is_known_by_name():
    with pytest.raises(tw.Unsupported) as error:
        tw.metal(0).sync()
    assert str(error.value) == (
        "unsupported: cannot run on device metal:0\nhelp: this build runs on cpu, cuda and opencl"
    )


def test_time_evaluator_of_a_machine_takes_its_device():
    module = tw.script.parse("""
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((5,), "float32")):
        return x
""")
    vm = tw.VirtualMachine(tw.compile(module))
    x = np.ones(5, "float32")
    assert vm.time_evaluator("main", tw.cpu(0), number=1)(x).median > 0
    with pytest.raises(tw.UserError) as error:
        vm.time_evaluator("main", tw.opencl(0))
    assert str(error.value) == "time_evaluator: the machine runs on cpu:0, not on opencl:0"
