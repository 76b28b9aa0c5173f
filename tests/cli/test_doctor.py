"""tilewright doctor: what is known of a machine, as text and JSON, and what cannot be measured."""

import json

A72 = "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72 -num-cores=4"


def test_text(command):
    done = command("doctor", "--target", A72)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[:2] == [
        f"{A72}: aarch64-unknown-linux-gnu",
        "  vector_bytes                 16 bytes      one vector register (features of the processor)",
    ]
    assert (
        "  l1_ways                       2 lines      that may lie in one set of L1 (Arm Cortex-A72 Software Optimization Guide)"
        in lines
    )
    assert (
        "  num_cores                     4            threads that a parallel loop may use (-num-cores)"
        in lines
    )


def test_json(command):
    done = command("doctor", "--target", A72, "--json")
    known = json.loads(done.out)
    assert known["target"] == A72
    assert known["features"]["l2_bytes"]["value"] == 256 * 1024
    assert known["features"]["has_masks"]["value"] is False
    assert "peaks" not in known


def test_this_machine_is_measured(command):
    peaks = json.loads(command("doctor", "--calibrate", "--json").out)["peaks"]
    assert peaks["flops_per_s"] > 1e8
    assert peaks["bytes_per_s"]["L1"] >= peaks["bytes_per_s"]["memory"] > 1e7
    text = command("doctor", "--calibrate").out
    assert "GFLOP/s" in text
    assert "reads of memory" in text


def test_another_machine_cannot_be_measured(command):
    done = command("doctor", "--target", "llvm -mtriple=aarch64-linux-gnu", "--calibrate")
    assert (done.code, done.err) == (
        2,
        "error: aarch64-unknown-linux-gnu is not this machine, the only one that can be measured\nhelp: leave out --calibrate\n",
    )


def test_a_gpu(command):
    lines = command("doctor", "--target", "nvidia/nvidia-a100").out.splitlines()
    assert lines[0] == "nvidia/nvidia-a100: kernels of a GPU"
    assert (
        "  num_sms                           108            multiprocessors (NVIDIA's whitepaper of A100)"
        in lines
    )
    known = json.loads(command("doctor", "--target", "opencl", "--json").out)["features"]
    assert known["warp_size"]["value"] == 32 and known["warp_size"]["source"] == "a common GPU"


def test_a_wrong_target_is_refused(command):
    done = command("doctor", "--target", "llvm -num-cores=0")
    assert (done.code, done.err) == (2, "error: target llvm: -num-cores must be 1 to 1024, but is 0\n")
