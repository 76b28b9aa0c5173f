"""tilewright compile: what it writes, and that it writes it whole or not at all."""

import json
import os
import signal
import subprocess
import time

import numpy as np
import pytest

STAGES = ["import", "normalize", "graph passes", "pack weights", "plan memory", "compile kernels", "write"]


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def test_writes_a_library_and_tells_the_stages(command, affine, tmp_path):
    done = command("compile", affine, "-o", "model.so")
    assert done.code == 0
    assert done.out.startswith("wrote model.so (")
    first, *lines = done.err.splitlines()
    assert first == "compiling model.onnx for llvm"
    assert [line[:30].strip() for line in lines] == STAGES
    assert all(line.endswith(" ms") for line in lines)
    assert files(tmp_path) == ["model.onnx", "model.so"]


def test_a_second_run_takes_kernels_from_the_cache(command, affine, tmp_path, monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_CACHE_MB", "1")
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path / "cache"))
    first = command("compile", affine, "-o", "first.so")
    second = command("compile", affine, "-o", "second.so")
    assert ["cached" in done.err for done in (first, second)] == [False, True]
    assert "compile kernels, 1 cached" in second.err
    assert (tmp_path / "first.so").read_bytes() == (tmp_path / "second.so").read_bytes()
    lowered = command("inspect", affine, "--stage", "asm")
    monkeypatch.setenv("TILEWRIGHT_CACHE_MB", "0")
    assert lowered.out == command("inspect", affine, "--stage", "asm").out != ""


