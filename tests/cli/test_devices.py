"""tilewright compile and run for devices: what they compute is what the CPU computes."""

import json
import re
import shutil

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
    done = command("run", affine, "--random", 1, "--target", "llvm", "--device", "opencl:0", "-q")
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


# ---- the device decides about the target


@needs_opencl
def test_a_model_is_compiled_for_its_device(command, affine, expected, tmp_path):
    done = command("run", affine, "--device", "opencl:0", "-i", "x.npz", "-o", "y.npz")
    np.testing.assert_allclose(outputs(done, tmp_path), expected, rtol=1e-5)


@needs_no_gpu
@pytest.mark.parametrize("name", ["run", "bench", "explain"])
def test_no_target_of_a_device_that_is_not_there(command, affine, name):
    done = command(name, affine, "--random", 1, "--device", "cuda:0", "-q")
    assert (done.code, done.err.splitlines()[0].partition(": libcuda")[0]) == (
        2,
        "error: there is no device cuda:0",
    )


# ---- inspect


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("cuda", 'extern "C" __global__ void __launch_bounds__('),
        ("opencl", "__kernel __attribute__((reqd_work_group_size("),
        ("metal", "kernel void "),
    ],
)
def test_kernels_as_text(command, affine, target, words):
    done = command("inspect", affine, "--opt-level", 0, "--target", target, "--stage", "kernels")
    assert (done.code, done.err) == (0, "")
    assert "// matmul: " in done.out and "// add: " in done.out and words in done.out
    one = command(
        "inspect", affine, "--opt-level", 0, "--target", target, "--stage", "kernels", "--function", "add"
    )
    assert "// add: " in one.out and "// matmul: " not in one.out


def test_launches(command, affine):
    done = command("inspect", affine, "--opt-level", 0, "--target", "cuda", "--stage", "launches")
    lines = [re.split(r"  +", line) for line in done.out.splitlines()]
    assert lines[0] == ["kernel", "blocks", "threads", "shared memory"]
    assert [line[0] for line in lines[1:]] == ["matmul_kernel", "add_kernel"]
    assert all("n" in line[1] for line in lines[1:]), lines
    done = command(
        "inspect", affine, "--fix", "n=5", "--target", "cuda", "--stage", "launches", "--function", "nothing"
    )
    assert (done.code, done.err.splitlines()[0]) == (2, 'error: there is no kernel "nothing"')


@pytest.mark.parametrize("stage", ["kernels", "launches"])
def test_the_cpu_has_no_kernels_of_a_device(command, affine, stage):
    done = command("inspect", affine, "--stage", stage)
    assert (done.code, done.err) == (
        2,
        "error: target llvm has no kernels of a device\nhelp: give a target of devices, e.g. --target cuda or opencl\n",
    )


def test_steps_of_the_rules_for_a_gpu(command, affine):
    done = command("inspect", affine, "--schedules", "--target", "nvidia/nvidia-h100")
    assert "sch.bind(loop=" in done.out and 'thread_axis="threadIdx.x"' in done.out


# ---- bench


@needs_opencl
def test_bench_on_a_device(command, affine):
    options = ("--repeat", 5, "--dim", "n=7", "--opt-level", 0)
    result = json.loads(command("bench", affine, "--device", "opencl:0", *options, "--json", "-q").out)
    assert result["device"].endswith(" (opencl:0)") and result["memory_bytes"]["constants"] == 32
    assert result["inputs"] == [{"name": "x", "type": "float32[7, 3]"}]
    kernels = {kernel["name"]: kernel for kernel in result["kernels"]}
    assert {name: kernel["flops"] for name, kernel in kernels.items()} == {"matmul": 2 * 7 * 3 * 2, "add": 14}
    assert all(0 < kernel["seconds"] < result["latency_s"]["mean"] for kernel in kernels.values())
    lines = command("bench", affine, "--target", "opencl", *options, "-q").out.splitlines()
    assert lines[1] == f"device    {result['device']}"
    assert lines[3].startswith("memory    32 B constants on the device, ")


