"""An installed tilewright serves another CMake project; its libraries bring and show nothing that is not ours."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from c_programs import make_program, run_program

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (BUILD / "lib" / "libtilewright.so").exists(), reason="build/lib/libtilewright.so is not built"
    ),
]


def run(*words, cwd=None):
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", BUILD, "--prefix", folder)
    return folder


def build_project(source, prefix, build):
    compilers = ["-DCMAKE_C_COMPILER=clang-19", "-DCMAKE_CXX_COMPILER=clang++-19"]
    run("cmake", "-G", "Ninja", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", *compilers)
    run("cmake", "--build", build)
    return build


@pytest.fixture(scope="module")
def consumer(prefix, tmp_path_factory):
    return build_project(ROOT / "tests/install/consumer", prefix, tmp_path_factory.mktemp("consumer"))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A dense layer with relu on float32[n, 7], as a file; and what it computes."""
    import tilewright
    from tilewright import relax, tir

    weight = np.random.default_rng(0).standard_normal((7, 5), dtype="float32")
    x = relax.Var("x", relax.TensorType((tir.Var("n", "int64"), 7), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            hidden = bb.emit(relax.op.matmul(x, relax.const(weight)))
            out = bb.emit_output(bb.emit(relax.op.nn.relu(hidden)))
        bb.emit_func_output(out)
    path = tmp_path_factory.mktemp("model") / "dense.so"
    tilewright.compile(bb.get()).export_library(path)
    return path, lambda x: np.maximum(x @ weight, 0)


@pytest.fixture(scope="module")
def run_model(prefix, tmp_path_factory):
    """The program of consumer/run_model.c, made without CMake."""
    return make_program(prefix / "include", prefix / "lib", tmp_path_factory.mktemp("c") / "run_model")


def needed(library):
    return re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", library))


def test_compiler_is_used_from_cpp(consumer):
    assert run(consumer / "use_compiler") == "llvm -mcpu=core-avx2\nthe target is empty\n"


def test_example_in_cpp_schedules_compiles_and_runs(prefix, tmp_path):
    printed = run(build_project(ROOT / "examples/cpp", prefix, tmp_path) / "matmul")
    assert "for j_1 in T.vectorized(16):" in printed
    assert float(re.search("largest error (.*)", printed)[1]) < 1e-4


def test_runtime_is_used_from_c(consumer):
    version, message = run(consumer / "use_runtime").splitlines()[:2]
    assert version == "version 0.1.0"
    assert "missing.so" in message


def test_model_runs_in_a_c_program_with_the_runtime_alone(run_model, model, tmp_path):
    path, expected = model
    x = np.arange(3 * 7, dtype="float32").reshape(3, 7) / 10 - 1
    (y,) = run_program(run_model, path, [x], tmp_path)
    np.testing.assert_allclose(y, expected(x), rtol=1e-5, atol=1e-6)
    for file in (run_model, path):
        assert not re.search("LLVM|python|libtilewright.so", run("ldd", file))


def test_c_program_is_told_what_is_wrong(run_model, tmp_path):
    broken = tmp_path / "broken.so"
    broken.write_bytes(b"no library")
    done = subprocess.run([run_model, broken, tmp_path / "y"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: cannot load {broken}: ")


def test_runtime_needs_only_the_system(prefix):
    allowed = ("libc.so", "libm.so", "libgcc_s.so", "libstdc++.so", "ld-linux", "libdl.so", "libpthread.so")
    names = needed(prefix / "lib/libtilewright_runtime.so")
    assert [name for name in names if not name.startswith(allowed)] == []


def test_runtime_is_below_one_megabyte(prefix, tmp_path):
    stripped = tmp_path / "runtime.so"
    run("strip", "-o", stripped, prefix / "lib/libtilewright_runtime.so")
    assert stripped.stat().st_size < 1 << 20


def test_compiler_library_needs_no_llvm_library(prefix):
    assert [
        name
        for name in needed(prefix / "lib/libtilewright.so")
        if re.search("LLVM|clang|python|protobuf", name)
    ] == []


def test_only_our_symbols_are_exported(prefix):
    lines = run("nm", "-D", "--defined-only", prefix / "lib/libtilewright.so").splitlines()
    names = [line.split()[-1] for line in lines]
    assert [name for name in names if "tilewright" not in name] == []