def test_a_cache_size_that_is_no_number(command, affine, monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_CACHE_MB", "much")
    done = command("compile", affine, "-o", "model.so", "-q")
    assert (done.code, done.err) == (
        2,
        'error: TILEWRIGHT_CACHE_MB is "much", expected 0 to 1000000000\n'
        "help: it is how many 10^6 bytes of compiled kernels are kept on disk, 0 for none\n",
    )


@pytest.mark.parametrize(("weights", "most_bytes"), [("int8", 1), ("int4", 0.7)])
def test_weights_of_few_bits_take_that_many_bytes(command, save_model, tmp_path, weights, most_bytes):
    onnx = pytest.importorskip("onnx")
    w = np.random.default_rng(0).standard_normal((1024, 512), dtype="float32")
    model = save_model(
        [onnx.helper.make_node("MatMul", ["x", "w"], ["y"])],
        {"x": (onnx.TensorProto.FLOAT, [1, 1024])},
        {"y": (onnx.TensorProto.FLOAT, [1, 512])},
        {"w": w},
    )
    assert command("compile", model, "-o", "float.so").code == 0
    assert command("compile", model, "-o", "few.so", "--weights", weights).code == 0
    saved = [(tmp_path / name).stat().st_size for name in ("float.so", "few.so")]
    assert saved[0] - saved[1] > w.size * (4 - most_bytes) - 20000


def test_weights_of_another_dtype(command, affine):
    done = command("compile", affine, "-o", "model.so", "--weights", "int5")
    assert done.code == 2
    assert done.err.splitlines()[0] == "error: --weights: int5 not in {float32,int8,int4}"


def test_quiet(command, affine):
    done = command("compile", affine, "-o", "model.so", "--quiet")
    assert (done.code, done.err) == (0, "")


def test_json(command, affine, tmp_path):
    done = command("compile", affine, "-o", "model.so", "--quiet", "--json")
    result = json.loads(done.out)
    assert result["output"] == "model.so"
    assert result["bytes"] == (tmp_path / "model.so").stat().st_size
    assert result["inputs"] == [{"name": "x", "type": "float32[n, 3]"}]
    assert result["outputs"] == [{"name": "y", "type": "float32[n, 2]"}]
    assert [stage["name"] for stage in result["stages"]] == STAGES[1:-1]


def test_same_input_same_bytes(command, affine, tmp_path):
    for name in ("a.so", "b.so"):
        assert command("compile", affine, "-o", name).code == 0
    assert (tmp_path / "a.so").read_bytes() == (tmp_path / "b.so").read_bytes()


@pytest.mark.parametrize("ending", ["o", "a", "ll", "s"])
def test_other_formats(command, affine, tmp_path, ending):
    assert command("compile", affine, "-o", f"model.{ending}").code == 0
    assert (tmp_path / f"model.{ending}").stat().st_size > 100


def test_existing_file_is_kept(command, affine, tmp_path):
    (tmp_path / "model.so").write_text("mine")
    done = command("compile", affine, "-o", "model.so")
    assert (done.code, done.out) == (2, "")
    assert done.err == 'error: "model.so" exists already\nhelp: use --force to replace it\n'
    assert (tmp_path / "model.so").read_text() == "mine"


def test_force_replaces_it(command, affine, tmp_path):
    (tmp_path / "model.so").write_text("mine")
    assert command("compile", affine, "-o", "model.so", "--force").code == 0
    assert command("run", "model.so", "--random", 0).code == 0
    assert files(tmp_path) == ["model.onnx", "model.so"]


def test_failed_compile_keeps_the_file_that_force_would_replace(command, tmp_path):
    (tmp_path / "model.onnx").write_text("no model")
    (tmp_path / "model.so").write_text("mine")
    assert command("compile", "model.onnx", "-o", "model.so", "--force").code == 2
    assert (tmp_path / "model.so").read_text() == "mine"
    assert files(tmp_path) == ["model.onnx", "model.so"]


def test_output_in_a_missing_folder(command, affine):
    done = command("compile", affine, "-o", "no/model.so")
    assert done.code == 2
    assert done.err == (
        'error: "no/model.so" cannot be written: No such file or directory\n'
        "help: its folder must exist and be writable\n"
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_output_in_a_folder_without_permission(command, affine, tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)
    done = command("compile", affine, "-o", "locked/model.so")
    assert done.code == 2
    assert done.err == (
        'error: "locked/model.so" cannot be written: Permission denied\n'
        "help: its folder must exist and be writable\n"
    )


def test_output_is_a_folder(command, affine, tmp_path):
    (tmp_path / "model.so").mkdir()
    done = command("compile", affine, "-o", "model.so", "--force")
    assert (done.code, done.err) == (2, 'error: "model.so" cannot be written: it is a folder\n')


def test_output_is_a_pipe(command, affine, tmp_path):
    os.mkfifo(tmp_path / "model.so")
    done = command("compile", affine, "-o", "model.so", "--force")
    assert (done.code, done.err) == (2, 'error: "model.so" cannot be written: it is not a regular file\n')
    assert (tmp_path / "model.so").is_fifo()


def test_output_of_unknown_format(command, affine, tmp_path):
    done = command("compile", affine, "-o", "model.exe")
    assert done.code == 2
    assert done.err == (
        'error: model.exe cannot be written: the ending ".exe" is not a known format\nhelp: use .so, .o, .a, .tar, .ll, .s, .tir\n'
    )
    assert files(tmp_path) == ["model.onnx"]


def test_compiled_model_is_not_compiled_again(command, affine):
    command("compile", affine, "-o", "model.so")
    done = command("compile", "model.so", "-o", "again.so")
    assert done.code == 2
    assert done.err == (
        'error: "model.so" is compiled already\nhelp: give the ONNX model it was compiled from\n'
    )


@pytest.mark.parametrize(
    ("number", "code", "target"),
    [(signal.SIGINT, 130, "llvm"), (signal.SIGTERM, 143, "llvm"), (signal.SIGINT, 130, "c")],
)
def test_interrupt_leaves_no_file(program, save_model, tmp_path, number, code, target):
    from onnx import TensorProto, helper

    # enough kernels for seconds of work
    nodes, initializers = [], {}
    for n in range(300):
        initializers[f"w{n}"] = np.ones((2 + n, 3 + n), "float32")
        nodes.append(helper.make_node("MatMul", [f"x{n}", f"w{n}"], [f"x{n + 1}"]))
    save_model(
        nodes, {"x0": (TensorProto.FLOAT, [1, 2])}, {"x300": (TensorProto.FLOAT, [1, 302])}, initializers
    )
    words = [program, "compile", "model.onnx", "-o", "model.so", "--target", target]
    (tmp_path / "temporary").mkdir()
    env = os.environ | {"TMPDIR": str(tmp_path / "temporary")}
    process = subprocess.Popen(words, cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True)
    # the C compiler's files are in the folder of the output, too
    wanted = ".tilewright-*" if target == "llvm" else ".tilewright-*/.tilewright-*/*.c"
    while not any(tmp_path.glob(wanted)) and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(number)
    _, text = process.communicate(timeout=30)
    assert process.returncode == code
    assert text.endswith("\ninterrupted\n")
    assert files(tmp_path) == ["model.onnx", "temporary"]
    assert files(tmp_path / "temporary") == []