def test_bench_on_the_emulation(command, affine, monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_CUDA_EMULATION", "1")
    done = command("bench", affine, "--device", "cuda:0", "--repeat", 3, "--json", "-q")
    result = json.loads(done.out)
    assert result["device"] == "emulated GPU (cuda:0)"
    assert result["memory_bytes"]["device"] >= result["memory_bytes"]["constants"] == 32


# ---- explain


@needs_no_gpu
def test_explain_without_a_device(command, affine):
    options = ("--target", "cuda -arch=sm_80", "--dim", "n=1000", "--opt-level", 0, "-q")
    result = json.loads(command("explain", affine, *options, "--json").out)
    assert (result["device"], result["seconds"], result["target"]) == (None, None, "cuda -arch=sm_80")
    # A100: 108 multiprocessors, 64 multiply-adds each, 1.41 GHz; 5120 bytes of L2 and 1103 of memory a cycle
    assert result["peaks"] == {
        "flops_per_s": 2 * 108 * 64 * 1.41e9,
        "l2_bytes_per_s": 5120 * 1.41e9,
        "memory_bytes_per_s": 1103 * 1.41e9,
        "multiprocessors": 108,
    }
    (kernel,) = [kernel for kernel in result["kernels"] if kernel["name"] == "add"]
    assert (kernel["flops"], kernel["bytes"]) == (2000, 4 * (2000 + 2 + 2000))
    assert kernel["limit"] == "L2 bandwidth" and kernel["seconds"] is None
    assert kernel["least_seconds"] == pytest.approx(kernel["bytes"] / (5120 * 1.41e9))
    (launch,) = kernel["launches"]
    assert (launch["kernel"], launch["blocks"] * launch["threads"] >= 1000) == ("add_kernel", True)
    assert launch["registers_text"].endswith(" registers a thread (estimated)")
    text = command("explain", affine, *options).out.splitlines()
    assert text[0] == "model.onnx for cuda -arch=sm_80: by its description; nothing was measured"
    assert text[1] == (
        "peaks: 19.5 TFLOP/s of float32, L2 7219 GB/s, memory 1555 GB/s; 108 multiprocessors of 2048 threads"
    )
    assert any(line.startswith("  lint    occupancy: ") for line in text)
    assert any(line.startswith("  next    ") for line in text)


@needs_opencl
def test_explain_on_a_device(command, affine):
    result = json.loads(command("explain", affine, "--device", "opencl:0", "--json", "-q").out)
    assert result["device"] and result["seconds"] > 0
    assert all(0 < kernel["seconds"] for kernel in result["kernels"])
    done = command("explain", affine, "--device", "opencl:0", "-q", "--kernel", result["kernels"][0]["name"])
    assert "  launch  " in done.out and "sch.bind(" in done.out


def test_explain_of_what_gpus_have_not(command, affine):
    done = command("explain", affine, "--target", "cuda", "--html", "page.html", "-q")
    assert (done.code, done.err) == (2, "error: --html has no page for target cuda\nhelp: use --json\n")
    done = command("explain", affine, "--ptxas", "-q")
    assert (done.code, done.err) == (
        2,
        "error: --ptxas knows the registers of target cuda, but the target is llvm\n",
    )
    done = command("explain", affine, "--target", "opencl", "--ptxas", "-q")
    assert (done.code, done.err) == (
        2,
        "error: ptxas knows the registers of target cuda, but the target is opencl\nhelp: leave it out\n",
    )
    done = command("explain", affine, "--target", "cuda", "--kernel", "nothing", "-q")
    assert (done.code, done.err.splitlines()[0]) == (2, 'error: there is no kernel "nothing"')


# ---- architectures


def test_images_for_several_architectures(command, affine, tmp_path, monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_CUDA_EMULATION", "1")
    done = command("compile", affine, "--target", "cuda -arch=sm_80,sm_90a", "-o", "model.so", "-q")
    assert done.code == 0, done.err
    library = (tmp_path / "model.so").read_bytes()
    assert b"sm_80" in library and b"sm_90a" in library and b"sm_86" not in library
    assert command("run", "model.so", "--random", 1, "-q").code == 0


@pytest.mark.skipif(shutil.which("nvcc", path="/usr/local/cuda/bin") is None, reason="there is no nvcc here")
@pytest.mark.slow
def test_cubin_and_ptx_for_several_architectures(command, affine, tmp_path):
    done = command("compile", affine, "--target", "cuda -arch=sm_80,sm_90a", "-o", "model.so", "-q")
    assert done.code == 0, done.err
    library = (tmp_path / "model.so").read_bytes()
    for text in (b"cubin", b"ptx", b"sm_80", b"sm_90a", b"compute_80", b"compute_90a", b".target sm_80"):
        assert text in library, text


@pytest.mark.parametrize(
    ("arch", "message"),
    [
        ("sm_80,sm_80", 'target cuda: -arch is "sm_80,sm_80", which names sm_80 twice'),
        (
            "sm_80,",
            'target cuda: -arch is "", expected the name of an architecture\nhelp: write for example -arch=sm_80',
        ),
        (
            "sm_80,ampere",
            'target cuda: -arch is "ampere", expected the name of an architecture\n'
            "help: write for example -arch=sm_80",
        ),
    ],
)
def test_architectures_that_are_none(command, affine, arch, message):
    done = command("compile", affine, "--target", f"cuda -arch={arch}", "-o", "model.so", "-q")
    assert (done.code, done.err) == (2, f"error: {message}\n")
