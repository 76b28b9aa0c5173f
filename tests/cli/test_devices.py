"""tilewright compile and run for devices: what they compute is what the CPU computes."""

import numpy as np
import pytest

import tilewright as tw

needs_opencl = pytest.mark.skipif(not tw.opencl(0).exist, reason="there is no device of opencl here")
needs_no_gpu = pytest.mark.skipif(tw.cuda(0).exist, reason="there is a device of cuda here")


@pytest.fixture
def expected(command, affine, tmp_path):
    np.savez(tmp_path / "x.npz", x=np.random.default_rng(0).standard_normal((5, 3), "float32"))
    assert command("run", affine, "-i", "x.npz", "-o", "cpu.npz").code == 0
    return np.load(tmp_path / "cpu.npz")["y"]


def outputs(done, tmp_path):
    assert done.code == 0, done.err
    return np.load(tmp_path / "y.npz")["y"]


@needs_opencl
def test_a_library_for_opencl(command, affine, expected, tmp_path):
    assert command("compile", affine, "--target", "opencl", "-o", "model.so").code == 0
    for device in ([], ["--device", "opencl:0"], ["--device", "opencl"]):
        done = command("run", "model.so", *device, "-i", "x.npz", "-o", "y.npz", "--force")
        np.testing.assert_allclose(outputs(done, tmp_path), expected, rtol=1e-5)


@needs_opencl
def test_a_model_for_opencl(command, affine, expected, tmp_path):
    done = command("run", affine, "--target", "opencl", "-i", "x.npz", "-o", "y.npz")
    np.testing.assert_allclose(outputs(done, tmp_path), expected, rtol=1e-5)
    assert "y  float32[5, 2]  " in done.out


def test_a_model_for_the_emulation_of_cuda(command, affine, expected, tmp_path, monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_CUDA_EMULATION", "1")
    assert command("compile", affine, "--target", "cuda", "-o", "model.so").code == 0
    done = command("run", "model.so", "--device", "cuda:0", "-i", "x.npz", "-o", "y.npz")
    np.testing.assert_allclose(outputs(done, tmp_path), expected, rtol=1e-5)


def test_a_device_that_the_program_is_not_for(command, affine):
    done = command("run", affine, "--random", 1, "--device", "opencl:0", "-q")
    assert done.code == 2
    assert done.err.startswith("unsupported: VirtualMachine: this program is code of ")


@needs_no_gpu
def test_a_device_that_is_not_there(command, affine):
    done = command("run", affine, "--random", 1, "--target", "cuda", "-q")
    assert done.code == 2
    assert done.err.startswith("error: there is no device cuda:0: ")
    assert "set TILEWRIGHT_CUDA_EMULATION=1, which runs kernels on the CPU" in done.err


def test_a_name_of_no_device(command, affine):
    done = command("run", affine, "--random", 1, "--device", "gpu", "-q")
    assert (done.code, done.err.splitlines()[0]) == (
        2,
        'error: unknown device "gpu"',
    )
