"""Messages of the program when it is called wrongly, its help and its exit codes."""

import pathlib
import platform

import pytest


def test_version(command):
    done = command("--version")
    assert (done.code, done.out, done.err) == (0, "tilewright 0.1.0\n", "")


def test_help_has_the_commands_in_their_order_and_examples_of_each(command):
    done = command("--help")
    assert done.code == 0
    names = [
        line.split()[0] for line in done.out.split("Subcommands:\n")[1].splitlines() if line.startswith("  ")
    ]
    assert names[:9] == [
        "compile",
        "run",
        "bench",
        "explain",
        "inspect",
        "diff",
        "quantize",
        "tune",
        "doctor",
    ]
    for name in names:
        done = command(name, "--help")
        assert (done.code, done.err) == (0, "")
        assert f"examples:\n  tilewright {name}" in done.out


def test_no_command(command):
    done = command()
    assert (done.code, done.out) == (2, "")
    assert done.err == "error: no command was given\nhelp: see `tilewright --help`\n"


def test_unknown_command(command):
    done = command("compil", "model.onnx")
    assert done.code == 2
    assert done.err == 'error: there is no command "compil"\nhelp: did you mean compile?\n'


def test_unknown_option(command):
    done = command("compile", "model.onnx", "-o", "model.so", "--fast")
    assert done.code == 2
    assert done.err == (
        "error: the following argument was not expected: --fast\nhelp: see `tilewright compile --help`\n"
    )


def test_missing_model(command):
    done = command("run")
    assert (done.code, done.err) == (2, "error: model is required\nhelp: see `tilewright run --help`\n")


def test_option_out_of_range(command):
    done = command("inspect", "model.onnx", "--opt-level", 4)
    assert done.code == 2
    assert (
        done.err == "error: --opt-level: Value 4 not in range 0 to 3\nhelp: see `tilewright inspect --help`\n"
    )


def test_option_that_is_no_number(command):
    done = command("bench", "model.onnx", "--repeat", "many")
    assert done.code == 2
    assert done.err == (
        "error: --repeat: Value many not in range 1 to 1000000\nhelp: see `tilewright bench --help`\n"
    )


def test_unknown_target_lists_the_known_ones(command, affine, tmp_path):
    done = command("compile", affine, "-o", "model.so", "--target", "lvm")
    assert done.code == 2
    assert done.err == 'error: unknown target kind "lvm"\nhelp: the kinds are c, cuda, llvm, metal, opencl\n'
    assert not (tmp_path / "model.so").exists()


def test_unknown_cpu_names_the_nearest(command, affine):
    done = command("run", affine, "--random", 0, "--target", "llvm -mtriple=x86_64-linux-gnu -mcpu=znver44")
    assert done.code == 2
    assert done.err == (
        'error: target llvm: x86_64-unknown-linux-gnu has no CPU "znver44"\n'
        "help: did you mean znver4, znver1 or znver2?\n"
    )


def test_target_of_another_machine_cannot_run(command, affine):
    done = command("run", affine, "--random", 0, "--target", "llvm -mtriple=aarch64-linux-gnu")
    assert done.code == 2
    assert done.err == (
        "error: target llvm -mtriple=aarch64-linux-gnu is for aarch64-unknown-linux-gnu, but the model is to run "
        "on this machine\nhelp: write a file for that machine with `tilewright compile`\n"
    )


# no CPU that is sold has xop, which brings fma4, and sse4a, which those of AMD have
FOREIGN = "llvm -mtriple=x86_64-linux-gnu -mattr=+xop"
HAS_SSE4A = "sse4a" in pathlib.Path("/proc/cpuinfo").read_text().split()
LACKING = "fma4, xop" if HAS_SSE4A else "fma4, sse4a, xop"
x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="xop is a feature of x86")


@x86
def test_target_with_a_feature_that_this_cpu_lacks(command, affine):
    done = command("run", affine, "--random", 0, "--target", FOREIGN)
    assert done.code == 2
    assert done.err == (
        f"error: target {FOREIGN} is for a CPU with {LACKING}, but the model is to run on this machine\n"
        "help: write a file for that machine with `tilewright compile`\n"
    )


@x86
def test_library_for_a_feature_that_this_cpu_lacks(command, affine):
    assert command("compile", affine, "-o", "model.so", "--target", FOREIGN).code == 0
    done = command("run", "model.so", "--random", 0)
    assert done.code == 2
    assert done.err == (
        f"error: model.so was compiled for a CPU with {LACKING}, which this one lacks\n"
        "help: compile the model on this machine, or with a -mcpu that suits both\n"
    )


def test_a_wrong_number_of_threads_in_the_environment(command, monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_NUM_THREADS", "abc")
    done = command("run", "model.onnx")
    assert done.code == 2
    assert done.err == 'error: TILEWRIGHT_NUM_THREADS is "abc", expected a number from 1 to 1024\n'
